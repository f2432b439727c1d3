/**
 * The study's multi-layer perceptron (arXiv 2305.14947, section 3.2): hidden widths 128, 64, 32 and 16, ReLU, Adam with
 * learning rate 1e-3, batches of 128, weight decay 1e-5, 30 epochs, and the epoch whose development RMSE is best is kept.
 */
import { Random } from '../shared/random.ts';
import { type Encoded, type FeatureEncoder, fitFeatures, nameFeatures, numberFeatures } from './learn/features.ts';
import { Network } from './learn/network.ts';
import { openPace } from './learn/pace.ts';
import { atOnce, inTurns, type Steps, turns, turnsAt } from './turn.ts';
import type { FitOptions, Predictor, ScoreRecord } from './types.ts';

export interface MlpSettings {
  hidden: readonly number[];
  learningRate: number;
  weightDecay: number;
  batch: number;
  epochs: number;
}

export const studySettings: MlpSettings = {
  hidden: [128, 64, 32, 16],
  learningRate: 1e-3,
  weightDecay: 1e-5,
  batch: 128,
  epochs: 30,
};

/** Share of the training records that are for development where nobody gives any: a ninth, as in the study. */
const developmentShare = 1 / 9;
/** Fewer development records than this cannot tell epochs apart: all are for training, and the last epoch is kept. */
const leastDevelopment = 10;

export const mlpPredictor = (settings: MlpSettings = studySettings): Predictor => ({
  name: 'mlp',
  title: `MLP ${settings.hidden.join('-')}`,
  async fit(records, options) {
    const random = new Random(options.seed);
    const { train, development } = parts(records, options, random);
    const turn = turns(options.signal);
    const encoder = await inTurns(fitFeatures(train), turn);
    const subtasks = encoder.columnOf[nameFeatures.findIndex(({ name }) => name === 'subtask')] ?? new Map();
    const network = new Network({
      columns: encoder.columns,
      names: nameFeatures.length,
      numbers: numberFeatures.length,
      hidden: settings.hidden,
      batch: settings.batch,
    });
    network.initialise(random);
    const examples = await inTurns(examplesOf(train, encoder), turn);
    await learn(network, settings, examples, await inTurns(examplesOf(development, encoder), turn), random, options);
    return {
      predict: (configurations) => outputs(network, settings.batch, encoder.encode(configurations)).map(within),
      taskVectors: () =>
        new Map([...subtasks].map(([key, column]) => [key, Float64Array.from(network.columnWeights(column))])),
    };
  },
});

/** The study's, as a row of the table of predictors. */
export const studyMlp = mlpPredictor();

interface Examples {
  inputs: Encoded;
  scores: Float32Array;
}

function* examplesOf(records: readonly ScoreRecord[], encoder: FeatureEncoder): Steps<Examples> {
  const inputs = yield* encoder.encodeSteps(records);
  return { inputs, scores: Float32Array.from(records, ({ score }) => score) };
}

/** Trains in epochs over shuffled batches; leaves the parameters of the best epoch in the network. */
async function learn(
  network: Network,
  { batch, epochs, learningRate, weightDecay }: MlpSettings,
  train: Examples,
  development: Examples,
  random: Random,
  { signal, progress }: FitOptions,
): Promise<void> {
  const pace = openPace(signal);
  const predicted = new Float64Array(batch);
  const { count } = train.inputs;
  const order = Int32Array.from({ length: count }, (_, at) => at);
  let best = { rmse: Number.POSITIVE_INFINITY, parameters: network.copyParameters() };
  for (let epoch = 0; epoch < epochs; epoch++) {
    shuffle(order, random);
    for (let from = 0; from < count; from += batch) {
      const rows = Math.min(batch, count - from);
      network.forward(train.inputs, order, from, rows, predicted, 0);
      network.backward(train.inputs, order, from, rows, predicted, train.scores);
      network.step({ learningRate, weightDecay });
      if (pace.due()) await pace.pause();
    }
    if (development.inputs.count >= leastDevelopment) {
      const answers = new Float64Array(development.inputs.count);
      await inTurns(answer(network, batch, development.inputs, answers), turnsAt(pace));
      const rmse = rootMeanSquare(answers, development.scores);
      if (rmse < best.rmse) best = { rmse, parameters: network.copyParameters() };
    }
    progress?.((epoch + 1) / epochs);
  }
  if (best.rmse < Number.POSITIVE_INFINITY) network.restoreParameters(best.parameters);
}

function* answer(network: Network, batch: number, inputs: Encoded, out: Float64Array): Steps<void> {
  const order = Int32Array.from({ length: inputs.count }, (_, at) => at);
  for (let from = 0; from < inputs.count; from += batch) {
    network.forward(inputs, order, from, Math.min(batch, inputs.count - from), out, from);
    yield;
  }
}

function outputs(network: Network, batch: number, inputs: Encoded): Float64Array {
  const out = new Float64Array(inputs.count);
  atOnce(answer(network, batch, inputs, out));
  return out;
}

function rootMeanSquare(predicted: Float64Array, scores: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < scores.length; i++) sum += (within(predicted[i] as number) - (scores[i] as number)) ** 2;
  return Math.sqrt(sum / scores.length);
}

const within = (value: number): number => Math.min(1, Math.max(0, value));

function parts(
  records: readonly ScoreRecord[],
  { development }: FitOptions,
  random: Random,
): { train: readonly ScoreRecord[]; development: readonly ScoreRecord[] } {
  if (development && development.length >= leastDevelopment) return { train: records, development };
  const all = development ? [...records, ...development] : records;
  const size = Math.ceil(all.length * developmentShare);
  if (size < leastDevelopment) return { train: all, development: [] };
  const shuffled = random.shuffle(all);
  return { train: shuffled.slice(size), development: shuffled.slice(0, size) };
}

/** In place (Fisher-Yates). */
function shuffle(order: Int32Array, random: Random): void {
  for (let i = order.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    const kept = order[i] as number;
    order[i] = order[j] as number;
    order[j] = kept;
  }
}

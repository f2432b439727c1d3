/**
 * The best predictor: a mean of parts that see scores as a matrix of models by columns. What is missing of a model's row is
 * filled in by a normal distribution of rows; a Gaussian process over models and a forest a column learn from the filled rows.
 * What is no cell of the matrix (a task that nobody ran) is left to the additive predictor. In small tables the same is learned
 * of the scores' angles too, and the study's MLP has a share; in large ones it has the share that development records give it.
 */
import { Random } from '../shared/random.ts';
import { fitAdditiveBySize } from './additive.ts';
import { blended, onAngles } from './blend.ts';
import { fitComponents } from './learn/components.ts';
import { columnLikenesses } from './learn/likeness.ts';
import { fitNormal, structured } from './learn/normal.ts';
import { openPace, type Pace } from './learn/pace.ts';
import { parts as allParts, type FittedPart, type ModelState, type Part } from './learn/parts.ts';
import { rowsWithSizes, type ScoreMatrix, scoreMatrix } from './learn/score-matrix.ts';
import { structureSteps } from './learn/structure.ts';
import { dot } from './linear-algebra.ts';
import { studyMlp } from './mlp.ts';
import { directionSteps } from './small-bench/task-covariance.ts';
import { inTurns, type Steps, turns, turnsAt } from './turn.ts';
import type { Configuration, Predictor } from './types.ts';
import { weighed } from './weighed.ts';

/** More columns than these are completed by components: a full covariance would take too long. */
const widest = 160;
const componentSettings = { components: 8, rounds: 8, penalty: 8 };
const components = 3;
const directionRounds = 30;

export const combine = (name: string, title: string, parts: readonly Part[]): Predictor => ({
  name,
  title,
  async fit(records, { seed, development = [], signal, progress }) {
    const all = [...records, ...development];
    const random = new Random(seed);
    const pace = openPace(signal);
    const additive = await fitAdditiveBySize(all, turns(signal));
    const matrix = await scoreMatrix(all, turns(signal));
    const width = matrix.columns.size;
    const places = await fitPlaces(matrix, pace);
    const models: ModelState[] = [];
    for (const [row, example] of matrix.rowExamples.entries()) {
      if (pace.due()) await pace.pause();
      models.push(places.stateOf(example, matrix.values.subarray(row * width, (row + 1) * width)));
    }
    const input = {
      models,
      columns: width,
      itemNoise: matrix.itemNoise,
      loadings: places.loadings,
      components: places.components,
      covariance: places.covariance,
    };
    const weight = parts.reduce((sum, part) => sum + part.weight, 0);
    const fitted: { weight: number; of: FittedPart }[] = [];
    for (const part of parts) {
      const done = (share: number): void => progress?.((fitted.length + share) / parts.length);
      fitted.push({ weight: part.weight / weight, of: await part.fit(input, random, pace, done) });
      done(0);
    }
    const answers = new Map<string, Float64Array>();
    /** Scores of all columns of a model. */
    const answer = (configuration: Configuration): Float64Array => {
      const key = matrix.rowKey(configuration);
      const before = answers.get(key);
      if (before) return before;
      const row = matrix.rows.get(key);
      const state =
        row === undefined
          ? places.stateOf(configuration, new Float64Array(width).fill(Number.NaN))
          : (models[row] as ModelState);
      const scores = new Float64Array(width);
      for (const { weight: share, of } of fitted) {
        const values = of(state);
        for (let t = 0; t < width; t++)
          scores[t] =
            (scores[t] as number) +
            share * ((matrix.mean[t] as number) + (matrix.deviation[t] as number) * (values[t] as number));
      }
      answers.set(key, scores);
      return scores;
    };
    return {
      predict: (configurations) => {
        const fallback = additive.predict(configurations);
        return Float64Array.from(configurations, (configuration, at) => {
          const column = matrix.columns.get(matrix.columnKey(configuration));
          const value = column === undefined ? fallback[at] : answer(configuration)[column];
          return Math.min(1, Math.max(0, value as number));
        });
      },
      taskVectors: () => taskVectors(matrix, places),
    };
  },
});

/** With fewer records than these a network says little more than their mean. */
const leastForNetwork = 2000;
/**
 * The more records, the more a network knows beside the matrix: its share grows to a third where development records decide
 * (weighed.ts). Set with the ObsScaling records, where half or twice as much does as well to a thousandth of R².
 */
const recordsOfNetwork = 36_000;

const named = { name: 'combined', title: 'combined' };
const matrix = combine(named.name, named.title, allParts);
const onItsAngles = onAngles(matrix);

export const combinedPredictor = weighed(matrix, studyMlp, {
  small: {
    ...named,
    fit: (records, options) => {
      const count = records.length + (options.development?.length ?? 0);
      const network = count < leastForNetwork ? 0 : count / recordsOfNetwork;
      // What each adds is in docs/predict.md.
      const shares = [
        { predictor: matrix, weight: (1 - network) / 2 },
        { predictor: onItsAngles, weight: (1 - network) / 2 },
        { predictor: studyMlp, weight: network },
      ];
      return blended(
        named,
        shares.filter(({ weight }) => weight > 0),
      ).fit(records, options);
    },
  },
});

interface Places {
  /** [columns, components] */
  loadings: Float64Array;
  components: number;
  /** [columns, columns]: of the normal distribution; null where there is none. */
  covariance: Float64Array | null;
  stateOf(configuration: Configuration, values: Float64Array): ModelState;
}

/** The normal distribution of score rows and sizes, and its principal components. */
async function fitPlaces(matrix: ScoreMatrix, pace: Pace): Promise<Places> {
  const rows = matrix.rows.size;
  const columns = matrix.columns.size;
  const { width, whole } = rowsWithSizes(matrix);
  const named = matrix.settingsInRows
    ? matrix.columnExamples.map((column) => ({ ...column, shots: 0, mode: null }))
    : matrix.columnExamples;
  const likenesses = columns > widest ? [] : columnLikenesses(named);
  function* target(covariance: Float64Array): Steps<Float64Array> {
    return (yield* structureSteps(covariance, width, likenesses, columns)).target;
  }
  const normal = columns > widest ? null : await fitNormal(whole, rows, width, { ...structured, target }, pace);
  const completion = normal ?? (await fitComponents(whole, rows, width, componentSettings, pace));
  const completed = new Float64Array(rows * width);
  for (let row = 0; row < rows; row++) {
    if (pace.due()) await pace.pause();
    completed.set(completion.complete(whole.subarray(row * width, (row + 1) * width)), row * width);
  }
  const centre = new Float64Array(width);
  for (let row = 0; row < rows; row++)
    for (let k = 0; k < width; k++)
      centre[k] = (centre[k] as number) + (completed[row * width + k] as number) / Math.max(1, rows);
  const centred = completed.map((value, at) => value - (centre[at % width] as number));
  const count = Math.min(components, rows, width);
  const directions = await inTurns(directionSteps(centred, rows, width, count, directionRounds), turnsAt(pace));
  const deviations = directions.map((direction) => {
    let squares = 0;
    for (let row = 0; row < rows; row++)
      squares += dot(direction, centred.subarray(row * width, (row + 1) * width)) ** 2;
    return Math.sqrt(squares / Math.max(1, rows));
  });
  const scale = 1 / Math.max(1e-9, deviations[0] ?? 1);
  const loadings = new Float64Array(columns * count);
  for (let t = 0; t < columns; t++)
    for (const [r, direction] of directions.entries())
      loadings[t * count + r] = (direction[t] as number) * (deviations[r] as number);
  return {
    loadings,
    components: count,
    covariance:
      normal &&
      Float64Array.from(
        { length: columns * columns },
        (_, at) => normal.covariance[Math.floor(at / columns) * width + (at % columns)] as number,
      ),
    stateOf(configuration, values) {
      const size = matrix.sizes(configuration);
      const row = completion.complete(Float64Array.from([...values, ...size]));
      const off = row.map((value, k) => value - (centre[k] as number));
      return {
        family: configuration.family,
        sizes: size,
        values,
        completed: row.subarray(0, columns),
        place: Float64Array.from(directions, (direction) => scale * dot(direction, off)),
      };
    },
  };
}

/** Loadings of a subtask's columns, the mean over its settings, and its mean score: hardness counts as a dimension. */
function taskVectors(matrix: ScoreMatrix, { loadings, components: count }: Places): Map<string, Float64Array> {
  const columns = new Map<string, Set<number>>();
  for (const [column, { subtask }] of matrix.columnExamples.entries()) {
    const known = columns.get(subtask);
    if (known) known.add(column);
    else columns.set(subtask, new Set([column]));
  }
  return new Map(
    [...columns].map(([subtask, members]) => {
      const vector = new Float64Array(count + 1);
      for (const column of members) {
        for (let r = 0; r < count; r++)
          vector[r] = (vector[r] as number) + (loadings[column * count + r] as number) / members.size;
        vector[count] = (vector[count] as number) + (matrix.mean[column] as number) / members.size;
      }
      return [subtask, vector];
    }),
  );
}

/** Training examples as the rows, masks and positions that a training graph takes. */
import type { TrainingExample } from '../evaluate/language-model.ts';
import type { TrainingSizes } from '../gradient/index.ts';
import { HumanError } from '../shared/errors.ts';
import { paddedAnswers, paddedLength } from './shapes.ts';

/** A batch as the training graph reads it. */
export interface TrainingBatch {
  sizes: TrainingSizes;
  inputIds: BigInt64Array;
  attentionMask: BigInt64Array;
  positionIds: BigInt64Array;
  /** [answers, 2]: row, and position of the token that predicts. */
  positions: BigInt64Array;
  labels: BigInt64Array;
  weights: Float32Array;
  answerTokens: number;
  /** [batch, vectors, 2]: row and position of each vector, where the graph asks for them. */
  places?: BigInt64Array;
  /** The cache inputs [batch, heads, sizes.past, head size], where rows go on from given keys and values. */
  past?: ReadonlyMap<string, { data: Float32Array | Uint16Array; dims: number[] }>;
}

/**
 * Rows [soft prompt, prompt, answer], padded on the right. The last answer token is predicted but not read, so it is
 * left out of the input. Positions are clip(cumsum(mask) - 1, 0); the loss weighs every answer token of the batch alike.
 * `rows`: at least so many; rows beyond the examples hold nothing that is in the loss.
 */
export function trainingBatch(
  examples: readonly TrainingExample[],
  vectors: number,
  padTokenId: number,
  contextLength: number | null = null,
  padding: { shapes?: 'many' | 'few'; rows?: number } = {},
): TrainingBatch {
  const { shapes = 'many', rows: leastRows = 1 } = padding;
  const rows = examples.map(({ prompt, answer }) => [...prompt, ...answer.slice(0, -1)]);
  const answerTokens = examples.reduce((sum, { answer }) => sum + answer.length, 0);
  if (examples.length === 0 || answerTokens === 0) throw new Error('A training batch needs at least one answer token.');
  const batch = Math.max(rows.length, leastRows);
  const longest = vectors + Math.max(...rows.map((row) => row.length));
  if (contextLength !== null && longest > contextLength)
    throw new HumanError(
      'bad-input',
      `A training example has ${longest} tokens with its soft prompt; the model has ${contextLength} positions.`,
      { todo: 'Shorten the prompts, or use fewer vectors.' },
    );
  const length = Math.min(paddedLength(longest, shapes), contextLength ?? Number.POSITIVE_INFINITY);
  const answers = paddedAnswers(answerTokens, shapes);
  const result: TrainingBatch = {
    sizes: { batch, length, vectors, answers },
    inputIds: new BigInt64Array(batch * length).fill(BigInt(padTokenId)),
    attentionMask: new BigInt64Array(batch * length),
    positionIds: new BigInt64Array(batch * length),
    positions: new BigInt64Array(answers * 2),
    labels: new BigInt64Array(answers),
    weights: new Float32Array(answers),
    answerTokens,
  };
  let slot = 0;
  rows.forEach((row, at) => {
    const start = at * length;
    const end = vectors + row.length;
    row.forEach((token, position) => {
      result.inputIds[start + vectors + position] = BigInt(token);
    });
    for (let position = 0; position < length; position++) {
      result.attentionMask[start + position] = position < end ? 1n : 0n;
      result.positionIds[start + position] = BigInt(Math.min(position, end - 1));
    }
    const { prompt, answer } = examples[at] ?? { prompt: [], answer: [] };
    answer.forEach((token, offset) => {
      const predictor = vectors + prompt.length - 1 + offset;
      if (predictor < 0)
        throw new HumanError('bad-input', 'A training example has an empty prompt, and there is no soft prompt.', {
          todo: 'Give the prompt some text, or the soft prompt at least one vector.',
        });
      result.positions[2 * slot] = BigInt(at);
      result.positions[2 * slot + 1] = BigInt(predictor);
      result.labels[slot] = BigInt(token);
      result.weights[slot] = 1 / answerTokens;
      slot++;
    });
  });
  // A row without any place to look at would make every attention weight 0 / 0.
  const filled = Math.max(vectors, 1);
  for (let start = rows.length * length; start < batch * length; start += length)
    for (let position = 0; position < length; position++) {
      result.attentionMask[start + position] = position < filled ? 1n : 0n;
      result.positionIds[start + position] = BigInt(Math.min(position, filled - 1));
    }
  return result;
}

/**
 * What learned predictors see of a configuration: the study's features (arXiv 2305.14947, section 3.2 and its published code).
 * Names are one-hot, unknown names all zero; numbers are scaled to mean 0 and variance 1 over the training records.
 */
import { rowOf } from '../columns.ts';
import { momentsOf } from '../features.ts';
import { atOnce, type Steps, stepwise } from '../turn.ts';
import type { Configuration } from '../types.ts';

interface NameFeature {
  name: string;
  of(configuration: Configuration): string;
}

interface NumberFeature {
  name: string;
  /** Null where nobody says: the training records' mean stands in its place. */
  of(configuration: Configuration): number | null;
}

const log = (value: number | null): number | null => (value !== null && value > 0 ? Math.log(value) : null);
const nonEmbedding = ({ parameters }: Configuration): number | null => parameters.nonEmbedding ?? parameters.total;
const flopMatched = ({ parameters }: Configuration): number | null => parameters.flopMatched ?? parameters.total;

/** The prompt mode and the training FLOPs are ours; the study's records have none. */
export const nameFeatures = [
  { name: 'task', of: ({ task }) => task },
  { name: 'subtask', of: ({ subtask }) => subtask },
  { name: 'family', of: ({ family }) => family },
  { name: 'model', of: rowOf },
  { name: 'metric', of: ({ metric }) => metric },
  { name: 'mode', of: ({ mode }) => mode ?? '' },
] as const satisfies readonly NameFeature[];

export const numberFeatures = [
  { name: 'parameters', of: ({ parameters }) => parameters.total },
  { name: 'non-embedding parameters', of: nonEmbedding },
  { name: 'FLOP-matched parameters', of: flopMatched },
  { name: 'log parameters', of: ({ parameters }) => log(parameters.total) },
  { name: 'log non-embedding parameters', of: (of) => log(nonEmbedding(of)) },
  { name: 'log FLOP-matched parameters', of: (of) => log(flopMatched(of)) },
  { name: 'log training FLOPs', of: ({ trainingFlops }) => log(trainingFlops) },
  { name: 'shots', of: ({ shots }) => shots },
] as const satisfies readonly NumberFeature[];

/** Configurations as features. */
export interface Encoded {
  count: number;
  /** [count, names]: column of the one-hot matrix; −1 for a name that the training records do not have. */
  names: Int32Array;
  /** [count, numbers] */
  numbers: Float32Array;
}

export interface FeatureEncoder {
  /** Columns of the one-hot matrix: all names of all name features. */
  columns: number;
  /** Column by name, a map for each of `nameFeatures`. */
  columnOf: readonly ReadonlyMap<string, number>[];
  encode(configurations: readonly Configuration[]): Encoded;
  /** The same in steps. */
  encodeSteps(configurations: readonly Configuration[]): Steps<Encoded>;
}

/** Learns names, means and variances, in steps. Names are numbered in the order in which they come. */
export function* fitFeatures(configurations: readonly Configuration[]): Steps<FeatureEncoder> {
  let columns = 0;
  const columnOf: Map<string, number>[] = [];
  for (const { of } of nameFeatures) {
    const column = new Map<string, number>();
    yield* stepwise(configurations, (configuration) => {
      const name = of(configuration);
      if (!column.has(name)) column.set(name, columns++);
    });
    columnOf.push(column);
  }
  const scales: { mean: number; deviation: number }[] = [];
  for (const { of } of numberFeatures) {
    const { mean, deviation } = momentsOf(configurations.map(of));
    scales.push({ mean, deviation: deviation > 1e-10 * Math.abs(mean) ? deviation : 1 });
    yield;
  }
  return {
    columns,
    columnOf,
    encode(some) {
      return atOnce(this.encodeSteps(some));
    },
    *encodeSteps(some) {
      const names = new Int32Array(some.length * nameFeatures.length);
      const numbers = new Float32Array(some.length * numberFeatures.length);
      yield* stepwise(some, (configuration, at) => {
        for (const [feature, { of }] of nameFeatures.entries())
          names[at * nameFeatures.length + feature] = columnOf[feature]?.get(of(configuration)) ?? -1;
        for (const [feature, { of }] of numberFeatures.entries()) {
          const value = of(configuration);
          const { mean, deviation } = scales[feature] as { mean: number; deviation: number };
          numbers[at * numberFeatures.length + feature] = value === null ? 0 : (value - mean) / deviation;
        }
      });
      return { count: some.length, names, numbers };
    },
  };
}

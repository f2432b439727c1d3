/**
 * What a predictor sees of a configuration: the features of Ye et al. (2023), section 3. One-hot of task, subtask, family, model
 * and metric; the counts of parameters, their logarithms and the number of examples, standardised. Ours in addition: the
 * prompt mode, and the logarithm of the training computation. For linear predictors: what nobody says is at the mean, and a
 * subtask is one of its task. Networks and trees have another encoding (learn/features.ts): the total stands for counts that
 * nobody says, and subtasks are told apart by their names, which task vectors go by.
 */
import { rowOf, subtaskOf } from './columns.ts';
import type { Configuration } from './types.ts';

/** One-hot columns. */
const categories: readonly { name: string; of(configuration: Configuration): string }[] = [
  { name: 'task', of: ({ task }) => task },
  { name: 'subtask', of: subtaskOf },
  { name: 'family', of: ({ family }) => family },
  { name: 'model', of: rowOf },
  { name: 'metric', of: ({ metric }) => metric },
  { name: 'mode', of: ({ mode }) => mode ?? '' },
];

const logarithm = (value: number | null): number | null => (value === null ? null : Math.log(value));

/** Null where nobody says. */
const numbers: readonly { name: string; of(configuration: Configuration): number | null }[] = [
  { name: 'total_params', of: ({ parameters }) => parameters.total },
  { name: 'log_total_params', of: ({ parameters }) => logarithm(parameters.total) },
  { name: 'non_embedding_params', of: ({ parameters }) => parameters.nonEmbedding },
  { name: 'log_non_embedding_params', of: ({ parameters }) => logarithm(parameters.nonEmbedding) },
  { name: 'flop_matched_non_embedding_params', of: ({ parameters }) => parameters.flopMatched },
  { name: 'log_flop_matched_non_embedding_params', of: ({ parameters }) => logarithm(parameters.flopMatched) },
  { name: 'n_shot', of: ({ shots }) => shots },
  { name: 'log_training_flops', of: ({ trainingFlops }) => logarithm(trainingFlops) },
];

/** Mean and (population) standard deviation of the values that somebody says; 0 where nobody says any. */
export function momentsOf(values: readonly (number | null)[]): { mean: number; deviation: number } {
  const known = values.filter((value) => value !== null);
  const n = Math.max(1, known.length);
  const mean = known.reduce((sum, value) => sum + value, 0) / n;
  return { mean, deviation: Math.sqrt(known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / n) };
}

/** Features of n configurations, a column each. */
export interface EncodedFeatures {
  /** One of `Encoder.categories` each, [n]: number of the value; −1 where training had it not. */
  categories: Int32Array[];
  /** One of `Encoder.numbers` each, [n]: standardised by the training records; 0 where nobody says. */
  numbers: Float64Array[];
}

export interface Encoder {
  /** Those that differ among the training records, and how many values each has. */
  categories: { name: string; values: number }[];
  /** Names of those that differ among the training records. */
  numbers: string[];
  encode(configurations: readonly Configuration[]): EncodedFeatures;
}

/** Learns the values of categories, and the means and (population) standard deviations of numbers, of training records. */
export function learnFeatures(training: readonly Configuration[]): Encoder {
  const known = categories
    .map(({ name, of }) => {
      const values = new Map<string, number>();
      for (const one of training) {
        const value = of(one);
        if (!values.has(value)) values.set(value, values.size);
      }
      return { name, of, values };
    })
    .filter(({ values }) => values.size > 1);
  const scaled = numbers
    .map(({ name, of }) => ({ name, of, ...momentsOf(training.map(of)) }))
    .filter(({ mean, deviation }) => deviation > 1e-9 * Math.abs(mean));
  return {
    categories: known.map(({ name, values }) => ({ name, values: values.size })),
    numbers: scaled.map(({ name }) => name),
    encode: (configurations) => ({
      categories: known.map(({ of, values }) => Int32Array.from(configurations, (one) => values.get(of(one)) ?? -1)),
      numbers: scaled.map(({ of, mean, deviation }) =>
        Float64Array.from(configurations, (one) => ((of(one) ?? mean) - mean) / deviation),
      ),
    }),
  };
}

/**
 * The logarithms of size and of training computation, standardised over the training records' models; 0 where nobody says.
 * Those that do not differ are left out.
 */
export function learnSizes(training: readonly Configuration[]): ((of: Configuration) => number)[] {
  const models = [...new Map(training.map((one) => [rowOf(one), one])).values()];
  return [
    ({ parameters }: Configuration) => logarithm(parameters.total),
    ({ trainingFlops }: Configuration) => logarithm(trainingFlops),
  ].flatMap((of) => {
    const { mean, deviation } = momentsOf(models.map(of));
    return deviation > 1e-9 ? [(one: Configuration) => ((of(one) ?? mean) - mean) / deviation] : [];
  });
}

/** Forests and boosted trees over the study's features (arXiv 2305.14947, section 3.2). */
import { Random } from '../shared/random.ts';
import { type BoostingSettings, boostTrees } from './learn/boosting.ts';
import { type FeatureEncoder, fitFeatures, nameFeatures, numberFeatures } from './learn/features.ts';
import { type ForestSettings, growForest } from './learn/forest.ts';
import { openPace } from './learn/pace.ts';
import type { Columns } from './learn/tree.ts';
import type { Configuration, Predictor, ScoreRecord } from './types.ts';

const forest = (name: string, title: string, settings: ForestSettings): Predictor => ({
  name,
  title,
  async fit(records, { seed, development = [], signal, progress }) {
    const all = [...records, ...development];
    const encoder = fitFeatures(all);
    const grown = await growForest(
      columnsOf(all, encoder),
      scoresOf(all),
      settings,
      new Random(seed),
      openPace(signal),
      progress,
    );
    return { predict: (configurations) => grown.predict(columnsOf(configurations, encoder)) };
  },
});

export const forestPredictor = forest('forest', 'random forest', {
  trees: 100,
  splits: 'best',
  leastLeaf: 1,
  features: 0.5,
});

export const extraTreesPredictor = forest('extra-trees', 'extra trees', {
  trees: 100,
  splits: 'random',
  leastLeaf: 1,
  features: 1,
});

const boosting: BoostingSettings = {
  trees: 800,
  learningRate: 0.08,
  depth: 7,
  leastLeaf: 4,
  features: 0.6,
  shrinkage: 1,
  patience: 60,
};
/** Fewer development records than this do not decide when to stop. */
const leastDevelopment = 10;

export const boostedPredictor: Predictor = {
  name: 'boosted',
  title: 'gradient-boosted trees',
  async fit(records, { seed, development = [], signal, progress }) {
    const stops = development.length >= leastDevelopment;
    const train = stops ? records : [...records, ...development];
    const encoder = fitFeatures(train);
    const grown = await boostTrees(
      columnsOf(train, encoder),
      scoresOf(train),
      stops ? boosting : { ...boosting, trees: boosting.trees / 2 },
      seed,
      openPace(signal),
      stops ? { columns: columnsOf(development, encoder), target: scoresOf(development) } : undefined,
      progress,
    );
    return {
      predict: (configurations) =>
        grown.predict(columnsOf(configurations, encoder)).map((value) => Math.min(1, Math.max(0, value))),
    };
  },
};

const scoresOf = (records: readonly ScoreRecord[]): Float64Array => Float64Array.from(records, ({ score }) => score);

/** The names as codes, then the numbers. */
function columnsOf(configurations: readonly Configuration[], encoder: FeatureEncoder): Columns {
  const { count, names, numbers } = encoder.encode(configurations);
  const column = (values: Int32Array | Float32Array, width: number, at: number): Float64Array =>
    Float64Array.from({ length: count }, (_, row) => values[row * width + at] as number);
  return {
    count,
    values: [
      ...nameFeatures.map((_, at) => column(names, nameFeatures.length, at)),
      ...numberFeatures.map((_, at) => column(numbers, numberFeatures.length, at)),
    ],
    named: [...nameFeatures.map(() => true), ...numberFeatures.map(() => false)],
  };
}

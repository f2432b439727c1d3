/** Forests and boosted trees over the study's features (arXiv 2305.14947, section 3.2). */
import { Random } from '../shared/random.ts';
import { type BoostingSettings, boostTrees } from './learn/boosting.ts';
import { type FeatureEncoder, fitFeatures, nameFeatures, numberFeatures } from './learn/features.ts';
import { type ForestSettings, growForest } from './learn/forest.ts';
import { openPace } from './learn/pace.ts';
import type { Columns } from './learn/tree.ts';
import { atOnce, inTurns, type Steps, turns } from './turn.ts';
import type { Configuration, Predictor, ScoreRecord } from './types.ts';

const forest = (name: string, title: string, settings: ForestSettings): Predictor => ({
  name,
  title,
  async fit(records, { seed, development = [], signal, progress }) {
    const all = [...records, ...development];
    const turn = turns(signal);
    const encoder = await inTurns(fitFeatures(all), turn);
    const grown = await growForest(
      await inTurns(columnSteps(all, encoder), turn),
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
    const turn = turns(signal);
    const encoder = await inTurns(fitFeatures(train), turn);
    const grown = await boostTrees(
      await inTurns(columnSteps(train, encoder), turn),
      scoresOf(train),
      stops ? boosting : { ...boosting, trees: boosting.trees / 2 },
      seed,
      openPace(signal),
      stops
        ? { columns: await inTurns(columnSteps(development, encoder), turn), target: scoresOf(development) }
        : undefined,
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
function* columnSteps(configurations: readonly Configuration[], encoder: FeatureEncoder): Steps<Columns> {
  const { count, names, numbers } = yield* encoder.encodeSteps(configurations);
  const values: Float64Array[] = [];
  for (const [all, width] of [
    [names, nameFeatures.length],
    [numbers, numberFeatures.length],
  ] as const)
    for (let at = 0; at < width; at++) {
      const column = new Float64Array(count);
      for (let row = 0; row < count; row++) column[row] = all[row * width + at] as number;
      values.push(column);
      yield;
    }
  return { count, values, named: [...nameFeatures.map(() => true), ...numberFeatures.map(() => false)] };
}

const columnsOf = (configurations: readonly Configuration[], encoder: FeatureEncoder): Columns =>
  atOnce(columnSteps(configurations, encoder));

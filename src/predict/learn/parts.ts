/** The parts of the combined predictor: each says the standardised scores of a model, given what is known of it. */
import type { Random } from '../../shared/random.ts';
import { type Forest, growForest } from './forest.ts';
import { fitLatentProcess } from './latent-process.ts';
import { modelKernel } from './model-kernel.ts';
import type { Pace } from './pace.ts';
import { fitProductProcess } from './product-process.ts';
import { rowScales, sharedDirections, sharedPart } from './structure.ts';
import type { Columns } from './tree.ts';

/** What is known of a model. */
export interface ModelState {
  family: string;
  /** Logarithms of size and training computation, standardised. */
  sizes: Float64Array;
  /** [columns], standardised; NaN where there is no score. */
  values: Float64Array;
  /** [columns]: missing scores as a normal distribution of score rows has them. */
  completed: Float64Array;
  /** Along the principal components of the completed scores, the first scaled to variance 1. */
  place: Float64Array;
}

export interface PartInput {
  models: readonly ModelState[];
  columns: number;
  /** [columns]: variance that counting items leaves in a standardised score. */
  itemNoise: Float64Array;
  /** [columns, components]: what a column's scores have of each principal component, in its standard deviations. */
  loadings: Float64Array;
  components: number;
  /** [columns, columns]: of standardised scores; null where there are too many columns for it. */
  covariance: Float64Array | null;
}

export interface Part {
  name: string;
  /** For people. */
  title: string;
  /** Of the mean over parts. */
  weight: number;
  fit(input: PartInput, random: Random, pace: Pace, progress: (done: number) => void): Promise<FittedPart>;
}

/** [columns] standardised scores of a model. */
export type FittedPart = (model: ModelState) => Float64Array;

const normalPart: Part = {
  name: 'normal',
  title: 'normal distribution of score rows',
  weight: 0.05,
  fit: async () => (model) => model.completed,
};

/**
 * More models than these, and so many of them, drawn by chance, stand for all (a subset of the data: Rasmussen and Williams 2006,
 * section 8.3): the exact process takes memory with the square and time with the cube of their number.
 */
const mostProcessModels = 400;

/**
 * What belongs to one model only, of what columns do not share: set with the ObsScaling records, where a half does as well to a
 * thousandth of R².
 */
const singleShare = 0.25;

const processPart: Part = {
  name: 'process',
  title: 'Gaussian process over models',
  weight: 0.65,
  async fit({ models: all, columns, itemNoise, loadings, components, covariance }, random, pace) {
    const models = all.length > mostProcessModels ? random.shuffle(all).slice(0, mostProcessModels) : all;
    const rows = models.length;
    const kernel = new Float64Array(rows * rows);
    for (const [i, a] of models.entries())
      for (let j = 0; j <= i; j++) {
        kernel[i * rows + j] = modelKernel(a, models[j] as ModelState);
        kernel[j * rows + i] = kernel[i * rows + j] as number;
      }
    const values = new Float64Array(rows * columns);
    for (const [row, model] of models.entries()) values.set(model.values, row * columns);
    if (covariance) {
      const directions = sharedDirections(covariance, columns);
      const shared = sharedPart(covariance, columns, directions);
      const single = covariance.map((value, at) => singleShare * (value - (shared[at] as number)));
      const scale = rowScales(
        models.map(({ completed }) => completed),
        directions,
      );
      const process = await fitProductProcess(
        { rows, columns, values, itemNoise, kernel, common: covariance, single, scale },
        pace,
      );
      const rowOf = new Map(models.map((model, row) => [model, row]));
      return (model) =>
        process.predict(
          Float64Array.from(models, (one) => modelKernel(model, one)),
          rowOf.get(model) ?? null,
        );
    }
    const process = await fitLatentProcess(
      { rows, columns, values, itemNoise, weights: loadings, shared: components, kernel, own: 0.14, noise: 0.08 },
      pace,
    );
    return (model) => process.predict(Float64Array.from(models, (one) => modelKernel(model, one)));
  },
};

const forestSettings = { splits: 'random', leastLeaf: 2 } as const;
/** Trees of a forest; fewer the larger the table is, so that all forests take seconds. */
const treesOf = (cells: number): number => Math.max(20, Math.min(100, Math.round(4e7 / cells)));
/** Columns that a split chooses among, at most: wide tables would take too long. */
const mostFeatures = 40;

const forestPart: Part = {
  name: 'trees',
  title: 'extra trees over the other scores',
  weight: 0.3,
  async fit({ models, columns }, random, pace, progress) {
    const all = featureColumns(models);
    const forests: Forest[] = [];
    for (let t = 0; t < columns; t++) {
      const known = models.filter(({ values }) => !Number.isNaN(values[t]));
      const train = without(known.length === models.length ? all : featureColumns(known), t);
      const width = train.values.length;
      const features = Math.min(0.5, mostFeatures / width);
      const settings = { ...forestSettings, features, trees: treesOf(train.count * features * width * columns) };
      const target = Float64Array.from(known, ({ values }) => values[t] as number);
      forests.push(await growForest(train, target, settings, random, pace));
      progress((t + 1) / columns);
    }
    return (model) => {
      const asked = featureColumns([model]);
      return Float64Array.from(forests, (forest, t) => forest.predict(without(asked, t))[0] as number);
    };
  },
};

function featureColumns(models: readonly ModelState[]): Columns {
  const [first] = models;
  const column = (of: (model: ModelState) => Float64Array, at: number): Float64Array =>
    Float64Array.from(models, (model) => of(model)[at] as number);
  const values = [
    ...Array.from({ length: first?.completed.length ?? 0 }, (_, at) => column(({ completed }) => completed, at)),
    ...Array.from({ length: first?.sizes.length ?? 0 }, (_, at) => column(({ sizes }) => sizes, at)),
  ];
  return { count: models.length, values, named: values.map(() => false) };
}

const without = ({ count, values, named }: Columns, column: number): Columns => ({
  count,
  values: values.filter((_, at) => at !== column),
  named: named.slice(1),
});

export const parts: readonly Part[] = [normalPart, processPart, forestPart];

/**
 * Collaborative filtering by nearest neighbours: what the additive baseline leaves of a score is that of similar models on the
 * same column, or of similar columns for the same model (Koren 2010, "Factor in the neighbors", equations 3 and 4).
 */
import { chosenByDevelopment, withDevelopment } from './development.ts';
import { type Cell, corrected, type ResidualTable, residualTable } from './residuals.ts';
import { turns } from './turn.ts';
import type { FittedPredictor, Predictor } from './types.ts';

export interface NeighbourSettings {
  /** Whose similarity counts. */
  of: 'models' | 'columns';
  /** Neighbours that are averaged, at most. */
  neighbours: number;
  /** Similarities of few common cells are drawn to 0: n / (n + shrinkage). */
  shrinkage: number;
}

/** To choose from, by the development records. */
const candidates: readonly NeighbourSettings[] = (['models', 'columns'] as const).flatMap((of) =>
  [5, 10, 20, 40].map((neighbours) => ({ of, neighbours, shrinkage: 10 })),
);

export const neighbourPredictor: Predictor = {
  name: 'knn',
  title: 'nearest neighbours',
  async fit(records, { development, seed, signal, progress }) {
    const parts = withDevelopment(records, development, seed);
    const turn = turns(signal);
    const table = await residualTable(parts.training, turn);
    const settings = await chosenByDevelopment(
      candidates,
      (candidate) => withNeighbours(table, candidate),
      parts.development,
      turn,
      progress,
    );
    const whole = await residualTable([...parts.training, ...parts.development], turn);
    return withNeighbours(whole, settings);
  },
};

function withNeighbours(table: ResidualTable, { of, ...settings }: NeighbourSettings): FittedPredictor {
  const value =
    of === 'models'
      ? neighbourValue(table.ofRow, table.ofColumn, settings)
      : neighbourValue(table.ofColumn, table.ofRow, settings);
  return corrected(table, (row, column) =>
    row === null ? 0 : of === 'models' ? value(row, column) : value(column, row),
  );
}

/**
 * What neighbours of an entry have at a place: the mean weighted by similarity; 0 where none has anything.
 * @param entries what is similar: the cells of each
 * @param across the same cells, place by place: `at` is the entry
 */
export function neighbourValue(
  entries: readonly (readonly Cell[])[],
  across: readonly (readonly Cell[])[],
  { neighbours, shrinkage }: Omit<NeighbourSettings, 'of'>,
): (entry: number, place: number) => number {
  const known = new Map<number, Float64Array>();
  const similaritiesOf = (entry: number): Float64Array => {
    let similarities = known.get(entry);
    if (!similarities) {
      similarities = similarity(entries[entry] ?? [], across, entries.length, shrinkage);
      known.set(entry, similarities);
    }
    return similarities;
  };
  return (entry, place) => {
    const similarities = similaritiesOf(entry);
    const near = (across[place] ?? [])
      .filter(({ at }) => at !== entry && (similarities[at] ?? 0) > 0)
      .sort((a, b) => (similarities[b.at] ?? 0) - (similarities[a.at] ?? 0))
      .slice(0, neighbours);
    let weights = 0;
    let sum = 0;
    for (const { at, value } of near) {
      weights += similarities[at] ?? 0;
      sum += (similarities[at] ?? 0) * value;
    }
    return weights > 0 ? sum / weights : 0;
  };
}

/**
 * Of one entry with all: the correlation (about 0, as these are residuals) over the places that both have, shrunk by their
 * number.
 * @param across for each place, the entries that have it
 */
function similarity(
  cells: readonly Cell[],
  across: readonly (readonly Cell[])[],
  entries: number,
  shrinkage: number,
): Float64Array {
  const products = new Float64Array(entries);
  const own = new Float64Array(entries);
  const theirs = new Float64Array(entries);
  const common = new Int32Array(entries);
  for (const { at: place, value } of cells)
    for (const { at, value: other } of across[place] ?? []) {
      products[at] = (products[at] as number) + value * other;
      own[at] = (own[at] as number) + value ** 2;
      theirs[at] = (theirs[at] as number) + other ** 2;
      common[at] = (common[at] as number) + 1;
    }
  return products.map((product, at) => {
    const n = common[at] as number;
    const norm = Math.sqrt((own[at] as number) * (theirs[at] as number));
    return norm > 0 ? (product / norm) * (n / (n + shrinkage)) : 0;
  });
}

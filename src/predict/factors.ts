/**
 * Collaborative filtering by matrix factors ("SVD"): what the additive baseline leaves of a score is the product of a vector of
 * the model and a vector of the column (Koren, Bell and Volinsky 2009). Models have side columns, their size and training
 * computation, so that a model with few scores stands beside models of its size; a model with none is placed by them alone.
 */
import { Random } from '../shared/random.ts';
import { rowOf } from './columns.ts';
import { chosenByDevelopment, withDevelopment } from './development.ts';
import { learnSizes } from './features.ts';
import { cholesky, dot, solveCholesky } from './linear-algebra.ts';
import { type Cell, corrected, type ResidualTable, residualTable } from './residuals.ts';
import { type Turn, turns } from './turn.ts';
import type { Configuration, FittedPredictor, Predictor } from './types.ts';

export interface FactorSettings {
  /** Length of the vectors. */
  rank: number;
  /** λ of λ (Σ |row|² + Σ |column|²), in squared residuals. */
  penalty: number;
  /** Rounds of alternating least squares. */
  rounds: number;
}

/** To choose from, by the development records. */
const candidates: readonly FactorSettings[] = [1, 2, 4, 6].flatMap((rank) =>
  [0.02, 0.06, 0.2].map((penalty) => ({ rank, penalty, rounds: 30 })),
);

export const factorPredictor: Predictor = {
  name: 'svd',
  title: 'matrix factors (SVD)',
  async fit(records, { development, seed, signal, progress }) {
    const parts = withDevelopment(records, development, seed);
    const turn = turns(signal);
    const table = await residualTable(parts.training, turn);
    const settings = await chosenByDevelopment(
      candidates,
      (candidate) => withFactors(table, candidate, seed, turn),
      parts.development,
      turn,
      progress,
    );
    const whole = await residualTable([...parts.training, ...parts.development], turn);
    return withFactors(whole, settings, seed, turn);
  },
};

async function withFactors(
  table: ResidualTable,
  settings: FactorSettings,
  seed: number,
  turn: Turn,
): Promise<FittedPredictor> {
  const width = table.columns.size;
  // Of the residuals' scale, so that they weigh as one score each.
  const deviation = deviationOf(table.ofRow);
  const sizes = learnSizes(table.rowExamples);
  const sideCells = (model: Configuration): Cell[] =>
    sizes.map((size, at) => ({ at: width + at, value: size(model) * deviation }));
  const side = table.rowExamples.map(sideCells);
  const ofRow = table.ofRow.map((cells, row) => [...cells, ...(side[row] ?? [])]);
  const ofColumn = [
    ...table.ofColumn,
    ...sizes.map((_, at) => side.map((cells, row) => ({ at: row, value: cells[at]?.value ?? 0 }))),
  ];
  const { rows, columns } = await alternatingLeastSquares(ofRow, ofColumn, settings, seed, turn);
  const { rank, penalty } = settings;
  const unknown = new Map<string, Float64Array>();
  /** The vector of a model without scores: by its side columns. */
  const vectorOf = (model: Configuration): Float64Array => {
    const key = rowOf(model);
    let vector = unknown.get(key);
    if (!vector) {
      vector = new Float64Array(rank);
      solveVectors(vector, [sideCells(model)], columns, rank, penalty);
      unknown.set(key, vector);
    }
    return vector;
  };
  return {
    ...corrected(table, (row, column, configuration) => {
      const vector = row === null ? vectorOf(configuration) : rows.subarray(row * rank, (row + 1) * rank);
      return dot(vector, columns.subarray(column * rank, (column + 1) * rank));
    }),
    taskVectors: () => taskVectors(table.columnExamples, columns, rank),
  };
}

function deviationOf(ofRow: readonly Cell[][]): number {
  let n = 0;
  let squares = 0;
  for (const cells of ofRow)
    for (const { value } of cells) {
      n++;
      squares += value ** 2;
    }
  return Math.sqrt(squares / Math.max(1, n));
}

/** The mean over a subtask's settings and metrics. */
function taskVectors(
  columns: readonly Configuration[],
  vectors: Float64Array,
  rank: number,
): Map<string, Float64Array> {
  const sums = new Map<string, { n: number; sum: Float64Array }>();
  for (const [column, { subtask }] of columns.entries()) {
    const one = sums.get(subtask) ?? { n: 0, sum: new Float64Array(rank) };
    one.n++;
    for (let k = 0; k < rank; k++) one.sum[k] = at(one.sum, k) + at(vectors, column * rank + k);
    sums.set(subtask, one);
  }
  return new Map([...sums].map(([subtask, { n, sum }]) => [subtask, sum.map((value) => value / n)]));
}

/**
 * Minimises Σ over known cells (value − row · column)² + penalty (Σ |row|² + Σ |column|²), row vectors and column vectors in
 * turn. Where all cells are known that is the singular value decomposition with singular values lowered by the penalty
 * (Srebro, Rennie and Jaakkola 2004).
 * @returns row-major: rows [rows, rank], columns [columns, rank]
 */
export async function alternatingLeastSquares(
  ofRow: readonly (readonly Cell[])[],
  ofColumn: readonly (readonly Cell[])[],
  { rank, penalty, rounds }: FactorSettings,
  seed: number,
  turn: Turn,
): Promise<{ rows: Float64Array; columns: Float64Array }> {
  const random = new Random(seed);
  const rows = new Float64Array(ofRow.length * rank);
  const columns = Float64Array.from({ length: ofColumn.length * rank }, () => 0.1 * random.normal());
  for (let round = 0; round < rounds; round++) {
    await turn();
    solveVectors(rows, ofRow, columns, rank, penalty);
    await turn();
    solveVectors(columns, ofColumn, rows, rank, penalty);
  }
  return { rows, columns };
}

/** Each vector by ridge regression of its cells on the others' vectors. */
function solveVectors(
  vectors: Float64Array,
  cellsOf: readonly (readonly Cell[])[],
  others: Float64Array,
  rank: number,
  penalty: number,
): void {
  const gram = new Float64Array(rank * rank);
  const right = new Float64Array(rank);
  for (const [vector, cells] of cellsOf.entries()) {
    gram.fill(0);
    right.fill(0);
    for (const { at: other, value } of cells)
      for (let a = 0; a < rank; a++) {
        const one = at(others, other * rank + a);
        right[a] = at(right, a) + one * value;
        // The lower triangle is what Cholesky's factors are made of.
        for (let b = 0; b <= a; b++) gram[a * rank + b] = at(gram, a * rank + b) + one * at(others, other * rank + b);
      }
    for (let a = 0; a < rank; a++) gram[a * rank + a] = at(gram, a * rank + a) + penalty;
    cholesky(gram, rank);
    solveCholesky(gram, rank, right);
    vectors.set(right, vector * rank);
  }
}

const at = (values: Float64Array, index: number): number => values[index] as number;

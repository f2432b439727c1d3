/**
 * Which benchmark of a model to run next: the one whose score would take most uncertainty from the other scores that are
 * unknown, for what it costs. Scores of a model are a normal distribution (learn/normal.ts); knowing one of them makes the
 * variance of each other smaller by covariance² / variance, whatever the score turns out to be (Krause, Singh and Guestrin 2008
 * place sensors by the same rule).
 */
import { HumanError } from '../shared/errors.ts';
import { fitNormal, type NormalSettings, usualNormal } from './learn/normal.ts';
import { openPace } from './learn/pace.ts';
import { rowsWithSizes, scoreMatrix } from './learn/score-matrix.ts';
import { choleskyRow, solveCholesky } from './linear-algebra.ts';
import { atOnce, inTurns, type Steps, turns } from './turn.ts';
import type { Configuration, ScoreRecord } from './types.ts';

export interface NextBenchmarkOptions {
  /** Of running a configuration, in any unit; above 0. Default: 1. */
  cost?(configuration: Configuration): number;
  signal?: AbortSignal;
  settings?: NormalSettings;
}

export interface BenchmarkProposal {
  /** What to run. */
  configuration: Configuration;
  /** Mean variance of the other scores that are unknown now, before and after this one is known; scores from 0 to 1. */
  before: number;
  after: number;
  cost: number;
}

export interface BenchmarkProposals {
  /** Scores of the model that are known, and those that are not. */
  known: number;
  open: number;
  /** Largest reduction per cost first. */
  proposals: BenchmarkProposal[];
  /** Why the figures may promise too much, as a sentence; null where there are models enough. */
  caution: string | null;
}

/** Of fewer models than these, correlations of scores are mostly chance: at 10, two unrelated benchmarks correlate by ±0.33. */
const leastModels = 10;

/**
 * @param model name of a model of the records, or a configuration of one without records
 * @throws HumanError where the model is not known, or the records are of fewer than two models
 */
export async function nextBenchmarks(
  records: readonly ScoreRecord[],
  model: string | Configuration,
  { cost = () => 1, signal, settings = usualNormal }: NextBenchmarkOptions = {},
): Promise<BenchmarkProposals> {
  const named = typeof model === 'string' ? records.find((record) => record.model === model) : model;
  if (!named)
    throw new HumanError('bad-input', `No record is of the model "${String(model)}".`, {
      todo: 'Run one benchmark of it, or say its family and size.',
    });
  const turn = turns(signal);
  const matrix = await scoreMatrix(records, turn);
  const rows = matrix.rows.size;
  if (rows < 2)
    throw new HumanError('bad-input', 'The records are of one model: how its scores hang together cannot be told.', {
      todo: 'Add results of other models on the same benchmarks.',
    });
  const columns = matrix.columns.size;
  const { width, whole } = rowsWithSizes(matrix);
  const normal = await fitNormal(whole, rows, width, settings, openPace(signal));
  const row = matrix.rows.get(matrix.rowKey(named));
  const isOpen = (column: number): boolean => row === undefined || Number.isNaN(matrix.values[row * columns + column]);
  const all = Array.from({ length: columns }, (_, column) => column);
  const open = all.filter(isOpen);
  // Sizes are known of every model.
  const known = [
    ...all.filter((column) => !isOpen(column)),
    ...Array.from({ length: width - columns }, (_, at) => columns + at),
  ];
  await turn();
  const covariance = await inTurns(conditionalSteps(normal.covariance, width, open, known), turn);
  const scale = open.map((column) => matrix.deviation[column] as number);
  for (let i = 0; i < open.length; i++)
    for (let j = 0; j < open.length; j++)
      covariance[i * open.length + j] =
        (covariance[i * open.length + j] as number) * (scale[i] as number) * (scale[j] as number);
  const { family, model: name, parameters, trainingFlops } = named;
  const proposals = variancesAfter(covariance, open.length).map(({ before, after }, at): BenchmarkProposal => {
    const { task, subtask, shots, mode, metric } = matrix.columnExamples[open[at] as number] as Configuration;
    const configuration = { family, model: name, parameters, trainingFlops, task, subtask, shots, mode, metric };
    return { configuration, before, after, cost: cost(configuration) };
  });
  const worth = (one: BenchmarkProposal): number => (one.before - one.after) / one.cost;
  return {
    known: columns - open.length,
    open: open.length,
    proposals: proposals.sort((a, b) => worth(b) - worth(a)),
    caution:
      rows < leastModels
        ? `The records are of ${rows} models only: what one benchmark says of another is hardly known, and these figures promise too much.`
        : null,
  };
}

/**
 * Mean variance of the others of n jointly normal values, before and after each of them is known. Its own variance does not
 * count: a score that nothing can foretell is no reason to run it first. 0 where there are no others.
 * @param covariance [n, n]
 */
export function variancesAfter(covariance: Float64Array, n: number): { before: number; after: number }[] {
  let all = 0;
  for (let i = 0; i < n; i++) all += covariance[i * n + i] as number;
  const others = Math.max(1, n - 1);
  return Array.from({ length: n }, (_, known) => {
    const variance = covariance[known * n + known] as number;
    let less = 0;
    if (variance > 0)
      for (let i = 0; i < n; i++) if (i !== known) less += (covariance[i * n + known] as number) ** 2 / variance;
    const before = Math.max(0, all - variance) / others;
    return { before, after: Math.max(0, before - less / others) };
  });
}

/**
 * Covariance of the open values given the known ones: C_oo − C_ok C_kk⁻¹ C_ko.
 * @param covariance [width, width]
 * @returns [open, open]
 */
export const conditionalCovariance = (
  covariance: Float64Array,
  width: number,
  open: readonly number[],
  known: readonly number[],
): Float64Array => atOnce(conditionalSteps(covariance, width, open, known));

/** The same in steps. */
function* conditionalSteps(
  covariance: Float64Array,
  width: number,
  open: readonly number[],
  known: readonly number[],
): Steps<Float64Array> {
  const entry = (a: number, b: number): number => covariance[a * width + b] as number;
  const factor = new Float64Array(known.length ** 2);
  for (const [i, a] of known.entries())
    for (const [j, b] of known.entries()) factor[i * known.length + j] = entry(a, b);
  for (let row = 0; row < known.length; row++) {
    choleskyRow(factor, known.length, row);
    yield;
  }
  const out = new Float64Array(open.length ** 2);
  for (const [i, a] of open.entries()) {
    const weights = Float64Array.from(known, (b) => entry(a, b));
    solveCholesky(factor, known.length, weights);
    for (const [j, b] of open.entries()) {
      let rest = entry(a, b);
      for (const [k, c] of known.entries()) rest -= (weights[k] as number) * entry(c, b);
      out[i * open.length + j] = rest;
    }
    yield;
  }
  return out;
}

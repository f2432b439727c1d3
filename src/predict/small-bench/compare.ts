/**
 * Small benches of several sizes and searches, measured on families that the searches have not seen, and compared with random
 * subsets and with lists of others.
 *
 * Nested folds (Ye, Fu, Ren and Jia 2023, section 4.1): with 6 families there are 30 ordered pairs of a family that is
 * searched with (dev) and one that is measured with (test), the other four being learned from. For each test family a search
 * maximises the mean R² over its five dev families; the subset found is then measured on the test family.
 */
import { HumanError } from '../../shared/errors.ts';
import { Random } from '../../shared/random.ts';
import { type MeanAndSd, meanAndSd } from '../fit.ts';
import { openPace } from '../learn/pace.ts';
import { inTurns, turnsAt } from '../turn.ts';
import { fixedLists, knownOf } from './fixed-lists.ts';
import { foldGroups } from './fold-groups.ts';
import { ClosedFormObjective, foldSteps, type PreparedFold } from './objective.ts';
import { type RankingRecovery, rankingOf } from './ranking.ts';
import {
  type Budget,
  costOf,
  countBudget,
  type FoundSubset,
  fits,
  randomSubset,
  runSearch,
  type SubsetSearch,
} from './search.ts';
import type { ScoreTable } from './table.ts';
import { spectralSteps } from './vectors.ts';

/** A budget with what it is called: a number of subtasks, or a cost with its unit. */
export interface NamedBudget extends Budget {
  /** For people: `8`, `30 min`. */
  title: string;
}

export interface SmallBenchOptions {
  seed?: number;
  /** Subsets that searches without an end look at. Default: 1000. */
  evaluations?: number;
  /** Random subsets of each size. Default: 100. */
  randomSubsets?: number;
  /** Parts that families are put together to, where there are more. Default: 6. */
  groups?: number;
  signal?: AbortSignal;
  /** Longest time of all searches together, in seconds. */
  seconds?: number;
  /** Vectors for searches that cluster, learned of the rows given. Default: {@link spectralVectors}. */
  vectors?(learnFrom: readonly number[]): Promise<Float64Array[]> | Float64Array[];
  progress?(progress: { message: string; fraction: number }, soFar: SmallBenchComparison): void;
}

export interface SmallBenchPoint {
  budget: string;
  /** The subset that is found with all families, as names; for use. */
  subtasks: string[];
  positions: number[];
  cost: number;
  /** Mean R² on the families that it was searched with: higher than on new ones. */
  inSample: number;
  /** Mean R² on families that a search in the same way had not seen; null where it was stopped before. */
  recovery: MeanAndSd | null;
  ranking: RankingRecovery | null;
  /** Of each group, the subset (positions) that was found without it and measured with it; null where it was stopped before. */
  nested: number[][] | null;
  /** The size of random subsets that recover as much, on average; null where the largest ones measured do less. */
  randomSize: number | null;
  ended: FoundSubset['ended'];
}

export interface SmallBenchCurve {
  search: string;
  title: string;
  points: SmallBenchPoint[];
}

export interface RandomSubsets {
  budget: string;
  /** Quantiles of the mean R²: 5 %, 50 % and 95 % of the random subsets. */
  low: number;
  median: number;
  high: number;
  mean: number;
  /** Median over the subsets. */
  tau: number;
  subsets: number;
  /** Mean number of subtasks. */
  size: number;
}

export interface FixedListRecovery {
  name: string;
  title: string;
  /** Of the list, and those among the records. */
  size: number;
  known: number;
  cost: number;
  recovery: MeanAndSd;
  ranking: RankingRecovery | null;
}

export interface SmallBenchComparison {
  rows: number;
  subtasks: number;
  /** What is held out together: names of families, or of models where there are too few families. */
  groups: string[][];
  heldOut: 'families' | 'models';
  /** R² with nothing known of the held-out families. */
  nothing: MeanAndSd | null;
  curves: SmallBenchCurve[];
  random: RandomSubsets[];
  fixed: FixedListRecovery[];
  evaluations: number;
  seconds: number;
  ended: FoundSubset['ended'];
}

/**
 * Looks for small benches and measures them. First come the subsets for use, then what they are compared with, then the
 * searches that measure them; stopped or out of time, it returns what it has.
 * @throws HumanError where a budget leaves nothing to foretell
 */
export async function findSmallBenches(
  table: ScoreTable,
  searches: readonly SubsetSearch[],
  budgets: readonly NamedBudget[],
  options: SmallBenchOptions = {},
): Promise<SmallBenchComparison> {
  const { seed = 0, evaluations = 1000, randomSubsets = 100, groups: parts = 6, signal, progress } = options;
  // The clock starts with the searches: what is learned before them takes as long as it takes.
  let begun = performance.now();
  const elapsed = (): number => (performance.now() - begun) / 1000;
  const width = table.subtasks.length;
  for (const budget of budgets) {
    const cheapest = Math.min(...budget.costs);
    if (cheapest > budget.limit)
      throw new HumanError('bad-input', `No subtask is within the budget of ${budget.title}.`, {
        todo: 'Choose a larger budget.',
      });
    if (fits(budget, [...Array(width).keys()]))
      throw new HumanError(
        'bad-input',
        `All ${width} subtasks are within the budget of ${budget.title}: nothing is left to foretell.`,
        {
          todo: 'Choose a smaller budget.',
        },
      );
  }
  const { groups, heldOut, names } = foldGroups(table, parts);
  const out: SmallBenchComparison = {
    rows: table.rows.length,
    subtasks: width,
    groups: names,
    heldOut,
    nothing: null,
    curves: searches.map(({ name, title }) => ({ search: name, title, points: [] })),
    random: [],
    fixed: [],
    evaluations: 0,
    seconds: 0,
    ended: 'done',
  };
  // Searches share the time: each may take its part of what is left.
  const runs = searches.length * budgets.length * (groups.length + 1);
  let run = 0;
  const work = runs + budgets.length + groups.length;
  let worked = 0;
  const over = (): boolean => {
    if (signal?.aborted) out.ended = 'stopped';
    else if (elapsed() > (options.seconds ?? Number.POSITIVE_INFINITY)) out.ended = 'time';
    return out.ended !== 'done';
  };
  // A stop does not throw here: it ends with what there is.
  const pace = openPace();
  const turn = turnsAt(pace);
  const tell = async (message: string): Promise<void> => {
    out.seconds = elapsed();
    progress?.({ message, fraction: Math.min(1, worked / work) }, out);
    await pace.pause();
  };
  const search = async (
    one: SubsetSearch,
    objective: ClosedFormObjective,
    budget: NamedBudget,
    vectors: readonly Float64Array[],
    message: string,
  ): Promise<FoundSubset> => {
    const left = (options.seconds ?? Number.POSITIVE_INFINITY) - elapsed();
    const found = await runSearch(one, objective, budget, vectors, {
      seed,
      evaluations,
      ...(signal && { signal }),
      seconds: Math.max(0, left / Math.max(1, runs - run)),
      progress: ({ value, done }) =>
        progress?.(
          { message: `${message}: R² ${value.toFixed(3)}`, fraction: Math.min(1, (worked + done) / work) },
          out,
        ),
    });
    run++;
    worked++;
    out.evaluations += found.evaluations;
    return found;
  };
  const rowsBut = (...without: number[]): number[] =>
    groups.flatMap((rows, at) => (without.includes(at) ? [] : rows)).sort((a, b) => a - b);
  const vectorsOf = async (rows: readonly number[]): Promise<readonly Float64Array[]> =>
    options.vectors ? options.vectors(rows) : inTurns(spectralSteps(table, rows), turn);

  // For use: one family held out at a time, all others learned from.
  const folds: PreparedFold[] = [];
  for (const [at, held] of groups.entries())
    folds.push(await inTurns(foldSteps(table, { held, learnFrom: rowsBut(at) }), turn));
  const whole = new ClosedFormObjective(width, folds);
  const allVectors = await vectorsOf([...table.rows.keys()]);
  begun = performance.now();
  for (const [at, one] of searches.entries())
    for (const budget of budgets) {
      // Out of time, each search still has its first steps.
      if (over() && out.ended === 'stopped') break;
      const found = await search(one, whole, budget, allVectors, `${one.title}, ${budget.title}`);
      if (found.ended === 'stopped') out.ended = 'stopped';
      out.curves[at]?.points.push({
        budget: budget.title,
        subtasks: found.subset.map((k) => table.subtasks[k]?.name ?? ''),
        positions: found.subset,
        cost: costOf(budget, found.subset),
        inSample: found.value,
        recovery: null,
        ranking: null,
        nested: null,
        randomSize: null,
        ended: found.ended,
      });
      await tell(`${one.title}, ${budget.title}: found`);
    }

  // Ordered pairs: [test][dev], of which the same fold serves as [dev][test] the other way round.
  const pairs = groups.map(() => new Map<number, PreparedFold>());
  for (const [held, rows] of groups.entries()) {
    if (over()) return finish();
    for (const other of groups.keys()) {
      if (other === held) continue;
      const fold = foldSteps(table, { held: rows, learnFrom: rowsBut(held, other) });
      pairs[held]?.set(other, await inTurns(fold, turn));
      if (pace.due()) await tell(`Folds: ${names[held]?.join(', ')} held out`);
      if (over()) return finish();
    }
    worked++;
    await tell(`Folds: ${names[held]?.join(', ')} held out`);
  }
  const tests = groups.map((_, test) => new ClosedFormObjective(width, [...(pairs[test]?.values() ?? [])]));
  const measured = async (subset: readonly number[]): Promise<MeanAndSd> => {
    const values: number[] = [];
    for (const test of tests) values.push(await inTurns(test.valueSteps(subset), turn));
    return recovery(values);
  };
  out.nothing = await measured([]);
  const ranked = rankingOf(table, groups);
  const rankedBy = async (subsetOf: (group: number) => readonly number[]): Promise<RankingRecovery | null> => {
    const predicted: Float64Array[] = [];
    for (const group of groups.keys()) {
      await turn();
      predicted.push(whole.predictions(subsetOf(group), group));
    }
    await turn();
    return ranked((group) => predicted[group] as Float64Array);
  };

  for (const list of fixedLists) {
    const known = knownOf(table, list);
    // Most of the table, or hardly any of the list, is no comparison.
    if (known.length < 2 || known.length > width / 2) continue;
    out.fixed.push({
      name: list.name,
      title: list.title,
      size: list.subtasks.length,
      known: known.length,
      cost: budgets[0] ? costOf(budgets[0], known) : known.length,
      recovery: await measured(known),
      ranking: await rankedBy(() => known),
    });
  }
  const random = new Random(seed + 1);
  for (const budget of budgets) {
    if (over()) return finish();
    const values: number[] = [];
    const taus: number[] = [];
    let size = 0;
    for (let at = 0; at < randomSubsets && !signal?.aborted; at++) {
      const subset = randomSubset(budget, random);
      size += subset.length / randomSubsets;
      values.push((await measured(subset)).mean ?? Number.NaN);
      taus.push((await rankedBy(() => subset))?.tau ?? Number.NaN);
      if (pace.due()) await tell(`random subsets, ${budget.title}: ${at + 1} of ${randomSubsets}`);
    }
    // Quantiles of a part are of no use: a stopped part is left out.
    if (values.length < randomSubsets) return finish();
    out.random.push({
      budget: budget.title,
      low: quantile(values, 0.05),
      median: quantile(values, 0.5),
      high: quantile(values, 0.95),
      mean: values.reduce((sum, value) => sum + value, 0) / values.length,
      tau: quantile(taus, 0.5),
      subsets: values.length,
      size,
    });
    worked++;
    await tell(`random subsets, ${budget.title}`);
  }

  const vectorsWithout: (readonly Float64Array[])[] = [];
  for (const test of groups.keys()) {
    if (over()) return finish();
    try {
      vectorsWithout.push(await vectorsOf(rowsBut(test)));
    } catch (thrown) {
      // A predictor that is stopped throws.
      if (over()) return finish();
      throw thrown;
    }
  }
  for (const [at, one] of searches.entries())
    for (const [position, budget] of budgets.entries()) {
      const point = out.curves[at]?.points[position];
      if (!point || over()) return finish();
      const values: number[] = [];
      const subsets: number[][] = [];
      for (const test of groups.keys()) {
        const devFolds = [...groups.keys()].flatMap((dev) => (dev === test ? [] : (pairs[dev]?.get(test) ?? [])));
        const found = await search(
          one,
          new ClosedFormObjective(width, devFolds),
          budget,
          vectorsWithout[test] ?? [],
          `${one.title}, ${budget.title}, measured with ${names[test]?.join(', ')}`,
        );
        if (found.ended === 'stopped') out.ended = 'stopped';
        if (over()) return finish();
        subsets.push(found.subset);
        const of = tests[test];
        values.push(of ? await inTurns(of.valueSteps(found.subset), turn) : Number.NaN);
      }
      point.recovery = recovery(values);
      point.nested = subsets;
      point.ranking = await rankedBy((group) => subsets[group] ?? []);
      point.randomSize = randomSizeOf(out.random, point.recovery.mean);
      await tell(`${one.title}, ${budget.title}: measured`);
    }
  return finish();

  function finish(): SmallBenchComparison {
    out.seconds = elapsed();
    return out;
  }
}

const recovery = (values: readonly number[]): MeanAndSd =>
  meanAndSd(values.map((value) => (Number.isFinite(value) ? value : null)));

/** Between the sizes measured, R² is taken to grow evenly. */
function randomSizeOf(random: readonly RandomSubsets[], value: number | null): number | null {
  if (value === null) return null;
  const sorted = [...random].sort((a, b) => a.size - b.size);
  for (const [at, { size, mean }] of sorted.entries()) {
    if (mean < value) continue;
    const before = sorted[at - 1];
    if (!before || before.mean >= mean) return size;
    return before.size + ((size - before.size) * (value - before.mean)) / (mean - before.mean);
  }
  return null;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)] ?? Number.NaN, sorted[Math.ceil(at)] ?? Number.NaN];
  return low + (high - low) * (at - Math.floor(at));
}

/** Budgets of numbers of subtasks. */
export const countBudgets = (subtasks: number, counts: readonly number[]): NamedBudget[] =>
  counts.map((count) => ({ ...countBudget(subtasks, count), title: `${count}` }));

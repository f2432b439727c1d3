/** A small-bench search as the predictor page shows it. */
import {
  findSmallBenches,
  inTurns,
  type ScoreRecord,
  type ScoreTable,
  type SmallBenchComparison,
  type SubsetSearch,
  scoreTableSteps,
  subtaskCosts,
  turns,
} from '../predict/index.ts';
import type { RunFolder } from '../runs/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { BudgetUnit, PredictionSettings, SmallBenchResult } from '../shared/predictions.ts';

export interface SmallBenchRequest {
  search: SubsetSearch;
  budgets: readonly number[];
  budgetIn: PredictionSettings['budgetIn'];
  /** What costs are measured with. */
  runs: readonly RunFolder[];
  seconds: number;
  seed: number;
  digest: string;
}

/** Any-time: cancelled or out of time, it returns the best so far. */
export async function searchSmallBench(
  records: readonly ScoreRecord[],
  { search, budgets, budgetIn, runs, seconds, seed, digest }: SmallBenchRequest,
  hooks: {
    signal: AbortSignal;
    progress(progress: { message: string; fraction: number; best: SmallBenchResult }): void;
  },
): Promise<SmallBenchResult> {
  const table = await inTurns(scoreTableSteps(records), turns());
  const width = table.subtasks.length;
  const { unit, costs, perUnit } = costsOf(table, budgetIn, runs);
  const whole = costs.reduce((sum, cost) => sum + cost, 0);
  const cheapest = Math.min(...costs);
  // A bench of all tasks leaves nothing to foretell, one of none foretells nothing.
  const possible = [...new Set(budgets)]
    .filter((budget) => budget * perUnit < whole && budget * perUnit >= cheapest)
    .sort((a, b) => a - b);
  if (possible.length === 0)
    throw new HumanError(
      'bad-input',
      `No budget is between the cheapest task and all ${width} tasks: ${amount(cheapest / perUnit)} and ${amount(whole / perUnit)} ${unit}.`,
      { todo: 'Choose other budgets.' },
    );
  const named = possible.map((budget) => ({ title: String(budget), costs, limit: budget * perUnit }));
  const result = (found: SmallBenchComparison): SmallBenchResult => ({
    search: search.name,
    title: search.title,
    unit,
    curve: (found.curves[0]?.points ?? []).map((point) => ({
      budget: Number(point.budget),
      subtasks: [...point.subtasks],
      inSample: point.inSample,
      recovery: point.recovery,
      tau: point.ranking?.tau ?? null,
      randomSize: point.randomSize,
    })),
    random: found.random.map(({ budget, low, median, high, subsets }) => ({
      budget: Number(budget),
      low,
      median,
      high,
      subsets,
    })),
    fixed: found.fixed.map(({ title, size, known, cost, recovery, ranking }) => ({
      title,
      size,
      known,
      cost: cost / perUnit,
      recovery,
      tau: ranking?.tau ?? null,
    })),
    evaluations: found.evaluations,
    seconds: found.seconds,
    ended: found.ended,
    digest,
    rows: table.rows.length,
    subtasks: width,
    heldOut: found.heldOut,
    groups: found.groups.length,
    leftOut: table.leftOut,
  });
  const told = throttled();
  const found = await findSmallBenches(table, [search], named, {
    seed,
    seconds,
    signal: hooks.signal,
    progress: ({ message, fraction }, soFar) => {
      if (told()) hooks.progress({ message, fraction, best: result(soFar) });
    },
  });
  return result(found);
}

/** What each subtask costs, and how much of that a unit of budgets is. */
function costsOf(
  table: ScoreTable,
  budgetIn: PredictionSettings['budgetIn'],
  runs: readonly RunFolder[],
): { unit: BudgetUnit; costs: Float64Array; perUnit: number } {
  if (budgetIn === 'tasks')
    return { unit: 'tasks', costs: new Float64Array(table.subtasks.length).fill(1), perUnit: 1 };
  const { costs, unit } = subtaskCosts(table, runs);
  return unit === 'seconds' ? { unit: 'minutes', costs, perUnit: 60 } : { unit: 'items', costs, perUnit: 1 };
}

const amount = (value: number): string => value.toLocaleString('en-US', { maximumSignificantDigits: 3 });

/** True at most five times a second. */
function throttled(): () => boolean {
  let last = 0;
  return () => {
    const now = performance.now();
    if (now - last < 200) return false;
    last = now;
    return true;
  };
}

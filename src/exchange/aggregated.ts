/** Scores of a run of which only the means are known: no items, no format, and as many of S, L and LL as the metrics say. */
import { share } from '../metrics/index.ts';
import type { MetricScore, RunSummary, Scores, Share } from '../shared/results.ts';
import type { Fields, ForeignMetric, ForeignTask } from './foreign.ts';
import { planFilters } from './sample-judge.ts';

/** Metrics that are the share of right answers. */
const isAccuracy = (metric: string): boolean =>
  /(?:^|[_\s-])(?:acc|accuracy|exact_match|exact match|em|pass@\d+|pass_at_\d+|correct)(?:$|[_\s-])/i.test(metric);

const unknown: Share = { value: null, low: 0, high: 1, count: 0, n: 0 };

/** A mean with its interval: Wilson's where it is a share of whole items, else from the standard error. */
function shareOfMean({ value, standardError }: ForeignMetric, n: number | null): Share {
  if (value === null || value < 0 || value > 1) return unknown;
  const items = n ?? 0;
  const count = value * items;
  if (items > 0 && Math.abs(count - Math.round(count)) < 1e-6 * Math.max(1, items))
    return share(Math.round(count), items);
  const half = standardError === null ? null : 1.959963984540054 * standardError;
  return {
    value,
    low: half === null ? 0 : Math.max(0, value - half),
    high: half === null ? 1 : Math.min(1, value + half),
    count,
    n: items,
  };
}

/** Metrics of a file that Softbench wrote itself: F, S, K, L and LL. */
const ownPrefix = 'softbench.';

/** The shares that a file of Softbench's own has, by their letters. */
export function ownShares(task: ForeignTask): Partial<Record<'F' | 'S' | 'K' | 'L' | 'LL', Share>> {
  return Object.fromEntries(
    task.metrics.flatMap((metric) =>
      metric.metric.startsWith(ownPrefix)
        ? [[metric.metric.slice(ownPrefix.length), shareOfMean(metric, metric.n ?? task.n)]]
        : [],
    ),
  );
}

/** @param config TaskConfig of the task, where the file has it */
export function aggregatedScores(task: ForeignTask, config: Fields): Scores {
  const filters = [...new Set(task.metrics.map(({ filter }) => filter))];
  const plan = planFilters(config, filters);
  const of = (filter: string | null): Share => {
    const metric = task.metrics.find((each) => each.filter === filter && isAccuracy(each.metric));
    return metric ? shareOfMean(metric, task.n) : unknown;
  };
  // Without the configuration: accuracy is of likelihoods, exact match of outputs.
  const generates =
    task.outputType === null
      ? !task.metrics.some(({ metric }) => /^acc(?:_norm|_bytes|_mutual_info)?$/.test(metric))
      : task.outputType === 'generate_until' || task.outputType === 'greedy_until';
  const S = generates ? of(plan.strict) : unknown;
  const likelihood = task.metrics.find(({ metric }) => metric === 'acc') ?? null;
  const own = ownShares(task);
  return {
    n: task.n ?? 0,
    F: own.F ?? unknown,
    S: own.S ?? S,
    K: { ...(own.K ?? unknown), unreliable: !own.K || own.K.high - own.K.low > 0.1 },
    L: own.L ?? (generates && plan.lenient !== null ? of(plan.lenient) : unknown),
    LL: own.LL ?? (!generates && likelihood ? shareOfMean(likelihood, task.n) : null),
    constant: null,
    commonest: null,
    chance: null,
    causes: {},
  };
}

/** The file's metrics as a run reports its own. */
export const measuresOf = (task: ForeignTask): MetricScore[] =>
  task.metrics
    .filter(({ metric }) => !metric.startsWith(ownPrefix))
    .map(({ metric, filter, value, standardError, higherIsBetter, n }) => ({
      metric,
      filter,
      value,
      standardError,
      higherIsBetter,
      n: n ?? task.n ?? 0,
    }));

export const noFacts: Omit<RunSummary, 'schema' | 'run' | 'mode' | 'scores'> = {
  seconds: 0,
  tuningSeconds: 0,
  promptTokens: 0,
  outputTokens: 0,
  peakMemoryBytes: null,
  bestStep: null,
};

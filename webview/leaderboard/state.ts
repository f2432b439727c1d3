/** What the user has chosen on the leaderboard page, as it is kept; and what is shown of it for the runs that there are. */
import { figureOf, metricRows, shareNames } from '../../src/metrics/index.ts';
import { isPromptMode, type PromptMode, promptModes } from '../../src/shared/modes.ts';
import type { LeaderboardView } from '../../src/shared/protocol.ts';

export const allTasks = 'all';

export const groupings = ['none', 'family', 'post-training', 'origin'] as const;
export type Grouping = (typeof groupings)[number];

/** By a column's key; the rank column is the order of the page at first. */
export interface Sorting {
  column: string;
  descending: boolean;
}

export interface PageState {
  /** The benchmark that ranks, or {@link allTasks}. */
  task: string;
  /** The mode that ranks. */
  mode: PromptMode;
  /** Modes shown beside it. */
  besides: PromptMode[];
  /** F, S, K, L, LL, or the key of a metric of the benchmark files. */
  metric: string;
  search: string;
  sort: Sorting;
  group: Grouping;
  groupBenchmarks: boolean;
  /** Keys of groups of which only the heading is shown. */
  collapsed: string[];
  hiddenModels: string[];
  hiddenBenchmarks: string[];
  /** Intervals below the values. */
  intervals: boolean;
  /** The mode of the post-trained models in the rank correlations. */
  target: PromptMode;
  /** What the scatter shows: a benchmark, or {@link allTasks} for the averaged score. */
  pairsOf: string;
  /** Whether the section on base and post-trained models is open; null: as the room allows. */
  pairsOpen: boolean | null;
}

/** Only what was chosen is kept: the rest follows what there is. */
export type SavedState = Partial<PageState>;

const texts = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined;

/** One row a member: how it is read from what was kept, which another version may have written. */
const readers: { [K in keyof PageState]: (value: unknown) => PageState[K] | undefined } = {
  task: (value) => (typeof value === 'string' ? value : undefined),
  mode: (value) => (isPromptMode(value) ? value : undefined),
  besides: (value) => texts(value)?.filter(isPromptMode),
  metric: (value) => (typeof value === 'string' ? value : undefined),
  search: (value) => (typeof value === 'string' ? value : undefined),
  sort(value) {
    if (typeof value !== 'object' || value === null) return undefined;
    const { column, descending } = value as Record<string, unknown>;
    return typeof column === 'string' ? { column, descending: descending === true } : undefined;
  },
  group: (value) => groupings.find((one) => one === value),
  groupBenchmarks: (value) => (typeof value === 'boolean' ? value : undefined),
  collapsed: texts,
  hiddenModels: texts,
  hiddenBenchmarks: texts,
  intervals: (value) => (typeof value === 'boolean' ? value : undefined),
  target: (value) => (isPromptMode(value) ? value : undefined),
  pairsOf: (value) => (typeof value === 'string' ? value : undefined),
  pairsOpen: (value) => (typeof value === 'boolean' ? value : undefined),
};

export function readState(saved: unknown): SavedState {
  if (typeof saved !== 'object' || saved === null) return {};
  return Object.fromEntries(
    Object.entries(readers).flatMap(([name, read]) => {
      const value = read((saved as Record<string, unknown>)[name]);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const knownMetrics = new WeakMap<LeaderboardView['cells'], string[]>();

/** F, S, K, L and LL first, as far as there are any, then the metrics of the benchmark files. */
export function metricsOf({ cells }: LeaderboardView): string[] {
  const known = knownMetrics.get(cells);
  if (known) return known;
  const shares = shareNames.filter((name) => cells.some(({ cell }) => figureOf(cell.summary, name) !== null));
  const found = [...shares, ...metricRows(cells.map(({ cell }) => cell.summary)).map(({ key }) => key)];
  knownMetrics.set(cells, found);
  return found;
}

const knownModes = new WeakMap<LeaderboardView['cells'], ReadonlySet<PromptMode>>();

export function modesOf({ cells, running = [], predicted = [] }: LeaderboardView): PromptMode[] {
  const ofCells = knownModes.get(cells) ?? new Set(cells.map(({ mode }) => mode));
  knownModes.set(cells, ofCells);
  const others = new Set([...running, ...predicted].map(({ mode }) => mode));
  return promptModes.filter((mode) => ofCells.has(mode) || others.has(mode));
}

export const rankColumn = (mode: PromptMode): string => `rank ${mode}`;

/** What is chosen, or the nearest that the view has. */
export function resolved(saved: SavedState, view: LeaderboardView): PageState {
  const modes = modesOf(view);
  const mode =
    saved.mode && modes.includes(saved.mode)
      ? saved.mode
      : (modes.find((each) => each === 'soft-prompt') ?? modes[0] ?? 'zero-shot');
  const known = metricsOf(view);
  const has = (task: string | undefined): string =>
    task !== undefined && view.benchmarks.some((each) => each.task === task) ? task : allTasks;
  return {
    task: has(saved.task),
    mode,
    besides: (saved.besides ?? []).filter((each) => each !== mode && modes.includes(each)),
    metric: known.find((each) => each === saved.metric) ?? (known.includes('S') ? 'S' : (known[0] ?? 'S')),
    search: saved.search ?? '',
    sort: saved.sort ?? { column: rankColumn(mode), descending: false },
    group: saved.group ?? 'none',
    groupBenchmarks: saved.groupBenchmarks ?? false,
    collapsed: saved.collapsed ?? [],
    hiddenModels: saved.hiddenModels ?? [],
    hiddenBenchmarks: saved.hiddenBenchmarks ?? [],
    intervals: saved.intervals ?? true,
    target: saved.target ?? 'zero-shot',
    pairsOf: has(saved.pairsOf),
    pairsOpen: saved.pairsOpen ?? null,
  };
}

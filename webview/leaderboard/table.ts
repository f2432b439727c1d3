/** The leaderboard as rows and columns: what is shown, in which order, and what each cell says. Pure. */
import {
  type Figure,
  figureOf,
  meanScore,
  type RankChoice,
  type RankedModel,
  rankModels,
  type Score,
  tasksWith,
} from '../../src/metrics/index.ts';
import { familyOf, nameOfBase } from '../../src/shared/model-names.ts';
import { byMode, type PromptMode } from '../../src/shared/modes.ts';
import type { LeaderboardCell, LeaderboardView, PredictedCell, RunningCell } from '../../src/shared/protocol.ts';
import { allTasks, type PageState, rankColumn, type Sorting } from './state.ts';

export type Column =
  | { kind: 'model'; key: 'model' }
  | { kind: 'rank'; key: string; mode: PromptMode }
  /** The mean over the benchmarks that count. */
  | { kind: 'mean'; key: string; mode: PromptMode; tasks: string[] }
  | { kind: 'task'; key: string; mode: PromptMode; task: string; group: string | null }
  /** A group of benchmarks of which only the mean is shown. */
  | { kind: 'group'; key: string; mode: PromptMode; group: string; tasks: string[] };

export type Row =
  | { kind: 'group'; key: string; label: string; count: number; collapsed: boolean }
  | { kind: 'model'; key: string; model: string };

export type CellKind = 'measured' | 'imported' | 'predicted' | 'running' | 'missing';

export interface CellContent {
  kind: CellKind;
  score: Score | null;
  cell?: LeaderboardCell;
  predicted?: PredictedCell;
  running?: RunningCell;
  /** Benchmarks behind a mean, and those that are missing. */
  of?: { tasks: number; missing: number };
}

export interface RankedMode {
  mode: PromptMode;
  tasks: string[];
  models: Map<string, RankedModel>;
  order: RankedModel[];
}

export interface Table {
  columns: Column[];
  rows: Row[];
  ranked: RankedMode[];
  /** Models that are there and not hidden, whatever is searched for: those that rank. */
  models: string[];
  /** Benchmarks that are there and not hidden. */
  tasks: string[];
  hidden: { models: string[]; benchmarks: string[] };
  /** Models that the search leaves out. */
  unmatched: number;
  cell(model: string, column: Column): CellContent;
}

const at = (model: string, task: string, mode: string): string => `${model}\n${task}\n${mode}`;

/** What is worked out of the cells once, for as long as they are the same: sorting and searching go on from there. */
interface Index {
  /** Models in the order they occur. */
  models: Set<string>;
  /** Results by {@link at} and, in it, their figures by metric. */
  cells: Map<string, LeaderboardCell>;
  figures: Map<string, Map<string, Figure | null>>;
  ranked: Map<string, RankedMode>;
}
const indexes = new WeakMap<LeaderboardView['cells'], Index>();

function indexOf({ cells }: LeaderboardView): Index {
  const known = indexes.get(cells);
  if (known) return known;
  const index: Index = {
    models: new Set(cells.map(({ model }) => model)),
    cells: new Map(cells.map(({ model, task, mode, cell }) => [at(model, task, mode), cell])),
    figures: new Map(),
    ranked: new Map(),
  };
  indexes.set(cells, index);
  return index;
}

/** Benchmarks by the first word of their names, where two or more share it: `mmlu_law` and `mmlu_virology` are `mmlu`. */
export function benchmarkGroups(tasks: readonly string[]): Map<string, string> {
  const first = (task: string): string | null => /^([^_\s]+)[_\s]/.exec(task)?.[1] ?? null;
  const sizes = new Map<string, number>();
  for (const task of tasks) {
    const group = first(task) ?? task;
    sizes.set(group, (sizes.get(group) ?? 0) + 1);
  }
  return new Map(
    tasks.flatMap((task): [string, string][] => {
      const group = first(task) ?? task;
      return (sizes.get(group) ?? 0) > 1 ? [[task, group]] : [];
    }),
  );
}

export function tableOf(view: LeaderboardView, state: PageState): Table {
  const { metric, mode, besides } = state;
  const isHidden = { models: new Set(state.hiddenModels), benchmarks: new Set(state.hiddenBenchmarks) };
  const index = indexOf(view);
  const allModels = [...new Set([...view.models.map(({ name }) => name), ...index.models])];
  const models = allModels.filter((name) => !isHidden.models.has(name));
  const tasks = view.benchmarks.map(({ task }) => task).filter((task) => !isHidden.benchmarks.has(task));
  const modes = [mode, ...besides.toSorted((a, b) => byMode({ mode: a }, { mode: b }))];
  const ranked = modes.map((each) => {
    const key = JSON.stringify([each, metric, state.task, models, tasks]);
    const known = index.ranked.get(key) ?? rankedMode(view, state, each, models, tasks);
    index.ranked.set(key, known);
    return known;
  });

  const { cells } = index;
  const figures = index.figures.get(metric) ?? new Map<string, Figure | null>();
  index.figures.set(metric, figures);
  const figureAt = (key: string, cell: LeaderboardCell): Figure | null => {
    const known = figures.get(key);
    if (known !== undefined) return known;
    const figure = figureOf(cell.summary, metric);
    figures.set(key, figure);
    return figure;
  };
  const running = new Map((view.running ?? []).map((each) => [at(each.model, each.task, each.mode), each]));
  const predicted = new Map(
    (view.predicted ?? [])
      .filter((each) => each.metric === metric)
      .map((each) => [at(each.model, each.task, each.mode), each]),
  );
  const one = (model: string, task: string, of: PromptMode): CellContent => {
    const key = at(model, task, of);
    const underWay = running.get(key);
    const cell = cells.get(key);
    const score = cell ? figureAt(key, cell) : null;
    if (cell && score)
      return { kind: cell.imported ? 'imported' : 'measured', score, cell, ...(underWay && { running: underWay }) };
    if (underWay) return { kind: 'running', score: partial(underWay, metric), running: underWay };
    const guess = predicted.get(key);
    if (guess) return { kind: 'predicted', score: scoreOf(guess, view, metric), predicted: guess };
    return { kind: 'missing', score: null };
  };
  const several = (model: string, of: PromptMode, counted: readonly string[]): CellContent => {
    const parts = counted.flatMap((task) => {
      const key = at(model, task, of);
      const cell = cells.get(key);
      const figure = cell && figureAt(key, cell);
      return figure ? [{ figure, imported: cell.imported !== undefined }] : [];
    });
    return {
      kind: parts.length === 0 ? 'missing' : parts.every(({ imported }) => imported) ? 'imported' : 'measured',
      score: meanScore(parts.map(({ figure }) => figure)),
      of: { tasks: counted.length, missing: counted.length - parts.length },
    };
  };
  const cell = (model: string, column: Column): CellContent => {
    if (column.kind === 'task') return one(model, column.task, column.mode);
    if (column.kind === 'mean' || column.kind === 'group') return several(model, column.mode, column.tasks);
    return { kind: 'missing', score: null };
  };
  const columns = columnsOf(state, ranked, tasks, modes, (task, of) =>
    models.some((model) => one(model, task, of).kind !== 'missing'),
  );
  const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = models.filter((model) => words.every((word) => model.toLowerCase().includes(word)));
  return {
    columns,
    rows: rowsOf(view, state, sorted(found, state.sort, columns, ranked, cell)),
    ranked,
    models,
    tasks,
    hidden: {
      models: allModels.filter((name) => isHidden.models.has(name)),
      benchmarks: view.benchmarks.map(({ task }) => task).filter((task) => isHidden.benchmarks.has(task)),
    },
    unmatched: models.length - found.length,
    cell,
  };
}

function rankedMode(
  view: LeaderboardView,
  { task, metric }: PageState,
  mode: PromptMode,
  models: readonly string[],
  shown: readonly string[],
): RankedMode {
  // A benchmark that is chosen ranks, hidden or not.
  const tasks = task === allTasks ? tasksWith(view, mode, metric).filter((each) => shown.includes(each)) : [task];
  const choice: RankChoice = { tasks, mode, metric, models: new Set(models) };
  const order = rankModels(view, choice);
  return { mode, tasks, order, models: new Map(order.map((entry) => [entry.model, entry])) };
}

function columnsOf(
  { groupBenchmarks, collapsed, task: ranking }: PageState,
  ranked: readonly RankedMode[],
  tasks: readonly string[],
  modes: readonly PromptMode[],
  hasSome: (task: string, mode: PromptMode) => boolean,
): Column[] {
  const [first, ...others] = ranked;
  const mean = ({ mode, tasks: counted }: RankedMode): Column[] =>
    ranking === allTasks && counted.length > 1 ? [{ kind: 'mean', key: `mean ${mode}`, mode, tasks: counted }] : [];
  const groups = groupBenchmarks ? benchmarkGroups(tasks) : new Map<string, string>();
  const ordered = groupBenchmarks
    ? // Stable: groups where their first benchmark stands.
      [...new Set(tasks.map((task) => groups.get(task) ?? task))].flatMap((group) =>
        tasks.filter((task) => (groups.get(task) ?? task) === group),
      )
    : tasks;
  const done = new Set<string>();
  return [
    ...(first ? [{ kind: 'rank' as const, key: rankColumn(first.mode), mode: first.mode }] : []),
    { kind: 'model', key: 'model' },
    ...(first ? mean(first) : []),
    ...others.flatMap((each): Column[] => [
      { kind: 'rank', key: rankColumn(each.mode), mode: each.mode },
      ...mean(each),
    ]),
    ...ordered.flatMap((task): Column[] => {
      const group = groups.get(task) ?? null;
      const shown = modes.filter((mode) => hasSome(task, mode));
      if (group === null || !collapsed.includes(benchmarkGroupKey(group)))
        return shown.map((mode) => ({ kind: 'task', key: `task ${mode} ${task}`, mode, task, group }));
      if (done.has(group)) return [];
      done.add(group);
      const members = tasks.filter((each) => groups.get(each) === group);
      return modes
        .map((mode) => ({ mode, with: members.filter((each) => hasSome(each, mode)) }))
        .filter((each) => each.with.length > 0)
        .map(({ mode, with: counted }) => ({
          kind: 'group',
          key: `group ${mode} ${group}`,
          mode,
          group,
          tasks: counted,
        }));
    }),
  ];
}

export const benchmarkGroupKey = (group: string): string => `benchmarks ${group}`;
const modelGroupKey = (group: string): string => `models ${group}`;

/** Values in the order asked for; what has none, or a predicted one only, comes last either way. */
function sorted(
  models: readonly string[],
  { column: key, descending }: Sorting,
  columns: readonly Column[],
  ranked: readonly RankedMode[],
  cell: Table['cell'],
): string[] {
  const column = columns.find((each) => each.key === key) ?? columns[0];
  const byName = (a: string, b: string): number => a.localeCompare(b, undefined, { numeric: true });
  if (!column) return [...models].sort(byName);
  if (column.kind === 'model') return [...models].sort((a, b) => (descending ? byName(b, a) : byName(a, b)));
  if (column.kind === 'rank') {
    const order = ranked.find(({ mode }) => mode === column.mode)?.order ?? [];
    const places = new Map(order.map(({ model, rank, score }, place) => [model, { place, rank, score }]));
    const placeOf = (model: string): number => {
      const found = places.get(model);
      if (!found) return Number.POSITIVE_INFINITY;
      return found.rank === null ? 1e6 + found.place : descending ? -found.place : found.place;
    };
    return [...models].sort((a, b) => placeOf(a) - placeOf(b) || byName(a, b));
  }
  const values = new Map(
    models.map((model) => {
      const { kind, score, of } = cell(model, column);
      const stage = score === null ? 3 : kind === 'predicted' || kind === 'running' ? 2 : of && of.missing > 0 ? 1 : 0;
      return [model, { stage, value: score?.value ?? 0 }];
    }),
  );
  return [...models].sort((a, b) => {
    const [x, y] = [values.get(a), values.get(b)];
    if (!x || !y) return 0;
    return x.stage - y.stage || (descending ? y.value - x.value : x.value - y.value) || byName(a, b);
  });
}

/** The group of a model by each way of grouping. One row a way. */
const groupNames: Record<Exclude<PageState['group'], 'none'>, (view: LeaderboardView) => (model: string) => string> = {
  family: () => familyOf,
  'post-training': ({ links = [] }) => {
    const [postTrained, bases] = [
      new Set(links.map((link) => link.postTrained)),
      new Set(links.map((link) => link.base)),
    ];
    return (model) =>
      postTrained.has(model) || nameOfBase(model) !== null
        ? 'Post-trained'
        : bases.has(model)
          ? 'Base, with a post-trained version here'
          : 'Base or unknown';
  },
  origin: ({ cells }) => {
    const measured = new Set(cells.filter(({ cell }) => !cell.imported).map(({ model }) => model));
    const imported = new Set(cells.filter(({ cell }) => cell.imported).map(({ model }) => model));
    return (model) => (measured.has(model) ? 'Measured here' : imported.has(model) ? 'Imported' : 'Not run');
  },
};

function rowsOf(view: LeaderboardView, { group, collapsed }: PageState, models: readonly string[]): Row[] {
  const row = (model: string): Row => ({ kind: 'model', key: `model ${model}`, model });
  if (group === 'none') return models.map(row);
  const nameOf = groupNames[group](view);
  // Groups in the order of their first models, so that the order asked for holds among groups too.
  const members = new Map<string, string[]>();
  for (const model of models) {
    const name = nameOf(model);
    members.set(name, [...(members.get(name) ?? []), model]);
  }
  return [...members].flatMap(([label, own]): Row[] => {
    const key = modelGroupKey(label);
    const isCollapsed = collapsed.includes(key);
    return [
      { kind: 'group', key, label, count: own.length, collapsed: isCollapsed },
      ...(isCollapsed ? [] : own.map(row)),
    ];
  });
}

/** S of the items done, where S is asked for. */
function partial({ S }: RunningCell, metric: string): Score | null {
  if (metric !== 'S' || !S || S.value === null) return null;
  return { value: S.value, low: S.low, high: S.high, higherIsBetter: true, isShare: true };
}

function scoreOf({ prediction: { value, low, high } }: PredictedCell, view: LeaderboardView, metric: string): Score {
  for (const { cell } of view.cells) {
    const figure = figureOf(cell.summary, metric);
    if (figure) return { value, low, high, higherIsBetter: figure.higherIsBetter, isShare: figure.isShare };
  }
  return { value, low, high, higherIsBetter: true, isShare: true };
}

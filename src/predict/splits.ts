/**
 * Which records a predictor learns from and which it is measured on. The splits of Ye, Fu, Ren and Jia (2023,
 * arXiv 2305.14947, section 3): records are held out in groups, from single configurations (L1) to all that a model family
 * did on a task (L4); and two that hold out whole families and whole tasks.
 */
import { NumpyRandom } from '../benchmark/numpy-random.ts';
import { HumanError } from '../shared/errors.ts';
import { atOnce, type Steps, sortSteps, stepwise } from './turn.ts';
import type { Configuration } from './types.ts';

export const splitNames = ['L1', 'L2.1', 'L2.2', 'L3', 'L4', 'family', 'task'] as const;
export type SplitName = (typeof splitNames)[number];
export const isSplitName = (value: unknown): value is SplitName => splitNames.includes(value as SplitName);

type KeyPart = string | number | null;

interface SplitRow {
  name: SplitName;
  /** For people. */
  title: string;
  /** What it asks, as a sentence. */
  question: string;
  /** Records of one key are in one part. Order of the parts decides the order of the groups, as pandas' groupby. */
  key(of: Configuration): KeyPart[];
  /** Each group is a fold of its own. */
  leaveOneOut?: true;
}

/** A model by its size and name: two of one size and family are two groups. */
const modelOf = ({ parameters, model }: Configuration): KeyPart[] => [parameters.total, model];
/** How it was asked. */
const settingOf = ({ shots, mode }: Configuration): KeyPart[] => [shots, mode];

export const splitTable: readonly SplitRow[] = [
  {
    name: 'L1',
    title: 'random',
    question: 'A score is missing here and there.',
    key: (of) => [of.subtask, of.family, ...modelOf(of), ...settingOf(of)],
  },
  {
    name: 'L2.1',
    title: 'held-out (subtask, model)',
    question: 'A model was never run on the subtask, in any setting.',
    key: (of) => [of.subtask, of.family, ...modelOf(of)],
  },
  {
    name: 'L2.2',
    title: 'held-out (subtask, family, setting)',
    question: 'No model of the family was run on the subtask in this setting.',
    key: (of) => [of.subtask, of.family, ...settingOf(of)],
  },
  {
    name: 'L3',
    title: 'held-out (subtask, family)',
    question: 'No model of the family was run on the subtask.',
    key: (of) => [of.subtask, of.family],
  },
  {
    name: 'L4',
    title: 'held-out (task, family)',
    question: 'No model of the family was run on any part of the task.',
    key: (of) => [of.task, of.family],
  },
  {
    name: 'family',
    title: 'leave one family out',
    question: 'Nothing of the family was ever run.',
    key: (of) => [of.family],
    leaveOneOut: true,
  },
  {
    name: 'task',
    title: 'leave one task out',
    question: 'Nobody has run the task.',
    key: (of) => [of.task],
    leaveOneOut: true,
  },
];

export interface SplitOptions {
  /** Parts that the groups are cut into; leave-one-out splits have one a group. Default: 10. */
  folds?: number;
  /** Default: 42, as in the study. */
  seed?: number;
}

/** Positions among the records. */
export interface Fold {
  /** What is held out, where that has a name: a family, a task. */
  name: string;
  train: Int32Array;
  /** A ninth of the groups that are not held out: for early stopping and settings. */
  development: Int32Array;
  test: Int32Array;
}

export interface Split {
  name: SplitName;
  title: string;
  question: string;
  groups: number;
  folds: Fold[];
  /** What keeps its figures from saying much, as sentences. */
  notes: string[];
}

/** Fewer held-out groups a fold than this say little. */
const fewGroups = 5;

/**
 * Cuts the records. Groups, folds and development parts are those of scikit-learn (`KFold(folds, shuffle=True,
 * random_state=seed)` over the sorted group keys, then `train_test_split(…, test_size=1/9, random_state=seed)`).
 * @throws HumanError where there are fewer groups than two, or fewer than folds
 */
export const splitRecords = (records: readonly Configuration[], name: SplitName, options: SplitOptions = {}): Split =>
  atOnce(splitSteps(records, name, options));

/** The same in steps. */
export function* splitSteps(
  records: readonly Configuration[],
  name: SplitName,
  { folds = 10, seed = 42 }: SplitOptions = {},
): Steps<Split> {
  const row = splitTable.find((one) => one.name === name);
  if (!row) throw new Error(`There is no split ${name}.`);
  const { groupOf, keys } = yield* groupsOf(records, row.key);
  const groups = keys.length;
  yield;
  if (groups < 2)
    throw new HumanError(
      'bad-input',
      `The split ${name} (${row.title}) needs at least two groups; the ${records.length} records have ${groups}.`,
      { todo: 'Add records, or choose another split.' },
    );
  const parts = row.leaveOneOut ? groups : Math.min(folds, groups);
  if (parts < 2) throw new HumanError('bad-input', `A split needs at least 2 folds, not ${folds}.`);
  const notes: string[] = [];
  if (!row.leaveOneOut && parts < folds)
    notes.push(`There are ${groups} groups only, so there are ${parts} folds, not ${folds}.`);
  if (!row.leaveOneOut && groups / parts < fewGroups)
    notes.push(
      `A fold holds out ${Math.floor(groups / parts)} ${groups / parts < 2 ? 'group' : 'groups'}: figures of single folds say little.`,
    );
  if (row.leaveOneOut && groups < fewGroups)
    notes.push(`There are ${groups} groups only: the mean over them says little about another one.`);
  const held = row.leaveOneOut
    ? Array.from({ length: groups }, (_, group) => [group])
    : yield* kFold(groups, parts, seed);
  const made: Fold[] = [];
  for (const [at, test] of held.entries()) {
    const roles = new Uint8Array(groups);
    for (const group of test) roles[group] = 2;
    const rest = Array.from({ length: groups }, (_, group) => group).filter((group) => roles[group] === 0);
    for (const group of developmentGroups(rest, seed)) roles[group] = 1;
    const parts: [number[], number[], number[]] = [[], [], []];
    yield;
    for (let record = 0; record < groupOf.length; record++)
      parts[roles[groupOf[record] ?? 0] as 0 | 1 | 2].push(record);
    const [train, development, tested] = parts.map((part) => Int32Array.from(part)) as [
      Int32Array,
      Int32Array,
      Int32Array,
    ];
    made.push({
      name: row.leaveOneOut ? (keys[at] ?? []).join(' · ') : `fold ${at + 1}`,
      train,
      development,
      test: tested,
    });
    yield;
  }
  return { name, title: row.title, question: row.question, groups, folds: made, notes };
}

/** Groups that are held out, fold by fold: scikit-learn's KFold with shuffling. */
function* kFold(groups: number, folds: number, seed: number): Steps<number[][]> {
  const order = new NumpyRandom(seed).permutation(groups);
  yield;
  let start = 0;
  const parts: number[][] = [];
  for (let fold = 0; fold < folds; fold++) {
    const size = Math.floor(groups / folds) + (fold < groups % folds ? 1 : 0);
    parts.push([...Int32Array.from(order.subarray(start, start + size)).sort()]);
    start += size;
    yield;
  }
  return parts;
}

/** A ninth, rounded up, as scikit-learn's train_test_split takes it; none where nothing would be left. */
function developmentGroups(rest: readonly number[], seed: number): number[] {
  const size = Math.ceil((rest.length * 0.1) / 0.9);
  if (rest.length - size < 1) return [];
  return new NumpyRandom(seed).choose(rest.length, size).map((at) => rest[at] ?? 0);
}

/** Numbers the groups by their keys, sorted part by part: numbers by size, texts by code unit, missing ones last. */
function* groupsOf(
  records: readonly Configuration[],
  key: (of: Configuration) => KeyPart[],
): Steps<{ groupOf: Int32Array; keys: KeyPart[][] }> {
  const found = new Map<string, { key: KeyPart[]; records: number[] }>();
  yield* stepwise(records, (record, at) => {
    const parts = key(record);
    const text = JSON.stringify(parts);
    const group = found.get(text);
    if (group) group.records.push(at);
    else found.set(text, { key: parts, records: [at] });
  });
  const sorted = yield* sortSteps([...found.values()], (a, b) => compareKeys(a.key, b.key));
  yield;
  const groupOf = new Int32Array(records.length);
  for (const [group, { records: members }] of sorted.entries()) for (const at of members) groupOf[at] = group;
  return { groupOf, keys: sorted.map((one) => one.key) };
}

function compareKeys(a: readonly KeyPart[], b: readonly KeyPart[]): number {
  for (const [at, one] of a.entries()) {
    const other = b[at] ?? null;
    if (one === other) continue;
    if (one === null) return 1;
    if (other === null) return -1;
    return one < other ? -1 : 1;
  }
  return 0;
}

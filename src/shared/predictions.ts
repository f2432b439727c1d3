/** What the prediction process finds out, as the host keeps it and the predictor page shows it. Scores are from 0 to 1. */

/** A subtask's name, with its task's where that does not stand in it: `logical_deduction › three_objects`. */
export const subtaskName = ({ task, subtask }: { task: string; subtask: string }): string =>
  subtask === '' || task === subtask ? task : subtask.includes(task) ? subtask : `${task} › ${subtask}`;

/** Mean over folds with its sample standard deviation. */
export interface Estimate {
  /** Null where it is not defined: scores that do not vary have no R². */
  mean: number | null;
  /** Null where there is one fold only. */
  sd: number | null;
}

/** Records that were not used; `reason` as a sentence's end: `aggregates of other records`. */
export interface LeftOutRecords {
  reason: string;
  count: number;
  examples: string[];
}

/** Where records are read from. */
export interface RecordPlaces {
  /** Stores of runs. */
  storeFolders: string[];
  /** CSV and JSON files. */
  files: string[];
}

export interface RecordsReport {
  sources: {
    /** A file's or a store's path. */
    path: string;
    kind: 'runs' | 'file';
    used: number;
    /** Why nothing could be read of it, as a sentence. */
    problem: string | null;
  }[];
  used: number;
  /** By name, with the number of their records. */
  models: { model: string; family: string; records: number }[];
  families: { family: string; records: number }[];
  tasks: number;
  subtasks: number;
  /** Prompt modes, shots and metrics that the records are of; more than one of a kind is a feature to learn from. */
  metrics: string[];
  leftOut: LeftOutRecords[];
  /** What was taken for granted, as sentences. */
  notes: string[];
  /** The same records give the same digest. */
  digest: string;
}

/** How well one predictor did on one split. */
export interface PredictorFit {
  predictor: string;
  title: string;
  /** Root of the mean squared error. */
  rmse: Estimate;
  /** Share of the variance of the held-out scores that is explained; negative: worse than their mean. */
  r2: Estimate;
  /** Share of n held-out scores within their 90 % intervals of ± `reach`; null where there are no intervals. */
  coverage: { share: number; n: number; reach: number } | null;
}

/** A held-out record with what was predicted for it. */
export interface PredictedRecord {
  model: string;
  family: string;
  task: string;
  subtask: string;
  /** Shots, mode and metric, where the records differ in them: `3 shots, exact_match`. */
  setting: string;
  actual: number;
  predicted: number;
}

/** Errors on the records of one subtask, over all folds. */
export interface GroupError {
  name: string;
  n: number;
  rmse: number;
  /** Mean of predicted − actual. */
  bias: number;
  mean: number;
  /** The record that was furthest off. */
  worst: { model: string; actual: number; predicted: number };
}

/** One split with the predictors on it; the chosen one first, the additive baseline behind it. */
export interface SplitFit {
  split: string;
  title: string;
  /** What is held out together, as a sentence. */
  words: string;
  folds: number;
  /** What keeps its figures from saying much, as sentences. */
  notes: string[];
  fits: PredictorFit[];
  /** The highest R² that noise of the measured scores allows; null where the items behind the scores are not known. */
  ceiling: number | null;
  /** Why there are no figures, as a sentence. */
  problem: string | null;
  /** Held-out records of the chosen predictor, a random part of them where `total` is larger. */
  points: PredictedRecord[];
  total: number;
  /** Of the chosen predictor, worst first. */
  tasks: GroupError[];
  families: GroupError[];
}

export interface FitQuality {
  predictor: string;
  title: string;
  splits: SplitFit[];
  records: number;
  /** Of the records it was measured on. */
  digest: string;
  seconds: number;
}

export interface TaskMapPoint {
  task: string;
  subtask: string;
  x: number;
  y: number;
  cluster: number;
  records: number;
  /** Mean score of its records. */
  mean: number;
}

/** Task vectors in the plane of their two largest principal components. */
export interface TaskMap {
  /** What learned the vectors. */
  title: string;
  dimensions: number;
  /** Shares of the vectors' variance along x and y. */
  explained: [number, number];
  points: TaskMapPoint[];
  /** The subtask nearest to the centre of each cluster. */
  clusters: { centre: string; size: number }[];
  digest: string;
}

/** `minutes`: of one model in one prompt mode, as runs of this workspace took them; `items`: where there are no such runs. */
export type BudgetUnit = 'tasks' | 'minutes' | 'items';

export interface SmallBenchPoint {
  /** What the bench may cost, in the result's unit. */
  budget: number;
  subtasks: string[];
  /** R² on the families that it was searched with: higher than on new ones. */
  inSample: number;
  /** R² on the subtasks outside of the bench, of groups that the search had not seen; null where it was ended before. */
  recovery: Estimate | null;
  /** Kendall's τ-b of the models' mean scores, foretold from the bench and measured. */
  tau: number | null;
  /** Subtasks that random subsets need to recover as much; null where the largest ones measured do less. */
  randomSize: number | null;
}

/** A list of somebody else's, as far as the records know its tasks. */
export interface FixedList {
  title: string;
  /** Of the list, and those among the records. */
  size: number;
  known: number;
  /** Of those that are known, in the result's unit. */
  cost: number;
  recovery: Estimate;
  tau: number | null;
}

export interface SmallBenchResult {
  search: string;
  title: string;
  /** Of budgets and costs. */
  unit: BudgetUnit;
  curve: SmallBenchPoint[];
  /** Random subsets of as many subtasks: quantiles of their recovery. */
  random: { budget: number; low: number; median: number; high: number; subsets: number }[];
  fixed: FixedList[];
  /** Subsets that were evaluated. */
  evaluations: number;
  seconds: number;
  /** Why the search ended: it was done, it was stopped, or its time was over. */
  ended: 'done' | 'stopped' | 'time';
  digest: string;
  /** Rows and columns of the table of scores that was searched in. */
  rows: number;
  subtasks: number;
  /** What was held out in turn. */
  heldOut: 'families' | 'models';
  groups: number;
  /** Scores that the table has no place for. */
  leftOut: LeftOutRecords[];
}

export interface NextBenchmarkRow {
  task: string;
  subtask: string;
  /** Shots and mode, where the records differ in them. */
  setting: string;
  /** Mean variance of the other scores still unknown, before and after this one is known; scores from 0 to 1. */
  before: number;
  after: number;
  /** In `NextBenchmark.costUnit`. */
  cost: number;
}

export interface NextBenchmark {
  model: string;
  /** Subtasks (in one setting each) that have a score of the model, and those that have none. */
  known: number;
  open: number;
  /** `minutes` as runs of this workspace took them, else `items`. */
  costUnit: string;
  /** Why the figures may promise too much, as a sentence. */
  caution: string | null;
  /** Best first: largest reduction of variance per cost. */
  rows: NextBenchmarkRow[];
  digest: string;
}

export const predictionTasks = ['fit', 'map', 'smallBench', 'next'] as const;
/** What is computed for the page. */
export type PredictionTask = (typeof predictionTasks)[number];

export interface PredictionSettings {
  predictor: string;
  folds: number;
  seed: number;
  /** 0: chosen by the number of tasks. */
  clusters: number;
  search: string;
  budgets: number[];
  /** What budgets count: tasks, or what it costs to run them. */
  budgetIn: 'tasks' | 'cost';
  /** Seconds that a small-bench search may take. */
  seconds: number;
  /** The model that the next benchmark is for; empty: the one with the fewest scores. */
  model: string;
}

/** What is under way. */
export interface PredictionWork {
  task: PredictionTask;
  message: string;
  /** From 0 to 1; null where nobody knows. */
  fraction: number | null;
  /** The best that a small-bench search has found so far. */
  smallBench: SmallBenchResult | null;
}

/** An entry of an open-ended set, for a list to choose from. */
export interface NamedChoice {
  name: string;
  title: string;
}

/** All that the predictor page shows. */
export interface PredictorView {
  /** Null before they have been read. */
  records: RecordsReport | null;
  predictors: NamedChoice[];
  searches: NamedChoice[];
  settings: PredictionSettings;
  fit: FitQuality | null;
  map: TaskMap | null;
  smallBench: SmallBenchResult | null;
  next: NextBenchmark | null;
  work: PredictionWork | null;
  /** What went wrong last, as a sentence. */
  problem: string | null;
}

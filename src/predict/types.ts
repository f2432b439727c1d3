/** What the room's parts exchange: score records, what is asked of a predictor, and what it answers. */
import type { PromptMode } from '../shared/modes.ts';

/** Parameters of a model, in units (7e9, not 7); null where nobody says. */
export interface ParameterCounts {
  total: number | null;
  nonEmbedding: number | null;
  /** Of the dense model that needs the same computation: smaller than `total` for mixtures of experts. */
  flopMatched: number | null;
}

/** A model and a benchmark in one setting, whose score is known or wanted. */
export interface Configuration {
  /** Models that were made in one way and differ in size or training: `Llama-2`, `BIG-G T=0`. */
  family: string;
  model: string;
  parameters: ParameterCounts;
  /** Floating-point operations of its training; null where nobody says. */
  trainingFlops: number | null;
  task: string;
  /** Equal to `task` where a task has no parts. */
  subtask: string;
  shots: number;
  /** Prompt mode of Softbench; null for records of others, which have shots only. */
  mode: PromptMode | null;
  metric: string;
}

/** Where a record comes from. */
export type RecordSource = 'run' | 'imported' | 'csv' | 'big-bench';

/** A configuration with its score. */
export interface ScoreRecord extends Configuration {
  /** The metric that the task's authors rank by. */
  preferred: boolean;
  /** From 0 to 1: scaled by the metric's range; higher is better. */
  score: number;
  /** Items behind the score; null where nobody says. A share of n items has binomial noise of s (1 − s) / n. */
  n: number | null;
  source: RecordSource;
}

/** What was not used, and why. Nothing is ever left out without a line here. */
export interface LeftOut {
  /** As a sentence's end: `aggregates of other records`. */
  reason: string;
  count: number;
  /** Up to three, as places or names. */
  examples: string[];
}

export interface RecordTable {
  records: ScoreRecord[];
  leftOut: LeftOut[];
  /** What was taken for granted, as sentences. */
  notes?: string[];
}

export interface FitOptions {
  /** The same seed and records give the same predictor. */
  seed: number;
  /** Records for early stopping and the choice of settings; a part of the training records where absent. */
  development?: readonly ScoreRecord[];
  signal?: AbortSignal;
  /** From 0 to 1. */
  progress?(done: number): void;
}

/** A way to learn scores from records. Scores that it predicts are of the same scale, within 0 and 1. */
export interface Predictor {
  /** For the command line and settings: `additive`, `forest`. */
  name: string;
  /** For people: `model + task`, `random forest`. */
  title: string;
  fit(records: readonly ScoreRecord[], options: FitOptions): Promise<FittedPredictor>;
}

export interface FittedPredictor {
  /** One score a configuration, in their order. Configurations of unknown models or tasks get what can be said of them. */
  predict(configurations: readonly Configuration[]): Float64Array;
  /** Vectors that stand for subtasks, where it learns any; all of one length. */
  taskVectors?(): Map<string, Float64Array>;
}

/** A predicted score with the interval that holds the true one in 90 of 100 such cases. */
export interface Prediction {
  value: number;
  low: number;
  high: number;
  /** Why the interval need not hold, as a sentence: `No model of the family Qwen is among the records.`; null where it should. */
  extrapolates: string | null;
}

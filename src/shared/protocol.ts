/** Every message between the rooms' processes: host ↔ worker and host ↔ page. */

import type { PackedRows } from './item-rows.ts';
import type { ItemTokens } from './item-tokens.ts';
import type { ItemMark, MarkedItem } from './marks.ts';
import type { PromptMode, SoftPromptPosition } from './modes.ts';
import type {
  FitQuality,
  NamedChoice,
  NextBenchmark,
  PredictionSettings,
  PredictionTask,
  PredictionWork,
  PredictorView,
  RecordPlaces,
  RecordsReport,
  SmallBenchResult,
  TaskMap,
} from './predictions.ts';
import type {
  ChatRequest,
  ItemRecord,
  RunFile,
  RunSummary,
  Share,
  SoftPromptSettings,
  TuningRecord,
} from './results.ts';
import type { Method } from './rpc.ts';

// ---------------------------------------------------------------- host → worker

export interface EngineSettings {
  executionProvider: 'auto' | 'cpu' | 'cuda' | 'webgpu' | 'dml' | 'coreml';
  /** 0: as many as there are physical cores. */
  threads: number;
}

/** A job: one benchmark × one model, one or more modes. */
export interface JobRequest {
  benchmarkFile: string;
  modelFolder: string;
  /** Modes to run, in order. */
  modes: PromptMode[];
  /** Folder that holds `runs/` (usually `<workspace>/.softbench`). */
  storeFolder: string;
  /** Set by the caller; goes into every run of the job. Give the id of an earlier job to resume it. */
  group: string;
  /** Reuse finished runs with the same model, benchmark and settings in place of running them again. */
  reuseFinished: boolean;
  engine: EngineSettings;
  /**
   * Look responses of the model up in the store's cache before computing them, and keep those that are computed; with
   * `lookUp: false` keep only. `limitBytes`: what the cache of the store may take on disk. Absent or null: no cache.
   */
  responseCache?: { limitBytes: number; lookUp: boolean } | null;
  /** Outputs without scores; `rescore` scores them later. */
  predictOnly?: boolean;
  /** Deviations from the benchmark file. */
  overrides: {
    /** Items; below 1, a share of them; null: all. */
    limit?: number | null;
    shots?: number;
    batchSize?: number | 'auto';
    softPrompt?: Partial<SoftPromptSettings>;
    /** False: likelihoods only, also where the benchmark has candidates that could be generated. */
    generate?: false;
    /** A soft-prompt.safetensors to use in place of tuning one. */
    softPromptFile?: string;
    /** How prompts are written as a conversation; what it leaves out is as the benchmark file says. */
    chat?: Partial<ChatRequest> | undefined;
  };
}

/** Finished runs to score again with their benchmark file as it is now; the model is not opened. */
export interface RescoreRequest {
  /** Ids of runs. */
  runs: string[];
  storeFolder: string;
  /** The benchmark file, where it is not the one that a run names. */
  benchmarkFile?: string;
  /** Goes into the new runs. */
  group: string;
  /** Leave out items whose prompt or candidates have changed, in place of refusing the run. */
  skipChanged: boolean;
}

export type JobProgress =
  | { kind: 'phase'; phase: 'loading' | 'tuning' | 'evaluating' | 'scoring'; mode: PromptMode | null; message: string }
  /** A run's folder has been made or reopened. */
  | { kind: 'run'; run: RunFile }
  | { kind: 'tuning'; run: string; record: TuningRecord; steps: number; secondsLeft: number | null }
  | {
      kind: 'items';
      run: string;
      mode: PromptMode;
      done: number;
      total: number;
      secondsLeft: number | null;
      /** Items among those done since this job began that came from the cache of responses: they took no time. */
      cached?: number;
      records: ItemRecord[];
    }
  | { kind: 'summary'; summary: RunSummary };

/** An input or output of a graph; open sizes by their symbols. */
export interface TensorReport {
  name: string;
  dtype: string;
  dims: (number | string)[];
}

/** How a graph tells positions apart. */
export interface PositionReport {
  /** `input`: position_ids; `mask`: by its ones; `cache`: by its length; `text`: every text from 0; null: not found out. */
  from: 'input' | 'mask' | 'cache' | 'text' | null;
  /** What is made of them, as far as the graph tells. */
  kinds: ('learned' | 'rotary' | 'ALiBi')[];
  /** Numbers of a head that rotary positions turn; null where there are none or the graph does not tell. */
  rotarySize: number | null;
  /** Positions that a learned table has. */
  tableLength: number | null;
}

export interface AttentionReport {
  /** `plain`: written as products and a softmax; `fused`: one operator. */
  form: 'plain' | 'fused' | 'both' | 'not found';
  /** Fused operators and how often each occurs; of the plain form, the softmaxes. */
  operators: Record<string, number>;
  queryHeads: number | null;
  /** Fewer than query heads: several of these share keys and values. */
  keyHeads: number | null;
  headSize: number | null;
  /** Tokens that one sees at most, itself included; several where layers differ. Empty: all, as far as the graph tells. */
  windows: number[];
  /** Bounds of the scores (soft-capped by tanh). */
  softCaps: number[];
}

/** Weights of few bits that are treated alike. */
export interface QuantisationReport {
  operator: string;
  tensors: number;
  /** Which: `embedding`, `head`, `linear layers`. */
  parts: string[];
  bits: number;
  /** Weights that share a scale: a number of them, `channel` or `tensor`. */
  block: number | 'channel' | 'tensor';
  symmetric: boolean;
  /** Bits that the other factor is rounded to as the graph runs; null: it is not. */
  activationBits: number | null;
}

/** What was understood of a model folder. */
export interface ModelReport {
  folder: string;
  name: string;
  ok: boolean;
  /** Where `ok` is false: what is wrong and what to do. */
  reason: string | null;
  /** A soft prompt can be tuned in front of it; where not, `missing` and `notes` say why. */
  tunable: boolean;
  modelType: string | null;
  graphFile: string | null;
  /** Other graph files in the folder that could be chosen. */
  variants: string[];
  bytes: number;
  parameters: number | null;
  hiddenSize: number | null;
  layers: number | null;
  vocabularySize: number | null;
  contextLength: number | null;
  opset: Record<string, number>;
  producer: string | null;
  dtype: string | null;
  /** How the folder is laid out, in words: where the graph stands, and in how many parts. */
  layout: string[];
  inputs: TensorReport[];
  outputs: TensorReport[];
  cache: {
    kind: string;
    layers: number;
    heads: number;
    headSize: number;
    dtype: string;
    /** Operators that join what is new to what was there. */
    joinedBy: string[];
    /** They can write into the given memory instead of giving back a longer copy. */
    inPlace: boolean;
  } | null;
  positions: PositionReport;
  attention: AttentionReport;
  /** Bound of the logits (soft-capped by tanh). */
  logitSoftCap: number | null;
  quantisation: QuantisationReport[];
  /** The head multiplies by the table of the embedding; null where the graph does not tell. */
  tiedHead: boolean | null;
  chatTemplate: boolean;
  operators: Record<string, number>;
  /** Operators that tuning writes out in plainer ones, and those on the gradient path without a rule. */
  lowered: { operator: string; count: number; to: string[] }[];
  missing: { operator: string; node: string; advice: string }[];
  notes: string[];
}

/** How far a model folder is from its reference. A figure is null where the reference has nothing to compare it with. */
export interface VerifyReport {
  folder: string;
  name: string;
  /** How the graph was made, as the reference or else the file says. */
  exporter: string | null;
  ok: boolean;
  gradient: { relative_error: number } | null;
  losses: { max_abs: number } | null;
  /**
   * Logits, log-likelihoods and generations of what the weights say, in float32: the function that references are made
   * from and that tuning differentiates.
   */
  logits: { max_abs: number } | null;
  log_likelihood: { max_abs: number } | null;
  generation: { compared: number; equal: number } | null;
  /**
   * The same of the file as it runs, where it quantises activations or computes in half precision: evaluation runs it so.
   * `allowed`: as far as the unedited file is from the reference in ONNX Runtime alone.
   */
  as_run: {
    logits: { max_abs: number } | null;
    log_likelihood: { max_abs: number } | null;
    generation: { compared: number; equal: number } | null;
    allowed: number;
  } | null;
  reason: string | null;
}

/** An execution provider on this machine. */
export interface ProviderStatus {
  name: string;
  title: string;
  /** A session was opened with it and computed right. */
  runs: boolean;
  /** Whether `auto` takes it where it runs. */
  automatic: boolean;
  /** Where it does not run: a clause that says why, and what to do. */
  reason: string | null;
  todo: string | null;
}

export interface PromptPreview {
  mode: PromptMode;
  parts: { kind: string; text: string }[];
  /** Token texts of the whole prompt; empty where no model was given. */
  tokens: string[];
  answer: string;
  stop: string[];
  softPromptVectors: number;
  /** `prefix` where absent. */
  softPromptPosition?: SoftPromptPosition;
}

/** What an import did. */
export interface ImportReport {
  imported: { run: string; task: string; model: string; items: number; file: string; group: boolean }[];
  /** What the store has already, byte for byte. */
  known: { file: string; task: string; run: string }[];
  /** Files of a folder that are something else or broken, and why. */
  skipped: { file: string; reason: string }[];
}

/** Formats that runs are exported to; written by the exchange room. */
export const exportFormats = [
  {
    name: 'lm-eval',
    title: 'lm-evaluation-harness',
    description: 'results_*.json and samples_*.jsonl, as version 0.4.13 writes them',
  },
  {
    name: 'every-eval-ever',
    title: 'Every Eval Ever',
    description: 'one JSON file a run and its samples, schema 0.3.0',
  },
  { name: 'csv', title: 'CSV', description: 'scores.csv and items.csv, for spreadsheets and programs' },
  { name: 'markdown', title: 'Markdown', description: 'scores.md, for people' },
  {
    name: 'html',
    title: 'HTML page',
    description: 'the results page as one file for any browser, without personal paths',
  },
] as const;
export type ExportFormat = (typeof exportFormats)[number]['name'];

/** What a file with the results page holds besides scores and verdicts. */
export interface PageContent {
  outputs: boolean;
  prompts: boolean;
}

/** What each part of such a file takes, in bytes; estimated. */
export interface PageSizes {
  /** The page itself, scores and verdicts. */
  scores: number;
  outputs: number;
  prompts: number;
  items: number;
  /** Why there are no prompts, where there are none. */
  noPrompts: string | null;
}

export type WorkerApi = {
  /** How large the results page of runs would be as one file. */
  measurePage: Method<{ runs: { run: string; storeFolder: string }[] }, PageSizes>;
  /** Writes the results page of runs of one benchmark as one HTML file. */
  writePage: Method<
    { runs: { run: string; storeFolder: string }[]; file: string; content: PageContent },
    { bytes: number; noPrompts: string | null },
    { message: string; fraction: number | null }
  >;
  /** Imports results files, samples files or folders into a store; all or nothing. */
  importResults: Method<
    { paths: string[]; storeFolder: string },
    ImportReport,
    { message: string; fraction: number | null }
  >;
  /** Writes runs of a store as files of another tool. @returns the files */
  exportRuns: Method<{ runs: string[]; storeFolder: string; format: ExportFormat; folder: string }, string[]>;
  runJob: Method<JobRequest, RunSummary[], JobProgress>;
  /** One summary a run, in the order given. */
  rescore: Method<RescoreRequest, RunSummary[], JobProgress>;
  /**
   * The texts of a run's item token by token: the model is opened as the run had it, and its recorded outputs are put to
   * it again. Refused, not queued, while a job is on.
   */
  itemTokens: Method<
    { storeFolder: string; run: string; index: number; engine: EngineSettings },
    ItemTokens,
    { message: string }
  >;
  inspectModel: Method<{ folder: string }, ModelReport>;
  verifyModel: Method<{ folder: string; engine: EngineSettings }, VerifyReport, { message: string }>;
  previewPrompts: Method<
    { benchmarkFile: string; modelFolder: string | null; index: number; chat?: Partial<ChatRequest> },
    { total: number; previews: PromptPreview[] }
  >;
  /** Every provider, tried. */
  providers: Method<void, ProviderStatus[]>;
  /** Frees models and sessions. */
  release: Method<void, void>;
};

// ---------------------------------------------------------------- host → prediction process

/** Progress of a prediction; `fraction` from 0 to 1, null where nobody knows. */
export interface PredictionProgress {
  message: string;
  fraction: number | null;
}

/**
 * The prediction process: computation over records in a process of its own, so that a job, which keeps the worker busy,
 * does not hold it up. Each call names the places of the records; they are read once as long as their files are the same.
 */
export type PredictionApi = {
  /** The predictors and the searches that there are. */
  choices: Method<void, { predictors: NamedChoice[]; searches: NamedChoice[] }>;
  records: Method<RecordPlaces, RecordsReport>;
  /** Errors of a predictor and of the additive baseline on held-out records, split by split. */
  fit: Method<
    { places: RecordPlaces; predictor: string; folds: number; seed: number },
    FitQuality,
    /** With each split that is done. */
    PredictionProgress & { done: FitQuality['splits'][number] | null }
  >;
  taskMap: Method<
    { places: RecordPlaces; predictor: string; clusters: number; seed: number },
    TaskMap,
    PredictionProgress
  >;
  /** Any-time: cancelled or out of time, it hands back the best so far. */
  smallBench: Method<
    { places: RecordPlaces } & Pick<PredictionSettings, 'search' | 'budgets' | 'budgetIn' | 'seconds' | 'seed'>,
    SmallBenchResult,
    PredictionProgress & { best: SmallBenchResult }
  >;
  /** @param model empty: the one with the fewest scores */
  nextBenchmark: Method<{ places: RecordPlaces; model: string }, NextBenchmark, PredictionProgress>;
  /** Scores of the leaderboard's empty cells, by the run index of these stores. */
  predictCells: Method<
    { places: RecordPlaces; predictor: string; metric: string; seed: number; view: LeaderboardView },
    { cells: PredictedCell[]; reason: string | null },
    PredictionProgress
  >;
};

// ---------------------------------------------------------------- page → host

/** A column of the results page: one run. */
export interface RunColumn {
  run: RunFile;
  /** Short, and unlike that of any other column: the mode, or what tells the runs apart where that is something else. */
  label: string;
  summary: RunSummary | null;
  tuning: TuningRecord[];
  /** Items done so far and in all. */
  done: number;
  total: number;
}

/** Something in which the runs of a results page differ and which their scores may hang on. */
export interface ComparisonWarning {
  /** `incomparable`: the scores measure different things. `care`: they can be compared where one knows of it. */
  severity: 'incomparable' | 'care';
  /** What differs, as a heading: `Items`, `Few-shot examples`. */
  what: string;
  sentence: string;
  /** What it is in each run, by run id. */
  values: { run: string; value: string }[];
}

/** All that the results page needs but the items: the runs of one benchmark × one model, or runs that are compared. */
export interface ResultsView {
  title: string;
  benchmark: { task: string; file: string };
  /** Where runs of several models are compared: their names, and no folder. */
  model: { name: string; folder: string };
  columns: RunColumn[];
  /** Why the columns should not be compared, or only with care; what a mode differs in by nature is no warning. */
  warnings: ComparisonWarning[];
  /** Items that people have marked, in any of the runs; a mark set on the page goes to all of them. */
  marks?: MarkedItem[];
  /** Why marks of a run cannot be read, as sentences; its file is left alone then. */
  markProblems?: string[];
  /** The running job, if one is on for this benchmark and model. */
  job: { phase: string; message: string; fraction: number | null; secondsLeft: number | null } | null;
  /** Last problem of a job, as a sentence. */
  problem: string | null;
  /** What is not part of the file that the page stands in. */
  leftOut?: ('outputs' | 'prompts')[];
}

/** A finished item with what the table shows, filters and sorts by; the detail pane asks for the whole record. */
export type ItemRow = Omit<ItemRecord, 'schema' | 'prompt' | 'metrics' | 'repeats'>;

export interface ItemDetail {
  index: number;
  /** The item's prompt in each run (its id), by parts. */
  prompts: { run: string; parts: { kind: string; text: string }[] }[];
  records: { run: string; record: ItemRecord }[];
  gold: string;
  /** Where the item stands in the data. `isText` false: in a file that no editor shows; `line` is then the row. */
  source: { file: string; line: number; isText?: false } | null;
}

export type ResultsPageApi = {
  view: Method<void, ResultsView>;
  /**
   * Items of a run from position `from` in items.jsonl on: at most `limit`, fewer where they are long, none where there
   * are no more. The caller asks on from behind the last.
   */
  items: Method<{ run: string; from: number; limit: number }, ItemRow[] | PackedRows>;
  detail: Method<{ index: number }, ItemDetail>;
  /** The item's texts in a run token by token, computed now (or a moment ago). */
  tokens: Method<{ run: string; index: number }, ItemTokens, { message: string }>;
  /** Marks an item in all runs of the page, or takes its mark away. @returns all marks */
  mark: Method<{ index: number; mark: ItemMark | null }, MarkedItem[]>;
  openSource: Method<{ file: string; line: number }, void>;
  stop: Method<void, void>;
  resume: Method<void, void>;
  /** Saves the page as one HTML file. */
  share: Method<void, void>;
  copy: Method<{ text: string }, void>;
  saveState: Method<{ state: unknown }, void>;
  loadState: Method<void, unknown>;
};

/** host → results page */
export type ResultsPageEvents = {
  /** The view has changed: summaries, progress, tuning records. */
  viewChanged: Method<ResultsView, void>;
  /** New items of a run, appended. */
  itemsAdded: Method<{ run: string; from: number; items: ItemRow[] }, void>;
};

export interface LeaderboardCell {
  run: string;
  summary: RunSummary;
  status: RunFile['status'];
  /** Where the run's soft prompt stands, where that is not in front of the text. */
  softPromptPosition?: 'suffix';
  /** Set where the run was imported: from what, and in what its settings differ from those of measured runs beside it. */
  imported?: { words: string; differences: string[] };
}

export interface LeaderboardView {
  benchmarks: { task: string; file: string }[];
  models: { name: string; folder: string }[];
  /** Newest finished run per model × benchmark × mode. */
  cells: { model: string; task: string; mode: PromptMode; cell: LeaderboardCell }[];
  /** Base and post-trained models. */
  links?: ModelLink[];
  /** Runs that are under way. */
  running?: RunningCell[];
  /** Scores that nobody measured, where they are asked for. They stand in empty cells only and never rank. */
  predicted?: PredictedCell[];
  /** Whether predicted scores are shown, and what is to be said of them; absent where nothing predicts. */
  predictions?: { shown: boolean; busy: boolean; note: string | null };
}

/** A predicted score of a cell. Model and task are as the view names them. */
export interface PredictedCell {
  model: string;
  task: string;
  mode: PromptMode;
  /** `F`, `S`, `K`, `L`, `LL`, or `metric,filter` of a benchmark file. */
  metric: string;
  /** In the metric's own scale (shares: 0 to 1), with the bounds of its interval; `extrapolates`: why they need not hold. */
  prediction: { value: number; low: number; high: number; extrapolates: string | null };
  /** What predicted it, in words: `MLP of 412 records`. */
  by: string;
}

/** A post-trained model and its base model, by their names in the view; `by`: who says so. */
export interface ModelLink {
  base: string;
  postTrained: string;
  by: 'user' | 'card' | 'name';
}

/** A run that is under way, and what is known of its scores so far. */
export interface RunningCell {
  model: string;
  task: string;
  mode: PromptMode;
  run: string;
  /** Items done; null where another process runs it. */
  done: number | null;
  total: number;
  /** S of the items done; null where none is, or where not all of them are known. */
  S: Share | null;
}

/** Formats in which the leaderboard page saves what it shows. */
export type LeaderboardFormat = 'csv' | 'md' | 'png' | 'html';

export type LeaderboardPageApi = {
  view: Method<void, LeaderboardView>;
  /** Opens the results of a cell; without a mode, of the model on the benchmark. */
  open: Method<{ model: string; task: string; mode?: PromptMode }, void>;
  /** Ranks that models could have, drawn from their items where they are at hand; in the order of the models given. */
  ranks: Method<
    { tasks: string[]; mode: PromptMode; metric: string; models: string[] },
    { ranks: { low: number; high: number }[]; drawn: 'items' | 'intervals' | 'both' | 'benchmarks' }
  >;
  /** Asks the user for the base model of a post-trained one; null: asks for that one first. */
  editLink: Method<{ model: string | null }, void>;
  /** Fills empty cells with predicted scores of this metric, or leaves them empty. */
  showPredictions: Method<{ shown: boolean; metric: string }, void>;
  /** The leaderboard as an editor tab. */
  openTab: Method<void, void>;
  /**
   * Asks where to and saves. `content`: the text; of a picture its bytes in base64. For `html` the state of the page: the
   * host makes the file. @returns whether it was saved
   */
  save: Method<{ format: LeaderboardFormat; name: string; content: string }, boolean>;
  runCommand: Method<{ command: 'chooseModel' | 'openExamples' | 'compare' }, void>;
  saveState: Method<{ state: unknown }, void>;
  loadState: Method<void, unknown>;
};

export type LeaderboardPageEvents = {
  viewChanged: Method<LeaderboardView, void>;
  /** Only the runs that are under way have got on. */
  runningChanged: Method<RunningCell[], void>;
};

/** What a button of the predictor page does in the editor. */
export type PredictorCommand = 'addRecords' | 'openExample' | 'importResults' | 'openSettings' | 'share';

export type PredictorPageApi = {
  view: Method<void, PredictorView>;
  /** Settings that differ; kept for the workspace. */
  set: Method<Partial<PredictionSettings>, void>;
  /** Computes; the view changes as it goes on. One at a time: what is under way is stopped first. */
  start: Method<{ task: PredictionTask }, void>;
  stop: Method<void, void>;
  runCommand: Method<{ command: PredictorCommand }, void>;
  removeFile: Method<{ path: string }, void>;
  /** The list of a budget of the small-bench curve as a group file, which Softbench and lm-evaluation-harness read. */
  exportSmallBench: Method<{ budget: number }, void>;
  copy: Method<{ text: string }, void>;
  saveState: Method<{ state: unknown }, void>;
  loadState: Method<void, unknown>;
};

export type PredictorPageEvents = {
  viewChanged: Method<PredictorView, void>;
  /** Only the progress has changed. */
  workChanged: Method<PredictionWork | null, void>;
};

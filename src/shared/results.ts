/**
 * The figures of a run, as every room and page exchanges them. Definitions: docs/architecture.md, "Metrics".
 */

import type { FailureCause } from './failure-causes.ts';
import type { PromptMode, SoftPromptPosition } from './modes.ts';

/** A share of items with its 95 % Wilson interval. `value` is null where the denominator is 0. */
export interface Share {
  value: number | null;
  low: number;
  high: number;
  /** Numerator and denominator. */
  count: number;
  n: number;
}

/** A mode's scores. F: in the required format; S: in the format and right; K = S ÷ F; L: leniently right; LL: gold most likely. */
export interface Scores {
  n: number;
  F: Share;
  S: Share;
  K: Share & { unreliable: boolean };
  L: Share;
  LL: Share | null;
  /** What the best single answer given to every item would score, and that answer. */
  constant: { answer: string; share: Share } | null;
  /** The commonest (leniently read) answer among the outputs and its share. */
  commonest: { answer: string; share: Share } | null;
  /** Chance level where choices exist, else null. */
  chance: number | null;
  /** Items per cause of format failure. */
  causes: Partial<Record<FailureCause, number>>;
}

export type StopReason = 'stop-string' | 'eos' | 'length';

/** What an extractor took out of an output; `span` is [start, end) in UTF-16 units of the raw output. */
export interface Reading {
  answer: string | null;
  span: [number, number] | null;
}

/**
 * What one item adds to a metric, as process_results of lm-evaluation-harness gives it: a number, or what the metric's
 * aggregation takes, such as [gold, answer] or [log-likelihood, bytes].
 */
export type MetricValue = MetricPart | readonly MetricPart[];
type Plain = number | string | boolean | null;
export type MetricPart = Plain | readonly Plain[];

/** What one filter of the benchmark file left of an item's responses, and what the item adds to each metric with it. */
export interface FilteredMetrics {
  /** Name in `filter_list`; `none` where the file has none. */
  filter: string;
  /** What the filter took out of the outputs; absent where only likelihoods were asked for. */
  answer?: MetricValue;
  values: Record<string, MetricValue>;
}

/** A metric of the benchmark file over all items of a run. */
export interface MetricScore {
  metric: string;
  filter: string;
  /** Null where there is nothing to compute it of, or where it is not defined for what there is. */
  value: number | null;
  /** Of the mean, or by bootstrap, as lm-evaluation-harness; null where it gives none ("N/A"). */
  standardError: number | null;
  higherIsBetter: boolean;
  /** Items that count. */
  n: number;
  /** Why there is no value, as the second half of a sentence ("it is not finite"). */
  missing?: string;
}

/** One line of items.jsonl. Written once when the item is finished; never changed. */
export interface ItemRecord {
  schema: 1;
  /** Position of the item in the benchmark's test split (lm-eval: doc_id). */
  index: number;
  /** SHA-256 of the rendered prompt text and its length in tokens. The text itself is rendered again when shown. */
  prompt: { hash: string; tokens: number };
  /** Raw output after the prompt, cut before the stop string. */
  output: string;
  outputTokens: number;
  stop: { reason: StopReason; marker?: string };
  gold: string;
  strict: Reading;
  lenient: Reading;
  inFormat: boolean;
  /** In the format and right: what S counts. */
  right: boolean;
  lenientRight: boolean;
  cause: FailureCause | null;
  /** Where candidates exist: log-likelihood of each, and whether the gold one is the most likely. */
  choices?: {
    texts: string[];
    logLikelihoods: number[];
    gold: number;
    right: boolean;
    rightNormalised: boolean;
    /** What each is worth, where they are graded: all with the highest score are right, and `gold` is the first of them. */
    scores?: number[];
  };
  /** Where nothing was generated (likelihoods only): output, stop and readings are empty and count for nothing. */
  generated?: false;
  /** Further outputs, where the benchmark asks for several (`repeats`); `output` is the first. */
  repeats?: { output: string; outputTokens: number; stop: { reason: StopReason; marker?: string } }[];
  /** Log-likelihoods (nats) in the order of the benchmark's requests. `greedy`: what the model would have written itself; absent for whole texts. */
  likelihoods?: { sum: number; tokens: number; greedy?: boolean }[];
  /** What the item adds to the metrics of the benchmark file, by filter. */
  metrics?: FilteredMetrics[];
  /** Tokens left out at the beginning of what was longer than the model's context. */
  truncated?: number;
  /** Outputs only: readings and verdicts are empty and count for nothing. */
  scored?: false;
}

/** One learning rate that was tried before tuning. */
export interface LearningRateTrial {
  rate: number;
  /** Optimiser steps that were made at it, all from the same start and on the same batches. */
  steps: number;
  /** Mean cross-entropy per answer token of held-out items after them; null where it diverged. */
  loss: number | null;
}

/** The learning rate that a run was tuned at, and where it came from. */
export interface LearningRateChoice {
  value: number;
  by: 'setting' | 'formula' | 'search';
  /** By rate, from the lowest; empty where nothing was tried. */
  trials: LearningRateTrial[];
}

/** One line of tuning.jsonl: one learning rate tried before the first step, one optimiser step, or one validation. */
export type TuningRecord =
  | (LearningRateTrial & {
      schema: 1;
      kind: 'trial';
      /** Always 0: before the first step that counts. */
      step: 0;
      /** Loss of each step's batch before its update. */
      losses: number[];
      seconds: number;
    })
  | {
      schema: 1;
      kind: 'step';
      /** From 1. */
      step: number;
      /** Mean cross-entropy per answer token of the batch, before the update. */
      loss: number;
      gradientNorm: number;
      learningRate: number;
      seconds: number;
      /** Rows × padded length of the batch. */
      batch: [number, number];
      answerTokens: number;
    }
  | {
      schema: 1;
      kind: 'validation';
      /** Steps done when it was made; 0 is before the first. */
      step: number;
      n: number;
      F: number;
      S: number;
      K: number | null;
      loss: number;
      /** Best so far, and therefore the vectors kept. */
      best: boolean;
      /** Where nothing is generated: F, S and K say nothing. */
      generated?: false;
      /** Share of held-out items whose right answer is the likeliest, where nothing is generated and there are such answers. */
      LL?: number;
    };

export type RunStatus = 'running' | 'stopped' | 'failed' | 'finished';

/** What a learning rate may be besides a number. */
export const learningRateWords = ['auto', 'formula', 'search'] as const;

/**
 * What a tuning step computes again to take less memory. `none`: all that the way back reads is kept. `attention`:
 * attention weights are made again from queries and keys. `blocks`: only what all other values come through is kept (the
 * residual stream after each attention and each MLP), and everything in between is made again.
 */
export const recomputations = ['none', 'attention', 'blocks'] as const;
export type Recomputation = (typeof recomputations)[number];

/** Soft-prompt settings of a run. */
export interface SoftPromptSettings {
  vectors: number;
  steps: number;
  batchSize: number;
  /**
   * A number; `formula`: by the embedding's scale and width; `search`: the best of many, by a few steps at each; `auto`:
   * the same with few, or the formula where the tuning is short. The number used: {@link RunFile.learningRate}.
   */
  learningRate: number | (typeof learningRateWords)[number];
  init: 'vocabulary' | 'random';
  seed: number;
  /** Where the vectors stand; `prefix` where absent (runs of earlier versions). */
  position?: SoftPromptPosition;
  /** `none` where absent. Gradients are the same up to rounding. */
  recompute?: Recomputation;
  /** Items of a step that are computed at a time; absent: as many as memory holds. */
  microBatchSize?: number;
  validateEvery: number;
  /** Items of the held-out slice generated at each validation. */
  validationItems: number;
}

export interface GenerationOptions {
  until: string[];
  maxNewTokens: number;
  /** 0 is greedy. */
  temperature: number;
  topP: number;
  seed: number;
}

/** How prompts are to be written as a conversation: the chat options of lm-evaluation-harness. */
export interface ChatRequest {
  /** true: the model's default template; a name: that one of several. */
  template: boolean | string;
  systemInstruction?: string;
  /** Examples as turns of their own. Default: where a template is applied. */
  fewshotAsMultiturn?: boolean;
}

/** How a run's prompts were written as a conversation. It holds all that is needed to render them again. */
export interface ChatSettings {
  /** Null: no template was applied, the system instruction stands in front as plain text. */
  template: {
    name: string;
    source: string;
    /** SHA-256 of the source. */
    digest: string;
    specialTokens: Readonly<Record<string, string | string[]>>;
    /** The moment that a template which writes the date was rendered at (ISO 8601). */
    date?: string;
  } | null;
  systemInstruction: string | null;
  fewshotAsMultiturn: boolean;
}

export interface ModelIdentity {
  name: string;
  /** Absolute path of the model folder on this machine. */
  folder: string;
  graphFile: string;
  /** SHA-256 (hex) of each part; weights: of size and sampled blocks, or of the whole when small. */
  digests: { graph: string; weights: string; tokenizer: string; config: string };
}

/** What was asked for, what runs, and why. */
export interface ProviderReport {
  asked: string;
  running: string;
  reason: string;
  threads: number;
  /** Providers that go before the one that runs, and a clause why each does not. */
  others?: { name: string; reason: string }[];
  /** Where a GPU's provider runs: which nodes it left to the CPU, one entry a kind of graph that has run. */
  nodes?: NodePlacement[];
}

/** Nodes of a graph after ONNX Runtime's optimisation, by where they ran. */
export interface NodePlacement {
  graph: 'training' | 'inference';
  nodes: number;
  /** How many of them the CPU computed, and their operators, the commonest first. */
  cpuNodes: number;
  cpuOperators: Record<string, number>;
  /** Copies between the device and the CPU that ONNX Runtime put in. */
  copies: number;
}

/** Where the figures of a run come from that was not made by Softbench. */
export interface RunSource {
  kind: 'imported';
  /** The format of the files. */
  tool: 'lm-eval' | 'every-eval-ever';
  /** Version of what wrote them (lm-eval) or of their schema; empty where they do not say. */
  version: string;
  /** What made the evaluation, where that is another tool than the format's own. */
  library?: string;
  /** Absolute path of the results file, and its SHA-256 together with that of the samples. */
  file: string;
  digest: string;
  /** When the evaluation was made (ISO 8601); null where the files do not say. */
  evaluated: string | null;
  /** Tasks that the score is a mean of, where it is that of a group. */
  group?: string[];
}

/** run.json */
export interface RunFile {
  schema: 1;
  id: string;
  softbench: string;
  onnxruntime: string;
  created: string;
  updated: string;
  status: RunStatus;
  /** Sentence for the user when status is failed. */
  message?: string;
  /** Runs started together by one command share it. */
  group: string;
  mode: PromptMode;
  model: ModelIdentity;
  benchmark: {
    task: string;
    /** Absolute path of the benchmark file. */
    file: string;
    /** SHA-256 over the resolved configuration (after includes), and over the data of the split. */
    digests: {
      config: string;
      data: string;
      /** Of the split that examples and tuning take from, where the run takes any; absent in older runs. */
      training?: string;
      /** Of the configuration's keys that decide prompts and requests, and of those that only score; absent in older runs. */
      requests?: string;
      scoring?: string;
    };
    items: number;
    split: string;
  };
  settings: {
    limit: number | null;
    shots: number;
    fewShotSeed: number;
    /** Rows that are computed together, as asked for. */
    batchSize: number | 'auto';
    /** Those that were found for `auto`, and what became of a batch size for which memory did not suffice. */
    batchRows?: { outputs?: number; likelihoods?: number };
    generation: GenerationOptions;
    softPrompt: SoftPromptSettings | null;
    /** The run whose soft-prompt.safetensors is used, where it is not this run's own. */
    softPromptFrom: string | null;
    /** SHA-256 of a soft prompt that comes from a file; absent in older runs. */
    softPromptDigest?: string;
    /** Where the soft prompt stands, tuned here or not; `prefix` where absent. */
    softPromptPosition?: SoftPromptPosition;
    /** Absent: prompts are plain text, as the benchmark file writes them. */
    chat?: ChatSettings;
    /** Where nothing is generated: likelihoods only. */
    generates?: false;
    /** Outputs an item, where more than one. */
    repeats?: number;
  };
  /** Set when the learning rate of a tuned run has been decided. */
  learningRate?: LearningRateChoice;
  provider: ProviderReport;
  /** The run whose outputs were scored again, without the model: provider, times, tokens and memory are those of that run. */
  rescoredFrom?: string;
  /** Outputs only: nothing was scored, and the scores of the summary count no item. Re-scoring makes a run with scores of it. */
  predictOnly?: true;
  /** Anything the user should know about how the numbers came about. */
  notes: string[];
  /** Set where the run was imported. Nothing of it was computed here then: identities, digests and provider are empty. */
  source?: RunSource;
}

/** summary.json, and what pages and the command line print. */
export interface RunSummary {
  schema: 1;
  run: string;
  mode: PromptMode;
  scores: Scores;
  /** Scores that the benchmark file asks for by name, as BIG-bench's `multiple_choice_grade`; null: nothing to compute it of. */
  metrics?: Record<string, number | null>;
  /** The metrics of the benchmark file, by metric and filter, in the file's order. */
  measures?: MetricScore[];
  /** Items whose prompt was longer than the model's context and lost its beginning. */
  truncated?: number;
  /** Wall-clock seconds of evaluation and of tuning, summed over resumptions. */
  seconds: number;
  tuningSeconds: number;
  promptTokens: number;
  outputTokens: number;
  peakMemoryBytes: number | null;
  bestStep: number | null;
  /**
   * Responses of the model that were taken from the cache, and those that were computed. Where any was taken, `seconds` is
   * not what the model takes. Absent where there was no cache.
   */
  responses?: { cached: number; computed: number };
}

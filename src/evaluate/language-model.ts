/**
 * What tune() and evaluate() need of a model. The engine room implements it with ONNX Runtime; a test can hand over a
 * scripted one.
 */
import type { SoftPromptPosition } from '../shared/modes.ts';
import type { GenerationOptions, ModelIdentity, ProviderReport, Recomputation, StopReason } from '../shared/results.ts';

/** A tuned soft prompt: row-major float32 [vectors, hiddenSize], in the space of the token embedding's output. */
export interface SoftPrompt {
  vectors: number;
  hiddenSize: number;
  data: Float32Array;
  /** Where it was tuned to stand, and so where it is put; `prefix` where absent. */
  position?: SoftPromptPosition;
  /** Name of the model that it was tuned on, where a file says it. */
  tunedOn?: string;
}

export interface Tokenizer {
  /** Ids of a text. `special`: add what the tokenizer's post-processor adds (BOS …), as `add_special_tokens=True`. */
  encode(text: string, options?: { special?: boolean }): number[];
  /** Text of ids, special tokens left out unless asked for. */
  decode(ids: readonly number[], options?: { special?: boolean }): string;
  readonly vocabularySize: number;
  readonly eosTokenIds: readonly number[];
  readonly bosTokenId: number | null;
  readonly padTokenId: number;
}

/** What a model folder says about conversations. */
export interface ChatTemplates {
  /** Jinja sources by name; `default` is what applies where none is named. Empty where the model has none. */
  templates: ReadonlyMap<string, string>;
  /** Names such as `bos_token` and their texts, which the templates may use. */
  specialTokens: Readonly<Record<string, string | string[]>>;
}

export interface GenerationRequest {
  /** The caller's number; results carry it, in whatever order they finish. */
  index: number;
  tokens: readonly number[];
}

export interface GenerationResult {
  index: number;
  /** Generated ids, the stop included. */
  tokens: number[];
  /** Decoded text before the stop string or EOS. */
  text: string;
  stop: { reason: StopReason; marker?: string };
  /** Log-probability of each generated token. */
  logProbabilities: number[];
}

export interface LogLikelihoodRequest {
  index: number;
  context: readonly number[];
  continuation: readonly number[];
}

export interface LogLikelihoodResult {
  index: number;
  /** Natural log; one per continuation token, and their sum. */
  tokens: number[];
  sum: number;
  /** Every continuation token is the most likely one at its place. */
  greedy: boolean;
}

/** One token of a text as the model sees it where it stands. */
export interface TokenScore {
  token: number;
  /** Natural log of its probability. */
  logProbability: number;
  /** 1: no token was likelier. */
  rank: number;
  /** The likeliest tokens there, the likeliest first. */
  best: { token: number; logProbability: number }[];
}

export interface Hooks<Result> {
  signal?: AbortSignal;
  /** Called as each request finishes. May return a promise (a write to disk); the engine waits for it. */
  onResult(result: Result): void | Promise<void>;
  /** Tokens produced or read so far, for progress between results. */
  onTokens?(done: number): void;
  /** Rows that are computed together, once they are known; `lowered`: fewer than before, because memory ran out. */
  onBatchSize?(rows: number, lowered: boolean): void;
}

/** Rows that are computed together; `auto`: as many as help and memory holds. */
export type BatchSize = number | 'auto';

export interface GenerationSettings extends GenerationOptions {
  batchSize: BatchSize;
  softPrompt: SoftPrompt | null;
}

/** One training example: text and answer; the loss is on the answer's tokens only. */
export interface TrainingExample {
  prompt: readonly number[];
  answer: readonly number[];
}

export interface StepResult {
  /** Mean cross-entropy (nats) over the answer tokens of the batch. */
  loss: number;
  answerTokens: number;
  /** ∂loss/∂softPrompt, row-major [vectors, hiddenSize]. */
  gradient: Float32Array;
  /** Rows × padded length including the soft prompt. */
  batch: [number, number];
}

/** Loss and gradient for batches; one per tuning, holds compiled training sessions. */
export interface TrainingEngine {
  step(examples: readonly TrainingExample[], softPrompt: SoftPrompt, signal?: AbortSignal): Promise<StepResult>;
  /** Loss only. */
  loss(
    examples: readonly TrainingExample[],
    softPrompt: SoftPrompt,
    signal?: AbortSignal,
  ): Promise<{ loss: number; answerTokens: number }>;
  /** Things that the user should know about how the steps so far were computed. */
  readonly notes?: readonly string[];
  close(): Promise<void>;
}

export interface TrainingOptions {
  vectors: number;
  batchSize: number;
  /** Where the soft prompt stands; `prefix` where absent. */
  position?: SoftPromptPosition;
  /** How often each training example is seen: what can be computed once is kept where it is seen again. Default: 1. */
  passes?: number;
  /** What a step computes again to take less memory. Default: none. */
  recompute?: Recomputation;
  /** Items of a step that are computed at a time; absent: as many as memory holds. */
  microBatchSize?: number;
}

export interface LanguageModel {
  readonly identity: ModelIdentity;
  readonly tokenizer: Tokenizer;
  /** Absent or empty: the model has no chat template. */
  readonly chatTemplates?: ChatTemplates;
  readonly provider: ProviderReport;
  readonly hiddenSize: number;
  /** Longest prompt + output that the model's positions allow; null where it is not known. */
  readonly contextLength: number | null;
  /** Root mean square of the token embedding's entries: the scale that soft-prompt learning rates follow. */
  readonly embeddingScale: number;
  /** Things the user should know about this model's results (no cache, quantised activations …). */
  readonly notes: readonly string[];
  /** Rows of the embedding table, row-major [ids.length, hiddenSize]: the space of soft prompts. */
  embeddingRows(ids: readonly number[]): Promise<Float32Array>;
  generate(
    requests: readonly GenerationRequest[],
    settings: GenerationSettings,
    hooks: Hooks<GenerationResult>,
  ): Promise<void>;
  logLikelihood(
    requests: readonly LogLikelihoodRequest[],
    settings: { batchSize: BatchSize; softPrompt: SoftPrompt | null },
    hooks: Hooks<LogLikelihoodResult>,
  ): Promise<void>;
  /** Every token of one continuation by itself, in its order. `alternatives`: how many of the likeliest tokens to name. */
  tokenScores?(
    request: Omit<LogLikelihoodRequest, 'index'>,
    settings: { softPrompt: SoftPrompt | null; alternatives: number; signal?: AbortSignal },
  ): Promise<TokenScore[]>;
  /** Throws HumanError where no soft prompt can be tuned on this model, before anything is computed. */
  checkTuning?(): void;
  openTraining(settings: TrainingOptions): Promise<TrainingEngine>;
  /** Peak memory of the process so far, in bytes; without the pages of files where the system tells them apart (Linux). */
  peakMemoryBytes(): number | null;
  /** From here on {@link peakMemoryBytes} is of what comes: a run begins. */
  restartPeakMemory?(): void;
  close(): Promise<void>;
}

/** What a benchmark file becomes once it is read. */

import type { Place } from '../shared/errors.ts';
import type { FailureCause } from '../shared/failure-causes.ts';
import type { PromptMode } from '../shared/modes.ts';
import type {
  ChatRequest,
  FilteredMetrics,
  GenerationOptions,
  Reading,
  SoftPromptSettings,
  StopReason,
} from '../shared/results.ts';

export type AnswerKind = 'number' | 'letter' | 'choice' | 'yes-no' | 'text' | 'json';
export type OutputType = 'generate_until' | 'multiple_choice' | 'loglikelihood' | 'loglikelihood_rolling';

/** A finding in a benchmark file, shown as an editor diagnostic or printed by the command line. */
export interface Problem {
  severity: 'error' | 'warning' | 'information';
  message: string;
  place: Place;
  /** End of the marked range, from 1; the end of the token at `place` where absent. */
  end?: { line: number; column: number };
  /** Short stable name such as `unknown-key`. */
  code: string;
}

/** One row of the data, with where it stands in its file. */
export interface Item {
  index: number;
  fields: Record<string, unknown>;
  place: Place;
}

/** A rendered prompt, in the parts that the panel marks. `text` is their concatenation. */
export interface RenderedPrompt {
  text: string;
  /** `template`: what a chat template puts around the other parts. */
  parts: { kind: 'description' | 'example' | 'question' | 'generation-prefix' | 'template'; text: string }[];
  /**
   * Where the candidates are whole contexts (WinoGrande: `doc_to_text` is the number of the right one): the prompt of each,
   * in their order. `text` is then the right one's, and what is compared is the target behind each.
   */
  contexts?: string[];
}

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/** How prompts are written as a conversation: the chat options of lm-evaluation-harness. */
export interface Chat {
  /**
   * The model's own template; null: none is applied, the system instruction stands in front as plain text.
   * `addGenerationPrompt` false: the last message is the beginning of an answer, which the model goes on with.
   */
  template: { render(messages: readonly ChatMessage[], options: { addGenerationPrompt: boolean }): string } | null;
  systemInstruction: string | null;
  /** Examples are turns of their own, in place of one user message that holds all of them. */
  fewshotAsMultiturn: boolean;
}

export interface Judgement {
  strict: Reading;
  lenient: Reading;
  inFormat: boolean;
  right: boolean;
  lenientRight: boolean;
  cause: FailureCause | null;
}

/** What is asked of the model for an item, as construct_requests of lm-evaluation-harness builds it. */
export type ItemRequest =
  | { kind: 'generate'; context: string }
  /** Log-likelihood of the continuation behind the context; an empty context stands for the start of a text. */
  | { kind: 'loglikelihood'; context: string; continuation: string }
  /** Log-likelihood of a whole text, in windows where it is longer than the model's context. */
  | { kind: 'rolling'; text: string };

/** What the model answered to an {@link ItemRequest}; `outputs` has one entry a repeat. */
export type ItemResponse =
  | { kind: 'generate'; outputs: readonly { text: string; stop: { reason: StopReason; marker?: string } }[] }
  | { kind: 'loglikelihood'; sum: number; greedy: boolean }
  | { kind: 'rolling'; sum: number };

/** A metric of the benchmark file and how its values become a score. */
export interface MetricSetting {
  metric: string;
  /** Name in the table of src/metrics/metric-scores.ts. */
  aggregation: string;
  higherIsBetter: boolean;
}

export interface Benchmark {
  readonly file: string;
  readonly task: string;
  readonly outputType: OutputType;
  readonly answerKind: AnswerKind;
  /** SHA-256 of the resolved configuration. */
  readonly configDigest: string;
  /** Files that the configuration was read from (the file and its includes) and its data files. */
  readonly sources: { configuration: string[]; data: string[] };
  readonly generation: GenerationOptions;
  /** Shots of few-shot mode: `num_fewshot`, or 5 where the file gives none or 0. */
  readonly shots: number;
  readonly fewShotSeed: number;
  readonly modes: readonly PromptMode[];
  readonly softPrompt: SoftPromptSettings;
  readonly limit: number | null;
  /** Names of the strict and lenient filters, or `built-in`. */
  readonly readers: { strict: string; lenient: string };
  /** The split that is evaluated: test, else validation. Its name as the file gives it. */
  readonly evaluationSplit: string;
  /** The split that few-shot examples and tuning take from; null where the file has none. */
  readonly trainingSplit: string | null;
  /** Which setting gives training items or fewer examples, where it is not a key of lm-evaluation-harness. */
  readonly advice?: { training: string; shots: string };
  readonly notes: readonly string[];
  /** Scores beside F, S, K and L that a run of it reports, by BIG-bench's names; absent where there are none. */
  readonly metrics?: readonly string[];

  /** Rows of a split; `evaluation` is {@link evaluationSplit}. Throws HumanError where a file is missing or broken. */
  items(split: 'evaluation' | 'training' | 'fewshot'): Promise<readonly Item[]>;
  /** SHA-256 over the data that {@link items} returns. */
  dataDigest(split: 'evaluation' | 'training'): Promise<string>;
  /** What the file says of conversations (`metadata.softbench.chat_template` …); absent where it says nothing. */
  readonly chatRequest?: ChatRequest;
  /** The same benchmark with prompts, targets and training answers written as a conversation; null: as plain text. */
  withChat(chat: Chat | null): Benchmark;
  /** The prompt of an item with `shots` examples before it (0 for zero-shot). */
  prompt(item: Item, shots: number): Promise<RenderedPrompt>;
  /**
   * Text that goes between prompt and answer (or candidate), and the gold answer's text as it would be generated
   * (doc_to_target).
   */
  target(item: Item): { delimiter: string; text: string };
  /** What tuning teaches: delimiter + target + the first stop marker (so that the model learns to stop), or null marker for EOS. */
  trainingAnswer(item: Item): { text: string; endsWithEos: boolean };
  /**
   * Candidate answers, where the file gives them (doc_to_choice), and which one is right. `scores`: what each is worth where
   * they are graded (BIG-bench's target_scores); all with the highest score are right, and `gold` is the first of them.
   * `golds`: all that are right, where the file gives several.
   */
  choices(item: Item): { texts: string[]; gold: number; scores?: number[]; golds?: number[] } | null;
  /** Reads an output: strict and lenient answer, verdicts and the cause of a format failure. */
  judge(item: Item, output: string, stop: { reason: StopReason; marker?: string }): Judgement;
  /** All right answers, for metrics that compare texts. */
  references?(item: Item): readonly string[];
  /** The metrics of the benchmark file; absent where it has none of its own. */
  readonly metricList?: readonly MetricSetting[];
  /** Outputs an item (`repeats`); 1 where absent. */
  readonly repeats?: number;
  /** False where outputs are kept and nobody judges them (evaluate/predict-only.ts). */
  readonly scored?: false;
  /** False where only likelihoods are asked for; true where absent. */
  readonly generates?: boolean;
  /** The same benchmark with likelihoods only. @throws HumanError where there are none */
  withoutGeneration?(): Benchmark;
  /**
   * What is asked for an item, as construct_requests of lm-evaluation-harness: its log-likelihoods in that order, and behind
   * them the output that is read strictly and leniently. Absent: one output behind the prompt, and the candidates where
   * there are any.
   */
  requests?(item: Item, shots: number): Promise<readonly ItemRequest[]>;
  /** What the responses to {@link requests} add to the metrics, as process_results, by filter. */
  measure?(item: Item, responses: readonly ItemResponse[]): FilteredMetrics[];
  /** What the target template of an item gives (`doc_to_target`), before it becomes the text of an answer. */
  rawTarget?(item: Item): unknown;
  /** The file's keys after its includes, as they stand; absent where it is no task file of lm-evaluation-harness. */
  readonly configuration?: Readonly<Record<string, unknown>>;
  /** Would this answer be right for the item? For the constant-answer baseline. */
  isRight(item: Item, answer: string): boolean;
}

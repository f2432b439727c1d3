/** What the formats of other tools have in common: the figures of one task, before they become a run. */
import type { ChatSettings, RunSource } from '../shared/results.ts';

export interface ForeignMetric {
  metric: string;
  filter: string;
  /** Null where the file has no number. */
  value: number | null;
  standardError: number | null;
  higherIsBetter: boolean;
  /** Items that it is of, where that is not all of the task. */
  n?: number;
}

export interface ForeignModel {
  /** As the file names it: a Hugging Face id, mostly. */
  name: string;
  /** What makes it this model and no other: source, arguments, revision. Models of the same name that differ in it stay apart. */
  identity: string;
  /** Digest of the weights or the commit of its repository, where the file says. */
  weights: string;
}

export interface ForeignTask {
  task: string;
  /** Sub-tasks, where the figures are those of a group. */
  group: string[] | null;
  model: ForeignModel;
  source: RunSource;
  shots: number;
  fewShotSeed: number;
  limit: number | null;
  /** Items that count; null where the file does not say. */
  n: number | null;
  split: string;
  /** lm-eval's output_type; null where the file does not say. */
  outputType: string | null;
  /** Version of the task, as the file says. */
  taskVersion: string;
  generation: { until: string[]; maxNewTokens: number; temperature: number; topP: number };
  /** Null where the prompts were plain text. */
  chat: ChatSettings | null;
  metrics: ForeignMetric[];
  notes: string[];
}

export const noGeneration: ForeignTask['generation'] = { until: [], maxNewTokens: 0, temperature: 0, topP: 1 };

// Values of files that somebody else wrote: what has another type counts as missing.
export type Fields = Record<string, unknown>;
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
export const numberOf = (value: unknown): number | null => {
  if (typeof value === 'boolean') return value ? 1 : 0;
  // Python's floats come as objects where JSON.parse could not read the file.
  const number = typeof value === 'object' && value !== null ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
};
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const textsOf = (value: unknown): string[] => listOf(value).filter((entry) => typeof entry === 'string');

/** What a job needs of a cache of responses; the responses room implements it. */
import type { LanguageModel } from './language-model.ts';

/** How many responses of the model a run took from the cache, and how many it computed. */
export interface ResponseCounts {
  cached: number;
  computed: number;
}

export interface ResponseCache {
  /** The model to ask: it answers from the cache what is there. */
  readonly model: LanguageModel;
  counts(): ResponseCounts;
  /** What is answered just now comes from the cache: it says nothing about the time that others take. */
  readonly isDelivering: boolean;
  /** Why responses could not be kept or looked up, as sentences for the run's notes. */
  problems(): readonly string[];
  close(): void;
}

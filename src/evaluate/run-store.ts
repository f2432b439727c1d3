/** What the loops and the editor need of the run store; the runs room implements it. Files: docs/architecture.md. */

import type { MarkedItem } from '../shared/marks.ts';
import type { ItemRecord, RunFile, RunSummary, TuningRecord } from '../shared/results.ts';
import type { SoftPrompt } from './language-model.ts';

/** State that lets tuning go on as if it had never stopped: everything that the next step depends on. */
export interface TuningCheckpoint {
  step: number;
  softPrompt: SoftPrompt;
  /** Adam's first and second moments, row-major like the soft prompt. */
  firstMoment: Float32Array;
  secondMoment: Float32Array;
  best: { step: number; softPrompt: SoftPrompt; F: number; S: number; loss: number } | null;
  seconds: number;
}

/** A run folder opened for writing by one process. */
export interface RunWriter {
  readonly run: RunFile;
  readonly folder: string;
  /** Items finished before (after a stop or a kill), in file order. */
  readonly finishedItems: readonly ItemRecord[];
  readonly tuningRecords: readonly TuningRecord[];
  /** Appends and flushes. Throws HumanError('disk') where it cannot; what was written before stays readable. */
  appendItem(record: ItemRecord): Promise<void>;
  appendTuning(record: TuningRecord): Promise<void>;
  /** Drops tuning records after `step` (a resumed tuning goes on from its checkpoint). */
  truncateTuning(step: number): Promise<void>;
  saveCheckpoint(checkpoint: TuningCheckpoint): Promise<void>;
  loadCheckpoint(): Promise<TuningCheckpoint | null>;
  saveSoftPrompt(softPrompt: SoftPrompt, metadata: Record<string, string>): Promise<void>;
  loadSoftPrompt(): Promise<SoftPrompt | null>;
  update(
    change: Partial<Pick<RunFile, 'status' | 'message' | 'notes' | 'settings' | 'provider' | 'learningRate'>>,
  ): Promise<void>;
  saveSummary(summary: RunSummary): Promise<void>;
  /** Releases the folder's lock. */
  close(): Promise<void>;
}

export interface RunFolder {
  folder: string;
  run: RunFile;
  summary: RunSummary | null;
}

export interface RunStore {
  /** Makes a run folder and locks it. */
  create(run: Omit<RunFile, 'id' | 'created' | 'updated' | 'status'>): Promise<RunWriter>;
  /** Opens an unfinished run to go on with it: a half-written last line is dropped, finished items stay. */
  reopen(id: string): Promise<RunWriter>;
  /** All readable runs, newest first; broken or newer ones are reported, never touched. */
  list(): Promise<{ runs: RunFolder[]; unreadable: { folder: string; reason: string }[] }>;
  read(id: string): Promise<RunFolder>;
  readItems(id: string, from?: number): Promise<ItemRecord[]>;
  /** The record of one item; null where the run does not have it. */
  readItem(id: string, index: number): Promise<ItemRecord | null>;
  countItems(id: string): Promise<number>;
  readTuning(id: string): Promise<TuningRecord[]>;
  readSoftPrompt(id: string): Promise<SoftPrompt | null>;
  /** Marks of one run's items for another run of them. @throws HumanError where they cannot be read or written */
  copyMarks(from: string, to: string, keep: (mark: MarkedItem) => boolean): Promise<void>;
  remove(id: string): Promise<void>;
}

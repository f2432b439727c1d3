/** A run folder that this process writes to. */
import { join } from 'node:path';
import type { SoftPrompt } from '../evaluate/language-model.ts';
import type { RunWriter, TuningCheckpoint } from '../evaluate/run-store.ts';
import type { ItemRecord, RunFile, RunSummary, TuningRecord } from '../shared/results.ts';
import { diskError, jsonText, writeWhole } from './files.ts';
import { type BrokenLine, bytesOf, LineWriter, parseLines } from './lines.ts';
import type { FolderLock } from './lock.ts';
import { parseItem, parseTuning } from './shapes.ts';
import { readCheckpoint, readSoftPrompt, writeCheckpoint, writeSoftPrompt } from './soft-prompt-file.ts';

/** The files of a run folder. */
export const runFiles = {
  run: 'run.json',
  items: 'items.jsonl',
  tuning: 'tuning.jsonl',
  softPrompt: 'soft-prompt.safetensors',
  checkpoint: 'checkpoint.safetensors',
  summary: 'summary.json',
} as const;

/** Broken lines as sentences. */
export const brokenLineSentences = (file: string, broken: readonly BrokenLine[]): string[] =>
  broken.map(({ line, reason }) => `${file}, line ${line} was left out: ${reason}.`);

export class FolderWriter implements RunWriter {
  finishedItems: readonly ItemRecord[] = [];
  tuningRecords: readonly TuningRecord[] = [];
  #items: LineWriter | null = null;
  #tuning: LineWriter | null = null;
  /** Changes of run.json go one after the other. */
  #updates: Promise<void> = Promise.resolve();
  #closed = false;

  private constructor(
    public run: RunFile,
    readonly folder: string,
    private readonly lock: FolderLock,
  ) {}

  /** `run` has been checked; the folder is locked by `lock`. Reads what was finished before and drops half lines. */
  static async open(run: RunFile, folder: string, lock: FolderLock): Promise<FolderWriter> {
    const writer = new FolderWriter(run, folder, lock);
    const guard = (): Promise<void> => lock.check();
    const open = async <T>(name: string, parse: (text: string) => T): Promise<[LineWriter, T[], BrokenLine[]]> => {
      const path = join(folder, name);
      const { records, broken, soundBytes } = parseLines(await bytesOf(path), parse);
      return [await LineWriter.open(path, soundBytes, guard), records, broken];
    };
    const [items, finished, brokenItems] = await open(runFiles.items, parseItem);
    const [tuning, tuned, brokenTuning] = await open(runFiles.tuning, parseTuning);
    writer.#items = items;
    writer.#tuning = tuning;
    writer.finishedItems = finished;
    writer.tuningRecords = tuned;
    const notes = [
      ...brokenLineSentences(runFiles.items, brokenItems),
      ...brokenLineSentences(runFiles.tuning, brokenTuning),
    ].filter((note) => !run.notes.includes(note));
    if (notes.length) await writer.update({ notes: [...run.notes, ...notes] });
    return writer;
  }

  async appendItem(record: ItemRecord): Promise<void> {
    await this.#lines(this.#items).append(record);
  }

  async appendTuning(record: TuningRecord): Promise<void> {
    await this.#lines(this.#tuning).append(record);
  }

  async truncateTuning(step: number): Promise<void> {
    const path = join(this.folder, runFiles.tuning);
    await this.#tuning?.close();
    this.#tuning = null;
    await this.lock.check();
    const { records } = parseLines(await bytesOf(path), parseTuning);
    const kept = records.filter((record) => record.step <= step);
    const text = Buffer.from(kept.map((record) => `${JSON.stringify(record)}\n`).join(''));
    if (kept.length < records.length) await writeWhole(path, text);
    this.tuningRecords = kept;
    const size = kept.length < records.length ? text.byteLength : (await bytesOf(path)).byteLength;
    this.#tuning = await LineWriter.open(path, size, () => this.lock.check());
  }

  async saveCheckpoint(checkpoint: TuningCheckpoint): Promise<void> {
    await this.lock.check();
    await writeCheckpoint(join(this.folder, runFiles.checkpoint), checkpoint);
  }

  loadCheckpoint(): Promise<TuningCheckpoint | null> {
    return readCheckpoint(join(this.folder, runFiles.checkpoint));
  }

  async saveSoftPrompt(softPrompt: SoftPrompt, metadata: Record<string, string>): Promise<void> {
    await this.lock.check();
    const { model, benchmark } = this.run;
    await writeSoftPrompt(join(this.folder, runFiles.softPrompt), softPrompt, {
      model: model.name,
      model_graph: model.digests.graph,
      model_weights: model.digests.weights,
      benchmark: benchmark.task,
      benchmark_config: benchmark.digests.config,
      run: this.run.id,
      ...metadata,
    });
  }

  async loadSoftPrompt(): Promise<SoftPrompt | null> {
    return (await readSoftPrompt(join(this.folder, runFiles.softPrompt)))?.softPrompt ?? null;
  }

  update(
    change: Partial<Pick<RunFile, 'status' | 'message' | 'notes' | 'settings' | 'provider' | 'learningRate'>>,
  ): Promise<void> {
    const next = this.#updates.then(async () => {
      await this.lock.check();
      const run: RunFile = { ...this.run, ...change, updated: new Date().toISOString() };
      // A message belongs to the state it came with.
      if (change.status && change.message === undefined) delete run.message;
      await writeWhole(join(this.folder, runFiles.run), jsonText(run));
      this.run = run;
    });
    this.#updates = next.catch(() => {});
    return next;
  }

  async saveSummary(summary: RunSummary): Promise<void> {
    await this.lock.check();
    await writeWhole(join(this.folder, runFiles.summary), jsonText(summary));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await this.#updates;
      await this.#items?.close();
      await this.#tuning?.close();
    } catch (thrown) {
      throw diskError(thrown, this.folder, 'close the files of');
    } finally {
      await this.lock.release();
    }
  }

  #lines(writer: LineWriter | null): LineWriter {
    if (!writer || this.#closed) throw new Error(`The run ${this.run.id} is closed.`);
    return writer;
  }
}

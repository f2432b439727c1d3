/** The run store: `<folder>/runs/<time>-<benchmark>-<model>-<mode>/`. */
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SoftPrompt } from '../evaluate/language-model.ts';
import type { RunFolder, RunStore, RunWriter } from '../evaluate/run-store.ts';
import { asError, HumanError, sentenceOf } from '../shared/errors.ts';
import type { MarkedItem } from '../shared/marks.ts';
import type { ItemRecord, RunFile, RunSummary, TuningRecord } from '../shared/results.ts';
import { diskError, jsonText, makeFolder, writeWhole } from './files.ts';
import { ItemsFile, type ItemsPart } from './items-file.ts';
import { bytesOf, parseLines } from './lines.ts';
import { FolderLock, holderOf } from './lock.ts';
import { copyMarks } from './marks.ts';
import { checkRunId, runName } from './names.ts';
import { parseItem, parseRunFile, parseSummary, parseTuning } from './shapes.ts';
import { readSoftPrompt } from './soft-prompt-file.ts';
import { brokenLineSentences, FolderWriter, runFiles } from './writer.ts';

/** What a run that a crash or a kill ended says of itself. */
const interrupted = 'It was interrupted (a crash, a kill or a power failure). Resume it to go on where it stopped.';

export class DiskRunStore implements RunStore {
  readonly #runs: string;
  readonly #items = new Map<string, ItemsFile>();

  /** @param folder holds `runs/`; made with the first run. */
  constructor(readonly folder: string) {
    this.#runs = join(folder, 'runs');
  }

  folderOf(id: string): string {
    return join(this.#runs, checkRunId(id));
  }

  async create(run: Omit<RunFile, 'id' | 'created' | 'updated' | 'status'>): Promise<RunWriter> {
    await makeFolder(this.#runs);
    const created = new Date();
    const name = runName(created, run.benchmark.task, run.model.name, run.mode);
    const id = await this.#makeFree(name);
    const folder = this.folderOf(id);
    const lock = await FolderLock.acquire(folder);
    try {
      const time = created.toISOString();
      const file: RunFile = { ...run, id, created: time, updated: time, status: 'running' };
      await writeWhole(join(folder, runFiles.run), jsonText(file));
      return await FolderWriter.open(file, folder, lock);
    } catch (thrown) {
      await lock.release().catch(() => {});
      // Nothing is in it yet: an empty folder would be reported as broken ever after.
      await rm(folder, { recursive: true, force: true }).catch(() => {});
      throw thrown;
    }
  }

  /** Two runs of the same second get different names: mkdir fails for whoever comes second. */
  async #makeFree(name: string): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const id = attempt === 1 ? name : `${name}-${attempt}`;
      try {
        await mkdir(this.folderOf(id));
        return id;
      } catch (thrown) {
        if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST')
          throw diskError(thrown, this.folderOf(id), 'make the folder');
      }
    }
  }

  async reopen(id: string): Promise<RunWriter> {
    const folder = this.folderOf(id);
    const found = await this.#readRun(folder);
    if (found.status === 'finished')
      throw new HumanError('bad-input', `The run ${id} is finished: there is nothing to resume.`, {
        todo: 'Start a new run.',
      });
    const lock = await FolderLock.acquire(folder);
    try {
      // Read again under the lock: another process may have finished it in between.
      const writer = await FolderWriter.open(await this.#readRun(folder), folder, lock);
      await writer.update({ status: 'running' });
      return writer;
    } catch (thrown) {
      await lock.release().catch(() => {});
      throw thrown;
    }
  }

  async list(): Promise<{ runs: RunFolder[]; unreadable: { folder: string; reason: string }[] }> {
    const names = await readdir(this.#runs, { withFileTypes: true }).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code === 'ENOENT') return [];
      throw diskError(thrown, this.#runs, 'read');
    });
    const runs: RunFolder[] = [];
    const unreadable: { folder: string; reason: string }[] = [];
    await Promise.all(
      names
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
        .map(async ({ name }) => {
          const folder = join(this.#runs, name);
          try {
            runs.push(await this.#readFolder(folder));
          } catch (thrown) {
            // A folder that is being made has its lock before its run.json.
            const isNew =
              thrown instanceof HumanError && thrown.kind === 'missing' && (await holderOf(folder)) !== null;
            if (!isNew) unreadable.push({ folder, reason: sentenceOf(thrown) });
          }
        }),
    );
    runs.sort((a, b) => compare(b.run.created, a.run.created) || compare(b.run.id, a.run.id));
    unreadable.sort((a, b) => compare(b.folder, a.folder));
    return { runs, unreadable };
  }

  async read(id: string): Promise<RunFolder> {
    return this.#readFolder(this.folderOf(id));
  }

  async #readFolder(folder: string): Promise<RunFolder> {
    const [run, summary] = await Promise.all([this.#readRun(folder), this.#readSummary(folder)]);
    if (run.status === 'running' && (await holderOf(folder)) === null) {
      // It may have ended regularly between the two looks.
      const again = await this.#readRun(folder);
      return again.status === 'running'
        ? { folder, run: { ...again, status: 'stopped', message: interrupted }, summary }
        : { folder, run: again, summary: await this.#readSummary(folder) };
    }
    return { folder, run, summary };
  }

  async #readRun(folder: string): Promise<RunFile> {
    const file = join(folder, runFiles.run);
    const text = await textOf(file);
    if (text === null) throw new HumanError('missing', `There is no run in ${folder}: it has no ${runFiles.run}.`);
    return parsed(file, text, parseRunFile);
  }

  async #readSummary(folder: string): Promise<RunSummary | null> {
    const file = join(folder, runFiles.summary);
    const text = await textOf(file);
    return text === null ? null : parsed(file, text, parseSummary);
  }

  /** Items from position `from` on. Half a line at the end is one that is being written; broken lines are skipped. */
  readItems(id: string, from = 0, part: ItemsPart = {}): Promise<ItemRecord[]> {
    return this.#itemsOf(id).read(from, part);
  }

  /** How many items a run has finished; of a growing file only what is new is read. */
  countItems(id: string): Promise<number> {
    return this.#itemsOf(id).count();
  }

  /** One item by its index; null where it is not finished. */
  readItem(id: string, index: number): Promise<ItemRecord | null> {
    return this.#itemsOf(id).find(index);
  }

  #itemsOf(id: string): ItemsFile {
    const known = this.#items.get(id);
    if (known) return known;
    const items = new ItemsFile(join(this.folderOf(id), runFiles.items));
    this.#items.set(id, items);
    return items;
  }

  async readTuning(id: string): Promise<TuningRecord[]> {
    return parseLines(await bytesOf(join(this.folderOf(id), runFiles.tuning)), parseTuning).records;
  }

  /** Lines of the run's files that cannot be read, as sentences with file and line. */
  async problems(id: string): Promise<string[]> {
    const folder = this.folderOf(id);
    const items = parseLines(await bytesOf(join(folder, runFiles.items)), parseItem).broken;
    const tuning = parseLines(await bytesOf(join(folder, runFiles.tuning)), parseTuning).broken;
    return [...brokenLineSentences(runFiles.items, items), ...brokenLineSentences(runFiles.tuning, tuning)];
  }

  async readSoftPrompt(id: string): Promise<SoftPrompt | null> {
    return (await readSoftPrompt(join(this.folderOf(id), runFiles.softPrompt)))?.softPrompt ?? null;
  }

  copyMarks(from: string, to: string, keep: (mark: MarkedItem) => boolean): Promise<void> {
    return copyMarks(this.folderOf(from), this.folderOf(to), keep);
  }

  /** Deletes a run's folder. Throws where a living process writes to it. */
  async remove(id: string): Promise<void> {
    const folder = this.folderOf(id);
    const holder = await holderOf(folder);
    if (holder)
      throw new HumanError('bad-input', `The run ${id} is being written by ${holder}.`, { todo: 'Stop it first.' });
    // Out of sight first, so that nobody meets a folder that is half deleted.
    const doomed = join(this.#runs, `.${id}.deleted-${process.pid}-${Date.now()}`);
    try {
      await rename(folder, doomed);
      await rm(doomed, { recursive: true, force: true, maxRetries: 5 });
    } catch (thrown) {
      throw diskError(thrown, folder, 'delete');
    }
    this.#items.delete(id);
  }
}

/** The store of a folder (usually `<workspace>/.softbench`). Nothing is read or made before the first use. */
export const openRunStore = (folder: string): DiskRunStore => new DiskRunStore(folder);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function parsed<T>(file: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (thrown) {
    throw new HumanError('bad-input', `The file cannot be read: ${asError(thrown).message}.`, { place: { file } });
  }
}

async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (thrown) {
    const { code, message } = asError(thrown) as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new HumanError('disk', `Cannot read ${file}: ${message}.`, { cause: thrown });
  }
}

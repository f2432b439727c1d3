/**
 * What the results page asks about one item: its prompts as the runs saw them, its tokens with their probabilities, and
 * the marks that people set. Plain TypeScript.
 */
import { stat } from 'node:fs/promises';
import type { Benchmark, Item } from '../benchmark/types.ts';
import type { DiskRunStore } from '../runs/index.ts';
import { HumanError, sentenceOf } from '../shared/errors.ts';
import { isImportedPlace } from '../shared/imported.ts';
import type { ItemTokens } from '../shared/item-tokens.ts';
import { type ItemMark, joinedMarks, type MarkedItem } from '../shared/marks.ts';
import { usesExamples } from '../shared/modes.ts';
import type { EngineSettings, ItemDetail, WorkerApi } from '../shared/protocol.ts';
import type { ItemRecord, RunFile } from '../shared/results.ts';
import type { CallOptions, Client } from '../shared/rpc.ts';
import { sha256 } from '../system/index.ts';

type Store = Pick<DiskRunStore, 'folder' | 'folderOf' | 'readItem'>;

export interface InspectorHost {
  /** @throws HumanError where the run is not there any more */
  storeOf(run: string): Promise<Store>;
  /** As far as it is known without looking: a page that is shown again and again must not read the stores each time. */
  knownStoreOf(run: string): Store | null;
  worker(): Promise<Pick<Client<WorkerApi>, 'itemTokens'>>;
  engine(): EngineSettings;
  /** A job is under way: the worker has no time. */
  isBusy(): boolean;
}

/** Items whose tokens are kept: computing them takes seconds. */
const keptTokens = 64;

interface Opened {
  benchmark: Benchmark;
  items: readonly Item[];
}

export class ItemInspector {
  readonly #host: InspectorHost;
  /** By file; opened once per version of it. */
  readonly #benchmarks = new Map<string, { stamp: string; opened: Promise<Opened> }>();
  readonly #tokens = new Map<string, ItemTokens>();

  constructor(host: InspectorHost) {
    this.#host = host;
  }

  /** The item in each of the runs. */
  async detail(index: number, runs: readonly RunFile[]): Promise<ItemDetail> {
    const detail: ItemDetail = { index, prompts: [], records: [], gold: '', source: null };
    for (const run of runs) {
      const record = await (await this.#host.storeOf(run.id)).readItem(run.id, index);
      if (!record) continue;
      detail.records.push({ run: run.id, record });
      detail.gold ||= record.gold;
      try {
        const opened = await this.#open(run.benchmark.file);
        detail.prompts.push({ run: run.id, parts: await promptParts(opened, run, record) });
        detail.source ??= sourceOf(opened, index);
      } catch (thrown) {
        // The outputs are there even where the benchmark is not any more.
        const text = `The prompt cannot be shown: ${sentenceOf(thrown)}`;
        detail.prompts.push({ run: run.id, parts: [{ kind: 'note', text }] });
      }
    }
    return detail;
  }

  /** @throws HumanError that says why they cannot be computed */
  async tokens(
    { run, index }: { run: string; index: number },
    options: CallOptions<{ message: string }> = {},
  ): Promise<ItemTokens> {
    const key = `${index} ${run}`;
    const known = this.#tokens.get(key);
    if (known) return known;
    if (this.#host.isBusy())
      throw new HumanError('bad-input', 'The model cannot be asked now: a job is on.', {
        todo: 'Ask again when it has ended, or stop it: it can be resumed.',
      });
    const store = await this.#host.storeOf(run);
    const worker = await this.#host.worker();
    const request = { storeFolder: store.folder, run, index, engine: this.#host.engine() };
    const found = await worker.itemTokens(request, options);
    this.#tokens.set(key, found);
    for (const [first] of this.#tokens) {
      if (this.#tokens.size <= keptTokens) break;
      this.#tokens.delete(first);
    }
    return found;
  }

  /** Marks of the runs together, and why those of a run cannot be read. */
  async marks(runs: readonly RunFile[]): Promise<{ marks: MarkedItem[]; problems: string[] }> {
    const { readMarks } = await import('../runs/index.ts');
    const read = await Promise.all(
      runs.map(({ id }) => {
        const store = this.#host.knownStoreOf(id);
        return store ? readMarks(store.folderOf(id)) : { marks: [], problem: null };
      }),
    );
    return {
      marks: joinedMarks(read.map(({ marks }) => marks)),
      problems: read.flatMap(({ problem }) => problem ?? []),
    };
  }

  /**
   * Sets or takes away the mark of an item in all of the runs.
   * @returns all their marks
   * @throws HumanError where a run's cannot be written; the others' are
   */
  async mark(index: number, mark: ItemMark | null, runs: readonly RunFile[]): Promise<MarkedItem[]> {
    const { setMark } = await import('../runs/index.ts');
    const problems: unknown[] = [];
    for (const { id } of runs)
      try {
        await setMark((await this.#host.storeOf(id)).folderOf(id), index, mark);
      } catch (thrown) {
        problems.push(thrown);
      }
    if (problems.length > 0) throw problems[0];
    return (await this.marks(runs)).marks;
  }

  async #open(file: string): Promise<Opened> {
    if (isImportedPlace(file))
      throw new HumanError('missing', 'These results were imported: their benchmark file is not here.');
    const { mtimeMs, size } = await stat(file).catch(() => {
      throw new HumanError('missing', 'The benchmark file is not there any more.', { place: { file } });
    });
    const stamp = `${mtimeMs} ${size}`;
    const known = this.#benchmarks.get(file);
    if (known?.stamp === stamp) return known.opened;
    const open = async (): Promise<Opened> => {
      const { openBenchmark } = await import('../benchmark/index.ts');
      const benchmark = await openBenchmark(file);
      return { benchmark, items: await benchmark.items('evaluation') };
    };
    const opened = open();
    this.#benchmarks.set(file, { stamp, opened });
    return opened;
  }
}

/** The prompt as the run saw it, by its parts; a note in front where it is another one now. */
async function promptParts(
  { benchmark, items }: Opened,
  run: RunFile,
  record: ItemRecord,
): Promise<{ kind: string; text: string }[]> {
  const item = items.find((one) => one.index === record.index);
  if (!item)
    throw new HumanError('missing', `item ${record.index} is not in the data any more.`, {
      place: { file: benchmark.file },
    });
  const { chatOf } = await import('../benchmark/index.ts');
  const shots = usesExamples(run.mode) ? run.settings.shots : 0;
  const { text, parts } = await benchmark.withChat(chatOf(run.settings.chat)).prompt(item, shots);
  const changed = run.benchmark.digests.config !== benchmark.configDigest && sha256(text) !== record.prompt.hash;
  const note = 'The benchmark file has changed since this run; this is the prompt as it would be now.';
  return [...(changed ? [{ kind: 'note', text: note }] : []), ...parts];
}

/** Rows of these files have no line of their own in an editor. */
const notText = /\.(parquet|arrow|gz)$/i;

function sourceOf({ items }: Opened, index: number): ItemDetail['source'] {
  const place = items.find((one) => one.index === index)?.place;
  if (!place) return null;
  return { file: place.file, line: place.line ?? 1, ...(notText.test(place.file) && { isText: false as const }) };
}

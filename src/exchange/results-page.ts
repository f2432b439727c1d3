/** Runs as one HTML file: the results page with its data, for any browser, without what is personal. */
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openBenchmark } from '../benchmark/index.ts';
import type { Benchmark, Item } from '../benchmark/types.ts';
import { asRun } from '../evaluate/wanted-run.ts';
import { type DiskRunStore, type RunFolder, readMarks } from '../runs/index.ts';
import { HumanError, sentenceOf, throwIfCancelled } from '../shared/errors.ts';
import { joinedMarks } from '../shared/marks.ts';
import { usesExamples } from '../shared/modes.ts';
import type { PageContent, PageSizes, ResultsView } from '../shared/protocol.ts';
import type { ItemRecord, RunFile, TuningRecord } from '../shared/results.ts';
import {
  bundledPage,
  embeddedJson,
  pageFrame,
  resultsView,
  thisPerson,
  withoutPaths,
  withoutPersonalPaths,
} from '../study/index.ts';
import { makeFolder, sha256 } from '../system/index.ts';
import { writeLines } from './write-lines.ts';

/** A run and where it is. */
export interface PageRun {
  id: string;
  store: DiskRunStore;
}

export interface PageOptions {
  /** Folder of the bundled pages. */
  pages: string;
  signal?: AbortSignal | undefined;
  onProgress?(message: string, fraction: number | null): void;
}

/** Items read at a time. */
const part = 1000;
/** Browsers and Node hold no longer text. */
const longest = 400e6;
/** What stands in the place of an output that is left out: a reader must not take it for an empty one. */
const leftOut = '(not in this file)';

/** Sizes that a file would have, by what is in it, in bytes: from the first items of each run. */
export async function measureResultsPage(runs: readonly PageRun[], options: PageOptions): Promise<PageSizes> {
  const sample = 60;
  const { script, style } = await bundledPage(options.pages, 'results');
  const { view } = await viewOf(runs);
  const sizes = { scores: script.length + style.length + bytesOf(view), outputs: 0, prompts: 0 };
  let items = 0;
  const prompts = await promptsOf(view);
  const texts = new Set<string>();
  for (const { id, store } of runs) {
    const n = await store.countItems(id);
    const records = await store.readItems(id, 0, { limit: sample });
    if (records.length === 0) continue;
    items += n;
    const each = (of: (record: ItemRecord) => number): number =>
      (n / records.length) * records.reduce((sum, record) => sum + of(record), 0);
    const bare = each((record) => bytesOf(withoutOutputs(record)));
    sizes.scores += bare;
    sizes.outputs += each(bytesOf) - bare;
    // Examples repeat: what the later half of the sample adds is what the rest will add.
    const rendered = await Promise.all(records.map((record) => prompts.of(id, record).catch(() => null)));
    const added = rendered.map((parts) =>
      (parts ?? []).reduce((sum, { text }) => {
        if (texts.has(text)) return sum + 12;
        texts.add(text);
        return sum + bytesOf(text) + 12;
      }, 0),
    );
    const later = added.slice(Math.floor(added.length / 2));
    const first = added.slice(0, Math.floor(added.length / 2)).reduce((sum, size) => sum + size, 0);
    sizes.prompts +=
      first + (later.reduce((sum, size) => sum + size, 0) / later.length) * (n - added.length + later.length);
  }
  return { ...sizes, items, noPrompts: prompts.problem };
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

/**
 * Writes the file, whole or not at all. All runs must be of one benchmark.
 * @returns the file's size in bytes, and why prompts are not in it where they were asked for
 */
export async function writeResultsPage(
  file: string,
  runs: readonly PageRun[],
  content: PageContent,
  options: PageOptions,
): Promise<{ bytes: number; noPrompts: string | null }> {
  const { view, total } = await viewOf(runs);
  const prompts = content.prompts ? await promptsOf(view) : null;
  const noPrompts = prompts?.problem ?? null;
  const missing: ResultsView['leftOut'] = [
    ...(content.outputs ? [] : ['outputs' as const]),
    ...(prompts && noPrompts === null ? [] : ['prompts' as const]),
  ];
  const { before, after } = pageFrame({ title: view.title, ...(await bundledPage(options.pages, 'results')) });
  const clean = withoutPersonalPaths(
    { ...view, ...(missing.length > 0 && { leftOut: missing }) },
    thisPerson(),
    placesOf(view),
  );
  const lines = async function* (): AsyncGenerator<string> {
    yield `${before}{"page":"results","view":${embeddedJson(clean)},"items":{`;
    let [length, done] = [0, 0];
    for (const [at, { id, store }] of runs.entries()) {
      yield `${at > 0 ? ',' : ''}${embeddedJson(id)}:[`;
      let first = true;
      for await (const record of itemsOf(store, id)) {
        throwIfCancelled(options.signal);
        const line = embeddedJson(content.outputs ? record : withoutOutputs(record));
        length += line.length;
        checkLength(length);
        yield `${first ? '' : ','}${line}`;
        first = false;
        if (++done % part === 0) options.onProgress?.(`${done} of ${total} items`, done / total / (prompts ? 2 : 1));
      }
      yield ']';
    }
    yield '}';
    if (prompts && noPrompts === null) yield* promptLines(runs, prompts, length, total, options);
    yield `}${after}`;
  };
  await makeFolder(dirname(file));
  await writeLines(file, lines());
  return { bytes: (await stat(file)).size, noPrompts };
}

async function* itemsOf(store: DiskRunStore, id: string): AsyncGenerator<ItemRecord> {
  for (let from = 0; ; ) {
    const records = await store.readItems(id, from, { limit: part, bytes: 8 << 20 });
    if (records.length === 0) return;
    yield* records;
    from += records.length;
  }
}

function checkLength(length: number): void {
  if (length > longest)
    throw new HumanError('bad-input', 'The file would be larger than a browser can open.', {
      todo: 'Leave out prompts or outputs, or export fewer runs.',
    });
}

/** Prompts by item: texts stand once, however many prompts have them. */
async function* promptLines(
  runs: readonly PageRun[],
  prompts: Prompts,
  before: number,
  total: number,
  { signal, onProgress }: PageOptions,
): AsyncGenerator<string> {
  const numbers = new Map<string, number>();
  let [length, done] = [before, 0];
  yield ',"prompts":{"of":{';
  for (const [at, { id, store }] of runs.entries()) {
    yield `${at > 0 ? ',' : ''}${embeddedJson(id)}:[`;
    let first = true;
    for await (const record of itemsOf(store, id)) {
      throwIfCancelled(signal);
      const parts = (await prompts.of(id, record)) ?? [];
      const numbered = parts.map(({ kind, text }) => {
        const known = numbers.get(text);
        if (known !== undefined) return [kind, known];
        numbers.set(text, numbers.size);
        length += text.length;
        checkLength(length);
        return [kind, numbers.size - 1];
      });
      const source = prompts.sourceOf(id, record.index);
      yield `${first ? '' : ','}${embeddedJson([record.index, numbered, source?.file ?? '', source?.line ?? 0])}`;
      first = false;
      if (++done % part === 0) onProgress?.(`prompts of ${done} of ${total} items`, 0.5 + done / total / 2);
    }
    yield ']';
  }
  yield '},"texts":[';
  for (const [text, number] of numbers) yield `${number > 0 ? ',' : ''}${embeddedJson(text)}`;
  yield ']}';
}

/** Verdicts stay; what the model wrote does not. */
function withoutOutputs({ repeats: _, ...record }: ItemRecord): ItemRecord {
  if (record.generated === false) return record;
  return {
    ...record,
    output: leftOut,
    strict: { ...record.strict, span: null },
    lenient: { ...record.lenient, span: null },
  };
}

async function viewOf(runs: readonly PageRun[]): Promise<{ view: ResultsView; total: number }> {
  const tuning = new Map<string, TuningRecord[]>();
  const done = new Map<string, number>();
  const folders = await Promise.all(
    runs.map(async ({ id, store }): Promise<RunFolder> => {
      tuning.set(id, await store.readTuning(id));
      done.set(id, await store.countItems(id));
      const { run, summary } = await store.read(id);
      return { folder: store.folderOf(id), run, summary };
    }),
  );
  const view = resultsView(
    folders,
    { runs: runs.map(({ id }) => id) },
    { tuning: (run) => tuning.get(run) ?? [], done: (run) => done.get(run) ?? 0 },
  );
  if (!view) throw new HumanError('bad-input', 'There is no run to export.');
  const marks = joinedMarks(await Promise.all(folders.map(async ({ folder }) => (await readMarks(folder)).marks)));
  return { view: { ...view, marks }, total: [...done.values()].reduce((sum, n) => sum + n, 0) };
}

/** Absolute paths that a view names. */
const placesOf = ({ columns }: ResultsView): string[] =>
  columns.flatMap(({ run: { model, benchmark, source } }) => [
    model.folder,
    benchmark.file,
    dirname(benchmark.file),
    ...(source ? [source.file] : []),
  ]);

interface Prompts {
  /** Why there are none. */
  problem: string | null;
  of(run: string, record: ItemRecord): Promise<{ kind: string; text: string }[] | null>;
  sourceOf(run: string, index: number): { file: string; line: number } | null;
}

/** Prompts rendered again from the benchmark files. */
async function promptsOf({ columns }: ResultsView): Promise<Prompts> {
  interface Opened {
    run: RunFile;
    benchmark: Benchmark;
    items: ReadonlyMap<number, Item>;
  }
  const opened = new Map<string, Opened>();
  const files = new Map<string, Promise<{ benchmark: Benchmark; items: Map<number, Item> }>>();
  const open = async (file: string) => {
    const benchmark = await openBenchmark(file);
    return { benchmark, items: new Map((await benchmark.items('evaluation')).map((item) => [item.index, item])) };
  };
  let problem: string | null = null;
  for (const { run } of columns)
    try {
      if (run.source) throw new HumanError('missing', 'Prompts of imported runs are not here.');
      const file = run.benchmark.file;
      const known = files.get(file) ?? open(file);
      files.set(file, known);
      const { benchmark, items } = await known;
      opened.set(run.id, { run, benchmark: asRun(run, benchmark), items });
    } catch (thrown) {
      problem ??= withoutPaths(sentenceOf(thrown), thisPerson());
    }
  return {
    // Where some of the runs have prompts, theirs are shown.
    problem: opened.size === 0 ? (problem ?? 'There are no runs.') : null,
    async of(id, record) {
      const found = opened.get(id);
      const item = found?.items.get(record.index);
      if (!found || !item) return null;
      const { run, benchmark } = found;
      const { text, parts } = await benchmark.prompt(item, usesExamples(run.mode) ? run.settings.shots : 0);
      const changed = run.benchmark.digests.config !== benchmark.configDigest && sha256(text) !== record.prompt.hash;
      const note = 'The benchmark file has changed since this run; this is the prompt as it would be now.';
      return changed ? [{ kind: 'note', text: note }, ...parts] : parts;
    },
    sourceOf(id, index) {
      const place = opened.get(id)?.items.get(index)?.place;
      return place ? { file: place.file.split(/[\\/]/).at(-1) ?? '', line: place.line ?? 1 } : null;
    },
  };
}

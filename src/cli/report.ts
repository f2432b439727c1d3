/** The results page of a job as one HTML file. */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Benchmark } from '../benchmark/types.ts';
import type { DiskRunStore } from '../runs/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { ItemDetail, ResultsView } from '../shared/protocol.ts';
import type { ItemRecord } from '../shared/results.ts';
import { pageHtml } from '../study/index.ts';
import { makeFolder, writeWhole } from '../system/index.ts';

/** Prompts are embedded up to this size in all: a few-shot prompt of a long benchmark is megabytes an item table. */
const promptCharacters = 20_000_000;

/** @param pages folder with the bundled pages (`results.js`, `results.css`) */
export async function writeReport(file: string, view: ResultsView, store: DiskRunStore, pages: string): Promise<void> {
  const items: Record<string, ItemRecord[]> = {};
  for (const { run } of view.columns) items[run.id] = await store.readItems(run.id);
  const part = async (name: string): Promise<string> => {
    try {
      // Without the pointer to a source map, which does not travel with the file.
      return (await readFile(join(pages, name), 'utf8')).replace(/^(\/\/|\/\*)# sourceMappingURL=.*$/m, '');
    } catch (cause) {
      throw new HumanError('missing', `A part of Softbench is missing: ${join(pages, name)}.`, {
        todo: 'Build or install it again.',
        cause,
      });
    }
  };
  const html = pageHtml({
    title: view.title,
    data: { page: 'results', view: withoutPaths(view), items, details: await itemDetails(view, items) },
    script: await part('results.js'),
    style: await part('results.css'),
  });
  await makeFolder(dirname(file));
  await writeWhole(file, html);
}

/** A report is made to be handed on: where files lie on this machine is nobody's business. */
function withoutPaths(view: ResultsView): ResultsView {
  const words = (text: string): string => text.replaceAll(homedir(), '~');
  return {
    ...view,
    benchmark: { ...view.benchmark, file: basename(view.benchmark.file) },
    model: { ...view.model, folder: basename(view.model.folder) },
    problem: view.problem && words(view.problem),
    columns: view.columns.map((column) => ({
      ...column,
      run: {
        ...column.run,
        message: column.run.message && words(column.run.message),
        notes: column.run.notes.map(words),
        model: { ...column.run.model, folder: basename(column.run.model.folder) },
        benchmark: { ...column.run.benchmark, file: basename(column.run.benchmark.file) },
      },
    })),
  };
}

/** Prompts, gold answers and sources of the items, rendered again from the benchmark file if it is still the same. */
async function itemDetails(view: ResultsView, items: Record<string, ItemRecord[]>): Promise<ItemDetail[]> {
  const { openBenchmark, chatOf } = await import('../benchmark/index.ts');
  let benchmark: Benchmark;
  try {
    benchmark = await openBenchmark(view.benchmark.file);
  } catch {
    // The results stand without their prompts.
    return [];
  }
  if (view.columns.some(({ run }) => run.benchmark.digests.config !== benchmark.configDigest)) return [];
  const byIndex = new Map<number, ItemDetail>();
  const rows = new Map((await benchmark.items('evaluation')).map((item) => [item.index, item]));
  const chats = new Map(view.columns.map(({ run }) => [run.id, chatOf(run.settings.chat)]));
  let characters = 0;
  for (const { run } of view.columns)
    for (const record of items[run.id] ?? []) {
      const item = rows.get(record.index);
      if (!item) continue;
      const source = { file: basename(item.place.file), line: item.place.line ?? 1 };
      const detail: ItemDetail = byIndex.get(record.index) ?? {
        index: record.index,
        prompts: [],
        records: [],
        gold: record.gold,
        source,
      };
      detail.records.push({ run: run.id, record });
      if (characters < promptCharacters) {
        const { text, parts } = await benchmark.withChat(chats.get(run.id) ?? null).prompt(item, run.settings.shots);
        characters += text.length;
        detail.prompts.push({ run: run.id, parts });
      }
      byIndex.set(record.index, detail);
    }
  return [...byIndex.values()].sort((a, b) => a.index - b.index);
}

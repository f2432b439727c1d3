/** Runs of a store as files that other tools read. One row a format. */
import { chatOf } from '../benchmark/chat.ts';
import { openBenchmark } from '../benchmark/index.ts';
import type { Benchmark } from '../benchmark/types.ts';
import { type DiskRunStore, makeFolder } from '../runs/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { ItemRecord, RunFile, RunSummary } from '../shared/results.ts';
import { exportEveryEvalEver } from './every-eval-ever-export.ts';
import { exportLmEval } from './lm-eval-export.ts';
import { exportCsv, exportMarkdown } from './tables.ts';

export interface ExportedRun {
  run: RunFile;
  summary: RunSummary | null;
}

export interface ExportContext {
  /** Version of this Softbench. */
  softbench: string;
  signal?: AbortSignal;
  /** The run's benchmark, with its prompts written as the run wrote them. @throws HumanError where it cannot be opened */
  benchmarkOf(run: RunFile): Promise<Benchmark>;
  /** The run's items, in the order of the data. */
  itemsOf(run: ExportedRun): Promise<ItemRecord[]>;
}

export interface ExportOptions {
  softbench: string;
  signal?: AbortSignal;
}

type Writer = (runs: readonly ExportedRun[], folder: string, context: ExportContext) => Promise<string[]>;

export const exportFormats: readonly { name: string; title: string; description: string; write: Writer }[] = [
  {
    name: 'lm-eval',
    title: 'lm-evaluation-harness',
    description: 'results_*.json and samples_*.jsonl, as version 0.4.13 writes them',
    write: exportLmEval,
  },
  {
    name: 'every-eval-ever',
    title: 'Every Eval Ever',
    description: 'one JSON file a run and its samples, schema 0.3.0',
    write: exportEveryEvalEver,
  },
  {
    name: 'csv',
    title: 'CSV',
    description: 'scores.csv and items.csv, for spreadsheets and programs',
    write: exportCsv,
  },
  { name: 'markdown', title: 'Markdown', description: 'scores.md, for people', write: exportMarkdown },
];

/**
 * Writes the runs to a folder, which is made where it is not there.
 * @param format a name of {@link exportFormats}
 * @returns the files written
 */
export async function exportRuns(
  store: DiskRunStore,
  ids: readonly string[],
  { format, folder }: { format: string; folder: string },
  { softbench, signal }: ExportOptions,
): Promise<string[]> {
  const row = exportFormats.find(({ name }) => name === format);
  if (!row)
    throw new HumanError('bad-input', `There is no export format "${format}".`, {
      todo: `Use one of: ${exportFormats.map(({ name }) => name).join(', ')}.`,
    });
  const runs = await Promise.all(ids.map((id) => store.read(id)));
  const empty = runs.find(({ summary }) => summary === null);
  if (empty)
    throw new HumanError('bad-input', `The run ${empty.run.id} has no scores yet: it is ${empty.run.status}.`, {
      todo: 'Resume it, or export finished runs only.',
    });
  const opened = new Map<string, Promise<Benchmark>>();
  const open = (file: string): Promise<Benchmark> => {
    const known = opened.get(file) ?? openBenchmark(file);
    opened.set(file, known);
    return known;
  };
  await makeFolder(folder);
  return row.write(
    runs.map(({ run, summary }) => ({ run, summary })),
    folder,
    {
      softbench,
      signal,
      async benchmarkOf(run) {
        if (run.source)
          throw new HumanError(
            'unsupported',
            `The run ${run.id} was imported: its prompts and documents are not here.`,
            { todo: `They are in ${run.source.file}. Export it as every-eval-ever, csv or markdown.` },
          );
        const benchmark = (await open(run.benchmark.file)).withChat(chatOf(run.settings.chat));
        return run.settings.generates === false ? (benchmark.withoutGeneration?.() ?? benchmark) : benchmark;
      },
      itemsOf: async ({ run }) => (await store.readItems(run.id)).sort((a, b) => a.index - b.index),
    },
  );
}

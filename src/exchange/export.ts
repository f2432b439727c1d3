/** Runs of a store as files that other tools read. One row a format. */
import { openBenchmark } from '../benchmark/index.ts';
import type { Benchmark } from '../benchmark/types.ts';
import { asRun } from '../evaluate/wanted-run.ts';
import type { DiskRunStore } from '../runs/index.ts';
import { HumanError } from '../shared/errors.ts';
import { type ExportFormat, exportFormats, type PageContent } from '../shared/protocol.ts';
import type { ItemRecord, RunFile, RunSummary } from '../shared/results.ts';
import { makeFolder } from '../system/index.ts';
import { exportEveryEvalEver } from './every-eval-ever-export.ts';
import { exportHtml } from './html-export.ts';
import { exportLmEval } from './lm-eval-export.ts';
import { exportCsv, exportMarkdown } from './tables.ts';

export interface ExportedRun {
  run: RunFile;
  summary: RunSummary | null;
}

export interface ExportContext extends ExportOptions {
  store: DiskRunStore;
  /** The run's benchmark, with its prompts written as the run wrote them. @throws HumanError where it cannot be opened */
  benchmarkOf(run: RunFile): Promise<Benchmark>;
  /** The run's items, in the order of the data. */
  itemsOf(run: ExportedRun): Promise<ItemRecord[]>;
}

export interface ExportOptions {
  /** Version of this Softbench. */
  softbench: string;
  signal?: AbortSignal;
  /** Folder of the bundled pages, for `html`. */
  pages?: string;
  /** What pages hold; all of it where absent. */
  content?: PageContent;
}

type Writer = (runs: readonly ExportedRun[], folder: string, context: ExportContext) => Promise<string[]>;

/** The writer of each format. */
const writers: Readonly<Record<ExportFormat, Writer>> = {
  'lm-eval': exportLmEval,
  'every-eval-ever': exportEveryEvalEver,
  csv: exportCsv,
  markdown: exportMarkdown,
  html: exportHtml,
};

/**
 * Writes the runs to a folder, which is made where it is not there.
 * @param format a name of {@link exportFormats}
 * @returns the files written
 */
export async function exportRuns(
  store: DiskRunStore,
  ids: readonly string[],
  { format, folder }: { format: string; folder: string },
  options: ExportOptions,
): Promise<string[]> {
  const known = exportFormats.find(({ name }) => name === format);
  if (!known)
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
  return writers[known.name](
    runs.map(({ run, summary }) => ({ run, summary })),
    folder,
    {
      ...options,
      store,
      async benchmarkOf(run) {
        if (run.source)
          throw new HumanError(
            'unsupported',
            `The run ${run.id} was imported: its prompts and documents are not here.`,
            { todo: `They are in ${run.source.file}. Export it as every-eval-ever, csv or markdown.` },
          );
        return asRun(run, await open(run.benchmark.file));
      },
      itemsOf: async ({ run }) => (await store.readItems(run.id)).sort((a, b) => a.index - b.index),
    },
  );
}

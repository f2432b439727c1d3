/** Saving runs as one HTML file: what goes into it with its size, where to, and what is said at the end. */
import * as vscode from 'vscode';
import { formatBytes } from '../metrics/index.ts';
import type { DiskRunStore, RunFolder } from '../runs/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { PageContent, PageSizes } from '../shared/protocol.ts';
import { checkOneBenchmark, pageName } from '../study/index.ts';
import type { WorkerClient } from '../worker/index.ts';
import { cancellable } from './progress.ts';
import { askWhereTo, tellSaved } from './save-file.ts';

/** Browsers take long to open more. */
const largePage = 50_000_000;

interface ShareHost {
  worker(): Promise<WorkerClient>;
  storeOf(run: string): DiskRunStore | null;
}

/** @param runs in the order of the columns */
export async function shareRuns(host: ShareHost, runs: readonly RunFolder[]): Promise<void> {
  const withItems = runs.flatMap(({ run }) => {
    const store = host.storeOf(run.id);
    return store ? [{ run: run.id, storeFolder: store.folder }] : [];
  });
  const [first] = runs;
  if (!first || withItems.length === 0)
    throw new HumanError('missing', 'There is no run to save.', { todo: 'Choose a run that is still there.' });
  checkOneBenchmark(runs);
  const worker = await host.worker();
  const sizes = await cancellable('Looking at the runs', (signal) =>
    worker.call.measurePage({ runs: withItems }, { signal }),
  );
  const content = await pickContent(sizes);
  if (!content) return;
  const name = pageName(
    runs.map(({ run }) => run.model.name),
    first.run.benchmark.task,
  );
  const target = await askWhereTo('Save as HTML page', `${name}.html`, 'Web page', 'html');
  if (!target) return;
  const { bytes } = await cancellable('Writing the page', (signal, progress) =>
    worker.call.writePage(
      { runs: withItems, file: target.fsPath, content },
      { signal, onProgress: ({ message }) => progress.report({ message }) },
    ),
  );
  tellSaved(target, ` (${formatBytes(bytes)}), without personal paths`);
}

/** One row a choice. */
const contents: readonly { label: string; detail: string; content: PageContent }[] = [
  {
    label: 'Outputs and prompts',
    detail: 'All that the page shows here',
    content: { outputs: true, prompts: true },
  },
  {
    label: 'Outputs without prompts',
    detail: 'What the models wrote, not what they were asked',
    content: { outputs: true, prompts: false },
  },
  {
    label: 'Scores and verdicts only',
    detail: 'Neither outputs nor prompts: right answers, what was read and verdicts stay',
    content: { outputs: false, prompts: false },
  },
];

async function pickContent(sizes: PageSizes): Promise<PageContent | null> {
  const bytesOf = ({ outputs, prompts }: PageContent): number =>
    sizes.scores + (outputs ? sizes.outputs : 0) + (prompts ? sizes.prompts : 0);
  const offered = contents.filter(({ content }) => sizes.noPrompts === null || !content.prompts);
  const picked = await vscode.window.showQuickPick(
    offered.map(({ label, detail, content }) => ({
      label,
      description: `about ${formatBytes(bytesOf(content))}`,
      detail: bytesOf(content) > largePage ? `$(warning) ${detail}. Large: browsers take long to open it.` : detail,
      content,
    })),
    {
      title: `Save as HTML page: ${sizes.items.toLocaleString('en-US')} items`,
      placeHolder: sizes.noPrompts === null ? 'What goes into the file' : `Without prompts: ${sizes.noPrompts}`,
    },
  );
  return picked?.content ?? null;
}

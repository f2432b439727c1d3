/** Scoring finished runs again from the editor: progress, what is refused, and what came of it. */
import * as vscode from 'vscode';
import { headline } from '../metrics/index.ts';
import type { RunFolder } from '../runs/index.ts';
import { asError, HumanError } from '../shared/errors.ts';
import type { RunSummary } from '../shared/results.ts';
import { newGroup } from './jobs.ts';
import { subjectOfRun } from './live-results.ts';
import { cancellable } from './progress.ts';
import type { Workbench } from './workbench.ts';

/** @param runs finished runs of one benchmark and one model */
export async function rescoreRuns(workbench: Workbench, runs: readonly RunFolder[]): Promise<void> {
  const [first] = runs;
  if (!first)
    throw new HumanError('missing', 'There is no finished run to score again.', {
      todo: 'Evaluate the benchmark first.',
    });
  const { benchmark, model } = first.run;
  await save(benchmark.file);
  const summaries = await inProgress(workbench, runs, false).catch(async (thrown) => {
    // Only where some can be scored is there something to choose.
    if (!/^\d+ of the \d+ items/.test(asError(thrown).message)) throw thrown;
    const others = 'Score the Others';
    const detail = 'Evaluate again to score all of them: responses that are kept are not computed twice.';
    const choice = await vscode.window.showWarningMessage(asError(thrown).message, { modal: true, detail }, others);
    return choice === others ? inProgress(workbench, runs, true) : null;
  });
  if (!summaries) return;
  await workbench.runs.refresh();
  const subject = subjectOfRun(first.run);
  const words = summaries.map((summary, at) => changeWords(runs[at]?.summary ?? null, summary)).join(' · ');
  workbench.log.info(`scored again: ${benchmark.task} on ${model.name}: ${words}`);
  if (workbench.panels.isVisible(benchmark.file, model.folder)) return;
  // Not waited for: the runs are there, whether the message is read or not.
  void vscode.window
    .showInformationMessage(`${benchmark.task} on ${model.name}, scored again: ${words}`, 'Show Results')
    .then((choice) => choice && workbench.panels.show(subject));
}

/** What runs is what is on disk. */
async function save(file: string): Promise<void> {
  const document = vscode.workspace.textDocuments.find(({ uri }) => uri.fsPath === file);
  if (document?.isDirty && !(await document.save()))
    throw new HumanError('disk', 'The benchmark file could not be saved, so nothing was scored.', { place: { file } });
}

async function inProgress(
  workbench: Workbench,
  runs: readonly RunFolder[],
  skipChanged: boolean,
): Promise<RunSummary[] | null> {
  const [first] = runs;
  const store = first && workbench.runs.storeOf(first.run.id);
  if (!first || !store) throw new HumanError('missing', 'The runs are not there any more.');
  const title = `Scoring ${first.run.benchmark.task} again`;
  return cancellable(title, async (signal, progress) => {
    const { call } = await workbench.worker();
    try {
      return await call.rescore(
        { runs: runs.map(({ run }) => run.id), storeFolder: store.folder, group: newGroup(), skipChanged },
        {
          signal,
          onProgress: (event) => {
            if (event.kind === 'items')
              progress.report({ message: `${event.mode}, item ${event.done} of ${event.total}` });
          },
        },
      );
    } catch (thrown) {
      if (signal.aborted) return null;
      throw thrown;
    }
  });
}

/** `zero-shot 4 % → 61.5 %`; of outputs that had no scores, the new one. */
function changeWords(before: RunSummary | null, after: RunSummary): string {
  const was = before && before.scores.n > 0 ? `${headline(before)} → ` : '';
  return `${after.mode} ${was}${headline(after)}`;
}

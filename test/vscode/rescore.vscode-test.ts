import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { Job } from '../../src/views/jobs.ts';
import type { Workbench } from '../../src/views/workbench.ts';
import { until } from '../support/wait.ts';
import { note } from './report.ts';
import { benchmarkUri, openWorkbench, workspaceFolder, writeFile } from './workspace.ts';

/** The yes/no example with a pattern of its own for the required form, and few items. */
async function benchmark(pattern: string): Promise<vscode.Uri> {
  const bytes = await vscode.workspace.fs.readFile(benchmarkUri('stories-yes-no.yaml'));
  const text = new TextDecoder()
    .decode(bytes)
    .replace(/^task:.*$/m, 'task: scored_again')
    .replace(/regex_pattern: "\^.*/, () => `regex_pattern: '${pattern}'`);
  return writeFile(
    'scored_again.yaml',
    `${text.slice(0, text.indexOf('\nmetadata:'))}\nmetadata:\n  softbench:\n    modes: [zero-shot]\n    limit: 12\n`,
  );
}

describe('scoring again', function () {
  this.timeout(180_000);
  let workbench: Workbench;
  const lensesOf = async (uri: vscode.Uri): Promise<vscode.Command[]> => {
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', uri, 50);
    return lenses.flatMap(({ command }) => command ?? []);
  };
  const rescoreLens = async (uri: vscode.Uri): Promise<vscode.Command | undefined> =>
    (await lensesOf(uri)).find(({ title }) => title.includes('Re-score'));

  before(async () => {
    workbench = await openWorkbench();
  });
  after(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  it('is offered above the task once the file would score the last run otherwise, and needs no model', async () => {
    const uri = await benchmark('^\\s*(yes|no)\\s*$');
    await workbench.models.choose(uri.fsPath, vscode.Uri.joinPath(workspaceFolder(), 'models', 'stories260k').fsPath);
    await vscode.window.showTextDocument(uri);
    const ended = new Promise<Job>((resolve) => {
      const listening = workbench.queue.onEnd((job) => {
        listening.dispose();
        resolve(job);
      });
    });
    await vscode.commands.executeCommand('softbench.compare', uri);
    const job = await ended;
    assert.equal(job.state, 'finished', String(job.error));
    await workbench.runs.refresh();
    assert.equal(await rescoreLens(uri), undefined, 'offered although nothing has changed');

    // Whatever is written counts as an answer now.
    await benchmark('([a-zA-Z]+)');
    const lens = await until('Re-score above the task', () => rescoreLens(uri));
    const [before] = job.summaries;
    const started = performance.now();
    await vscode.commands.executeCommand(lens.command, ...(lens.arguments ?? []));
    note(`12 items were scored again in ${(performance.now() - started).toFixed(0)} ms`);
    await workbench.runs.refresh();
    const newest = workbench.runs.runs.find(({ run }) => run.benchmark.file === uri.fsPath);
    assert.equal(newest?.run.rescoredFrom, before?.run);
    assert.equal(newest?.run.status, 'finished');
    assert.equal(newest?.summary?.seconds, before?.seconds);
    assert.equal(newest?.summary?.scores.n, 12);
    const [was, is] = await Promise.all(
      [before?.run, newest?.run.id].map((id) => workbench.runs.storeOf(id ?? '')?.readItems(id ?? '')),
    );
    assert.deepEqual(
      is?.map(({ output }) => output),
      was?.map(({ output }) => output),
    );
    assert.equal(newest?.summary?.scores.F.count, was?.filter(({ output }) => /[a-zA-Z]/.test(output)).length);
    await until('the offer to go away', async () => !(await rescoreLens(uri)));
  });

  it('is a command too, for the benchmark in front', async () => {
    const uri = benchmarkUri('scored_again.yaml');
    const count = workbench.runs.runs.length;
    await vscode.commands.executeCommand('softbench.rescore', uri);
    await workbench.runs.refresh();
    assert.equal(workbench.runs.runs.length, count + 1);
  });

  it('is not offered where the prompts have changed', async () => {
    const uri = benchmarkUri('scored_again.yaml');
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
    await writeFile(
      'scored_again.yaml',
      text.replace(/^doc_to_text: "/m, 'doc_to_text: "Think. ').replace('a-zA-Z', 'a-z'),
    );
    await until('the file to be read', async () => {
      await lensesOf(uri);
      return workbench.scoring.rescorable(uri.fsPath, workbench.runs.runs).length === 0;
    });
    assert.equal(await rescoreLens(uri), undefined);
  });
});

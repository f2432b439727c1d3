import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { HumanError } from '../../src/shared/errors.ts';
import type { Job } from '../../src/views/jobs.ts';
import type { Workbench } from '../../src/views/workbench.ts';
import { until } from '../support/wait.ts';
import { note } from './report.ts';
import { benchmarkUri, openWorkbench, workspaceFolder, writeFile } from './workspace.ts';

/** The yes/no example, small enough that a test runs it many times, and slow enough that it can be stopped. */
async function smallBenchmark(name: string, limit: number, steps: number): Promise<vscode.Uri> {
  const bytes = await vscode.workspace.fs.readFile(benchmarkUri('stories-yes-no.yaml'));
  const text = new TextDecoder().decode(bytes).replace(/^task:.*$/m, `task: ${name}`);
  return writeFile(
    `${name}.yaml`,
    `${text.slice(0, text.indexOf('\nmetadata:'))}\nmetadata:\n  softbench:\n    modes: [zero-shot, soft-prompt]\n    limit: ${limit}\n    soft_prompt: { steps: ${steps}, validate_every: ${steps}, validation_items: 4 }\n`,
  );
}

describe('jobs', function () {
  this.timeout(180_000);
  let workbench: Workbench;
  const ended: Job[] = [];
  const modelFolder = (): string => vscode.Uri.joinPath(workspaceFolder(), 'models', 'stories260k').fsPath;
  const lensTitles = async (uri: vscode.Uri): Promise<string[]> => {
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', uri, 50);
    return lenses.map((lens) => lens.command?.title ?? '');
  };
  const endOf = (uri: vscode.Uri): Promise<Job> =>
    until(
      'the job to end',
      () => {
        const at = ended.findIndex(({ request }) => request.benchmarkFile === uri.fsPath);
        return at >= 0 ? ended.splice(at, 1)[0] : null;
      },
      150,
    );
  const tabs = (): string[] => vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label));

  before(async () => {
    workbench = await openWorkbench();
    workbench.queue.onEnd((job) => ended.push(job));
  });
  after(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  it('run all modes of a benchmark, open its results, and leave the scores above the task', async () => {
    const uri = await smallBenchmark('small_whole', 12, 4);
    await workbench.models.choose(uri.fsPath, modelFolder());
    await vscode.window.showTextDocument(uri);
    const started = performance.now();
    await vscode.commands.executeCommand('softbench.tune', uri);
    await until('the results to open', () => tabs().includes('small_whole · stories260k'));
    assert.ok(
      workbench.queue.jobs.length === 0 || (await lensTitles(uri)).some((title) => title.includes('Stop')),
      'a running job offers no Stop',
    );
    const job = await endOf(uri);
    assert.equal(job.state, 'finished', String(job.error));
    note(`12 items in two modes with 4 tuning steps took ${((performance.now() - started) / 1000).toFixed(1)} s`);
    assert.deepEqual(
      job.summaries.map(({ mode, scores }) => [mode, scores.n]),
      [
        ['zero-shot', 12],
        ['soft-prompt', 12],
      ],
    );
    await until('the scores', async () =>
      (await lensTitles(uri)).find((title) => /soft-prompt [\d.]+ % · zero-shot [\d.]+ %/.test(title)),
    );
    const view = await workbench.panels.view({
      task: 'small_whole',
      benchmarkFile: uri.fsPath,
      modelName: 'stories260k',
      modelFolder: modelFolder(),
    });
    assert.deepEqual(
      view?.columns.map(({ run, done, total }) => [run.mode, run.status, done, total]),
      [
        ['zero-shot', 'finished', 12, 12],
        ['soft-prompt', 'finished', 12, 12],
      ],
    );
  });

  it('use finished modes again when a soft prompt is tuned again', async () => {
    const uri = benchmarkUri('small_whole.yaml');
    const runsBefore = workbench.runs.runs.length;
    await vscode.commands.executeCommand('softbench.tune', uri);
    assert.equal((await endOf(uri)).state, 'finished');
    await workbench.runs.refresh();
    assert.equal(workbench.runs.runs.length, runsBefore + 1);
  });

  it('stop within a second or a step, and resume', async () => {
    const uri = await smallBenchmark('small_stopped', 40, 60);
    await workbench.models.choose(uri.fsPath, modelFolder());
    await vscode.commands.executeCommand('softbench.tune', uri);
    await until('the tuning', () => workbench.queue.running?.activity.startsWith('tuning, step'), 120);
    const asked = performance.now();
    await vscode.commands.executeCommand('softbench.stop', uri);
    assert.equal((await endOf(uri)).state, 'stopped');
    note(`stopped ${(performance.now() - asked).toFixed(0)} ms after it was asked`);
    await workbench.runs.refresh();
    const run = workbench.runs.runs.find((one) => one.run.benchmark.task === 'small_stopped')?.run;
    assert.equal(run?.status, 'stopped');
    await until('Resume above the task', async () => (await lensTitles(uri)).some((title) => title.includes('Resume')));
    await vscode.commands.executeCommand('softbench.resume', uri, run?.group);
    const resumed = await endOf(uri);
    assert.equal(resumed.state, 'finished', String(resumed.error));
    assert.equal(resumed.request.group, run?.group);
    await workbench.runs.refresh();
    const statuses = workbench.runs.ofGroup(run?.group ?? '').map(({ mode, status }) => `${mode} ${status}`);
    assert.deepEqual(statuses.sort(), ['soft-prompt finished', 'zero-shot finished']);
  });

  it('survive the death of the worker: a message, a stopped run, and a resumption with the same numbers', async () => {
    const unbroken = await smallBenchmark('small_unbroken', 40, 20);
    const killed = await smallBenchmark('small_killed', 40, 20);
    for (const { fsPath } of [unbroken, killed]) await workbench.models.choose(fsPath, modelFolder());
    await vscode.commands.executeCommand('softbench.tune', unbroken);
    const whole = await endOf(unbroken);
    await vscode.commands.executeCommand('softbench.tune', killed);
    await until('the tuning', () => workbench.queue.running?.activity.startsWith('tuning, step'), 120);
    await (await workbench.worker()).kill();
    const job = await endOf(killed);
    assert.equal(job.state, 'failed');
    assert.equal((job.error as HumanError).kind, 'worker-lost');
    assert.match(job.error?.message ?? '', /worker/i);
    const status = (): string | undefined =>
      workbench.runs.runs.find(({ run }) => run.group === job.request.group && run.mode === 'soft-prompt')?.run.status;
    await until('the run to be shown as stopped', async () => {
      await workbench.runs.refresh();
      return status() === 'stopped';
    });
    await vscode.commands.executeCommand('softbench.resume', killed, job.request.group);
    const resumed = await endOf(killed);
    assert.equal(resumed.state, 'finished', String(resumed.error));
    const figures = ({ summaries }: Job) =>
      summaries.map(({ mode, scores }) => [mode, scores.F.count, scores.S.count, scores.L.count]);
    assert.deepEqual(figures(resumed), figures(whole));
  });

  it('wait for each other, and say so', async () => {
    const first = await smallBenchmark('small_first', 40, 60);
    const second = await smallBenchmark('small_second', 4, 1);
    for (const { fsPath } of [first, second]) await workbench.models.choose(fsPath, modelFolder());
    await vscode.commands.executeCommand('softbench.compare', first);
    await vscode.commands.executeCommand('softbench.compare', second);
    assert.deepEqual(
      workbench.queue.jobs.map(({ state }) => state),
      ['running', 'queued'],
    );
    assert.ok((await lensTitles(second)).some((title) => title.includes('waiting')));
    await vscode.commands.executeCommand('softbench.stop', first);
    assert.equal((await endOf(first)).state, 'stopped');
    assert.equal((await endOf(second)).state, 'finished');
  });

  it('end with a sentence where the model folder is broken', async () => {
    const uri = await smallBenchmark('small_no_model', 4, 1);
    const folder = vscode.Uri.joinPath(workspaceFolder(), 'models', 'broken');
    await vscode.workspace.fs.writeFile(vscode.Uri.joinPath(folder, 'config.json'), new TextEncoder().encode('{}'));
    await workbench.models.choose(uri.fsPath, folder.fsPath);
    await vscode.commands.executeCommand('softbench.compare', uri);
    const job = await endOf(uri);
    assert.equal(job.state, 'failed');
    assert.equal(job.error?.name, 'HumanError', String(job.error?.stack));
  });
});

describe('the example benchmarks', () => {
  it('open as copies that may be edited', async () => {
    await vscode.commands.executeCommand('softbench.openExample', 'stories_who');
    const document = await until('the example', () => vscode.window.activeTextEditor?.document);
    assert.match(document.getText(), /^task: stories_who$/m);
    const extension = vscode.extensions.getExtension('softbench.softbench');
    assert.ok(extension && !document.uri.fsPath.startsWith(extension.extensionPath), document.uri.fsPath);
    const data = vscode.Uri.joinPath(document.uri, '..', 'data', 'stories-who.test.jsonl');
    assert.ok((await vscode.workspace.fs.stat(data)).size > 0);
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });
});

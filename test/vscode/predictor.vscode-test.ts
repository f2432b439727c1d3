import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { Workbench } from '../../src/views/workbench.ts';
import { until } from '../support/wait.ts';
import { openWorkbench, workspaceFolder, writeFile } from './workspace.ts';

/** Four families × three sizes on eight tasks: what family, size and task bring adds up, but for a little of each cell's own. */
function table(): string {
  const rows = ['model_name,model_family,total_params,task,metric_name,score'];
  for (const [f, family] of ['Alpha', 'Beta', 'Gamma', 'Delta'].entries())
    for (const [s, size] of [1, 7, 70].entries())
      for (let task = 0; task < 8; task++) {
        const own = 0.01 * Math.sin(17 * f + 5 * s + 29 * task);
        const score = 0.1 + 0.05 * f + 0.1 * s + 0.04 * task + own;
        rows.push(`${family}-${size}b,${family},${size}e9,task_${task},acc,${score.toFixed(4)}`);
      }
  return `${rows.join('\n')}\n`;
}

describe('predictions', function () {
  this.timeout(120_000);
  let workbench: Workbench;
  let file: vscode.Uri;
  const tabs = () => vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const configuration = () => vscode.workspace.getConfiguration('softbench');
  before(async () => {
    workbench = await openWorkbench();
    // Runs of the files before this one are records too, and do not add up.
    const runs = vscode.Uri.joinPath(workspaceFolder(), '.softbench', 'runs');
    await vscode.workspace.fs.delete(runs, { recursive: true }).then(undefined, () => {});
    await workbench.runs.refresh();
    file = await writeFile('records/scores.csv', table());
  });
  after(async () => {
    await configuration().update('predictionRecords', undefined, vscode.ConfigurationTarget.Workspace);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('open as a page that counts the records of files and of runs', async () => {
    await workbench.predictions.set({ predictor: 'additive', folds: 3 });
    await workbench.predictions.addFiles([file.fsPath]);
    await until('the file to be counted', async () => (await workbench.predictions.records()).used >= 96);
    const { sources } = await workbench.predictions.records();
    assert.equal(sources.find(({ path }) => path === file.fsPath)?.used, 96);
    assert.equal(sources[0]?.kind, 'runs');
  });

  it('measure the fit by a command, in a process of its own', async () => {
    await vscode.commands.executeCommand('softbench.predict');
    assert.ok(workbench.predictor.isVisible);
    await until('the tab', () => tabs().some(({ label }) => label === 'Predictor'));
    await until('the fit', async () => {
      const { fit, work } = await workbench.predictions.view();
      return fit !== null && work === null;
    });
    const { fit, problem } = await workbench.predictions.view();
    assert.equal(problem, null);
    assert.equal(fit?.predictor, 'additive');
    const random = fit?.splits.find(({ split }) => split === 'L1');
    // The scores add up: what is off is shrinkage.
    assert.ok((random?.fits[0]?.r2.mean ?? 0) > 0.95, `R² ${random?.fits[0]?.r2.mean}`);
  });

  it('find a small bench by a command, on the same page', async () => {
    await workbench.predictions.set({ budgets: [2, 3], seconds: 30 });
    await vscode.commands.executeCommand('softbench.smallBench');
    await until('the small bench', async () => {
      const { smallBench, work } = await workbench.predictions.view();
      return smallBench !== null && work === null;
    });
    const { smallBench } = await workbench.predictions.view();
    assert.deepEqual(
      smallBench?.curve.map(({ subtasks }) => subtasks.length),
      [2, 3],
    );
    assert.equal(tabs().filter(({ label }) => label === 'Predictor').length, 1);
  });

  it('forget a file that is taken out', async () => {
    await workbench.predictions.removeFile(file.fsPath);
    await until('the file to be gone', async () =>
      (await workbench.predictions.records()).sources.every(({ path }) => path !== file.fsPath),
    );
  });
});

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { Workbench } from '../../src/views/workbench.ts';
import { until } from '../support/wait.ts';
import { openWorkbench, workspaceFolder, writeFile } from './workspace.ts';

/** What lm-evaluation-harness writes of one model on one task, without samples. */
const results = (model: string, score: number): string =>
  JSON.stringify({
    results: { ranked_elsewhere: { 'exact_match,none': score, 'exact_match_stderr,none': 0.02 } },
    configs: { ranked_elsewhere: { task: 'ranked_elsewhere', output_type: 'generate_until' } },
    versions: { ranked_elsewhere: 1 },
    'n-shot': { ranked_elsewhere: 0 },
    'n-samples': { ranked_elsewhere: { original: 500, effective: 500 } },
    config: { model: 'hf', model_args: `pretrained=${model}` },
    model_name: model,
    lm_eval_version: '0.4.13',
  });

describe('the leaderboard', function () {
  this.timeout(90_000);
  let workbench: Workbench;
  const { showQuickPick } = vscode.window;
  const tabs = (): string[] => vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label));

  before(async () => {
    workbench = await openWorkbench();
    const files = [
      await writeFile('ranked/results_base.json', results('org/ranked-1B', 0.4)),
      await writeFile('ranked/results_chat.json', results('org/ranked-1B-Chat', 0.6)),
      await writeFile('ranked/results_other.json', results('org/unlike', 0.5)),
    ];
    await vscode.commands.executeCommand('softbench.importResults', files[0], files);
  });
  afterEach(() => {
    (vscode.window as { showQuickPick: unknown }).showQuickPick = showQuickPick;
  });
  after(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  const baseOf = async (model: string): Promise<string | undefined> =>
    (await workbench.leaderboardSource.view()).links?.find(({ postTrained }) => postTrained === model)?.base;

  it('opens as an editor tab, once', async () => {
    await vscode.commands.executeCommand('softbench.openLeaderboard');
    await until('the tab', () => tabs().includes('Leaderboard'));
    await vscode.commands.executeCommand('softbench.openLeaderboard');
    assert.equal(tabs().filter((label) => label === 'Leaderboard').length, 1);
  });

  it('ranks what was imported, with the ranks that it could have', async () => {
    const { ranks, drawn } = await workbench.leaderboardSource.ranks({
      tasks: ['ranked_elsewhere'],
      mode: 'zero-shot',
      metric: 'exact_match',
      models: ['org/ranked-1B-Chat', 'org/unlike', 'org/ranked-1B'],
    });
    assert.equal(drawn, 'intervals');
    assert.deepEqual(ranks, [
      { low: 1, high: 1 },
      { low: 2, high: 2 },
      { low: 3, high: 3 },
    ]);
  });

  it('links a post-trained model to its base model by name, as the user says, and by name again', async () => {
    assert.equal(await baseOf('org/ranked-1B-Chat'), 'org/ranked-1B');
    const answer = (label: string): void => {
      (vscode.window as { showQuickPick: unknown }).showQuickPick = async (items: vscode.QuickPickItem[]) =>
        items.find((item) => item.label.includes(label));
    };
    answer('org/unlike');
    await workbench.leaderboardSource.editLink('org/ranked-1B-Chat');
    assert.equal(await baseOf('org/ranked-1B-Chat'), 'org/unlike');
    const file = vscode.Uri.joinPath(workspaceFolder(), '.softbench', 'links.json');
    assert.deepEqual(JSON.parse(new TextDecoder().decode(await vscode.workspace.fs.readFile(file))), {
      'org/ranked-1B-Chat': 'org/unlike',
    });
    answer('No base model');
    await workbench.leaderboardSource.editLink('org/ranked-1B-Chat');
    assert.equal(await baseOf('org/ranked-1B-Chat'), undefined);
    answer('As card and name tell');
    await workbench.leaderboardSource.editLink('org/ranked-1B-Chat');
    assert.equal(await baseOf('org/ranked-1B-Chat'), 'org/ranked-1B');
  });
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as vscode from 'vscode';
import type { RunFolder } from '../../src/runs/index.ts';
import type { Workbench } from '../../src/views/workbench.ts';
import { openWorkbench, workspaceFolder, writeFile } from './workspace.ts';

/** Results of a model on a task as lm-evaluation-harness writes them; `right`: which of the documents are. */
function resultsOf(task: string, model: string, right: readonly boolean[]): { results: string; samples: string } {
  const config = {
    task,
    output_type: 'generate_until',
    filter_list: [
      {
        name: 'strict-match',
        filter: [{ function: 'regex', regex_pattern: '#### (\\d+)' }, { function: 'take_first' }],
      },
    ],
    metric_list: [{ metric: 'exact_match' }],
  };
  const results = {
    results: { [task]: { 'exact_match,strict-match': right.filter(Boolean).length / right.length } },
    configs: { [task]: config },
    versions: { [task]: 1 },
    'n-shot': { [task]: 0 },
    config: { model: 'hf', model_args: `pretrained=${model}` },
    model_name: model,
    lm_eval_version: '0.4.13',
  };
  const rows = right.map((isRight, doc_id) =>
    JSON.stringify({
      doc_id,
      doc: { question: '1 + 1' },
      target: '#### 2',
      arguments: { gen_args_0: { arg_0: '1 + 1 =', arg_1: { until: ['\n'] } } },
      resps: [[isRight ? '#### 2' : '#### 3']],
      filtered_resps: [isRight ? '2' : '3'],
      filter: 'strict-match',
      metrics: ['exact_match'],
      exact_match: isRight ? 1 : 0,
    }),
  );
  return { results: JSON.stringify(results), samples: `${rows.join('\n')}\n` };
}

describe('comparing runs', function () {
  this.timeout(90_000);
  let workbench: Workbench;
  let runs: RunFolder[];

  before(async () => {
    workbench = await openWorkbench();
    const time = '2026-01-03T03-04-05.00000';
    for (const [at, [task, model, right]] of (
      [
        ['compared', 'org/one', [true, false, false, true]],
        ['compared', 'org/two', [true, true, true]],
        ['compared_other', 'org/one', [true]],
      ] as const
    ).entries()) {
      const { results, samples } = resultsOf(task, model, right);
      const file = await writeFile(`compared/${at}/results_${time}${at}.json`, results);
      await writeFile(`compared/${at}/samples_${task}_${time}${at}.jsonl`, samples);
      await vscode.commands.executeCommand('softbench.importResults', file);
    }
    runs = workbench.runs.runs.filter(({ run }) => run.benchmark.task.startsWith('compared'));
    assert.equal(runs.length, 3);
  });
  after(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  const row = (model: string, task = 'compared') => {
    const run = runs.find(({ run: each }) => each.model.name === model && each.benchmark.task === task);
    assert.ok(run);
    return { kind: 'run' as const, run };
  };

  it('opens one page over the runs that are selected, and says what to be careful of', async () => {
    const [one, two] = [row('org/one'), row('org/two')];
    await vscode.commands.executeCommand('softbench.compareRuns', two, [one, two]);
    const shown = workbench.panels.comparisons;
    assert.equal(shown.length, 1);
    const [comparison] = shown;
    assert.ok(comparison);
    assert.deepEqual([...comparison.runs].sort(), [one.run.run.id, two.run.run.id].sort());
    const view = await workbench.panels.view(comparison);
    assert.deepEqual(view?.columns.map(({ label }) => label).sort(), ['org/one', 'org/two']);
    assert.ok(view?.warnings.some(({ what }) => what === 'Items'));
    // A second time the same page comes to the front.
    await vscode.commands.executeCommand('softbench.compareRuns', one, [one, two]);
    assert.equal(workbench.panels.comparisons.length, 1);
  });

  it('takes a benchmark × model for the runs that its page shows', async () => {
    const groups = [row('org/one'), row('org/two')].map(({ run }) => ({
      kind: 'group' as const,
      task: run.run.benchmark.task,
      benchmarkFile: run.run.benchmark.file,
      modelName: run.run.model.name,
      modelFolder: run.run.model.folder,
      runs: [run],
    }));
    // The page of these two runs is there: it comes to the front, and nothing is asked.
    await vscode.commands.executeCommand('softbench.compareRuns', groups[0], groups);
    assert.equal(workbench.panels.comparisons.length, 1);
  });

  it('refuses runs of different benchmarks', async () => {
    const [one, other] = [row('org/one'), row('org/one', 'compared_other')];
    await vscode.commands.executeCommand('softbench.compareRuns', one, [one, other]);
    assert.equal(workbench.panels.comparisons.length, 1);
  });

  it('writes them as one page, without the place of the workspace', async () => {
    const ids = [row('org/one'), row('org/two')].map(({ run }) => run.run.id);
    const stored = ids.map((run) => ({ run, storeFolder: workbench.runs.storeOf(run)?.folder ?? '' }));
    const worker = await workbench.worker();
    const sizes = await worker.call.measurePage({ runs: stored });
    assert.ok(sizes.scores > 0 && sizes.items === 7);
    const file = vscode.Uri.joinPath(workspaceFolder(), 'compared.html').fsPath;
    const { bytes } = await worker.call.writePage({
      runs: stored,
      file,
      content: { outputs: true, prompts: true },
    });
    const html = readFileSync(file, 'utf8');
    assert.equal(Buffer.byteLength(html), bytes);
    assert.ok(!html.includes(workspaceFolder().fsPath));
    assert.ok(html.includes('org/one'));
  });
});

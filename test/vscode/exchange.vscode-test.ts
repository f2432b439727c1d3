import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { Workbench } from '../../src/views/workbench.ts';
import { openWorkbench, workspaceFolder, writeFile } from './workspace.ts';

/** What lm-evaluation-harness writes of two documents, read by two filters. */
const config = {
  task: 'sums_elsewhere',
  output_type: 'generate_until',
  filter_list: [
    { name: 'strict-match', filter: [{ function: 'regex', regex_pattern: '#### (\\d+)' }, { function: 'take_first' }] },
    {
      name: 'flexible-extract',
      filter: [{ function: 'regex', regex_pattern: '(\\d+)', group_select: -1 }, { function: 'take_first' }],
    },
  ],
  metric_list: [{ metric: 'exact_match' }],
};
const results = {
  results: { sums_elsewhere: { 'exact_match,strict-match': 0.5, 'exact_match,flexible-extract': 1 } },
  configs: { sums_elsewhere: config },
  versions: { sums_elsewhere: 1 },
  'n-shot': { sums_elsewhere: 0 },
  config: { model: 'hf', model_args: 'pretrained=org/elsewhere' },
  model_name: 'org/elsewhere',
  lm_eval_version: '0.4.13',
};
const row = (doc_id: number, output: string, filter: string, answer: string, exact_match: number): string =>
  JSON.stringify({
    doc_id,
    doc: { question: '1 + 1' },
    target: '#### 2',
    arguments: { gen_args_0: { arg_0: '1 + 1 =', arg_1: { until: ['\n'] } } },
    resps: [[output]],
    filtered_resps: [answer],
    filter,
    metrics: ['exact_match'],
    exact_match,
  });
const samples = [
  row(0, '#### 2', 'strict-match', '2', 1),
  row(1, 'It is 2', 'strict-match', '[invalid]', 0),
  row(0, '#### 2', 'flexible-extract', '2', 1),
  row(1, 'It is 2', 'flexible-extract', '2', 1),
];

describe('results of other tools', function () {
  this.timeout(60_000);
  let workbench: Workbench;
  let file: vscode.Uri;
  const time = '2026-01-02T03-04-05.000001';
  before(async () => {
    workbench = await openWorkbench();
    file = await writeFile(`elsewhere/results_${time}.json`, JSON.stringify(results));
    await writeFile(`elsewhere/samples_sums_elsewhere_${time}.jsonl`, `${samples.join('\n')}\n`);
  });
  after(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));
  const found = () => workbench.runs.runs.find(({ run }) => run.benchmark.task === 'sums_elsewhere');

  it('come in by a command, with format and knowledge, and are known to be imported', async () => {
    await vscode.commands.executeCommand('softbench.importResults', file);
    const folder = found();
    assert.ok(folder?.summary);
    assert.equal(folder.run.source?.tool, 'lm-eval');
    assert.equal(folder.run.model.name, 'org/elsewhere');
    const { F, S, K, L } = folder.summary.scores;
    assert.deepEqual([F.value, S.value, K.value, L.value], [0.5, 0.5, 1, 1]);
    // A second time nothing is added.
    await vscode.commands.executeCommand('softbench.importResults', file);
    assert.equal(workbench.runs.runs.filter(({ run }) => run.benchmark.task === 'sums_elsewhere').length, 1);
  });

  it('open as a page, though there is no benchmark file', async () => {
    const folder = found();
    assert.ok(folder);
    await vscode.commands.executeCommand('softbench.openResults', { kind: 'run', run: folder });
    const { benchmark, model } = folder.run;
    const view = await workbench.panels.view({
      task: benchmark.task,
      benchmarkFile: benchmark.file,
      modelName: model.name,
      modelFolder: model.folder,
    });
    assert.equal(view?.title, 'sums_elsewhere · org/elsewhere');
    assert.equal(view?.columns[0]?.done, 2);
  });

  it('go out again through the worker', async () => {
    const folder = found();
    const store = workbench.runs.storeOf(folder?.run.id ?? '');
    assert.ok(folder && store);
    const out = vscode.Uri.joinPath(workspaceFolder(), 'exported');
    const worker = await workbench.worker();
    const [first = ''] = await worker.call.exportRuns({
      runs: [folder.run.id],
      storeFolder: store.folder,
      format: 'markdown',
      folder: out.fsPath,
    });
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.file(first)));
    assert.match(text, /\| sums_elsewhere \| org\/elsewhere \| zero-shot \| imported: lm-eval \| 2 \|/);
    // The harness's own form needs prompts that are not here, and says where they are.
    await assert.rejects(
      worker.call.exportRuns({
        runs: [folder.run.id],
        storeFolder: store.folder,
        format: 'lm-eval',
        folder: out.fsPath,
      }),
      /was imported: its prompts and documents are not here/,
    );
  });
});

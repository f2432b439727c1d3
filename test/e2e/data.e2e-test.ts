// Benchmarks that are more than one file here: a group of several, and one whose data lies on a server.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HubServer } from '../hub/server.ts';
import { until } from '../support/wait.ts';
import { jsonLines, runsIn, temporaryFolder } from './program.ts';
import { pictureFailures, Workbench } from './workbench.ts';

const items = 8;
const dataset = 'owner/who-had-a-hat';

describe('groups and data from a hub, by clicks in a VS Code window', function () {
  this.timeout(600_000);
  let workbench: Workbench;
  let hub: HubServer;
  const outside = temporaryFolder();
  const store = (): string => workbench.store;
  const benchmark = (name: string): string => workbench.benchmark(name);
  const finished = (task: string) =>
    runsIn(store()).filter(({ id, status }) => id.includes(task) && status === 'finished');

  before(async () => {
    const rows = (split: string): string =>
      readFileSync(join('examples', 'benchmarks', 'data', `stories-who.${split}.jsonl`), 'utf8');
    hub = await HubServer.start([
      {
        kind: 'dataset',
        id: dataset,
        licence: 'apache-2.0',
        revisions: { main: { 'train.jsonl': rows('train'), 'test.jsonl': rows('test') } },
      },
    ]);
    workbench = await Workbench.open({
      name: 'data',
      settings: { 'softbench.limit': items },
      dialogs: true,
      env: { HF_ENDPOINT: hub.address, HF_HOME: join(outside.folder, 'hub'), HF_TOKEN: '' },
    });
  });
  pictureFailures(() => workbench);
  after(async () => {
    await workbench?.close();
    await hub?.stop();
    outside.remove();
  });

  it('evaluates each benchmark of a group after a click, in the modes that were ticked', async () => {
    writeFileSync(
      benchmark('stories'),
      [
        'group: stories',
        'task:',
        '  - stories_who',
        '  - stories_yes_no',
        'aggregate_metric_list:',
        '  - metric: exact_match',
        '    filter_list: [flexible-extract]',
        '    weight_by_size: true',
        '',
      ].join('\n'),
    );
    await workbench.openFile('stories.yaml');
    for (const title of ['Evaluate group', 'Group scores', 'Benchmarks…', 'Choose model'])
      await workbench.codeLens(title).waitFor();
    await workbench.codeLens('Evaluate group').click();
    await workbench.tick('few-shot');
    await workbench.screenshot('data-1-group-modes');
    await workbench.acceptPicks();
    await workbench.pick(/scratch\/examples\/models\/stories260k/);
    for (const task of ['stories_who', 'stories_yes_no'])
      await until(`both modes of ${task}`, () => finished(task).length === 2, 240);
    for (const run of runsIn(store())) assert.equal(jsonLines(join(run.folder, 'items.jsonl')).length, items);
  });

  it('shows the scores of the group, weighted as its file says, and opens one of its benchmarks', async () => {
    await workbench.openFile('stories.yaml');
    await workbench.codeLens('Group scores').click();
    const shown = workbench.page.locator('.editor-group-container.active .view-lines');
    await until('the scores', async () => /stories[\s\S]*\|/.test((await shown.textContent()) ?? ''));
    await workbench.screenshotInThemes('data-2-group-scores');
    // It was never saved: closed otherwise, the window would ask.
    await workbench.command('View: Revert and Close Editor');
    await workbench.openFile('stories.yaml');
    await workbench.codeLens('Benchmarks…').click();
    await workbench.pick('stories_yes_no');
    await workbench.page.locator('.editor-group-container.active .tab.active', { hasText: 'stories-yes-no' }).waitFor();
    await workbench.closeAllEditors();
  });

  // Pending: not seen to pass yet. The dialog is shown only in a window without VS Code's test driver (`dialogs`).
  it.skip('asks before it fetches data, and fetches nothing where the answer is no', async () => {
    const yaml = readFileSync(benchmark('stories-who'), 'utf8');
    writeFileSync(
      benchmark('stories-hub'),
      yaml
        .replace('task: stories_who', 'task: stories_hub')
        .replace(/dataset_path: json\ndataset_kwargs:\n(?: .*\n)+/, `dataset_path: ${dataset}\n`),
    );
    await workbench.openFile('stories-hub.yaml');
    await workbench.codeLens('Evaluate').click();
    await workbench.notification(dataset).waitFor();
    await workbench.notification(dataset).locator('.monaco-button', { hasText: 'Download from Hugging Face' }).click();
    await workbench.dialog().waitFor();
    const said = (await workbench.dialog().textContent()) ?? '';
    for (const told of [dataset, 'apache-2.0', '2 files']) assert.ok(said.includes(told), `${told} is not in: ${said}`);
    await workbench.screenshot('data-3-consent');
    assert.ok(!hub.asked.some(({ url }) => url.includes('/resolve/main/test')), 'a file was fetched before the answer');
    await workbench.dialog().locator('.monaco-button', { hasText: 'Cancel' }).click();
    await workbench.dialog().waitFor({ state: 'hidden' });
    assert.ok(!hub.asked.some(({ url }) => url.includes('test.jsonl')), JSON.stringify(hub.asked));
    assert.equal(finished('stories_hub').length, 0);
  });

  it.skip('fetches the data once it may, and goes on with what was asked for', async () => {
    await workbench.openFile('stories-hub.yaml');
    await workbench.codeLens('Evaluate').click();
    await workbench.notification(dataset).locator('.monaco-button', { hasText: 'Download from Hugging Face' }).click();
    await workbench.dialog().locator('.monaco-button', { hasText: 'Download' }).click();
    await workbench.acceptPicks();
    await until('the run', () => finished('stories_hub').length === 2, 240);
    const cache = join(outside.folder, 'hub', 'hub', 'datasets--owner--who-had-a-hat', 'snapshots');
    assert.ok(existsSync(cache));
    const [snapshot = ''] = readdirSync(cache);
    assert.equal(
      readFileSync(join(cache, snapshot, 'test.jsonl'), 'utf8'),
      readFileSync(join('examples', 'benchmarks', 'data', 'stories-who.test.jsonl'), 'utf8'),
    );
    // The same items as from the files beside the example.
    const outputs = (task: string): unknown[] =>
      jsonLines<{ index: number; output: string }>(
        join(finished(task).find(({ mode }) => mode === 'zero-shot')?.folder ?? '', 'items.jsonl'),
      ).map(({ index, output }) => ({ index, output }));
    assert.deepEqual(outputs('stories_hub'), outputs('stories_who'));
  });
});

/** Rows of samples files, against those that lm-evaluation-harness 0.4.13 wrote (test/fixtures/parity). */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatOf, openBenchmark } from '../../src/benchmark/index.ts';
import type { Benchmark } from '../../src/benchmark/types.ts';
import { importResults } from '../../src/exchange/index.ts';
import { SampleRows } from '../../src/exchange/lm-eval-rows.ts';
import { type DiskRunStore, openRunStore, type RunFolder } from '../../src/runs/index.ts';
import type { ItemRecord, RunFile } from '../../src/shared/results.ts';

const fixtures = resolve('test/fixtures/parity');
let store: DiskRunStore;
let runs: RunFolder[];
beforeAll(async () => {
  store = openRunStore(await mkdtemp(join(tmpdir(), 'softbench-exchange-')));
  for (const model of ['stories260k', 'gpt2'])
    for (const setting of ['zero-shot', 'few-shot'])
      await importResults([join(fixtures, 'runs', model, setting)], store, { softbench: '0.0.0' });
  ({ runs } = await store.list());
}, 240_000);
afterAll(() => rm(store.folder, { recursive: true, force: true }));

const tasks = [
  'gen_choice',
  'gen_colors',
  'gen_names',
  'gen_rewrite',
  'gen_sums',
  'gen_vote',
  'll_default',
  'll_word',
  'mc_binary',
  'mc_blank',
  'mc_labels',
  'mc_letter',
  'mc_many',
  'mc_text',
];

/** The lines of a samples file of these records. */
async function linesOf(run: RunFile, benchmark: Benchmark, records: readonly ItemRecord[]): Promise<string[]> {
  const items = new Map((await benchmark.items('evaluation')).map((item) => [item.index, item]));
  const rows = new SampleRows(run, benchmark);
  const lines: string[] = [];
  for (const filter of rows.filters(records, items))
    for (const record of records) {
      const item = items.get(record.index);
      if (item) lines.push((await rows.row(item, record, filter)).line);
    }
  return lines;
}

/** Special tokens that the templates use; results files have the template only. */
const specialTokens = { bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>' };

describe('runs with a chat template', { timeout: 60_000 }, () => {
  it.each(['zero-shot-chat', 'few-shot-chat', 'few-shot-chat-turns'])('%s: the same', async (setting) => {
    const folder = join(fixtures, 'runs', 'stories260k', setting);
    const chatStore = openRunStore(join(store.folder, setting));
    const names = ['gen_sums', 'mc_letter', 'll_word'];
    await importResults([folder], chatStore, { softbench: '0.0.0', tasks: names.map((name) => `parity_${name}`) });
    for (const name of names) {
      const { runs } = await chatStore.list();
      const run = runs.find((each) => each.run.benchmark.task === `parity_${name}`)?.run;
      if (!run?.settings.chat?.template) throw new Error('no template was imported');
      run.settings.chat.template.specialTokens = specialTokens;
      const benchmark = (await openBenchmark(join(fixtures, 'tasks', `${name}.yaml`))).withChat(
        chatOf(run.settings.chat),
      );
      expect(await linesOf(run, benchmark, await chatStore.readItems(run.id))).toEqual(
        (await readFile(join(folder, `samples_parity_${name}.jsonl`), 'utf8')).trimEnd().split('\n'),
      );
    }
  });
});

describe('the outputs and likelihoods of lm-eval, written again with the benchmark file', { timeout: 60_000 }, () => {
  it.each(tasks)('%s: every line is the same, character by character', async (task) => {
    const benchmark = await openBenchmark(join(fixtures, 'tasks', `${task}.yaml`));
    const ofTask = runs.filter(({ run }) => run.benchmark.task === `parity_${task}`);
    expect(ofTask.length).toBeGreaterThanOrEqual(2);
    for (const { run } of ofTask) {
      const folder = run.source?.file.replace(/results\.json$/, '') ?? '';
      const text = await readFile(join(folder, `samples_parity_${task}.jsonl`), 'utf8');
      const lines = await linesOf(run, benchmark, await store.readItems(run.id));
      // One by one: a difference in one of them is seen at its place.
      const theirs = text.trimEnd().split('\n');
      expect(lines).toHaveLength(theirs.length);
      for (const [number, line] of lines.entries()) expect(line).toBe(theirs[number]);
    }
  });
});

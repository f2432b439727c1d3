/** `--without-marked` on the command line: what it prints and what its JSON holds. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { marksOf, withoutMarkedJson, withoutMarkedLines } from '../../src/cli/without-marked.ts';
import { openRunStore, setMark } from '../../src/runs/index.ts';
import type { PromptMode } from '../../src/shared/modes.ts';
import type { ItemRecord, RunFile } from '../../src/shared/results.ts';
import { sampleItem, sampleRun } from '../runs/sample.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-without-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Ten items of which the first `right` are in the format and right, the others neither. */
async function run(mode: PromptMode, right: number): Promise<{ run: RunFile; items: ItemRecord[] }> {
  const store = openRunStore(folder);
  const writer = await store.create(sampleRun({ mode }));
  for (let index = 0; index < 10; index++) {
    const isRight = index < right;
    await writer.appendItem({ ...sampleItem(index), inFormat: isRight, right: isRight, lenientRight: isRight });
  }
  await writer.close();
  return { run: writer.run, items: await store.readItems(writer.run.id) };
}

it('shows the scores of all runs with and without the items that are marked in any', async () => {
  const outcomes = [await run('zero-shot', 2), await run('few-shot', 6)];
  const store = openRunStore(folder);
  const ids = outcomes.map((one) => one.run.id);
  expect(withoutMarkedLines(outcomes, (await marksOf(store, ids)).marks)).toEqual([
    'No item of these runs is marked.',
    '',
  ]);
  await setMark(store.folderOf(ids[0] ?? ''), 9, { kind: 'bad gold', note: '' });
  await setMark(store.folderOf(ids[1] ?? ''), 0, { kind: 'bad reader', note: '' });
  const { marks, problems } = await marksOf(store, ids);
  expect(problems).toEqual([]);
  const text = withoutMarkedLines(outcomes, marks).join('\n');
  expect(text).toContain('2 items are marked (1 bad gold, 1 bad reader):');
  expect(text).toMatch(/zero-shot +all +10 +20 %/);
  expect(text).toMatch(/without marked +8 +1[23] %/);
  expect(text).toMatch(/few-shot +all +10 +60 %/);
  expect(text).toContain('On the 8 items of both');
  const json = withoutMarkedJson(outcomes, marks);
  expect(json.scores.map(({ scores }) => [scores.n, scores.S.count])).toEqual([
    [8, 1],
    [8, 5],
  ]);
});

it('says which marks cannot be read', async () => {
  const { run: one } = await run('zero-shot', 2);
  const store = openRunStore(folder);
  await writeFile(join(store.folderOf(one.id), 'marks.json'), '{"schema": 9}');
  const { marks, problems } = await marksOf(store, [one.id]);
  expect(marks).toEqual([]);
  expect(problems[0]).toContain('newer version');
});

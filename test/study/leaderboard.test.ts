/** The leaderboard over a real store: ranks from items, links between models, runs under way, and the page as a file. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { share } from '../../src/metrics/index.ts';
import { openRunStore } from '../../src/runs/index.ts';
import type { LeaderboardView } from '../../src/shared/protocol.ts';
import {
  declaredBases,
  ItemEvidence,
  leaderboard,
  leaderboardFile,
  linkModels,
  linksText,
  parseLinks,
  rankedModels,
  readLinks,
  runningCells,
  shareableLeaderboard,
} from '../../src/study/index.ts';
import { RunningCells } from '../../src/views/running-cells.ts';
import { sampleItem, sampleRun, sampleSummary } from '../runs/sample.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-leaderboard-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A finished run in which the items of these numbers are right. */
async function stored(model: string, right: (index: number) => boolean, n = 200): Promise<string> {
  const run = sampleRun();
  const writer = await openRunStore(folder).create({
    ...run,
    model: { ...run.model, name: model, folder: join(folder, model) },
  });
  let count = 0;
  for (let index = 0; index < n; index++) {
    const isRight = right(index);
    if (isRight) count++;
    await writer.appendItem({ ...sampleItem(index), inFormat: true, right: isRight, cause: null });
  }
  const summary = sampleSummary(writer.run.id, 'zero-shot', { right: count, inFormat: n, n });
  summary.scores.S = share(count, n);
  await writer.saveSummary(summary);
  await writer.update({ status: 'finished' });
  await writer.close();
  return writer.run.id;
}

describe('ranks over a store', () => {
  it('are drawn from the items of the runs, the same for all models, and read once', async () => {
    // b is right wherever a is, and on 8 more items: no draw of items puts a before it.
    await stored('a', (index) => index < 100);
    await stored('b', (index) => index < 108);
    const store = openRunStore(folder);
    const { runs } = await store.list();
    const view = leaderboard(runs);
    let reads = 0;
    const evidence = new ItemEvidence({
      run: (id) => runs.find(({ run }) => run.id === id)?.run ?? null,
      items: (id) => {
        reads++;
        return store.readItems(id);
      },
    });
    const choice = { tasks: ['who had it?'], mode: 'zero-shot', metric: 'S' } as const;
    const paired = await rankedModels(view, choice, evidence);
    expect(paired.drawn).toBe('items');
    expect(paired.models.map(({ model, likely }) => [model, likely])).toEqual([
      ['b', { low: 1, high: 1 }],
      ['a', { low: 2, high: 2 }],
    ]);
    await rankedModels(view, choice, evidence);
    expect(reads).toBe(2);
    // From their intervals alone nobody could tell.
    const alone = await rankedModels(view, choice, null);
    expect(alone.drawn).toBe('intervals');
    expect(alone.models.map(({ likely }) => likely)).toEqual([
      { low: 1, high: 2 },
      { low: 1, high: 2 },
    ]);
  });

  it('take the interval where the items of a run are gone or are not those of its score', async () => {
    const id = await stored('a', (index) => index < 100);
    await stored('b', (index) => index < 10);
    await writeFile(join(folder, 'runs', id, 'items.jsonl'), '');
    const store = openRunStore(folder);
    const { runs } = await store.list();
    const evidence = new ItemEvidence({
      run: (one) => runs.find(({ run }) => run.id === one)?.run ?? null,
      items: (one) => store.readItems(one),
    });
    const { drawn } = await rankedModels(
      leaderboard(runs),
      { tasks: ['who had it?'], mode: 'zero-shot', metric: 'S' },
      evidence,
    );
    expect(drawn).toBe('both');
  });
});

describe('links of base and post-trained models', () => {
  const named = (...names: string[]): LeaderboardView['models'] =>
    names.map((name) => ({ name, folder: `/models/${name}` }));

  it('go by what the user says, then by cards, then by names', () => {
    const models = named('org/m-7B', 'org/m-7B-Instruct', 'm-chat-v2', 'other', 'mine');
    expect(linkModels(models, {})).toEqual([{ base: 'org/m-7B', postTrained: 'org/m-7B-Instruct', by: 'name' }]);
    const cards = new Map([['/models/m-chat-v2', ['org/other']]]);
    const said = { mine: 'other', 'org/m-7B-Instruct': null };
    expect(linkModels(models, said, cards)).toEqual([
      { base: 'other', postTrained: 'm-chat-v2', by: 'card' },
      { base: 'other', postTrained: 'mine', by: 'user' },
    ]);
  });

  it('are not guessed where several models have the base name, nor of quantised copies', () => {
    expect(linkModels(named('a/m-1B', 'b/m-1B', 'm-1B-Instruct'), {})).toEqual([]);
    const cards = new Map([['/models/m-1B-Instruct-onnx', ['org/m-1B-Instruct']]]);
    expect(linkModels(named('m-1B-Instruct', 'm-1B-Instruct-onnx'), {}, cards)).toEqual([]);
  });

  it.each([
    ['base_model: org/base', ['org/base']],
    ['base_model: "org/base" # the one', ['org/base']],
    ['license: mit\nbase_model:\n  - org/a\n  - org/b\ntags:\n  - x', ['org/a', 'org/b']],
    ['base_model: [org/a, org/b]', ['org/a', 'org/b']],
    ['license: mit', []],
  ])('are read from a model card: %s', async (head, expected) => {
    await writeFile(join(folder, 'README.md'), `---\n${head}\n---\n\nbase_model: not/here\n`);
    expect(await declaredBases(folder)).toEqual(expected);
  });

  it('are read from an adapter, and nowhere is nothing', async () => {
    expect(await declaredBases(folder)).toEqual([]);
    await writeFile(join(folder, 'adapter_config.json'), '{"base_model_name_or_path": "org/base"}');
    expect(await declaredBases(folder)).toEqual(['org/base']);
    await writeFile(join(folder, 'adapter_config.json'), '{');
    expect(await declaredBases(folder)).toEqual([]);
    expect(await declaredBases('imported:x')).toEqual([]);
  });

  it('are kept in a file of the store, which says what is wrong with it', async () => {
    expect(await readLinks(folder)).toEqual({});
    await writeFile(join(folder, 'links.json'), linksText({ b: 'c', a: null }));
    expect(await readLinks(folder)).toEqual({ a: null, b: 'c' });
    expect(() => parseLinks('{', 'x.json')).toThrow(/^x\.json is not JSON/);
    expect(() => parseLinks('[]', 'x.json')).toThrow('x.json does not hold an object of links.');
    expect(() => parseLinks('{"a": 1}', 'x.json')).toThrow('x.json: the base model of "a" is neither a name nor null.');
  });
});

describe('runs under way', () => {
  it('stand on the leaderboard with their items and the score so far', () => {
    const cells = new RunningCells();
    const run = { ...sampleRun(), id: 'r', created: '', updated: '', status: 'running' as const };
    cells.follow({ kind: 'run', run });
    const item = (index: number, right: boolean) => ({ ...sampleItem(index), inFormat: true, right });
    cells.follow({
      kind: 'items',
      run: 'r',
      mode: 'zero-shot',
      done: 2,
      total: 10,
      secondsLeft: null,
      records: [item(0, true), item(1, false)],
    });
    const { running } = leaderboard([], { running: cells.list });
    expect(running).toEqual([
      {
        model: 'tiny/llama',
        task: 'who had it?',
        mode: 'zero-shot',
        run: 'r',
        done: 2,
        total: 10,
        S: share(1, 2),
      },
    ]);
    expect(runningCells([], cells.list)).toEqual(running);
    cells.end('group-1');
    expect(cells.list).toEqual([]);
  });

  it('that were resumed have no score so far: the items before are not known', () => {
    const cells = new RunningCells();
    cells.follow({ kind: 'run', run: { ...sampleRun(), id: 'r', created: '', updated: '', status: 'running' } });
    cells.follow({
      kind: 'items',
      run: 'r',
      mode: 'zero-shot',
      done: 6,
      total: 10,
      secondsLeft: null,
      records: [sampleItem(5)],
    });
    expect(cells.list[0]).toMatchObject({ done: 6, S: null });
  });
});

describe('the leaderboard as one file', () => {
  const view: LeaderboardView = {
    benchmarks: [
      { task: 'x', file: '/home/ann/bench/x.yaml' },
      { task: 'y', file: '/home/ann/bench/y.yaml' },
    ],
    models: [
      { name: 'a', folder: '/home/ann/models/a' },
      { name: 'secret', folder: '/home/ann/models/secret' },
    ],
    links: [{ base: 'a', postTrained: 'secret', by: 'name' }],
    cells: [],
    running: [],
    predictions: { shown: true, busy: false, note: null },
  };

  it('has neither what is hidden nor paths of this machine, and opens as it was seen', async () => {
    const state = { mode: 'few-shot', hiddenModels: ['secret'], hiddenBenchmarks: ['y'] };
    await writeFile(join(folder, 'leaderboard.js'), 'let page;\n//# sourceMappingURL=leaderboard.js.map\n');
    await writeFile(join(folder, 'leaderboard.css'), 'a{}');
    const html = await leaderboardFile(view, state, folder);
    expect(html).not.toMatch(/secret|ann\b|sourceMappingURL/);
    const data = JSON.parse(/id="softbench-data">(.*?)<\/script>/.exec(html)?.[1] ?? '');
    expect(data).toEqual({
      page: 'leaderboard',
      view: { benchmarks: [{ task: 'x', file: 'x.yaml' }], models: [{ name: 'a', folder: 'a' }], links: [], cells: [] },
      state: { mode: 'few-shot' },
    });
    await expect(leaderboardFile(view, state, join(folder, 'none'))).rejects.toThrow(/A part of Softbench is missing/);
  });

  it('takes any state', () => {
    expect(shareableLeaderboard(view, null).view.models).toHaveLength(2);
    expect(shareableLeaderboard(view, { hiddenModels: 'a' }).view.models).toHaveLength(2);
  });
});

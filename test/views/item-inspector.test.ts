/** What the results page asks about one item, answered from real stores and benchmark files. */
import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openBenchmark } from '../../src/benchmark/index.ts';
import { openRunStore } from '../../src/runs/index.ts';
import { HumanError } from '../../src/shared/errors.ts';
import type { ItemTokens } from '../../src/shared/item-tokens.ts';
import type { RunFile } from '../../src/shared/results.ts';
import { sha256 } from '../../src/system/index.ts';
import { type InspectorHost, ItemInspector } from '../../src/views/item-inspector.ts';
import { type NewRun, sampleItem, sampleRun } from '../runs/sample.ts';

const tokens: ItemTokens = { texts: [], notes: [] };
let folder: string;
let benchmarkFile: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-inspector-'));
  await cp(join(import.meta.dirname, '../../examples/benchmarks'), join(folder, 'benchmarks'), { recursive: true });
  benchmarkFile = join(folder, 'benchmarks/stories-who.yaml');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A run with one item whose prompt is that of the benchmark file now. */
async function run(change: Partial<NewRun> = {}, shots = 0): Promise<RunFile> {
  const benchmark = await openBenchmark(benchmarkFile);
  const [item] = await benchmark.items('evaluation');
  if (!item) throw new Error('no items');
  const { text } = await benchmark.prompt(item, shots);
  const digests = { config: benchmark.configDigest, data: '' };
  const base = sampleRun();
  const writer = await openRunStore(folder).create({
    ...base,
    benchmark: { ...base.benchmark, file: benchmarkFile, digests },
    settings: { ...base.settings, shots },
    ...change,
  });
  await writer.appendItem({ ...sampleItem(0), prompt: { hash: sha256(text), tokens: 9 } });
  await writer.close();
  return writer.run;
}

const inspector = (change: Partial<InspectorHost> = {}): ItemInspector => {
  const store = openRunStore(folder);
  return new ItemInspector({
    storeOf: async () => store,
    knownStoreOf: () => store,
    worker: async () => ({ itemTokens: async () => tokens }),
    engine: () => ({ executionProvider: 'cpu', threads: 1 }),
    isBusy: () => false,
    ...change,
  });
};

describe('the details of an item', () => {
  it('have the prompt of each run by parts, its record, and where the item stands in the data', async () => {
    const runs = [await run(), await run({ mode: 'few-shot' }, 2)];
    const detail = await inspector().detail(0, runs);
    expect(detail.records.map((one) => one.run)).toEqual(runs.map(({ id }) => id));
    const kinds = detail.prompts.map(({ parts }) => parts.map(({ kind }) => kind));
    expect(kinds[0]).toEqual(['question']);
    expect(kinds[1]?.filter((kind) => kind === 'example')).toHaveLength(2);
    expect(detail.source).toEqual({ file: join(folder, 'benchmarks/data/stories-who.test.jsonl'), line: 1 });
  });

  it('say so where the prompt is another one now, and only then', async () => {
    const runs = [await run()];
    await appendFile(benchmarkFile, '\n# a comment changes nothing\n');
    expect((await inspector().detail(0, runs)).prompts[0]?.parts.map(({ kind }) => kind)).toEqual(['question']);
    const text = 'doc_to_text: "{{story}} Who?"\n';
    await writeFile(join(folder, 'benchmarks/changed.yaml'), `include: stories-who.yaml\n${text}`);
    const changed = runs.map((one) => ({
      ...one,
      benchmark: { ...one.benchmark, file: join(folder, 'benchmarks/changed.yaml') },
    }));
    const [note] = (await inspector().detail(0, changed)).prompts[0]?.parts ?? [];
    expect(note).toMatchObject({ kind: 'note', text: expect.stringContaining('has changed since this run') });
  });

  it('name a row where the data file is one that no editor shows', async () => {
    const runs = [await run()];
    const data = join(folder, 'benchmarks/data/stories-who.test.jsonl');
    await writeFile(`${data}.gz`, gzipSync(await readFile(data)));
    const text = (await readFile(benchmarkFile, 'utf8')).replace('stories-who.test.jsonl', 'stories-who.test.jsonl.gz');
    await writeFile(benchmarkFile, text);
    const detail = await inspector().detail(0, runs);
    expect(detail.source).toEqual({ file: `${data}.gz`, line: 1, isText: false });
  });

  it('are there without a benchmark file, and of imported runs', async () => {
    const runs = [await run()];
    await rm(benchmarkFile);
    const detail = await inspector().detail(0, runs);
    expect(detail.gold).toBe('cat');
    expect(detail.prompts[0]?.parts[0]?.text).toContain('not there any more');
    expect(detail.source).toBeNull();
  });
});

describe('tokens', () => {
  it('are computed once, not while a job is on; what cannot be computed is asked again', async () => {
    const { id } = await run();
    let asked = 0;
    let busy = true;
    let fails = true;
    const one = inspector({
      isBusy: () => busy,
      worker: async () => ({
        itemTokens: async () => {
          asked++;
          if (fails) throw new HumanError('missing', 'The model has gone.');
          return tokens;
        },
      }),
    });
    await expect(one.tokens({ run: id, index: 0 })).rejects.toThrow('a job is on');
    busy = false;
    await expect(one.tokens({ run: id, index: 0 })).rejects.toThrow('has gone');
    fails = false;
    expect(await one.tokens({ run: id, index: 0 })).toBe(tokens);
    busy = true;
    expect(await one.tokens({ run: id, index: 0 })).toBe(tokens);
    expect(asked).toBe(2);
  });
});

describe('marks', () => {
  it('are those of runs that are known: nothing is looked for each time a page is shown', async () => {
    const runs = [await run()];
    const one = inspector({
      storeOf: async () => {
        throw new Error('looked for');
      },
      knownStoreOf: () => null,
    });
    expect(await one.marks(runs)).toEqual({ marks: [], problems: [] });
  });

  it('go to all runs of the page; a file that cannot be read is told and left alone', async () => {
    const runs = [await run(), await run({ mode: 'few-shot' })];
    const one = inspector();
    const set = await one.mark(3, { kind: 'bad gold', note: 'it is 4' }, runs);
    expect(set).toMatchObject([{ index: 3, kind: 'bad gold', note: 'it is 4' }]);
    for (const each of runs) expect((await one.marks([each])).marks).toHaveLength(1);
    const broken = join(openRunStore(folder).folderOf(runs[1]?.id ?? ''), 'marks.json');
    await writeFile(broken, '{');
    const { marks, problems } = await one.marks(runs);
    expect(marks).toHaveLength(1);
    expect(problems).toEqual([expect.stringContaining('marks.json')]);
    await expect(one.mark(3, null, runs)).rejects.toThrow('cannot be read');
    // The run that can be written was.
    expect((await one.marks(runs)).marks).toEqual([]);
  });
});

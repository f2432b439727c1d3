/** An item token by token: asked of the worker's handlers with the bundled model, after real runs of real benchmarks. */
import { copyFile, cp, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRunStore } from '../../src/runs/index.ts';
import type { ItemTokens, ScoredText } from '../../src/shared/item-tokens.ts';
import type { PromptMode } from '../../src/shared/modes.ts';
import type { EngineSettings } from '../../src/shared/protocol.ts';
import type { ItemRecord, RunFile } from '../../src/shared/results.ts';
import { workerHandlers } from '../../src/worker/handlers.ts';
import { rooms } from '../../src/worker/rooms.ts';
import { errorOf } from '../support/error-of.ts';

const examples = join(import.meta.dirname, '../../examples');
const engine: EngineSettings = { executionProvider: 'cpu', threads: 2 };
const handlers = workerHandlers({ ...rooms, versions: async () => ({ softbench: '0', onnxruntime: '0' }) });
const hooks = (): { signal: AbortSignal; progress(): void } => ({
  signal: new AbortController().signal,
  progress() {},
});

let folder: string;
let benchmarks: string;
let model: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-tokens-'));
  benchmarks = join(folder, 'benchmarks');
  model = join(folder, 'stories260k');
  await cp(join(examples, 'benchmarks'), benchmarks, { recursive: true });
  await cp(join(examples, 'models/stories260k'), model, { recursive: true });
  // The same questions with candidates whose likelihoods are compared.
  const who = await readFile(join(benchmarks, 'stories-who.yaml'), 'utf8');
  const choices = who
    .replace(/^task: .*/m, 'task: choices')
    .replace('output_type: generate_until', 'output_type: multiple_choice\ndoc_to_choice: ["Tim", "Lily", "Tom"]')
    .replace(/^doc_to_target: .*/m, 'doc_to_target: 0')
    .replace(/^generation_kwargs:[\s\S]*$/m, '');
  await writeFile(join(benchmarks, 'choices.yaml'), choices);
  for (const [task, modes] of [
    ['stories-who', ['zero-shot', 'few-shot', 'soft-prompt']],
    ['choices', ['zero-shot']],
  ] as const)
    await handlers.runJob(
      {
        benchmarkFile: join(benchmarks, `${task}.yaml`),
        modelFolder: model,
        modes: [...modes],
        storeFolder: folder,
        group: task,
        reuseFinished: false,
        engine,
        overrides: { limit: 6, softPrompt: { steps: 4, validateEvery: 4, validationItems: 4, learningRate: 0.3 } },
      },
      hooks(),
    );
}, 120_000);
afterAll(async () => {
  await handlers.release(undefined, hooks());
  await rm(folder, { recursive: true, force: true });
});

async function runOf(task: string, mode: PromptMode): Promise<{ run: RunFile; records: ItemRecord[] }> {
  const store = openRunStore(folder);
  const { runs } = await store.list();
  const found = runs.find(({ run }) => run.group === task && run.mode === mode);
  if (!found) throw new Error(`no run of ${task} in ${mode}`);
  return { run: found.run, records: await store.readItems(found.run.id) };
}

const tokensOf = (run: string, index: number): Promise<ItemTokens> =>
  handlers.itemTokens({ storeFolder: folder, run, index, engine }, hooks()) as Promise<ItemTokens>;
const sumOf = ({ tokens }: ScoredText): number => tokens.reduce((sum, { logProbability }) => sum + logProbability, 0);
const textOf = ({ tokens }: ScoredText): string => tokens.map(({ text }) => text).join('');

describe('an item token by token', () => {
  it.each(['zero-shot', 'few-shot', 'soft-prompt'] as const)(
    '%s: the output is what greedy decoding took, token for token, up to and with what ended it',
    async (mode) => {
      const { run, records } = await runOf('stories-who', mode);
      let compared = 0;
      for (const record of records) {
        const { texts, notes } = await tokensOf(run.id, record.index);
        const [output] = texts;
        if (!output) throw new Error('no output');
        expect(output.of).toBe('output');
        const marker = record.stop.reason === 'stop-string' ? (record.stop.marker ?? '') : '';
        // The tokenizer drops the space that the model wrote first when it decodes.
        const text = textOf(output).slice(textOf(output).startsWith(` ${record.output}`) ? 1 : 0);
        expect(record.stop.reason === 'eos' ? text.startsWith(record.output) : text === record.output + marker).toBe(
          true,
        );
        expect(output.stopTokens > 0).toBe(record.stop.reason !== 'length');
        // Where the text splits into the tokens that the model wrote, each of them was its first choice.
        if (notes.length > 0) continue;
        compared++;
        expect(output.tokens.map(({ rank }) => rank)).toEqual(output.tokens.map(() => 1));
        for (const { id, best, logProbability } of output.tokens) {
          expect(best[0]?.id).toBe(id);
          expect(best[0]?.logProbability).toBeCloseTo(logProbability, 5);
          expect(logProbability).toBeLessThanOrEqual(0);
        }
      }
      expect(compared).toBeGreaterThan(2);
    },
  );

  it('candidates have the log-likelihoods of the record', async () => {
    const { run, records } = await runOf('choices', 'zero-shot');
    for (const record of records) {
      const { texts } = await tokensOf(run.id, record.index);
      const candidates = texts.filter(({ of }) => of === 'candidate');
      expect(candidates).toHaveLength(record.choices?.texts.length ?? Number.NaN);
      for (const [at, candidate] of candidates.entries()) {
        expect(candidate.stopTokens).toBe(0);
        expect(textOf(candidate)).toBe(candidate.text);
        expect(Math.abs(sumOf(candidate) - (record.choices?.logLikelihoods[at] ?? Number.NaN))).toBeLessThan(1e-5);
      }
    }
  });

  it('a soft prompt that came from a file is kept with the run, and gives what the run that tuned it gives', async () => {
    const { run } = await runOf('stories-who', 'soft-prompt');
    const file = join(folder, 'moved.safetensors');
    await copyFile(join(folder, 'runs', run.id, 'soft-prompt.safetensors'), file);
    await handlers.runJob(
      {
        benchmarkFile: join(benchmarks, 'stories-who.yaml'),
        modelFolder: model,
        modes: ['soft-prompt'],
        storeFolder: folder,
        group: 'from-file',
        reuseFinished: false,
        engine,
        overrides: { limit: 1, softPromptFile: file },
      },
      hooks(),
    );
    await rm(file);
    const { run: other } = await runOf('from-file', 'soft-prompt');
    expect(await tokensOf(other.id, 0)).toEqual(await tokensOf(run.id, 0));
  });

  it('the soft prompt of the run is in front', async () => {
    const { run } = await runOf('stories-who', 'soft-prompt');
    const file = join(folder, 'runs', run.id, 'soft-prompt.safetensors');
    await rename(file, `${file}.away`);
    const error = await errorOf(tokensOf(run.id, 0));
    await rename(`${file}.away`, file);
    expect(error.sentence).toContain('soft prompt of this run is not there any more');
  });
});

describe('what cannot be asked', () => {
  it('an imported run, an item that is not there', async () => {
    const { run } = await runOf('stories-who', 'zero-shot');
    expect((await errorOf(tokensOf(run.id, 99))).sentence).toContain('no item 99');
    const file = join(folder, 'runs', run.id, 'run.json');
    const text = await readFile(file, 'utf8');
    const source = { kind: 'imported', tool: 'lm-eval', version: '', file: '/x.json', digest: '', evaluated: null };
    await writeFile(file, JSON.stringify({ ...JSON.parse(text), source }));
    const error = await errorOf(tokensOf(run.id, 0));
    await writeFile(file, text);
    expect(error.sentence).toContain('imported');
  });

  it('a model that has gone, or is another one now', async () => {
    const { run } = await runOf('stories-who', 'zero-shot');
    await rename(model, `${model}-moved`);
    const gone = await errorOf(tokensOf(run.id, 0));
    await rename(`${model}-moved`, model);
    expect(gone.sentence).toContain('not here any more');
    expect(gone.sentence).toContain(model);

    const tokenizer = join(model, 'tokenizer.json');
    await copyFile(tokenizer, `${tokenizer}.away`);
    await writeFile(tokenizer, `${await readFile(tokenizer, 'utf8')}\n`);
    const changed = await errorOf(tokensOf(run.id, 0));
    await copyFile(`${tokenizer}.away`, tokenizer);
    expect(changed.sentence).toContain('Changed: tokenizer');
    expect((await tokensOf(run.id, 0)).texts).toHaveLength(1);
  });

  it('a prompt that is another one now', async () => {
    const { run } = await runOf('stories-who', 'zero-shot');
    const file = join(benchmarks, 'stories-who.yaml');
    const text = await readFile(file, 'utf8');
    await writeFile(
      file,
      text.replace(/doc_to_text: "?/, (found) => `${found}Now: `),
    );
    const error = await errorOf(tokensOf(run.id, 0));
    await writeFile(file, text);
    expect(error.sentence).toContain('prompt of item 0 is another than in this run');
  });

  it('anything while a job is on; a stop stops it', async () => {
    const { run } = await runOf('stories-who', 'zero-shot');
    const job = handlers.runJob(
      {
        benchmarkFile: join(benchmarks, 'stories-who.yaml'),
        modelFolder: model,
        modes: ['zero-shot'],
        storeFolder: folder,
        group: 'busy',
        reuseFinished: false,
        engine,
        overrides: { limit: 2 },
      },
      hooks(),
    );
    const error = await errorOf(tokensOf(run.id, 0));
    await job;
    expect(error.sentence).toContain('a job is on');
    const controller = new AbortController();
    controller.abort();
    const request = { storeFolder: folder, run: run.id, index: 0, engine };
    const stopped = handlers.itemTokens(request, { signal: controller.signal, progress() {} });
    expect((await errorOf(Promise.resolve(stopped))).kind).toBe('cancelled');
    expect((await tokensOf(run.id, 0)).texts).toHaveLength(1);
  });
});

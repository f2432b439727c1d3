/**
 * A file whose embedding is written in another scale, undone right behind the lookup, is the same function: what is
 * tuned in front of it must come out the same, at a rate that follows the scale. Gemma's own scaling stands behind the
 * lookup too; GPT-2 adds positions there, and norms come later or not at all.
 */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLanguageModel } from '../../src/engine/index.ts';
import { type JobRooms, runJob } from '../../src/evaluate/index.ts';
import { findEmbedding } from '../../src/gradient/index.ts';
import { encodeOnnx, numbersOf, readOnnxFile, tensorOf } from '../../src/onnx/index.ts';
import { openRunStore } from '../../src/runs/index.ts';
import type { LearningRateChoice } from '../../src/shared/results.ts';
import { sumsBenchmark } from '../evaluate/scripted.ts';

const models = join(import.meta.dirname, '../fixtures/models');
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-scale-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The model with its embedding times `factor`, divided by it behind the lookup. */
function rescaled(name: string, factor: number): string {
  const file = readOnnxFile(join(models, name, 'model.onnx'));
  const { graph } = file;
  const { node, output, table } = findEmbedding(file);
  const scaled = tensorOf(
    'float32',
    table.dims,
    numbersOf(table).map((x) => x * factor),
  );
  node.inputs[0] = graph.constant(scaled, 'scaled_embedding');
  const undone = graph.fresh('undone');
  graph.replaceUses(output, undone);
  graph.add('Div', [output, graph.scalar('float32', factor)], { outputs: [undone] });
  graph.sort();
  const target = mkdtempSync(join(folder, `${name}-`));
  for (const part of ['config.json', 'tokenizer.json', 'tokenizer_config.json'])
    copyFileSync(join(models, name, part), join(target, part));
  writeFileSync(join(target, 'model.onnx'), encodeOnnx(file));
  return target;
}

async function searched(model: string): Promise<LearningRateChoice> {
  const store = mkdtempSync(join(folder, 'store-'));
  const opened = await openLanguageModel(model, { executionProvider: 'cpu', threads: 1 });
  const benchmark = sumsBenchmark();
  const rooms: JobRooms = {
    openModel: async () => opened,
    openBenchmark: async () => ({ ...benchmark, generation: { ...benchmark.generation, maxNewTokens: 1 } }),
    openStore: openRunStore,
    readSoftPromptFile: () => Promise.reject(new Error('not used')),
    versions: { softbench: '0', onnxruntime: '0' },
  };
  try {
    const [summary] = await runJob(
      {
        benchmarkFile: benchmark.file,
        modelFolder: model,
        modes: ['soft-prompt'],
        storeFolder: store,
        group: 'one',
        reuseFinished: false,
        engine: { executionProvider: 'cpu', threads: 1 },
        overrides: { limit: 1, softPrompt: { learningRate: 'auto', steps: 30, validateEvery: 30, vectors: 4 } },
      },
      rooms,
      { signal: new AbortController().signal, progress: () => undefined },
    );
    const choice = (await openRunStore(store).read(summary?.run ?? '')).run.learningRate;
    if (!choice) throw new Error('a tuned run has a learning rate');
    return choice;
  } finally {
    await opened.close();
  }
}

describe('the learning rate follows the scale of the embedding', () => {
  it.each(['llama-optimum', 'gpt2-optimum', 'gptneox-optimum', 'gemma-optimum'])(
    '%s',
    async (name) => {
      const plain = await searched(join(models, name));
      expect(plain.by).toBe('search');
      for (const factor of [0.1, 10]) {
        const scaled = await searched(rescaled(name, factor));
        expect(scaled.value / plain.value).toBeCloseTo(factor, 3);
        expect(scaled.trials.map(({ rate }) => rate / factor)).toEqual(
          plain.trials.map(({ rate }) => expect.closeTo(rate, 6)),
        );
        for (const [at, { loss }] of scaled.trials.entries())
          expect(Math.abs((loss ?? 0) - (plain.trials[at]?.loss ?? 0))).toBeLessThan(2e-3);
      }
    },
    120_000,
  );
});

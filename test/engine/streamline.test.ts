import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inferenceGraph, names } from '../../src/engine/inference-graph.ts';
import { createSession, loadOnnxRuntime, type OrtTensor } from '../../src/engine/runtime.ts';
import { prefixInput } from '../../src/engine/shared-prefix.ts';
import { streamlined } from '../../src/engine/streamline.ts';
import { openModelFiles } from '../../src/model/index.ts';

const fixtures = join(import.meta.dirname, '../fixtures/models');
const folders = readdirSync(fixtures)
  .filter((name) => existsSync(join(fixtures, name, 'model.onnx')))
  .filter((name) => openModelFiles(join(fixtures, name)).signature.cache?.kind === 'separate');
const provider = { asked: 'cpu', running: 'cpu', reason: '', threads: 1 } as const;

/** Sizes, the smallest and unlike ones; past and prefix are places that the mask may leave out. */
const sizes = [
  { batch: 1, sequence: 1, past: 0, prefix: 0, vectors: 0 },
  { batch: 1, sequence: 6, past: 0, prefix: 0, vectors: 2 },
  { batch: 3, sequence: 1, past: 5, prefix: 0, vectors: 0 },
  { batch: 2, sequence: 4, past: 3, prefix: 7, vectors: 0 },
  { batch: 4, sequence: 2, past: 0, prefix: 1, vectors: 0 },
];

describe.each(folders)('%s', (name) => {
  const files = openModelFiles(join(fixtures, name));
  const { signature } = files;
  const plain = inferenceGraph(files.file, signature);
  const short = streamlined(plain, signature, { fused: true });

  it.each(sizes)('gives what the graph gave: $batch × $sequence behind $past and $prefix', async (size) => {
    const { batch, sequence, past, vectors } = size;
    const prefix = plain.sharesPrefix ? size.prefix : 0;
    const { Tensor } = await loadOnnxRuntime();
    let state = 5;
    const random = (): number => {
      state = (state * 48271) % 2147483647;
      return state / 2147483647 - 0.5;
    };
    const floats = (dims: number[]): OrtTensor =>
      new Tensor('float32', Float32Array.from({ length: dims.reduce((a, b) => a * b, 1) }, random), dims);
    const integers = (dims: number[], value: (at: number) => number): OrtTensor =>
      new Tensor(
        'int64',
        BigInt64Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, at) => BigInt(value(at))),
        dims,
      );
    const feeds: Record<string, OrtTensor> = {
      [signature.inputIds.name]: integers([batch, sequence], (at) => (at * 37) % 512),
      [names.rows]: integers([batch, 2], (at) => (at % 2 ? sequence - 1 : at >> 1)),
      [names.targets]: integers([batch, 2], (at) => at >> 1),
    };
    if (signature.positionIds)
      feeds[signature.positionIds.name] = integers([batch, sequence], (at) => prefix + past + (at % sequence));
    if (signature.attentionMask)
      feeds[signature.attentionMask.name] = integers([batch, past + sequence], (at) =>
        at % (past + sequence) === 1 && past > 2 ? 0 : 1,
      );
    if (plain.embedding !== null) feeds[names.softPrompt] = floats([vectors, 64]);
    for (const { past: tensor, heads, headSize } of plain.cache?.tensors ?? []) {
      feeds[tensor] = floats([batch, heads, past, headSize]);
      if (plain.sharesPrefix) feeds[prefixInput(tensor)] = floats([heads, prefix, headSize]);
    }
    const outputs = [names.logits, ...plain.cacheOutputs.map(({ output }) => output)];
    const run = async ({ model, weightFolder }: typeof plain): Promise<Record<string, OrtTensor>> => {
      const session = await createSession(model, { provider, weightFolder });
      try {
        return await session.run(feeds, outputs, { logSeverityLevel: 4 });
      } finally {
        await session.release();
      }
    };
    // Some graphs take several tokens behind a cache in one row only, or not at all: neither form then.
    const expected = await run(plain).catch(() => null);
    if (!expected) return expect(run(short)).rejects.toThrow();
    const found = await run(short);
    for (const output of outputs) {
      expect(found[output]?.dims).toEqual(expected[output]?.dims);
      const values = expected[output]?.data as Float32Array;
      const made = (found[output]?.data ?? []) as Float32Array;
      expect(made).toHaveLength(values.length);
      for (const [at, value] of made.entries()) expect(Math.abs(value - (values[at] ?? Number.NaN))).toBeLessThan(2e-5);
    }
  });
});

describe('what is left of a graph', () => {
  const operators = (name: string, fused: boolean): Map<string, number> => {
    const files = openModelFiles(join(fixtures, name));
    const { model } = streamlined(inferenceGraph(files.file, files.signature), files.signature, { fused });
    const counts = new Map<string, number>();
    for (const { fullOperator } of model.graph.nodes) counts.set(fullOperator, (counts.get(fullOperator) ?? 0) + 1);
    return counts;
  };

  it('sizes are asked for once, rotations are one node each', () => {
    const counts = operators('llama-optimum', true);
    // of ids, cache, prefix, and what the look-up of positions asks for
    expect(counts.get('Shape')).toBeLessThan(10);
    // queries and keys of two layers
    expect(counts.get('com.microsoft.RotaryEmbedding')).toBe(4);
    expect(counts.get('Neg')).toBeUndefined();
    expect(operators('gptneox-optimum', true).get('com.microsoft.RotaryEmbedding')).toBe(4);
  });

  it('a head that is tied to the embedding reads its rows', () => {
    expect(operators('gemma-optimum', true).get('com.microsoft.FusedMatMul')).toBe(1);
  });

  it.each([
    'llama-optimum',
    'gpt2-optimum',
    'gemma-optimum',
    'gptneox-optimum',
    'cohere-optimum',
    'llama-dynamo',
    'gpt2-dynamo',
    'qwen3moe-optimum',
  ])('no softmax of %s is guarded', (name) => {
    expect(operators(name, true).get('IsNaN')).toBeUndefined();
  });

  it('without leave, rotations stay as they are', () => {
    expect(operators('llama-optimum', false).get('com.microsoft.RotaryEmbedding')).toBeUndefined();
  });
});

/**
 * Options of fused attention that no fixture has, set on real graphs: reading in pieces, in batches of unlike rows and
 * behind a beginning gives what reading at once gives, and the gradient (through the plain form) is the slope of the
 * loss (through ONNX Runtime's own kernel).
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Decoder } from '../../src/engine/decoder.ts';
import { OnnxTraining } from '../../src/engine/training.ts';
import { type ModelFiles, openModelFiles } from '../../src/model/index.ts';
import { attribute, type GraphNode } from '../../src/onnx/index.ts';
import type { ProviderReport } from '../../src/shared/results.ts';

const provider: ProviderReport = { asked: 'cpu', running: 'cpu', reason: '', threads: 1 };
const models = join(import.meta.dirname, '../fixtures/models');

const set =
  (operator: string, attributes: Record<string, number | { type: 'float'; value: number }>) =>
  (node: GraphNode): void => {
    if (node.fullOperator !== operator) return;
    for (const [name, value] of Object.entries(attributes)) node.attributes.set(name, attribute(value));
  };
const float = (value: number) => ({ type: 'float' as const, value });
const grouped = 'com.microsoft.GroupQueryAttention';

const variants: [name: string, folder: string, edit: (node: GraphNode) => void][] = [
  ['a window of 4', 'llama-genai-fp32', set(grouped, { local_window_size: 4 })],
  ['soft-capping and a scale', 'llama-genai-fp32', set(grouped, { softcap: float(1.5), scale: float(0.4) })],
  ['interleaved rotation', 'llama-genai-fp32', set(grouped, { rotary_interleaved: 1 })],
  ['a smooth softmax and a window', 'llama-genai-fp32', set(grouped, { smooth_softmax: 1, local_window_size: 6 })],
  ['a scale', 'llama-genai-fp32-mha', set('com.microsoft.MultiHeadAttention', { scale: float(0.5) })],
  ['interleaved rotation', 'llama-genai-fp32-mha', set('com.microsoft.RotaryEmbedding', { interleaved: 1 })],
  ['a scale', 'gpt2-ort-attention', set('com.microsoft.Attention', { scale: float(0.6) })],
  ['soft-capping', 'llama-dynamo-opset23', set('Attention', { softcap: float(1.5) })],
];

function filesOf(folder: string, edit: (node: GraphNode) => void): ModelFiles {
  const files = openModelFiles(join(models, folder));
  for (const node of files.file.graph.nodes) edit(node);
  return files;
}

const ids = [7, 31, 105, 260, 88, 19, 301, 45, 212, 9, 77, 140, 53, 226];

describe.each(variants)('%s in %s', (_, folder, edit) => {
  it('reads in pieces and batches as it reads at once', async () => {
    const settings = { provider, padTokenId: 0, vocabularySize: 512, hiddenSize: 64, contextLength: 128 };
    const decoder = await Decoder.open(filesOf(folder, edit), settings);
    const rows = [ids, ids.slice(0, 9), [...ids.slice(0, 5), 400, 401, 402]];
    const last = rows.map(({ length }, row) => ({ row, position: length - 1 }));
    const expected = await decoder.read(null, 0, rows, last, { logits: true });
    const close = (found: typeof expected): void => {
      for (const [row, { logits }] of expected.entries())
        for (const [token, value] of (logits ?? []).entries())
          expect(Math.abs(value - (found[row]?.logits?.[token] ?? Number.NaN))).toBeLessThan(5e-5);
    };
    // a beginning that all share, the rest in a batch, the last token in a step
    const exact = await decoder.exactFor(64);
    if (!exact) {
      const prefix = await decoder.readPrefix(ids.slice(0, 3), null);
      const cache = decoder.newCache(3, 32, prefix);
      for (const _ of rows) cache.addRow();
      await decoder.read(
        cache,
        0,
        rows.map((row) => row.slice(3, -1)),
        [],
      );
      const step = rows.map((row) => row.slice(-1));
      close(
        await decoder.read(
          cache,
          0,
          step,
          rows.map((_, row) => ({ row, position: 0 })),
          { logits: true },
        ),
      );
    }
    // each row token by token
    const alone: typeof expected = [];
    for (const row of rows) {
      const cache = decoder.newCache(1, 32, null, true);
      cache.addRow();
      for (const [at, token] of row.entries()) {
        const wanted = at === row.length - 1 ? [{ row: 0, position: 0 }] : [];
        alone.push(...(await decoder.read(cache, 0, [[token]], wanted, { logits: true })));
      }
    }
    close(alone);
    await decoder.close();
  });

  it('has the gradient that the loss of the fused graph has', async () => {
    const training = new OnnxTraining(filesOf(folder, edit).file, {
      vectors: 3,
      batchSize: 2,
      provider,
      padTokenId: 0,
    });
    const examples = [
      { prompt: ids.slice(0, 8), answer: ids.slice(8) },
      { prompt: ids.slice(3, 6), answer: [12, 13] },
    ];
    const data = Float32Array.from({ length: 3 * 64 }, (_, at) => Math.sin(at * 1.7) * 0.5);
    const at = (values: Float32Array) => ({ vectors: 3, hiddenSize: 64, data: values });
    const { gradient, loss } = await training.step(examples, at(data));
    expect((await training.loss(examples, at(data))).loss).toBeCloseTo(loss, 5);
    const norm = Math.hypot(...gradient);
    for (let direction = 0; direction < 4; direction++) {
      const signs = data.map((_, k) => (Math.sin((k + 1) * (direction + 1) * 12.9898) < 0 ? -1 : 1));
      const by = async (step: number): Promise<number> =>
        (await training.loss(examples, at(data.map((value, k) => value + step * (signs[k] ?? 0))))).loss;
      const measured = ((await by(2 ** -8)) - (await by(-(2 ** -8)))) / 2 ** -7;
      const analytic = gradient.reduce((sum, value, k) => sum + value * (signs[k] ?? 0), 0);
      expect(Math.abs(measured - analytic) / norm).toBeLessThan(5e-3);
    }
    await training.close();
  });
});

/** Recomputation: the same loss and gradient, less memory; and the order of nodes that it rests on. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as ort from 'onnxruntime-node';
import { describe, expect, it } from 'vitest';
import { memoryNeed, trainingForward, trainingModel, typedTrainingGraph } from '../../src/gradient/index.ts';
import { executionOrder } from '../../src/gradient/schedule.ts';
import { encodeOnnx, type OnnxModel, readOnnxFile } from '../../src/onnx/index.ts';
import { type Recomputation, recomputations } from '../../src/shared/results.ts';
import { numbers } from './run-graph.ts';
import { tinyDecoder } from './tiny-decoder.ts';

const [batch, length, vectors, answers] = [3, 16, 4, 8];
const sizes = { batch, length, vectors, answers };
const models = ['llama-optimum', 'gpt2-optimum', 'gptneox-optimum'];
const file = (name: string): OnnxModel => readOnnxFile(join('test/fixtures/models', name, 'model.onnx'));
const subjects: [string, () => OnnxModel][] = [
  ['a plain decoder', tinyDecoder],
  ...models.map((name): [string, () => OnnxModel] => [name, () => file(name)]),
];

function feeds(hidden: number): Record<string, ort.Tensor> {
  const whole = (values: number[], dims: number[]): ort.Tensor =>
    new ort.Tensor('int64', BigInt64Array.from(values, BigInt), dims);
  const all = Array.from({ length: batch * length }, (_, at) => at);
  // rows of 16, 14 and 12 tokens
  const end = (at: number): number => length - 2 * Math.floor(at / length);
  return {
    input_ids: whole(
      all.map((at) => (at * 7) % 11),
      [batch, length],
    ),
    attention_mask: whole(
      all.map((at) => (at % length < end(at) ? 1 : 0)),
      [batch, length],
    ),
    position_ids: whole(
      all.map((at) => Math.min(at % length, end(at) - 1)),
      [batch, length],
    ),
    soft_prompt: new ort.Tensor('float32', Float32Array.from(numbers(vectors * hidden, 3)), [vectors, hidden]),
    answer_positions: whole(Array.from({ length: answers }, (_, at) => [at % batch, 7 + (at % 4)]).flat(), [
      answers,
      2,
    ]),
    answer_labels: whole(
      Array.from({ length: answers }, (_, at) => (at * 5) % 11),
      [answers],
    ),
    answer_weights: new ort.Tensor('float32', new Float32Array(answers).fill(1 / answers), [answers]),
  };
}

async function computed(model: OnnxModel, options: ort.InferenceSession.SessionOptions): Promise<number[]> {
  const session = await ort.InferenceSession.create(encodeOnnx(model), { logSeverityLevel: 3, ...options });
  const hidden = Number(model.graph.inputs.find(({ name }) => name === 'soft_prompt')?.dims?.[1]);
  const given = feeds(hidden);
  const outputs = await session.run(
    Object.fromEntries(session.inputNames.map((name) => [name, given[name] as ort.Tensor])),
  );
  await session.release();
  return ['loss', 'soft_prompt_gradient'].flatMap((name) => Array.from(outputs[name]?.data as Float32Array, Number));
}

const asItStands = { graphOptimizationLevel: 'disabled' as const };

describe.each(subjects)('recomputation in %s', (name, make) => {
  const forward = trainingForward(make());
  const graphOf = (recompute: Recomputation) => typedTrainingGraph(forward, sizes, { recompute });

  it('gives the same loss and gradient', async () => {
    const expected = await computed(trainingModel(forward, graphOf('none')), asItStands);
    const scale = Math.max(...expected.map(Math.abs));
    for (const how of recomputations.filter((each) => each !== 'none')) {
      const model = trainingModel(forward, graphOf(how));
      for (const options of [asItStands, {}]) {
        const found = await computed(model, options);
        expect(found.length).toBe(expected.length);
        const worst = Math.max(...expected.map((value, at) => Math.abs(value - (found[at] ?? Number.NaN))));
        expect(worst / scale, how).toBeLessThan(1e-6);
      }
    }
  });

  it('takes less memory, the more is made again', () => {
    const [none = 0, attention = 0, blocks = 0] = recomputations.map((how) => memoryNeed(graphOf(how)).peak);
    expect(attention).toBeLessThanOrEqual(none);
    expect(blocks).toBeLessThanOrEqual(attention);
    if (name !== 'a plain decoder') expect(blocks).toBeLessThan(none);
  });

  it('runs in the order that the memory was counted for', async () => {
    for (const how of recomputations) {
      const g = graphOf(how);
      for (const [at, node] of g.graph.nodes.entries()) node.name = `node ${at}`;
      const folder = mkdtempSync(join(tmpdir(), 'softbench-order-'));
      const session = { ...asItStands, enableProfiling: true, profileFilePrefix: join(folder, 'run') };
      await computed(trainingModel(forward, g), session);
      const [trace = ''] = readdirSync(folder);
      const events = JSON.parse(readFileSync(join(folder, trace), 'utf8')) as { cat: string; name: string }[];
      rmSync(folder, { recursive: true });
      const ran = events.flatMap(({ cat, name }) =>
        cat === 'Node' && name.endsWith('_kernel_time') ? [name.slice(0, -'_kernel_time'.length)] : [],
      );
      expect(ran).toEqual(executionOrder(g.graph).map(({ name }) => name));
    }
  });
});

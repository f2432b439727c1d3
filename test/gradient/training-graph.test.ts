import * as ort from 'onnxruntime-node';
import { describe, expect, it } from 'vitest';
import {
  answerLogitsGraph,
  findEmbedding,
  missingGradientRules,
  spliceSoftPrompt,
  trainingForward,
  trainingGraph,
} from '../../src/gradient/index.ts';
import { encodeOnnx, type OnnxModel } from '../../src/onnx/index.ts';
import { HumanError } from '../../src/shared/errors.ts';
import { numbers } from './run-graph.ts';
import { tinyDecoder, tinySizes } from './tiny-decoder.ts';

const open = (model: OnnxModel): Promise<ort.InferenceSession> =>
  ort.InferenceSession.create(encodeOnnx(model), { logSeverityLevel: 3, intraOpNumThreads: 1 });
const int64 = (values: number[], dims: number[]): ort.Tensor =>
  new ort.Tensor('int64', BigInt64Array.from(values, BigInt), dims);
const floats = (tensor: ort.Tensor | undefined): number[] => Array.from((tensor?.data ?? []) as Float32Array, Number);

const { hidden, vocabulary } = tinySizes;
const vectors = 2;
// rows of 6: the soft prompt's place, text, padding on the right
const ids = [0, 0, 3, 7, 5, 1, 0, 0, 9, 2, 0, 0];
const mask = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0];
const positions = [0, 3, 0, 4, 1, 2];
const labels = [5, 1, 2];
const prompt = numbers(vectors * hidden, 77);

const feeds = (values: number[]): Record<string, ort.Tensor> => ({
  input_ids: int64(ids, [2, 6]),
  attention_mask: int64(mask, [2, 6]),
  soft_prompt: new ort.Tensor('float32', Float32Array.from(values), [vectors, hidden]),
  // one more row than there are answers: its weight is 0
  answer_positions: int64([...positions, 0, 0], [4, 2]),
  answer_labels: int64([...labels, 0], [4]),
  answer_weights: new ort.Tensor('float32', Float32Array.from([1 / 3, 1 / 3, 1 / 3, 0]), [4]),
});
const sizes = { batch: 2, length: 6, vectors, answers: 4 };

describe('a training graph from a plain decoder', () => {
  it('gives the gradient that central differences of its loss give', async () => {
    const forward = trainingForward(tinyDecoder());
    const session = await open(trainingGraph(forward, sizes));
    const lossOnly = await open(trainingGraph(forward, sizes, { withGradient: false }));
    const result = await session.run(feeds(prompt));
    const gradient = floats(result.soft_prompt_gradient);
    expect(floats(result.loss)[0]).toBeCloseTo(floats((await lossOnly.run(feeds(prompt))).loss)[0] ?? 0, 5);
    expect(gradient.length).toBe(vectors * hidden);
    const step = 2 ** -6;
    const measured: number[] = [];
    for (const at of prompt.keys()) {
      const loss = async (by: number): Promise<number> => {
        const moved = prompt.map((value, k) => (k === at ? value + by : value));
        return floats((await lossOnly.run(feeds(moved))).loss)[0] ?? Number.NaN;
      };
      measured.push(((await loss(step)) - (await loss(-step))) / (2 * step));
    }
    const largest = Math.max(...measured.map(Math.abs));
    expect(largest).toBeGreaterThan(0.01);
    for (const [at, value] of measured.entries())
      expect(Math.abs((gradient[at] ?? Number.NaN) - value) / largest).toBeLessThan(5e-3);
  });

  it('has the mean cross-entropy of the spliced graph as its loss', async () => {
    const spliced = await open(spliceSoftPrompt(tinyDecoder()));
    const { input_ids, attention_mask, soft_prompt } = feeds(prompt);
    const all = floats((await spliced.run({ input_ids, attention_mask, soft_prompt } as never)).logits);
    const loss = labels.reduce((sum, label, at) => {
      const [row = 0, position = 0] = positions.slice(2 * at, 2 * at + 2);
      const start = (row * 6 + position) * vocabulary;
      const logits = all.slice(start, start + vocabulary);
      return sum + Math.log(logits.reduce((total, z) => total + Math.exp(z), 0)) - (logits[label] ?? Number.NaN);
    }, 0);
    const session = await open(trainingGraph(trainingForward(tinyDecoder()), sizes));
    expect(floats((await session.run(feeds(prompt))).loss)[0]).toBeCloseTo(loss / labels.length, 5);
  });

  it('runs the head, the last norm and the last MLP on answer rows only', () => {
    const forward = answerLogitsGraph(tinyDecoder());
    const order = forward.graph.nodes.map(({ operator }) => operator);
    // what follows the picked rows: output projection, both norms, three MLP products and the head
    const products = order.slice(order.indexOf('GatherND')).filter((operator) => operator === 'MatMul');
    expect(products.length).toBeGreaterThanOrEqual(5);
  });

  it('gives the same logits at chosen places as the whole graph does, at any size', async () => {
    const whole = await open(tinyDecoder());
    const chosen = await open(answerLogitsGraph(tinyDecoder()));
    for (const length of [4, 6]) {
      const input_ids = int64(ids.slice(0, 2 * length), [2, length]);
      const attention_mask = int64(new Array(2 * length).fill(1), [2, length]);
      const all = floats((await whole.run({ input_ids, attention_mask })).logits);
      const places = [1, length - 1, 0, 0, 1, 2];
      const some = await chosen.run({ input_ids, attention_mask, answer_positions: int64(places, [3, 2]) });
      expect(some.logits?.dims).toEqual([3, vocabulary]);
      const expected = [0, 1, 2].flatMap((at) => {
        const start = ((places[2 * at] ?? 0) * length + (places[2 * at + 1] ?? 0)) * vocabulary;
        return all.slice(start, start + vocabulary);
      });
      for (const [at, value] of floats(some.logits).entries()) expect(value).toBeCloseTo(expected[at] ?? Number.NaN, 5);
    }
  });

  it('finds the token embedding', () => {
    expect(findEmbedding(tinyDecoder())).toMatchObject({
      hiddenSize: hidden,
      vocabularySize: vocabulary,
      transposed: false,
    });
  });
});

describe('graphs that cannot be tuned', () => {
  it('names every operator without a gradient rule, with its node', () => {
    const model = tinyDecoder();
    for (const node of model.graph.nodes) if (node.operator === 'Sigmoid') node.operator = 'Selu';
    const missing = missingGradientRules(model);
    expect(missing.map(({ operator }) => operator)).toEqual(['Selu']);
    expect(missing[0]?.node).not.toBe('');
    expect(() => trainingGraph(trainingForward(model), sizes)).toThrow(/Selu/);
  });

  it('says so where nothing looks up token ids', () => {
    const model = tinyDecoder();
    for (const input of model.graph.inputs) if (input.name === 'input_ids') input.name = 'tokens';
    for (const node of model.graph.nodes)
      node.inputs = node.inputs.map((name) => (name === 'input_ids' ? 'tokens' : name));
    expect(() => trainingForward(model)).toThrow(HumanError);
    expect(() => trainingForward(model)).toThrow(/input_ids/);
  });

  it('names an operator that nothing is known about, with its node', () => {
    const model = tinyDecoder();
    for (const node of model.graph.nodes)
      if (node.operator === 'Sigmoid') {
        node.operator = 'Wobble';
        node.domain = 'org.example';
      }
    expect(() => trainingGraph(trainingForward(model), sizes)).toThrow(/org\.example\.Wobble/);
    expect(missingGradientRules(model).map(({ operator }) => operator)).toEqual(['org.example.Wobble']);
  });

  it('says why an operator that is known to be unfit is refused', () => {
    const model = tinyDecoder();
    for (const node of model.graph.nodes)
      if (node.operator === 'Sigmoid') {
        node.operator = 'DecoderMaskedMultiHeadAttention';
        node.domain = 'com.microsoft';
      }
    expect(() => trainingGraph(trainingForward(model), sizes)).toThrow(/one token at a time into a shared cache/);
    expect(missingGradientRules(model)[0]?.advice).toMatch(/one token at a time/);
  });
});

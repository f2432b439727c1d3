import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as ort from 'onnxruntime-node';
import { afterAll, describe, expect, it } from 'vitest';
import {
  decodeOnnx,
  encodeOnnx,
  float16ToNumber,
  Graph,
  modelOf,
  numbersOf,
  numberToFloat16,
  type OnnxModel,
  readOnnxFile,
  tensorBytes,
  tensorOf,
  weightsInPlace,
} from '../../src/onnx/index.ts';
import { decodeModel, encodeModel } from '../../src/onnx/schema.ts';
import { HumanError, sentenceOf } from '../../src/shared/errors.ts';

const models = join(import.meta.dirname, '../fixtures/models');
const llama = join(models, 'llama-optimum/model.onnx');
const folder = mkdtempSync(join(tmpdir(), 'softbench-onnx-'));
afterAll(() => rmSync(folder, { recursive: true }));

const noted = (graph: Graph): OnnxModel =>
  modelOf(graph, 18, { producer: 'test', metadata: new Map([['note', 'kept']]) });

function problem(path: string): HumanError {
  try {
    readOnnxFile(path);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(HumanError);
    return thrown as HumanError;
  }
  throw new Error('this file should not open');
}

function written(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

/** y = x + w, w external. */
function external(location: string, offset: number, length: number | null): Uint8Array {
  const graph = new Graph();
  graph.inputs = [{ name: 'x', dtype: 'float32', dims: [4] }];
  graph.outputs = [{ name: 'y', dtype: 'float32', dims: [4] }];
  graph.initializers.set('w', { dtype: 'float32', dims: [4], external: { location, offset, length } });
  graph.add('Add', ['x', 'w'], { outputs: ['y'] });
  return encodeOnnx(noted(graph));
}

describe('files that exporters wrote', () => {
  it.each(['llama-optimum', 'gpt2-optimum', 'gptneox-optimum'])(
    '%s: read and written, the bytes are the same',
    (name) => {
      const bytes = readFileSync(join(models, name, 'model.onnx'));
      expect(Buffer.from(encodeModel(decodeModel(bytes))).equals(bytes)).toBe(true);
    },
  );

  it('keeps weights where they are, and the small graph gives the same logits', async () => {
    const opened = readOnnxFile(llama);
    const inPlace = weightsInPlace(opened);
    const bytes = encodeOnnx(inPlace);
    expect(bytes.length).toBeLessThan(readFileSync(llama).length / 4);
    for (const [name, tensor] of opened.graph.initializers) {
      const moved = inPlace.graph.initializers.get(name);
      expect(moved && Buffer.from(tensorBytes(moved, inPlace.folder))).toEqual(Buffer.from(tensor.data ?? []));
    }
    const feeds: Record<string, ort.Tensor> = {};
    for (const { name, dims } of opened.graph.inputs) {
      if (name.startsWith('past'))
        feeds[name] = new ort.Tensor('float32', [], [1, Number(dims?.[1]), 0, Number(dims?.[3])]);
      else feeds[name] = new ort.Tensor('int64', BigInt64Array.from([0n, 1n, 2n]), [1, 3]);
    }
    feeds.attention_mask = new ort.Tensor('int64', BigInt64Array.from([1n, 1n, 1n]), [1, 3]);
    const original = await ort.InferenceSession.create(llama, { logSeverityLevel: 3 });
    const small = await ort.InferenceSession.create(bytes, {
      logSeverityLevel: 3,
      extra: { session: { model_external_initializers_file_folder_path: inPlace.folder } },
    });
    const [a, b] = [await original.run(feeds, ['logits']), await small.run(feeds, ['logits'])];
    expect(b.logits?.data).toEqual(a.logits?.data);
  });
});

describe('files that cannot be opened say why', () => {
  it('missing', () => {
    expect(problem(join(folder, 'nowhere.onnx')).kind).toBe('missing');
  });
  it('empty', () => {
    expect(problem(written('empty.onnx', new Uint8Array())).message).toMatch(/empty/);
  });
  it('truncated, at any length', () => {
    const bytes = readFileSync(llama);
    for (const share of [0.001, 0.1, 0.5, 0.9, 0.999]) {
      const path = written('truncated.onnx', bytes.subarray(0, Math.floor(bytes.length * share)));
      const thrown = problem(path);
      expect(sentenceOf(thrown)).toContain(path);
      expect(thrown.details.todo).toBeTruthy();
    }
  });
  it('something else', () => {
    expect(problem(written('text.onnx', Buffer.from('{"not": "onnx"}'))).message).toMatch(
      /truncated or not an ONNX model/,
    );
    expect(problem(written('zeros.onnx', new Uint8Array(1000))).kind).toBe('bad-input');
  });
  it('a Git LFS pointer', () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n';
    expect(problem(written('pointer.onnx', Buffer.from(pointer))).details.todo).toMatch(/git lfs pull/);
  });
  it('no graph', () => {
    expect(problem(written('no-graph.onnx', encodeModel({ irVersion: 8 }))).message).toMatch(/no graph/);
  });
  it('external data that is missing, too short, outside the folder, or said to be too short', () => {
    expect(problem(written('a.onnx', external('absent.bin', 0, 16))).message).toMatch(/absent\.bin.*not there/);
    written('short.bin', new Uint8Array(20));
    expect(problem(written('b.onnx', external('short.bin', 8, 16))).message).toMatch(/too short/);
    expect(problem(written('c.onnx', external('../outside.bin', 0, 16))).message).toMatch(/outside the model's folder/);
    expect(problem(written('d.onnx', external('/etc/passwd', 0, 16))).message).toMatch(/outside the model's folder/);
    expect(problem(written('e.onnx', external('short.bin', 0, 8))).message).toMatch(/needs 16 bytes/);
    expect(() => readOnnxFile(written('f.onnx', external('short.bin', 4, 16)))).not.toThrow();
  });
  it('a tensor whose bytes do not fit its shape', () => {
    const bytes = encodeModel({
      graph: {
        node: [{ opType: 'Identity', input: ['w'], output: ['y'] }],
        output: [{ name: 'y' }],
        initializer: [{ name: 'w', dims: [3], dataType: 1, rawData: new Uint8Array(8) }],
      },
    });
    expect(problem(written('g.onnx', bytes)).message).toMatch(/"w" has 8 bytes/);
  });
});

describe('graphs', () => {
  it('sorts nodes, and names a node of a cycle', () => {
    const graph = new Graph();
    graph.inputs = [{ name: 'x', dtype: 'float32', dims: [1] }];
    graph.outputs = [{ name: 'b', dtype: 'float32', dims: [1] }];
    graph.add('Neg', ['a'], { outputs: ['b'] });
    graph.add('Exp', ['x'], { outputs: ['a'] });
    graph.add('Log', ['x'], { outputs: ['unused'] });
    graph.prune();
    expect(graph.nodes.map(({ operator }) => operator)).toEqual(['Exp', 'Neg']);
    for (const node of graph.nodes) if (node.operator === 'Exp') node.inputs = ['b'];
    expect(() => graph.sort()).toThrow(/cycle through the node "[ab]"/);
  });

  it('keeps attributes of every kind, subgraphs and what they read from outside', () => {
    const branch = new Graph();
    branch.outputs = [{ name: 'inner', dtype: 'float32', dims: [1] }];
    branch.add('Neg', ['outer'], { outputs: ['inner'] });
    const graph = new Graph();
    graph.inputs = [{ name: 'x', dtype: 'float32', dims: ['batch', null, 3] }];
    graph.outputs = [{ name: 'y', dtype: 'float32', dims: null }];
    graph.add('Exp', ['x'], { outputs: ['outer'] });
    graph.add('If', ['condition'], {
      outputs: ['y'],
      attributes: {
        then_branch: branch,
        else_branch: branch.clone(),
        number: 2 ** 63,
        numbers: [-1, 0, 5],
        ratio: { type: 'float', value: 0.5 },
        ratios: { type: 'floats', value: [0.25, -2] },
        text: 'naïve',
        value: tensorOf('int64', [2], [-7, 2 ** 40]),
      },
    });
    graph.initializers.set('condition', tensorOf('bool', [], [1]));
    graph.prune();
    const copy = decodeOnnx(encodeOnnx(noted(graph)));
    expect(copy.metadata.get('note')).toBe('kept');
    expect(copy.graph.inputs).toEqual(graph.inputs);
    const [first, second] = copy.graph.nodes;
    expect(first?.operator).toBe('Exp');
    expect(second?.int('number', 0)).toBe(2 ** 63);
    expect(second?.ints('numbers')).toEqual([-1, 0, 5]);
    expect(second?.float('ratio', 0)).toBe(0.5);
    expect(second?.attributes.get('ratios')).toEqual({ type: 'floats', value: [0.25, -2] });
    expect(second?.string('text', '')).toBe('naïve');
    const value = second?.tensor('value');
    expect(value && numbersOf(value)).toEqual([-7, 2 ** 40]);
    expect(second?.subgraphs().map((each) => each.nodes[0]?.operator)).toEqual(['Neg', 'Neg']);
  });

  it('reads every element type that models use', () => {
    const values = [0, 1, 2, 3];
    for (const dtype of ['float32', 'float64', 'float16', 'int64', 'int32', 'int8', 'uint8'] as const)
      expect(numbersOf(tensorOf(dtype, [4], values))).toEqual(values);
    expect(numbersOf({ dtype: 'int4', dims: [3], data: Uint8Array.from([0xf1, 0x08]) })).toEqual([1, -1, -8]);
    expect(numbersOf({ dtype: 'uint4', dims: [3], data: Uint8Array.from([0xf1, 0x08]) })).toEqual([1, 15, 8]);
    expect(numbersOf({ dtype: 'bfloat16', dims: [1], data: Uint8Array.from([0xc0, 0x3f]) })).toEqual([1.5]);
  });

  it('rounds to float16 as IEEE 754 says', () => {
    const cases: [number, number][] = [
      [0, 0x0000],
      [1, 0x3c00],
      [-2, 0xc000],
      [65504, 0x7bff],
      [65519.9, 0x7bff],
      [65520, 0x7c00],
      [2 ** -24, 0x0001],
      [2 ** -25, 0x0000],
      [1 + 2 ** -11, 0x3c00],
      [1 + 3 * 2 ** -11, 0x3c02],
      [Number.NEGATIVE_INFINITY, 0xfc00],
    ];
    for (const [value, bits] of cases) expect(numberToFloat16(value), String(value)).toBe(bits);
    for (let bits = 0; bits < 0x7c00; bits += 7) expect(numberToFloat16(float16ToNumber(bits))).toBe(bits);
    expect(float16ToNumber(numberToFloat16(Number.NaN))).toBeNaN();
  });
});

/**
 * Forms that exporters and quantisers write and that no fixture has, made of fixtures by exchanging nodes for others of
 * the same meaning: the fixture's PyTorch reference holds for them too.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openLanguageModel, verifyModel } from '../../src/engine/index.ts';
import {
  type Attribute,
  decodeOnnx,
  encodeOnnx,
  Graph,
  GraphNode,
  numbersOf,
  type OnnxModel,
  type Tensor,
  tensorOf,
} from '../../src/onnx/index.ts';

const models = join(import.meta.dirname, '../fixtures/models');
const scratch = mkdtempSync(join(tmpdir(), 'softbench-variants-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** A copy of a fixture's folder with an edited graph. */
function variant(fixture: string, name: string, edit: (model: OnnxModel) => void): string {
  const folder = join(scratch, name);
  cpSync(join(models, fixture), folder, { recursive: true });
  const file = (readdirSync(folder, { recursive: true }) as string[]).find((path) => path.endsWith('.onnx')) ?? '';
  const model = decodeOnnx(readFileSync(join(folder, file)));
  edit(model);
  writeFileSync(join(folder, file), encodeOnnx(model));
  return folder;
}

const verify = (folder: string) => verifyModel(folder, { executionProvider: 'cpu', threads: 2 });

async function holds(folder: string): Promise<void> {
  const report = await verify(folder);
  expect(report.reason).toBeNull();
  expect(report.gradient?.relative_error).toBeLessThan(1e-5);
  expect(report.logits?.max_abs).toBeLessThan(1e-4);
}

/** Exchanges nodes; null keeps one. */
function exchange(graph: Graph, change: (node: GraphNode) => GraphNode[] | null): void {
  graph.nodes = graph.nodes.flatMap((node) => change(node) ?? [node]);
}

const reference = (name: string, kind: number): Attribute => ({ type: 'reference', value: name, kind });

describe('functions of a file', () => {
  it('nested, with attributes given, by default and by overload, in a graph inside a node', async () => {
    const folder = variant('llama-optimum', 'functions', (model) => {
      const domain = 'test.functions';
      const body = (operator: string, inputs: string[], output: string, attributes: [string, Attribute][] = []) =>
        new GraphNode(operator, inputs, [output], new Map(attributes), `${operator} inside`);
      const opsets = new Map([
        ['', 18],
        [domain, 1],
      ]);
      const define = (
        name: string,
        overload: string,
        nodes: GraphNode[],
        inputs: string[],
        defaults: [string, Attribute][] = [],
      ) =>
        model.functions.push({
          domain,
          name,
          overload,
          inputs,
          outputs: ['out'],
          attributes: defaults.length ? [] : ['axis'],
          defaults: new Map(defaults),
          nodes,
          opsets,
        });
      const call = (operator: string, overload: string, inputs: string[], outputs: string[]) =>
        new GraphNode(operator, inputs, outputs, new Map(), '', domain, overload);
      // values inside have names that the graph has too
      define('Product', '', [call('Inner', 'plain', ['input_ids', 'logits'], ['out'])], ['input_ids', 'logits']);
      define('Inner', 'plain', [body('MatMul', ['a', 'b'], 'out')], ['a', 'b']);
      define('Inner', 'sum', [body('Add', ['a', 'b'], 'out')], ['a', 'b']);
      define(
        'Normalise',
        '',
        [body('Softmax', ['x'], 'out', [['axis', reference('axis', 2)]])],
        ['x'],
        [['axis', { type: 'int', value: -1 }]],
      );
      define('Given', '', [body('Softmax', ['x'], 'out', [['axis', reference('axis', 2)]])], ['x']);
      const then = new Graph();
      then.name = 'then';
      then.nodes = [new GraphNode('Sqrt', ['x'], ['root'])];
      then.outputs = [{ name: 'root', dtype: 'float32', dims: null }];
      const otherwise = then.clone();
      otherwise.nodes = [new GraphNode('Identity', ['x'], ['root'])];
      define(
        'Root',
        '',
        [
          new GraphNode(
            'Constant',
            [],
            ['yes'],
            new Map([['value', { type: 'tensor', value: tensorOf('bool', [], [1]) }]]),
          ),
          new GraphNode(
            'If',
            ['yes'],
            ['out'],
            new Map<string, Attribute>([
              ['then_branch', { type: 'graph', value: then }],
              ['else_branch', { type: 'graph', value: otherwise }],
            ]),
          ),
        ],
        ['x'],
      );
      model.irVersion = 10;
      model.opsets.set(domain, 1);
      let softmax = 0;
      exchange(model.graph, (node) => {
        if (node.operator === 'MatMul') return [call('Product', '', node.inputs, node.outputs)];
        if (node.operator === 'Add') return [call('Inner', 'sum', node.inputs, node.outputs)];
        if (node.operator === 'Sqrt') return [call('Root', '', node.inputs, node.outputs)];
        if (node.operator !== 'Softmax') return null;
        if (softmax++ % 2) return [call('Normalise', '', node.inputs, node.outputs)];
        const given = call('Given', '', node.inputs, node.outputs);
        given.attributes.set('axis', { type: 'int', value: -1 });
        return [given];
      });
    });
    await holds(folder);
  }, 60_000);
});

describe('branches', () => {
  /** An If that holds a node in one branch and something wrong in the other. */
  const wrapped = (node: GraphNode, condition: string): GraphNode => {
    const branch = (inner: GraphNode): Attribute => {
      const graph = new Graph();
      graph.name = 'branch';
      graph.nodes = [inner];
      graph.outputs = [{ name: inner.output(), dtype: 'float32', dims: null }];
      return { type: 'graph', value: graph };
    };
    const right = node.clone();
    right.outputs = ['branch_output'];
    const wrong = new GraphNode('Neg', [node.input(0)], ['branch_output']);
    return new GraphNode(
      'If',
      [condition],
      node.outputs,
      new Map([
        ['then_branch', branch(right)],
        ['else_branch', branch(wrong)],
      ]),
      `choice of ${node.name}`,
    );
  };

  it('chosen by sizes: decided where sizes are fixed', async () => {
    const folder = variant('llama-optimum', 'sizes', ({ graph }) => {
      const length = graph.add('Gather', [graph.add('Shape', ['input_ids']), graph.scalar('int64', 1)]);
      const short = graph.add('Less', [length, graph.scalar('int64', 4096)]);
      exchange(graph, (node) => (node.operator === 'Softmax' ? [wrapped(node, short)] : null));
      graph.sort();
    });
    await holds(folder);
  }, 60_000);

  it('chosen by values of the input: refused with node and reason, while evaluation runs', async () => {
    const folder = variant('llama-optimum', 'values', ({ graph }) => {
      const axes = graph.int64s([0, 1]);
      const first = graph.add('ReduceMax', ['input_ids', axes], { attributes: { keepdims: 0 } });
      const known = graph.add('Less', [first, graph.scalar('int64', 100_000)]);
      exchange(graph, (node) => (node.operator === 'Softmax' ? [wrapped(node, known)] : null));
      graph.sort();
    });
    const report = await verify(folder);
    expect(report.logits?.max_abs).toBeLessThan(1e-4);
    expect(report.gradient).toBeNull();
    expect(report.reason).toMatch(/operator If \(node "choice of [^"]*"\).*not known before the model runs/);
  }, 60_000);

  it('a merged decoder whose branch with a cache reads one token at a time', async () => {
    const folder = variant('llama-merged', 'one-token', ({ graph }) => {
      const choice = graph.nodes.find(({ operator }) => operator === 'If');
      const branch = choice?.attributes.get('then_branch');
      if (branch?.type !== 'graph') throw new Error('the fixture has such a branch');
      // as a trace of one token leaves it
      const inner = branch.value;
      inner.nodes.unshift(new GraphNode('Reshape', ['input_ids', 'one_token'], ['ids_of_one_token']));
      inner.initializers.set('one_token', tensorOf('int64', [2], [-1, 1]));
      for (const node of inner.nodes.slice(1))
        node.inputs = node.inputs.map((name) => (name === 'input_ids' ? 'ids_of_one_token' : name));
    });
    await holds(folder);
  }, 60_000);
});

/** Bytes of nibbles, the low one first, as numbers. */
const nibbles = (tensor: Tensor): number[] =>
  numbersOf({ ...tensor, dtype: 'uint8' }).flatMap((byte) => [byte & 15, byte >> 4]);

describe('weights of few bits', () => {
  /** A MatMulNBits of the fixture: entries [N][K] of 0 … 15, zero point 8. */
  const parts = (graph: Graph, node: GraphNode): { entries: number[]; depth: number; width: number; block: number } => {
    const tensor = graph.initializers.get(node.input(1));
    if (!tensor) throw new Error('the weights are initialisers');
    return {
      entries: nibbles(tensor),
      depth: node.int('K', 0),
      width: node.int('N', 0),
      block: node.int('block_size', 0),
    };
  };

  it('8 bits', async () => {
    const folder = variant('llama-tjs-q4', 'eight', ({ graph }) => {
      for (const node of graph.nodes) {
        if (node.operator !== 'MatMulNBits') continue;
        const { entries, depth, width, block } = parts(graph, node);
        // the middle is 128 where there are no zero points
        const bytes = tensorOf(
          'uint8',
          [width, depth / block, block],
          entries.map((entry) => entry + 120),
        );
        node.inputs[1] = graph.constant(bytes);
        node.attributes.set('bits', { type: 'int', value: 8 });
      }
    });
    await holds(folder);
  }, 60_000);

  it('as DequantizeLinear with blocks in front of a MatMul', async () => {
    const folder = variant('llama-tjs-q4', 'blocks', (model) => {
      const { graph } = model;
      model.irVersion = 10;
      model.opsets.set('', 21);
      exchange(graph, (node) => {
        if (node.operator !== 'MatMulNBits') {
          const axes = /^Reduce/.test(node.operator) ? node.ints('axes') : null;
          if (axes) throw new Error('the fixture takes axes as inputs');
          return null;
        }
        const { entries, depth, width, block } = parts(graph, node);
        const turned = Array.from(
          { length: depth * width },
          (_, at) => entries[(at % width) * depth + Math.floor(at / width)] ?? 0,
        );
        const packed = Uint8Array.from(
          { length: turned.length / 2 },
          (_, at) => (turned[2 * at] ?? 0) | ((turned[2 * at + 1] ?? 0) << 4),
        );
        const scales = graph.initializers.get(node.input(2));
        if (!scales) throw new Error('the scales are initialisers');
        const values = numbersOf(scales);
        const blocks = depth / block;
        const weight = graph.constant({ dtype: 'uint4', dims: [depth, width], data: packed });
        const scale = graph.constant(
          tensorOf(
            'float32',
            [blocks, width],
            Array.from(
              { length: blocks * width },
              (_, at) => values[(at % width) * blocks + Math.floor(at / width)] ?? 0,
            ),
          ),
        );
        const zero = graph.constant({
          dtype: 'uint4',
          dims: [blocks, width],
          data: new Uint8Array((blocks * width) / 2).fill(0x88),
        });
        const decoded = graph.fresh('decoded');
        return [
          new GraphNode(
            'DequantizeLinear',
            [weight, scale, zero],
            [decoded],
            new Map<string, Attribute>([
              ['axis', { type: 'int', value: 0 }],
              ['block_size', { type: 'int', value: block }],
            ]),
          ),
          new GraphNode('MatMul', [node.input(0), decoded], node.outputs, new Map(), node.name),
        ];
      });
    });
    // ONNX Runtime joins such nodes to a MatMulNBits, which quantises activations unless it is told not to.
    await holds(folder);
  }, 60_000);
});

describe('dynamically quantised products in one operator', () => {
  it.each(['DynamicQuantizeMatMul', 'MatMulIntegerToFloat'])(
    '%s',
    async (operator) => {
      const folder = variant('llama-tjs-int8', operator, (model) => {
        const { graph } = model;
        model.opsets.set('com.microsoft', 1);
        const producers = graph.producers();
        const consumers = graph.consumers();
        const only = (name: string): GraphNode => {
          const [node, ...others] = consumers.get(name) ?? [];
          if (!node || others.length) throw new Error('one node reads the product');
          return node;
        };
        const gone = new Set<GraphNode>();
        const fused = new Map<GraphNode, GraphNode>();
        for (const node of graph.nodes) {
          if (node.operator !== 'MatMulInteger') continue;
          const quantise = producers.get(node.input(0));
          const cast = only(node.output());
          const scaled = only(cast.output());
          const scales = producers.get(scaled.inputs.find((name) => name !== cast.output()) ?? '');
          const weightScale = scales?.input(1) ?? '';
          if (!quantise || !graph.initializers.has(weightScale)) throw new Error('the fixture multiplies scales first');
          gone.add(node).add(cast);
          const inputs =
            operator === 'DynamicQuantizeMatMul'
              ? [quantise.input(0), node.input(1), weightScale, node.input(3)]
              : [node.input(0), node.input(1), quantise.output(1), weightScale, quantise.output(2), node.input(3)];
          fused.set(scaled, new GraphNode(operator, inputs, scaled.outputs, new Map(), scaled.name, 'com.microsoft'));
        }
        exchange(graph, (node) => (gone.has(node) ? [] : fused.has(node) ? [fused.get(node) ?? node] : null));
        graph.prune();
      });
      const report = await verify(folder);
      expect(report.reason).toBeNull();
      expect(report.gradient?.relative_error).toBeLessThan(1e-5);
      expect(report.as_run?.logits?.max_abs).toBeGreaterThan(1e-2);
    },
    60_000,
  );
});

describe('bfloat16', () => {
  const rounded = (tensor: Tensor): number[] =>
    numbersOf(tensor).map((value) => {
      const bits = new Uint32Array(Float32Array.of(value).buffer);
      const whole = bits[0] ?? 0;
      bits[0] = Math.abs(value) > 3e38 ? whole & 0xffff0000 : (whole + 0x7fff + ((whole >>> 16) & 1)) & 0xffff0000;
      return new Float32Array(bits.buffer)[0] ?? 0;
    });
  const narrow = (tensor: Tensor): Tensor => ({
    dtype: 'bfloat16',
    dims: tensor.dims,
    data: new Uint8Array(
      Uint16Array.from(rounded(tensor), (value) => (new Uint32Array(Float32Array.of(value).buffer)[0] ?? 0) >>> 16)
        .buffer,
    ),
  });
  const edit =
    (change: (tensor: Tensor) => Tensor, code: number) =>
    (model: OnnxModel): void => {
      const { graph } = model;
      for (const [name, tensor] of graph.initializers)
        if (tensor.dtype === 'float32') graph.initializers.set(name, change(tensor));
      for (const node of graph.nodes)
        for (const [name, attribute] of node.attributes)
          if (attribute.type === 'tensor' && attribute.value.dtype === 'float32')
            node.attributes.set(name, { type: 'tensor', value: change(attribute.value) });
          else if (name === 'to' && attribute.type === 'int' && attribute.value === 1)
            node.attributes.set(name, { type: 'int', value: code });
      if (code === 16)
        for (const value of [...graph.inputs, ...graph.outputs])
          if (value.dtype === 'float32') value.dtype = 'bfloat16';
      graph.valueInfo = [];
    };

  it('computes what float32 with the rounded weights computes, in evaluation and tuning', async () => {
    const same = variant(
      'llama-optimum',
      'rounded',
      edit((tensor) => tensorOf('float32', tensor.dims, rounded(tensor)), 1),
    );
    const half = variant('llama-optimum', 'bfloat16', edit(narrow, 16));
    const examples = [{ prompt: [5, 9, 44, 300], answer: [7, 12, 2] }];
    const softPrompt = {
      vectors: 2,
      hiddenSize: 64,
      data: Float32Array.from({ length: 128 }, (_, at) => Math.sin(at)),
    };
    const results = [];
    for (const folder of [same, half]) {
      const model = await openLanguageModel(folder, { executionProvider: 'cpu', threads: 1 });
      const training = await model.openTraining({ vectors: 2, batchSize: 1 });
      const { loss, gradient } = await training.step(examples, softPrompt);
      const sums: number[] = [];
      await model.logLikelihood(
        [{ index: 0, context: [5, 9, 44, 300], continuation: [7, 12, 2] }],
        { batchSize: 1, softPrompt },
        { onResult: ({ sum }) => void sums.push(sum) },
      );
      results.push({ loss, gradient, sum: sums[0] ?? Number.NaN, notes: [...model.notes, ...(training.notes ?? [])] });
      await training.close();
      await model.close();
    }
    const [expected, found] = results;
    expect(found?.loss).toBeCloseTo(expected?.loss ?? Number.NaN, 5);
    expect(found?.sum).toBeCloseTo(-3 * (expected?.loss ?? Number.NaN), 4);
    for (const [at, value] of expected?.gradient.entries() ?? []) expect(found?.gradient[at]).toBeCloseTo(value, 4);
    expect(found?.notes.join(' ')).toMatch(/bfloat16.*widen/);
  }, 60_000);
});

/**
 * Random small graphs of operators that have a gradient rule. Every case of the rule tests can be a node: what is there
 * already is moved to its shape and squeezed into its range, so that a new rule takes part by having cases.
 */
import { type DataType, Graph, type OnnxModel, sizeOf, tensorOf } from '../../src/onnx/index.ts';
import type { Feeds } from './differences.ts';
import { type Case, ruleCases } from './rule-cases/index.ts';
import { modelOf } from './run-graph.ts';

/** A stream of numbers in [0, 1) that the seed determines. */
export function randomNumbers(seed: number): () => number {
  // mulberry32, by Tommy Ettinger, public domain
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Value {
  name: string;
  dims: number[];
}

export interface RandomGraph {
  model: OnnxModel;
  feeds: Feeds;
  /** Operators that were asked for, the connecting ones not counted. */
  operators: string[];
}

/** Element types of outputs that are not float32. */
const otherTypes: Record<string, (DataType | null)[]> = { TopK: [null, 'int64'], Dropout: [null, 'bool'] };

class Builder {
  readonly graph = new Graph();
  readonly feeds: Feeds = {};
  readonly values: Value[] = [];

  constructor(
    private readonly random: () => number,
    readonly opset: number,
  ) {}

  integer(below: number): number {
    return Math.floor(this.random() * below);
  }
  pick<T>(list: readonly T[]): T {
    const item = list[this.integer(list.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }
  chance(share: number): boolean {
    return this.random() < share;
  }

  add(operator: string, inputs: string[], dims: number[], attributes = {}): Value {
    return { name: this.graph.add(operator, inputs, { attributes }), dims };
  }

  constant(dims: number[], values: number[]): Value {
    return { name: this.graph.constant(tensorOf('float32', dims, values)), dims };
  }
  /** A constant of random numbers. */
  numbers(dims: number[]): Value {
    return this.constant(
      dims,
      Array.from({ length: sizeOf(dims) }, () => 0.5 + this.random()),
    );
  }

  input(): void {
    const rank = this.integer(4);
    const dims = Array.from({ length: rank }, () => 1 + this.integer(3));
    const name = `x${this.graph.inputs.length}`;
    this.graph.inputs.push({ name, dtype: 'float32', dims });
    const values = Array.from({ length: sizeOf(dims) }, () => this.random() * 3 - 1.5);
    this.feeds[name] = { dims, values };
    this.values.push({ name, dims });
  }

  /** A value of the wanted shape, made of elements of one that is there. */
  shaped(dims: readonly number[]): Value {
    const exact = this.values.filter((value) => value.dims.join() === dims.join());
    if (exact.length > 0 && this.chance(0.7)) return this.pick(exact);
    const source = this.pick(this.values);
    const [have, want] = [sizeOf(source.dims), sizeOf(dims)];
    const shape = this.graph.int64s(dims);
    if (have === want) return this.add('Reshape', [source.name, shape], [...dims]);
    const flat = this.add('Reshape', [source.name, this.graph.int64s([-1])], [have]);
    const places = Array.from({ length: want }, () => this.integer(2 * have) - have);
    const picked = this.add('Gather', [flat.name, this.graph.int64s(places)], [want]);
    return this.add('Reshape', [picked.name, shape], [...dims]);
  }

  /** The same, smoothly squeezed into a range. */
  squeezed(value: Value, low: number, high: number): Value {
    const { dims } = value;
    const unit = this.add('Sigmoid', [value.name], dims);
    const wide = this.add('Mul', [unit.name, this.graph.scalar('float32', high - low)], dims);
    return this.add('Add', [wide.name, this.graph.scalar('float32', low)], dims);
  }

  /** A node as in one of its operator's cases, on values that are there. */
  node(full: string, { inputs, arguments: given, attributes, outputs = 1 }: Case): void {
    const arrived = inputs.map(({ dims, values }) => {
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const value = this.shaped(dims);
      // Values far outside make powers and exponentials overflow; those of the common range may come as they are.
      const anywhere = low < -1 && high > 1 && high < 1.6;
      return anywhere && this.chance(0.3) ? value : this.squeezed(value, low, high);
    });
    const names = given.map((argument) =>
      argument === null
        ? ''
        : typeof argument === 'number'
          ? (arrived[argument]?.name ?? '')
          : this.graph.constant(argument),
    );
    const dot = full.lastIndexOf('.');
    const made = this.graph.addNode(full.slice(dot + 1), names, {
      domain: dot < 0 ? undefined : full.slice(0, dot),
      attributes,
      outputCount: outputs,
    });
    const floats = made.outputs.filter((_, at) => !otherTypes[full]?.[at]);
    for (const name of floats) {
      // Casts may have made float64 of it. The shape is not known here: all the rest works on a flat view.
      const narrow = full.startsWith('Cast') ? this.graph.add('Cast', [name], { attributes: { to: 1 } }) : name;
      this.unknown(narrow);
    }
  }

  /** Takes up a value whose shape is not known: the first elements of it, over again where it has fewer. */
  unknown(name: string): void {
    const flat = this.graph.add('Reshape', [name, this.graph.int64s([-1])]);
    const count = 1 + this.integer(6);
    const repeated = this.graph.add('Tile', [flat, this.graph.int64s([count])]);
    const places = Array.from({ length: count }, (_, at) => at);
    this.values.push(this.add('Gather', [repeated, this.graph.int64s(places)], [count]));
  }
}

/** Groups of nodes that are merged, or looked at together, on the way to a training graph; valid from opset 11 on. */
const groups: Record<string, (b: Builder) => void> = {
  rootMeanSquareNorm: (b) => {
    const x = b.squeezed(b.shaped([2, 3]), -1.4, 1.3);
    const weight = b.chance(0.5) ? b.squeezed(b.shaped([3]), 0.5, 1.5) : b.numbers([3]);
    const axes = b.opset < 18 ? { axes: [-1] } : {};
    const square = b.chance(0.5)
      ? b.add('Mul', [x.name, x.name], [2, 3])
      : b.add('Pow', [x.name, b.graph.scalar('float32', 2)], [2, 3]);
    const last = b.opset < 18 ? [] : [b.graph.int64s([-1])];
    const mean = b.add('ReduceMean', [square.name, ...last], [2, 1], axes);
    const root = b.add('Sqrt', [b.add('Add', [mean.name, b.graph.scalar('float32', 1e-3)], [2, 1]).name], [2, 1]);
    const normed = b.chance(0.5)
      ? b.add('Div', [x.name, root.name], [2, 3])
      : b.add('Mul', [x.name, b.add('Reciprocal', [root.name], [2, 1]).name], [2, 3]);
    b.values.push(b.add('Mul', [weight.name, normed.name], [2, 3]));
  },
  sigmoidLinearUnit: (b) => {
    const x = b.squeezed(b.shaped([2, 3]), -2, 2);
    b.values.push(b.add('Mul', [x.name, b.add('Sigmoid', [x.name], [2, 3]).name], [2, 3]));
  },
  // a row of the mask is all -∞, as of padding that nothing reads: its NaN must not reach the gradient of the others
  guardedSoftmax: (b) => {
    const scores = b.squeezed(b.shaped([2, 3]), -2, 2);
    const none = Number.NEGATIVE_INFINITY;
    const mask = b.constant([2, 3], [0, none, 0, none, none, none]);
    const softmax = b.add('Softmax', [b.add('Add', [scores.name, mask.name], [2, 3]).name], [2, 3], { axis: 1 });
    const test = b.add('IsNaN', [softmax.name], [2, 3]);
    const guarded = b.add('Where', [test.name, b.graph.scalar('float32', 0), softmax.name], [2, 3]);
    b.values.push(b.add('Gather', [guarded.name, b.graph.scalar('int64', 0)], [3]));
  },
  // as grouped heads are repeated
  repeatedHeads: (b) => {
    const x = b.shaped([1, 2, 3, 2]);
    const shapes = [
      [1, 2, 1, 3, 2],
      [1, 2, 2, 3, 2],
      [1, 4, 3, 2],
    ].map((dims) => ({ dims, at: b.graph.int64s(dims) }));
    b.values.push(
      shapes.reduce((value, { dims, at }, step) => b.add(step === 1 ? 'Expand' : 'Reshape', [value.name, at], dims), x),
    );
  },
};

/** Operators that every opset from 11 on has, to connect with. */
const common = ['Add', 'Mul', 'Sub', 'Tanh', 'Sigmoid', 'MatMul', 'Transpose', 'Concat', 'Exp', 'Neg'];

/** A graph around a case of `lead`, with one to four further operators. */
export function randomGraph(lead: string, seed: number): RandomGraph {
  const random = randomNumbers(seed);
  const leading = ruleCases[lead] ?? [];
  const chosen = leading[Math.floor(random() * leading.length)];
  if (!chosen) throw new Error(`there is no case of ${lead}`);
  const builder = new Builder(random, chosen.opset);
  for (let count = 1 + builder.integer(3); count > 0; count--) builder.input();
  // Operators may differ between opsets: only cases of this very one take part.
  const others = Object.entries(ruleCases).flatMap(([name, cases]) => {
    const same = cases.filter(
      ({ opset }) => opset === chosen.opset || (common.includes(name) && opset === 18 && chosen.opset >= 11),
    );
    return same.length > 0 ? [{ name, cases: same }] : [];
  });
  const operators: string[] = [];
  const place = (name: string, each: Case): void => {
    operators.push(name);
    builder.node(name, each);
  };
  const more = 1 + builder.integer(4);
  const at = builder.integer(more + 1);
  for (let step = 0; step <= more; step++) {
    if (step === at) place(lead, chosen);
    else if (chosen.opset >= 11 && builder.chance(0.25)) builder.pick(Object.values(groups))(builder);
    else if (others.length > 0) {
      const { name, cases } = builder.pick(others);
      place(name, builder.pick(cases));
    }
  }
  // Whatever nothing reads, and sometimes more, so that values have several readers.
  const consumers = builder.graph.consumers();
  const outputs = builder.values.filter(
    ({ name }) => !builder.feeds[name] && (!consumers.has(name) || builder.chance(0.2)),
  );
  builder.graph.outputs = outputs.map(({ name, dims }) => ({ name, dtype: 'float32', dims }));
  // Inputs that nothing came to read have no gradient to compare.
  const read = new Set(builder.graph.nodes.flatMap(({ inputs }) => inputs));
  builder.graph.inputs = builder.graph.inputs.filter(({ name }) => read.has(name));
  const feeds = Object.fromEntries(Object.entries(builder.feeds).filter(([name]) => read.has(name)));
  return { model: modelOf(builder.graph, chosen.opset), feeds, operators };
}

/** A graph as text, one line for each value, so that a person can read it and build it again. */
export function graphText({ graph, opsets }: OnnxModel): string {
  const lines = [`opset ${opsets.get('')}`];
  for (const { name, dims } of graph.inputs) lines.push(`${name}: input [${dims?.join(', ')}]`);
  for (const [name, { dtype, dims, data }] of graph.initializers) {
    const values = data && data.length <= 256 ? ` = ${JSON.stringify(constantsOf(dtype, data))}` : '';
    lines.push(`${name}: ${dtype}[${dims.join(', ')}]${values}`);
  }
  for (const { fullOperator, inputs, outputs, attributes } of graph.nodes) {
    const named = [...attributes].map(([key, { value }]) => `${key}=${JSON.stringify(value)}`).join(' ');
    lines.push(`${outputs.join(', ')} = ${fullOperator}(${inputs.join(', ')})${named ? ` {${named}}` : ''}`);
  }
  lines.push(`outputs: ${graph.outputs.map(({ name }) => name).join(', ')}`);
  return lines.join('\n');
}

function constantsOf(dtype: DataType, data: Uint8Array): number[] {
  const buffer = Uint8Array.from(data).buffer;
  if (dtype === 'int64') return Array.from(new BigInt64Array(buffer), Number);
  if (dtype === 'float32') return Array.from(new Float32Array(buffer));
  return Array.from(data);
}

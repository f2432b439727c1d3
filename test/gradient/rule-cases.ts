/** Small graphs for every gradient rule: shapes that broadcast, axes from both ends, old and new opsets. */
import type { AttributeValues, Tensor } from '../../src/onnx/index.ts';
import { sizeOf, tensorOf } from '../../src/onnx/index.ts';
import { numbers, type SmallGraph } from './run-graph.ts';

type Range = [low: number, high: number];
type Case = Omit<SmallGraph, 'operator' | 'domain'>;

/** Distinct values spread over a range, none of them near a kink at 0 unless the range says so. */
function input(dims: number[], range: Range = [-1.5, 1.5], seed = 1): { dims: number[]; values: number[] } {
  const count = sizeOf(dims);
  const order = numbers(count, seed)
    .map((key, at) => [key, at] as const)
    .sort(([a], [b]) => a - b)
    .map(([, at]) => at);
  const [low, high] = range;
  // evenly spread in random order: ties and points near each other cannot happen
  return { dims, values: order.map((place) => low + ((place + 0.37) / count) * (high - low)) };
}

const unary = (range?: Range, attributes?: AttributeValues, opset = 18): Case[] =>
  [[2, 3], [4], []].map((dims) => ({ opset, inputs: [input(dims, range)], arguments: [0], attributes }));

const broadcasts: [number[], number[]][] = [
  [
    [2, 3],
    [2, 3],
  ],
  [[2, 3], [3]],
  [[3], [2, 3]],
  [
    [2, 1],
    [1, 3],
  ],
  [[2, 3], []],
  [
    [1, 3],
    [4, 2, 1],
  ],
];
const binary = (left?: Range, right?: Range, attributes?: AttributeValues): Case[] =>
  broadcasts.map(([a, b]) => ({
    opset: 18,
    inputs: [input(a, left, 1), input(b, right, 2)],
    arguments: [0, 1],
    attributes,
  }));

const int64 = (...values: number[]): Tensor => tensorOf('int64', [values.length], values);
const float = (dims: number[], ...values: number[]): Tensor => tensorOf('float32', dims, values);
const bool = (dims: number[], ...values: number[]): Tensor => tensorOf('bool', dims, values);

/** Reductions over chosen axes, kept or not; axes as attribute and as input. */
const reduction = (range: Range, axesAsInputSince: number): Case[] =>
  [[1], [-1], [0, 2], [0, 1, 2], null].flatMap((axes) =>
    [0, 1].flatMap((keepdims) =>
      [13, 18].map((opset) => {
        const asInput = opset >= axesAsInputSince;
        return {
          opset,
          inputs: [input([2, 3, 2], range)],
          arguments: asInput && axes ? [0, int64(...axes)] : [0],
          attributes: { keepdims, ...(asInput || !axes ? {} : { axes }) },
        };
      }),
    ),
  );

const one = (
  dims: number[],
  extra: (Tensor | null)[] = [],
  attributes: AttributeValues = {},
  more: Partial<Case> = {},
): Case => ({
  opset: 18,
  inputs: [input(dims)],
  arguments: [0, ...extra],
  attributes,
  ...more,
});

const products = (pairs: [number[], number[]][], attributes: AttributeValues = {}): Case[] =>
  pairs.map(([a, b]) => ({
    opset: 18,
    inputs: [input(a, [-1, 1], 1), input(b, [-1, 1], 2)],
    arguments: [0, 1],
    attributes,
  }));

const floatAttribute = (value: number): AttributeValues[string] => ({ type: 'float', value });

const norm = (withBias: boolean, opset = 18): Case[] =>
  [-1, 1].map((axis) => {
    const dims = axis === -1 ? [2, 3, 4] : [2, 6];
    const width = dims.slice(axis);
    const inputs = [input(dims, [-1, 2], 1), input(width, [0.5, 1.5], 2)];
    if (withBias) inputs.push(input(width, [-0.5, 0.5], 3));
    return { opset, inputs, arguments: inputs.map((_, at) => at), attributes: { axis, epsilon: floatAttribute(1e-5) } };
  });

/** Cosines and sines of some angles. */
const rotaryCaches = (dims: number[]): Tensor[] => {
  const angles = numbers(sizeOf(dims), 5);
  return [float(dims, ...angles.map(Math.cos)), float(dims, ...angles.map(Math.sin))];
};

/** By operator. A rule without a row here fails the test. */
export const ruleCases: Record<string, Case[]> = {
  Identity: unary(),
  Dropout: unary(),
  Cast: [one([2, 3], [], { to: 11 }), one([2], [], { to: 1 })],
  CastLike: [one([2, 3], [tensorOf('float64', [1], [0])], {}, { opset: 19 })],
  Neg: unary(),
  Abs: unary(),
  Exp: unary(),
  Log: unary([0.5, 2]),
  Sqrt: unary([0.5, 2]),
  Reciprocal: unary([0.5, 2]),
  Sigmoid: unary(),
  Tanh: unary(),
  Sin: unary(),
  Cos: unary(),
  Erf: unary(),
  Relu: unary(),
  LeakyRelu: unary([-1.5, 1.5], { alpha: floatAttribute(0.2) }),
  Elu: unary([-1.5, 1.5], { alpha: floatAttribute(0.7) }),
  Softplus: unary(),
  Softsign: unary(),
  HardSigmoid: unary([-6, 6], { alpha: floatAttribute(0.25) }),
  HardSwish: unary([-5, 5]),
  Mish: unary(),
  Gelu: [...unary([-2, 2], {}, 20), ...unary([-2, 2], { approximate: 'tanh' }, 20)],
  'com.microsoft.Gelu': unary([-2, 2]),
  'com.microsoft.FastGelu': [
    ...unary([-2, 2]).slice(0, 2),
    { opset: 18, inputs: [input([2, 3]), input([3], [-1, 1], 2)], arguments: [0, 1] },
  ],
  'com.microsoft.BiasGelu': [{ opset: 18, inputs: [input([2, 3]), input([3], [-1, 1], 2)], arguments: [0, 1] }],
  'com.microsoft.QuickGelu': [
    ...unary([-2, 2]).slice(0, 2),
    ...unary([-2, 2], { alpha: floatAttribute(1) }).slice(0, 2),
  ],
  Swish: unary([-2, 2], { alpha: floatAttribute(1.3) }, 24),
  Clip: [one([2, 3], [float([], -0.6), float([], 0.8)]), one([2, 3], [null, float([], 0.4)]), one([3])],
  Add: binary(),
  Sub: binary(),
  Mul: binary(),
  Div: binary([-1.5, 1.5], [0.7, 2]),
  Pow: [
    ...binary([0.5, 2], [0.5, 2.5]),
    one([2, 3], [float([], 2)]),
    one([2, 3], [float([], 3)]),
    one([2, 3], [tensorOf('int64', [], [3])]),
  ],
  Mod: [{ opset: 18, inputs: [input([2, 3], [1.1, 5])], arguments: [0, float([], 2.35)], attributes: { fmod: 1 } }],
  PRelu: [
    { opset: 18, inputs: [input([2, 3]), input([3], [0.1, 0.5], 2)], arguments: [0, 1] },
    { opset: 18, inputs: [input([2, 3]), input([2, 3], [0.1, 0.5], 2)], arguments: [0, 1] },
  ],
  Sum: [
    ...binary(),
    { opset: 18, inputs: [input([2, 3]), input([3]), input([2, 1])], arguments: [0, 1, 2] },
    { opset: 18, inputs: [input([2, 3])], arguments: [0, 0] },
  ],
  Mean: binary(),
  Min: binary([-1.5, 1.5], [-1.45, 1.55]),
  Max: binary([-1.5, 1.5], [-1.45, 1.55]),
  Where: broadcasts.map(([a, b]) => ({
    opset: 18,
    inputs: [input(a, [-1, 1], 1), input(b, [-1, 1], 2)],
    arguments: [bool([3], 1, 0, 1), 0, 1],
  })),

  Reshape: [one([2, 6], [int64(3, -1)]), one([2, 3, 4], [int64(0, -1)])],
  Flatten: [one([2, 3, 2], [], { axis: 2 }), one([2, 3, 2], [], { axis: -2 })],
  Squeeze: [one([1, 3, 1], [int64(0)]), one([1, 3, 1], [], { axes: [-1] }, { opset: 11 })],
  Unsqueeze: [one([2, 3], [int64(0, -1)]), one([2, 3], [], { axes: [1] }, { opset: 11 })],
  Transpose: [one([2, 3, 4], [], { perm: [2, 0, 1] }), one([2, 3]), one([2, 3, 2, 2], [], { perm: [0, 2, 1, 3] })],
  Expand: [one([3, 1], [int64(2, 3, 4)]), one([1, 2], [int64(3, 1)]), one([], [int64(2, 2)])],
  Tile: [one([2, 3], [int64(2, 3)]), one([2, 1], [int64(1, 4)])],
  Concat: [0, 1, -1].map((axis) => ({
    opset: 18,
    inputs: [input([2, 3], [-1, 1], 1), input([2, 3], [-1, 1], 2)],
    arguments: [0, float([2, 3], 1, 2, 3, 4, 5, 6), 1, 0],
    attributes: { axis },
  })),
  Split: [
    one([2, 5], [int64(2, 3)], { axis: 1 }, { outputs: 2 }),
    one([4, 3], [], { axis: -2 }, { outputs: 2, opset: 13 }),
    one([5, 2], [], { axis: 0, num_outputs: 2 }, { outputs: 2 }),
    one([5, 2], [], { axis: 0, split: [1, 4] }, { outputs: 2, opset: 11 }),
  ],
  Slice: [
    one([4, 5], [int64(1), int64(3), int64(0)]),
    one([4, 5], [int64(-3), int64(2 ** 63), int64(-1)]),
    one([4, 5], [int64(1, 0), int64(4, 5), int64(0, 1), int64(1, 2)]),
    one([5], [int64(-1), int64(-(2 ** 60)), int64(0), int64(-2)]),
    one([2, 4, 3], [int64(0, 1), int64(2, 3)]),
    one([4, 5], [], { starts: [1], ends: [4], axes: [1] }, { opset: 9 }),
  ],
  Pad: [
    one([2, 3], [int64(1, 0, 0, 2)]),
    one([2, 3], [int64(1, 2), null, int64(1)]),
    one([2, 3], [], { pads: [0, 1, 1, 0] }, { opset: 10 }),
  ],
  Gather: [
    one([4, 3], [int64(0, 2, 2, -1)]),
    one([2, 4, 3], [tensorOf('int64', [2, 2], [0, 3, 3, 1])], { axis: 1 }),
    one([2, 3], [tensorOf('int64', [], [1])], { axis: -1 }),
  ],
  GatherElements: [
    one([3, 4], [tensorOf('int64', [3, 2], [0, 1, 3, 3, 2, -1])], { axis: 1 }),
    one([3, 2], [tensorOf('int64', [2, 2], [0, 1, 2, 1])], { axis: 0 }),
  ],
  TopK: [
    one([3, 4], [int64(2)], {}, { outputs: 2 }),
    one([3, 4, 2], [int64(2)], { axis: 1, largest: 0 }, { outputs: 2 }),
    one([4, 2], [int64(3)], { axis: -2, sorted: 0 }, { outputs: 2 }),
    one([3, 4], [], { k: 2, axis: 0 }, { outputs: 2, opset: 9 }),
  ],
  ScatterElements: ['none', 'add'].flatMap((reduction) => [
    {
      opset: 18,
      inputs: [input([3, 4]), input([2, 3], [-1, 1], 2)],
      arguments: [0, tensorOf('int64', [2, 3], [0, 2, 1, 2, 0, -3]), 1],
      attributes: { axis: 0, reduction },
    },
    {
      opset: 18,
      inputs: [input([2, 5]), input([2, 2], [-1, 1], 2)],
      arguments: [0, tensorOf('int64', [2, 2], [4, 1, -1, 0]), 1],
      attributes: { axis: -1, reduction },
    },
  ]),
  GatherND: [
    one([3, 4, 2], [tensorOf('int64', [3, 2], [0, 1, 2, 3, 0, 1])]),
    one([3, 4], [tensorOf('int64', [2, 1], [-1, 0])]),
  ],
  ScatterND: [
    { opset: 18, inputs: [input([4, 2]), input([2, 2])], arguments: [0, tensorOf('int64', [2, 1], [3, 1]), 1] },
    {
      opset: 18,
      inputs: [input([4]), input([3])],
      arguments: [0, tensorOf('int64', [3, 1], [3, 1, 3]), 1],
      attributes: { reduction: 'add' },
    },
  ],
  Trilu: [one([3, 3], [], { upper: 0 }), one([2, 3, 4], [tensorOf('int64', [], [1])])],
  CumSum: [0, 1].flatMap((exclusive) =>
    [0, 1].map((reverse) => one([2, 4], [tensorOf('int64', [], [1])], { exclusive, reverse })),
  ),

  ReduceSum: reduction([-1.5, 1.5], 13),
  ReduceMean: reduction([-1.5, 1.5], 18),
  ReduceSumSquare: reduction([-1.5, 1.5], 18),
  ReduceL1: reduction([0.3, 1.5], 18),
  ReduceL2: reduction([-1.5, 1.5], 18),
  ReduceLogSum: reduction([0.5, 2], 18),
  ReduceLogSumExp: reduction([-1.5, 1.5], 18),
  ReduceProd: reduction([0.7, 1.4], 18),
  ReduceMax: reduction([-1.5, 1.5], 18),
  ReduceMin: reduction([-1.5, 1.5], 18),

  Softmax: [
    one([2, 3]),
    one([2, 3, 2], [], { axis: 1 }),
    one([2, 3, 2], [], { axis: 1 }, { opset: 11 }),
    one([2, 3, 2], [], { axis: 2 }, { opset: 11 }),
  ],
  LogSoftmax: [one([2, 3]), one([2, 3, 2], [], { axis: 0 }), one([2, 3, 2], [], { axis: 1 }, { opset: 11 })],
  LayerNormalization: norm(true),
  SimplifiedLayerNormalization: norm(false),
  RMSNormalization: norm(false, 23),
  'com.microsoft.RotaryEmbedding': [0, 1].flatMap((interleaved) => [
    one([2, 3, 8], [tensorOf('int64', [2, 3], [0, 1, 2, 3, 1, 4]), ...rotaryCaches([6, 2])], { interleaved }),
    one([2, 2, 3, 4], [int64(2), ...rotaryCaches([6, 2])], { interleaved }),
    one([1, 2, 16], [tensorOf('int64', [1, 2], [5, 1]), ...rotaryCaches([6, 2])], {
      interleaved,
      num_heads: 2,
      rotary_embedding_dim: 4,
    }),
  ]),
  RotaryEmbedding: [0, 1].flatMap((interleaved) => [
    one([2, 2, 3, 4], rotaryCaches([2, 3, 2]), { interleaved }, { opset: 23 }),
    one([2, 3, 8], rotaryCaches([2, 3, 2]), { interleaved, num_heads: 2 }, { opset: 23 }),
    one(
      [1, 2, 3, 6],
      [...rotaryCaches([6, 2]), tensorOf('int64', [1, 3], [0, 4, 2])],
      { interleaved, rotary_embedding_dim: 4 },
      { opset: 23 },
    ),
  ]),

  MatMul: products([
    [
      [2, 3],
      [3, 4],
    ],
    [
      [2, 2, 3],
      [3, 4],
    ],
    [
      [2, 2, 3],
      [2, 3, 2],
    ],
    [
      [2, 3],
      [2, 3, 2],
    ],
    [
      [2, 1, 2, 3],
      [2, 3, 2],
    ],
    [[3], [3, 2]],
    [[2, 3], [3]],
    [[3], [3]],
    [[2, 2, 3], [3]],
  ]),
  'com.microsoft.FusedMatMul': [0, 1].flatMap((transA) =>
    [0, 1].flatMap((transB) =>
      products(
        [
          [transA ? [3, 2] : [2, 3], transB ? [4, 3] : [3, 4]],
          [transA ? [2, 3, 2] : [2, 2, 3], transB ? [2, 4, 3] : [2, 3, 4]],
        ],
        { transA, transB, alpha: floatAttribute(0.5) },
      ),
    ),
  ),
  Gemm: [0, 1].flatMap((transA) =>
    [0, 1].flatMap((transB) =>
      [[4], [2, 4], [2, 1]].map((addend) => ({
        opset: 18,
        inputs: [
          input(transA ? [3, 2] : [2, 3], [-1, 1], 1),
          input(transB ? [4, 3] : [3, 4], [-1, 1], 2),
          input(addend, [-1, 1], 3),
        ],
        arguments: [0, 1, 2],
        attributes: { transA, transB, alpha: floatAttribute(0.5), beta: floatAttribute(2) },
      })),
    ),
  ),
};

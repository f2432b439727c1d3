/** Cases of reductions, softmax, normalisations and rotary embeddings. */
import { sizeOf, type Tensor } from '../../../src/onnx/index.ts';
import { numbers } from '../run-graph.ts';
import { type Case, float, floatAttribute, input, int64, ints, one, type Range } from './case.ts';

/** Over chosen axes, kept or not; axes as attribute and as input; none, which means all or no axes; 0-d and rank 5. */
const reduction = (range: Range, axesAsInputSince: number): Case[] => [
  ...[[1], [-1], [0, 2], [-3, 1], [0, 1, 2], null].flatMap((axes) =>
    [0, 1].flatMap((keepdims) =>
      [11, 13, 18].map((opset) => {
        const asInput = opset >= axesAsInputSince;
        return {
          opset,
          inputs: [input([2, 3, 2], range)],
          arguments: asInput && axes ? [0, int64(...axes)] : [0],
          attributes: { keepdims, ...(asInput || !axes ? {} : { axes }) },
        };
      }),
    ),
  ),
  { opset: 18, inputs: [input([2, 3], range)], arguments: [0, ints([0])], attributes: { keepdims: 0 } },
  { opset: 18, inputs: [input([2, 3], range)], arguments: [0, ints([0])], attributes: { noop_with_empty_axes: 1 } },
  { opset: 18, inputs: [input([], range)], arguments: [0] },
  { opset: 18, inputs: [input([1, 3], range)], arguments: [0, int64(0)], attributes: { keepdims: 0 } },
  { opset: 18, inputs: [input([2, 1, 2, 1, 3], range)], arguments: [0, int64(-1, 2, 1)] },
];

/** Two elements tie: each gets half, which is what central differences say too. */
const tied: Case = {
  opset: 18,
  inputs: [{ dims: [2, 3], values: [0.5, -0.5, 0.5, 0.25, 1, 1] }],
  arguments: [0, int64(1)],
};
const tiedBelow: Case = { ...tied, inputs: [{ dims: [2, 3], values: [0.5, -0.5, -0.5, 1, 1, 1.5] }] };

const norm = (withBias: boolean, opset = 18): Case[] =>
  [-1, 1, 2, -2].map((axis) => {
    const dims = axis === 1 ? [2, 6] : axis === 2 ? [1, 2, 2, 3] : axis === -2 ? [2, 2, 3] : [2, 3, 4];
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

const softmax = [
  one([2, 3]),
  one([3]),
  one([2, 3, 2], [], { axis: 0 }),
  one([2, 3, 2], [], { axis: 1 }),
  one([2, 3, 2], [], { axis: -2 }),
  one([2, 1, 1, 2, 3], [], { axis: 4 }),
  one([2, 3, 2], [], { axis: 1 }, { opset: 11 }),
  one([2, 3, 2], [], { axis: 2 }, { opset: 11 }),
  one([2, 3, 2], [], {}, { opset: 11 }),
  one([2, 3, 2], [], { axis: -1 }, { opset: 12 }),
];

export const reductionCases: Record<string, Case[]> = {
  ReduceSum: reduction([-1.5, 1.5], 13),
  ReduceMean: reduction([-1.5, 1.5], 18),
  ReduceSumSquare: reduction([-1.5, 1.5], 18),
  ReduceL1: reduction([0.3, 1.5], 18),
  ReduceL2: reduction([-1.5, 1.5], 18),
  ReduceLogSum: reduction([0.5, 2], 18),
  ReduceLogSumExp: reduction([-1.5, 1.5], 18),
  ReduceProd: reduction([0.7, 1.4], 18),
  ReduceMax: [...reduction([-1.5, 1.5], 18), tied],
  ReduceMin: [...reduction([-1.5, 1.5], 18), tiedBelow],

  Softmax: softmax,
  LogSoftmax: softmax,
  LayerNormalization: norm(true),
  SimplifiedLayerNormalization: norm(false),
  RMSNormalization: norm(false, 23),

  'com.microsoft.RotaryEmbedding': [0, 1].flatMap((interleaved) => [
    one([2, 3, 8], [ints([2, 3], 0, 1, 2, 3, 1, 4), ...rotaryCaches([6, 2])], { interleaved }),
    one([2, 2, 3, 4], [int64(2), ...rotaryCaches([6, 2])], { interleaved }),
    one([1, 2, 16], [ints([1, 2], 5, 1), ...rotaryCaches([6, 2])], {
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
      [...rotaryCaches([6, 2]), ints([1, 3], 0, 4, 2)],
      { interleaved, rotary_embedding_dim: 4 },
      { opset: 23 },
    ),
  ]),
};

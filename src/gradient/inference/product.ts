/** Types of reductions, matrix products and normalisations. */
import type { DataType } from '../../onnx/index.ts';
import { einsumAxes, einsumSizes } from '../einsum.ts';
import { axisOf, broadcast, type ValueType } from '../types.ts';
import { axesOf, cast, type InferenceRow, need } from './row.ts';

const reduction =
  (compute?: (values: number[]) => number): InferenceRow =>
  (input) => {
    const x = need(input, 0);
    const rank = x.dims.length;
    const given = axesOf(input);
    const empty = !given || given.length === 0;
    // What is left is the operator's effect on each element, a square for instance: not the same values.
    if (empty && input.node.int('noop_with_empty_axes', 0)) return [{ dtype: x.dtype, dims: x.dims }];
    const axes = new Set(empty ? x.dims.map((_, axis) => axis) : given.map((axis) => axisOf(axis, rank)));
    const keep = input.node.int('keepdims', 1) === 1;
    const dims = x.dims.flatMap((dim, axis) => (axes.has(axis) ? (keep ? [1] : []) : [dim]));
    const type: ValueType = { dtype: x.dtype, dims };
    if (compute && x.values && axes.size === rank) type.values = [cast(compute([...x.values]), x.dtype)];
    return [type];
  };

/** Where along one axis the extremum is. */
const argument: InferenceRow = (input) => {
  const { dims } = need(input, 0);
  const axis = axisOf(input.node.int('axis', 0), dims.length);
  const keep = input.node.int('keepdims', 1) === 1;
  return [{ dtype: 'int64', dims: dims.flatMap((dim, at) => (at !== axis ? [dim] : keep ? [1] : [])) }];
};

function matMulDims(a: readonly number[], b: readonly number[]): number[] {
  const left = a.length === 1 ? [1, ...a] : a;
  const right = b.length === 1 ? [...b, 1] : b;
  if (left.at(-1) !== right.at(-2)) throw new Error(`[${a.join(', ')}] and [${b.join(', ')}] cannot be multiplied`);
  const dims = [...broadcast(left.slice(0, -2), right.slice(0, -2)), left.at(-2) ?? 1, right.at(-1) ?? 1];
  if (a.length === 1) dims.splice(-2, 1);
  if (b.length === 1) dims.splice(-1, 1);
  return dims;
}

const swapLast = (dims: readonly number[], swap: boolean): number[] =>
  swap ? [...dims.slice(0, -2), dims.at(-1) ?? 1, dims.at(-2) ?? 1] : [...dims];

/** Normalisations over the last axes: outputs besides the first have the reduced axes as 1. */
const normalisation =
  (extraOutputs: number): InferenceRow =>
  (input) => {
    const { dtype, dims } = need(input, 0);
    const axis = axisOf(input.node.int('axis', -1), dims.length);
    const reduced = dims.map((dim, at) => (at < axis ? dim : 1));
    // Whatever the input is: stash_type 1.
    const statistics: DataType = 'float32';
    return [{ dtype, dims }, ...Array.from({ length: extraOutputs }, () => ({ dtype: statistics, dims: reduced }))];
  };

export const productInference: Record<string, InferenceRow> = {
  // reductions
  ReduceSum: reduction((values) => values.reduce((sum, value) => sum + value, 0)),
  ReduceMean: reduction(),
  ReduceProd: reduction((values) => values.reduce((product, value) => product * value, 1)),
  ReduceMax: reduction((values) => Math.max(...values)),
  ReduceMin: reduction((values) => Math.min(...values)),
  ReduceSumSquare: reduction(),
  ReduceL1: reduction(),
  ReduceL2: reduction(),
  ReduceLogSum: reduction(),
  ReduceLogSumExp: reduction(),
  ArgMax: argument,
  ArgMin: argument,

  // linear algebra and normalisation
  MatMul: (input) => [{ dtype: need(input, 0).dtype, dims: matMulDims(need(input, 0).dims, need(input, 1).dims) }],
  'com.microsoft.FusedMatMul': (input) => {
    const { node } = input;
    if (node.int('transBatchA', 0) || node.int('transBatchB', 0)) throw new Error('batch transposes are not supported');
    const a = swapLast(need(input, 0).dims, node.int('transA', 0) === 1);
    const b = swapLast(need(input, 1).dims, node.int('transB', 0) === 1);
    return [{ dtype: need(input, 0).dtype, dims: matMulDims(a, b) }];
  },
  Gemm: (input) => {
    const a = swapLast(need(input, 0).dims, input.node.int('transA', 0) === 1);
    const b = swapLast(need(input, 1).dims, input.node.int('transB', 0) === 1);
    return [{ dtype: need(input, 0).dtype, dims: matMulDims(a, b) }];
  },
  Einsum: (input) => {
    const shapes = input.inputs.map((_, at) => need(input, at).dims);
    const axes = einsumAxes(
      input.node.string('equation', ''),
      shapes.map((dims) => dims.length),
    );
    const sizes = einsumSizes(axes, shapes);
    return [{ dtype: need(input, 0).dtype, dims: axes.output.map((label) => sizes.get(label) ?? 1) }];
  },
  'com.microsoft.FusedGemm': (input) => productInference.Gemm?.(input) ?? [],
  'com.microsoft.FusedMatMulActivation': (input) => productInference['com.microsoft.FusedMatMul']?.(input) ?? [],
  'com.microsoft.GemmFastGelu': (input) => productInference.MatMul?.(input) ?? [],
  LayerNormalization: normalisation(2),
  SimplifiedLayerNormalization: normalisation(1),
  RMSNormalization: normalisation(0),
};

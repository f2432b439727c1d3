/** Gradient rules of reductions, softmax and normalisations. */
import { guardedSoftmax } from '../guards.ts';
import type { TypedGraph } from '../typed-graph.ts';
import { axisOf, sameDims, size } from '../types.ts';
import type { GradientRule, RuleContext } from './rule.ts';

function reducedAxes({ g, node }: RuleContext): number[] | null {
  const rank = g.dims(node.input(0)).length;
  const given = node.input(1) ? g.values(node.input(1)) : node.ints('axes');
  if (!given || given.length === 0)
    return node.int('noop_with_empty_axes', 0) ? null : Array.from({ length: rank }, (_, axis) => axis);
  return given.map((axis) => axisOf(axis, rank));
}

/** Rule of a reduction, from `dx` in terms of x, and of y and dy with the reduced axes kept as 1. */
const reduction =
  (derivative: (g: TypedGraph, x: string, y: string, dy: string, count: number) => string): GradientRule =>
  (context) => {
    const { g, node, dy } = context;
    const x = node.input(0);
    const dims = g.dims(x);
    // No axes: only what the operator does to each element by itself (a square, a logarithm).
    const axes = reducedAxes(context) ?? [];
    const kept = dims.map((dim, axis) => (axes.includes(axis) ? 1 : dim));
    const count = size(axes.map((axis) => dims[axis] ?? 1));
    const gradient = derivative(g, x, g.reshape(node.output(), kept), g.reshape(dy, kept), count);
    return [g.expand(gradient, dims)];
  };

/** The gradient to the elements that gave the extremum; ties share it. */
const extremum = (g: TypedGraph, x: string, y: string, dy: string, axes: readonly number[]): string => {
  const hits = g.cast(g.add('Equal', [x, y]), g.dtype(dy));
  return g.mul(hits, g.add('Div', [dy, g.sum(hits, axes)]));
};
const extremumRule: GradientRule = (context) => {
  const axes = reducedAxes(context) ?? [];
  return reduction((g, x, y, dy) => extremum(g, x, y, dy, axes))(context);
};

/** The softmax whose fully masked rows are 0, where the graph guards them; else itself. */
function guarded({ g, node, made, consumers }: RuleContext): string {
  const values = (value: string) => g.values(value);
  const guard = consumers(node.output()).find((reader) => guardedSoftmax(reader, made, values) === node);
  return (guard ?? node).output();
}

/** Before opset 13 softmax ran over all axes from `axis` on; the last axis is the same in both. */
function softmaxAxes({ g, node }: RuleContext): number[] {
  const rank = g.dims(node.input(0)).length;
  const axis = axisOf(node.int('axis', g.opset < 13 ? 1 : -1), rank);
  return g.opset < 13 ? Array.from({ length: rank - axis }, (_, at) => axis + at) : [axis];
}

/**
 * dx of y = x̂ · w, x̂ = x · r (root-mean-square norm) or (x - mean) · r (layer norm), over the axes from `axis` on:
 * dx = r (g - x̂ · mean(g x̂) [- mean(g]), g = dy · w. Weights are frozen, unless asked for.
 */
function normalisation(
  context: RuleContext,
  centred: boolean,
  mean: string | null,
  inverse: string,
): (string | undefined)[] {
  const { g, node, dy, needs } = context;
  const [x, weight, bias] = [node.input(0), node.input(1), node.input(2)];
  const rank = g.dims(x).length;
  const axis = axisOf(node.int('axis', -1), rank);
  const axes = Array.from({ length: rank - axis }, (_, at) => axis + at);
  const wide = g.cast(x, g.dtype(inverse));
  const upstream = g.cast(dy, g.dtype(inverse));
  const hat = g.mul(mean ? g.sub(wide, mean) : wide, inverse);
  const dx = (): string => {
    const gradient = g.mul(upstream, g.cast(weight, g.dtype(inverse)));
    const along = g.mul(hat, g.reduce('ReduceMean', g.mul(gradient, hat), axes));
    const rest = g.sub(gradient, along);
    return g.cast(g.mul(centred ? g.sub(rest, g.reduce('ReduceMean', gradient, axes)) : rest, inverse), g.dtype(x));
  };
  return [
    needs(0) ? dx() : undefined,
    needs(1) ? g.cast(g.unbroadcast(g.mul(upstream, hat), g.dims(weight)), g.dtype(weight)) : undefined,
    bias && needs(2) ? g.unbroadcast(dy, g.dims(bias)) : undefined,
  ];
}

/**
 * The same for y = x · r · w over the last axis, in fewer passes over memory: dx = r (dy w) - x · r³ · Σ(dy x w) / width,
 * the sum over the axis as a product with w as a column.
 */
function rootMeanSquareGradients(context: RuleContext, inverse: string): (string | undefined)[] {
  const { g, node, dy, needs } = context;
  const [x, weight] = [node.input(0), node.input(1)];
  const width = g.dims(x).at(-1) ?? 1;
  const plain = [x, weight, dy, inverse].every((name) => g.dtype(name) === 'float32');
  if (
    !plain ||
    !sameDims(g.dims(weight), [width]) ||
    axisOf(node.int('axis', -1), g.dims(x).length) !== g.dims(x).length - 1
  )
    return normalisation(context, false, null, inverse);
  const along = g.mul(dy, x);
  const dx = (): string => {
    const sum = g.add('MatMul', [along, g.reshape(weight, [width, 1])]);
    const cube = g.mul(g.mul(inverse, inverse), inverse);
    const share = g.mul(g.scale(sum, 1 / width), cube);
    return g.sub(g.mul(g.mul(dy, weight), inverse), g.mul(x, share));
  };
  return [needs(0) ? dx() : undefined, needs(1) ? g.unbroadcast(g.mul(along, inverse), [width]) : undefined];
}

/** 1 / sqrt(mean(x²) + ε), with the mean taken off first where it is given. */
function inverseDeviation({ g, node }: RuleContext, mean: string | null): string {
  const x = node.input(0);
  const wide = g.dtype(x) === 'float64' ? x : g.cast(x, 'float32');
  const rank = g.dims(x).length;
  const axis = axisOf(node.int('axis', -1), rank);
  const axes = Array.from({ length: rank - axis }, (_, at) => axis + at);
  const centred = mean ? g.sub(wide, mean) : wide;
  const variance = g.reduce('ReduceMean', g.mul(centred, centred), axes);
  const root = g.add('Sqrt', [g.add('Add', [variance, g.scalarLike(variance, node.float('epsilon', 1e-5))])]);
  return g.add('Reciprocal', [root]);
}

/** A statistic that the norm's node can give as its output number `at`, asked for here. */
function statistic({ g, node }: RuleContext, at: number): string {
  const present = node.output(at);
  if (present) return present;
  while (node.outputs.length <= at) node.outputs.push('');
  const name = g.graph.fresh(`softbench_statistic_${node.output()}`);
  node.outputs[at] = name;
  const dims = g.dims(node.input(0));
  const axis = axisOf(node.int('axis', -1), dims.length);
  g.types.set(name, { dtype: 'float32', dims: dims.map((dim, each) => (each < axis ? dim : 1)) });
  return name;
}

/** Mean and inverse deviation of a layer norm. The node's own are float32 whatever its input is. */
function layerStatistics(context: RuleContext): [mean: string, inverse: string] {
  const { g, node } = context;
  const x = node.input(0);
  if (g.dtype(x) !== 'float64') return [statistic(context, 1), statistic(context, 2)];
  const rank = g.dims(x).length;
  const axis = axisOf(node.int('axis', -1), rank);
  const mean = g.reduce(
    'ReduceMean',
    x,
    Array.from({ length: rank - axis }, (_, at) => axis + at),
  );
  return [mean, inverseDeviation(context, mean)];
}

/** Inverse root mean square of a simplified layer norm. */
const rootStatistic = (context: RuleContext): string =>
  context.g.dtype(context.node.input(0)) === 'float64' ? inverseDeviation(context, null) : statistic(context, 1);

export const reductionRules: Record<string, GradientRule> = {
  ReduceSum: reduction((_g, _x, _y, dy) => dy),
  ReduceMean: reduction((g, _x, _y, dy, count) => g.scale(dy, 1 / count)),
  ReduceSumSquare: reduction((g, x, _y, dy) => g.mul(g.scale(x, 2), dy)),
  ReduceL1: reduction((g, x, _y, dy) => g.mul(g.add('Sign', [x]), dy)),
  // Where all is 0 the norm has a kink: 0, as PyTorch has it.
  ReduceL2: reduction((g, x, y, dy) => {
    const zero = g.scalarLike(y, 0);
    return g.mul(x, g.add('Where', [g.add('Equal', [y, zero]), zero, g.add('Div', [dy, y])]));
  }),
  ReduceLogSum: reduction((g, _x, y, dy) => g.add('Div', [dy, g.add('Exp', [y])])),
  ReduceLogSumExp: reduction((g, x, y, dy) => g.mul(g.add('Exp', [g.sub(x, y)]), dy)),
  ReduceProd: reduction((g, x, y, dy) => g.add('Div', [g.mul(dy, y), x])),
  ReduceMax: extremumRule,
  ReduceMin: extremumRule,

  Softmax: (context) => {
    const { g, dy } = context;
    const y = guarded(context);
    // y (dy - Σ dy y): subtraction and product can be written over dy
    return [g.mul(g.sub(dy, g.sum(g.mul(dy, y), softmaxAxes(context))), y)];
  },
  LogSoftmax: (context) => {
    const { g, node, dy } = context;
    return [g.sub(dy, g.mul(g.add('Exp', [node.output()]), g.sum(dy, softmaxAxes(context))))];
  },
  LayerNormalization: (context) => normalisation(context, true, ...layerStatistics(context)),
  SimplifiedLayerNormalization: (context) => rootMeanSquareGradients(context, rootStatistic(context)),
  RMSNormalization: (context) => normalisation(context, false, null, inverseDeviation(context, null)),
};

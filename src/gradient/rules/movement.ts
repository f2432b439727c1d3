/** Gradient rules of operators that move elements about: each puts the gradient back where its element came from. */
import type { GraphNode } from '../../onnx/index.ts';
import { type InferenceInput, sliceRanges, splitSizes } from '../inference/index.ts';
import type { TypedGraph } from '../typed-graph.ts';
import { axisOf, size } from '../types.ts';
import type { GradientRule, RuleContext } from './rule.ts';

const inference = ({ g, node }: RuleContext): InferenceInput => ({
  node,
  inputs: node.inputs.map((input) => (input ? g.typeOf(input) : undefined)),
  opset: g.opset,
});

const backToShape: GradientRule = ({ g, node, dy }) => [g.reshape(dy, g.dims(node.input(0)))];

/** `x` with zeros around it along one axis. */
function padded(g: TypedGraph, x: string, axis: number, before: number, after: number): string {
  const dims = g.dims(x);
  const zeros = (count: number): string[] =>
    count > 0
      ? [
          g.zeros(
            g.dtype(x),
            dims.map((dim, at) => (at === axis ? count : dim)),
          ),
        ]
      : [];
  return g.concat([...zeros(before), x, ...zeros(after)], axis);
}

/**
 * Rows added up by index: [rows, width] → [count, width], as a product with a 0/1 matrix, so that repeated indices add
 * up at every opset and in a fixed order.
 */
function addedByIndex(g: TypedGraph, rows: string, indices: string, count: number): string {
  const number = g.dims(rows)[0] ?? 0;
  const places = g.constant64(
    Array.from({ length: count }, (_, at) => at),
    [count, 1],
  );
  const hits = g.cast(g.add('Equal', [places, g.reshape(indices, [1, number])]), g.dtype(rows));
  return g.add('MatMul', [hits, rows]);
}

/** Negative indices counted from the front. */
function positive(g: TypedGraph, indices: string, dim: number): string {
  const wide = g.cast(indices, 'int64');
  return g.add('Where', [
    g.add('Less', [wide, g.scalar('int64', 0)]),
    g.add('Add', [wide, g.scalar('int64', dim)]),
    wide,
  ]);
}

/**
 * What GatherElements took along an axis, put back: the elements of `dy`, at the places that `indices` says, summed into
 * zeros of shape `dims`.
 */
function addedAlong(g: TypedGraph, dy: string, indices: string, axis: number, dims: readonly number[]): string {
  const out = g.dims(dy);
  const dim = dims[axis] ?? 0;
  // hits[…, j, …, k] = 1 where index j along the axis is k; the sum over j takes the gradient to k
  const index = g.unsqueeze(positive(g, indices, dim), [out.length]);
  const places = g.constant64(
    Array.from({ length: dim }, (_, at) => at),
    [...out.map(() => 1), dim],
  );
  const hits = g.cast(g.add('Equal', [index, places]), g.dtype(dy));
  const spread = g.sum(g.mul(hits, g.unsqueeze(dy, [out.length])), [axis], false);
  // the new last axis goes to where the indexed one was
  const order = dims.map((_, at) => (at < axis ? at : at === axis ? dims.length - 1 : at - 1));
  let gradient = g.transpose(spread, order);
  dims.forEach((full, at) => {
    gradient = padded(g, gradient, at, 0, full - (g.dims(gradient)[at] ?? 0));
  });
  return gradient;
}

/** The second output of a TopK, asked for here where the graph does not use it. */
function chosenPlaces(g: TypedGraph, node: GraphNode): string {
  const present = node.output(1);
  if (present) return present;
  const name = g.graph.fresh(`softbench_places_${node.output()}`);
  node.outputs[1] = name;
  g.types.set(name, { dtype: 'int64', dims: g.dims(node.output()) });
  return name;
}

export const movementRules: Record<string, GradientRule> = {
  Reshape: backToShape,
  Flatten: backToShape,
  Squeeze: backToShape,
  Unsqueeze: backToShape,
  Transpose: ({ g, node, dy }) => {
    const rank = g.dims(node.input(0)).length;
    const order = node.ints('perm') ?? Array.from({ length: rank }, (_, axis) => rank - 1 - axis);
    return [
      g.transpose(
        dy,
        order.map((_, axis) => order.indexOf(axis)),
      ),
    ];
  },
  Expand: ({ g, node, dy }) => [g.unbroadcast(dy, g.dims(node.input(0)))],
  Tile: ({ g, node, dy }) => {
    const dims = g.dims(node.input(0));
    const out = g.dims(node.output());
    // [a·m] → [m, a]: the repeats stand in front of what is repeated
    const split = dims.flatMap((dim, axis) => [(out[axis] ?? dim) / (dim || 1), dim]);
    return [
      g.sum(
        g.reshape(dy, split),
        dims.map((_, axis) => 2 * axis),
        false,
      ),
    ];
  },
  Concat: ({ g, node, dy, needs }) => {
    const axis = axisOf(node.int('axis', 0), g.dims(dy).length);
    let start = 0;
    return node.inputs.map((input, at) => {
      const from = start;
      start += g.dims(input)[axis] ?? 0;
      return needs(at) ? g.slice(dy, axis, from, start) : undefined;
    });
  },
  Split: (context) => {
    const { g, node, dys } = context;
    const x = node.input(0);
    const axis = axisOf(node.int('axis', 0), g.dims(x).length);
    const parts = splitSizes(inference(context)).map(
      (part, at) =>
        dys[at] ??
        g.zeros(
          g.dtype(x),
          g.dims(x).map((dim, each) => (each === axis ? part : dim)),
        ),
    );
    return [g.concat(parts, axis)];
  },
  Slice: (context) => {
    const { g, node, dy } = context;
    const dims = g.dims(node.input(0));
    return [
      sliceRanges(inference(context)).reduce((gradient, { axis, start, step, count }) => {
        const dim = dims[axis] ?? 0;
        if (step === 1) return padded(g, gradient, axis, start, dim - start - count);
        // a stride: the wanted positions get their element, the others 0
        const rank = g.dims(gradient).length;
        const order = [axis, ...Array.from({ length: rank }, (_, at) => at).filter((at) => at !== axis)];
        const front = g.transpose(gradient, order);
        const rest = g.dims(front).slice(1);
        const places = g.int64s(Array.from({ length: count }, (_, at) => start + at * step));
        const spread = addedByIndex(g, g.reshape(front, [count, size(rest)]), places, dim);
        return g.transpose(
          g.reshape(spread, [dim, ...rest]),
          order.map((_, at) => order.indexOf(at)),
        );
      }, dy),
    ];
  },
  Pad: (context) => {
    const { g, node, dy } = context;
    if (node.string('mode', 'constant') !== 'constant')
      throw new Error('only padding with a constant is differentiated');
    const dims = g.dims(node.input(0));
    const pads = node.ints('pads') ?? g.values(node.input(1)) ?? [];
    const axes = node.input(3) ? (g.values(node.input(3)) ?? []) : dims.map((_, axis) => axis);
    return [
      axes.reduce((gradient, given, at) => {
        const axis = axisOf(given, dims.length);
        const [before, after] = [pads[at] ?? 0, pads[at + axes.length] ?? 0];
        // A negative pad cut elements off.
        const start = Math.max(before, 0);
        const inside = g.slice(gradient, axis, start, (g.dims(gradient)[axis] ?? 0) - Math.max(after, 0));
        return padded(g, inside, axis, Math.max(-before, 0), Math.max(-after, 0));
      }, dy),
    ];
  },
  Gather: ({ g, node, dy }) => {
    const dims = g.dims(node.input(0));
    const axis = axisOf(node.int('axis', 0), dims.length);
    const indices = g.dims(node.input(1));
    const count = size(indices);
    // the indices' axes to the front: [indices…, before…, after…]
    const rank = g.dims(dy).length;
    const middle = Array.from({ length: indices.length }, (_, at) => axis + at);
    const others = Array.from({ length: rank }, (_, at) => at).filter((at) => !middle.includes(at));
    const rest = [...dims.slice(0, axis), ...dims.slice(axis + 1)];
    const rows = g.reshape(g.transpose(dy, [...middle, ...others]), [count, size(rest)]);
    const dim = dims[axis] ?? 0;
    const added = addedByIndex(g, rows, g.reshape(positive(g, node.input(1), dim), [count]), dim);
    const order = dims.map((_, at) => (at < axis ? at + 1 : at === axis ? 0 : at));
    return [g.transpose(g.reshape(added, [dim, ...rest]), order)];
  },
  GatherElements: ({ g, node, dy }) => {
    const dims = g.dims(node.input(0));
    return [addedAlong(g, dy, node.input(1), axisOf(node.int('axis', 0), dims.length), dims)];
  },
  TopK: ({ g, node, dy }) => {
    const dims = g.dims(node.input(0));
    return [addedAlong(g, dy, chosenPlaces(g, node), axisOf(node.int('axis', -1), dims.length), dims)];
  },
  GatherND: ({ g, node, dy }) => {
    if (node.int('batch_dims', 0) !== 0) throw new Error('batch_dims is not differentiated');
    const dims = g.dims(node.input(0));
    const indices = g.dims(node.input(1));
    const depth = indices.at(-1) ?? 0;
    const count = size(indices.slice(0, -1));
    const leading = dims.slice(0, depth);
    const rest = dims.slice(depth);
    const steps = leading.map((_, at) => size(leading.slice(at + 1)));
    const wrapped = g.add('Where', [
      g.add('Less', [node.input(1), g.scalar('int64', 0)]),
      g.add('Add', [node.input(1), g.int64s(leading)]),
      node.input(1),
    ]);
    const flat = g.sum(g.mul(wrapped, g.int64s(steps)), [indices.length - 1], false);
    const added = addedByIndex(g, g.reshape(dy, [count, size(rest)]), g.reshape(flat, [count]), size(leading));
    return [g.reshape(added, dims)];
  },
  ScatterElements: ({ g, node, dy, needs }) => {
    const reduction = node.string('reduction', 'none');
    if (reduction !== 'none' && reduction !== 'add') throw new Error(`reduction "${reduction}" is not differentiated`);
    const [indices, updates] = [node.input(1), node.input(2)];
    const axis = node.int('axis', 0);
    const overwritten = (): string =>
      g.add('ScatterElements', [dy, indices, g.zeros(g.dtype(dy), g.dims(updates))], { axis });
    return [
      needs(0) ? (reduction === 'add' ? dy : overwritten()) : undefined,
      undefined,
      needs(2) ? g.add('GatherElements', [dy, indices], { axis }) : undefined,
    ];
  },
  // zeros where an update overwrote the element
  ScatterND: ({ g, node, dy, needs }) => {
    const reduction = node.string('reduction', 'none');
    if (reduction !== 'none' && reduction !== 'add') throw new Error(`reduction "${reduction}" is not differentiated`);
    const updates = node.input(2);
    const zero = needs(0) && reduction === 'none' ? g.zeros(g.dtype(dy), g.dims(updates)) : null;
    return [
      needs(0) ? (zero ? g.add('ScatterND', [dy, node.input(1), zero]) : dy) : undefined,
      undefined,
      needs(2) ? g.add('GatherND', [dy, node.input(1)]) : undefined,
    ];
  },
  Trilu: ({ g, node, dy }) => [
    g.add('Trilu', node.input(1) ? [dy, node.input(1)] : [dy], { upper: node.int('upper', 1) }),
  ],
  CumSum: ({ g, node, dy }) => [
    g.add('CumSum', [dy, node.input(1)], {
      exclusive: node.int('exclusive', 0),
      reverse: 1 - node.int('reverse', 0),
    }),
  ],
};

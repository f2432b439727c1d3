/** Types of what moves elements without computing. */
import {
  axisOf,
  broadcast,
  broadcastPosition,
  eachIndex,
  mostKnownValues,
  size,
  strides,
  type ValueType,
} from '../types.ts';
import { axesOf, gathered, type InferenceInput, type InferenceRow, known, need, reshaped } from './row.ts';

export interface SliceRange {
  axis: number;
  start: number;
  step: number;
  count: number;
}

/** The ranges of a Slice node, clamped as the operator says. */
export function sliceRanges(input: InferenceInput): SliceRange[] {
  const { dims } = need(input, 0);
  const old = input.node.ints('starts');
  const starts = old ?? known(input, 1);
  const ends = old ? (input.node.ints('ends') ?? []) : known(input, 2);
  const axes = (old ? input.node.ints('axes') : input.inputs[3] ? known(input, 3) : null) ?? starts.map((_, at) => at);
  const steps = !old && input.inputs[4] ? known(input, 4) : starts.map(() => 1);
  return starts.map((first, at) => {
    const axis = axisOf(axes[at] ?? at, dims.length);
    const dim = dims[axis] ?? 1;
    const step = steps[at] ?? 1;
    const end = ends[at] ?? dim;
    const clamp = (value: number): number => {
      const positive = value < 0 ? value + dim : value;
      return step > 0 ? Math.min(Math.max(positive, 0), dim) : Math.min(Math.max(positive, -1), dim - 1);
    };
    // a negative end that is still negative after adding the size means "before the first element"
    const start = step > 0 ? clamp(first) : Math.min(Math.max(first < 0 ? first + dim : first, 0), dim - 1);
    return { axis, start, step, count: Math.max(0, Math.ceil((clamp(end) - start) / step)) };
  });
}

/** Sizes of the parts of a Split. */
export function splitSizes(input: InferenceInput): number[] {
  const { dims } = need(input, 0);
  const axis = axisOf(input.node.int('axis', 0), dims.length);
  const given = input.inputs[1] ? known(input, 1) : input.node.ints('split');
  if (given) return [...given];
  const count = input.node.int('num_outputs', input.node.outputs.length);
  const dim = dims[axis] ?? 1;
  const part = Math.ceil(dim / count);
  return Array.from({ length: count }, (_, at) => Math.max(0, Math.min(part, dim - at * part)));
}

const gather: InferenceRow = (input) => {
  const x = need(input, 0);
  const at = need(input, 1);
  const axis = axisOf(input.node.int('axis', 0), x.dims.length);
  const dims = [...x.dims.slice(0, axis), ...at.dims, ...x.dims.slice(axis + 1)];
  if (!at.values || !x.values) return [{ dtype: x.dtype, dims }];
  const steps = strides(x.dims);
  const indexSteps = strides(at.dims);
  return [
    gathered(x, dims, (index) => {
      const middle = index.slice(axis, axis + at.dims.length);
      const raw = at.values?.[middle.reduce((sum, i, k) => sum + i * (indexSteps[k] ?? 0), 0)] ?? 0;
      const source = [...index.slice(0, axis), axisOf(raw, x.dims[axis] ?? 1), ...index.slice(axis + at.dims.length)];
      return source.reduce((sum, i, k) => sum + i * (steps[k] ?? 0), 0);
    }),
  ];
};

export const movementInference: Record<string, InferenceRow> = {
  // movement
  Reshape: (input) => {
    const x = need(input, 0);
    const zeroIsZero = input.node.int('allowzero', 0) === 1;
    const dims = known(input, 1).map((dim, at) => (dim === 0 && !zeroIsZero ? (x.dims[at] ?? 0) : dim));
    const rest = dims.reduce((product, dim) => (dim === -1 ? product : product * dim), 1);
    return [
      reshaped(
        x,
        dims.map((dim) => (dim === -1 ? size(x.dims) / (rest || 1) : dim)),
      ),
    ];
  },
  Flatten: (input) => {
    const x = need(input, 0);
    const axis = axisOf(input.node.int('axis', 1), x.dims.length);
    return [reshaped(x, [size(x.dims.slice(0, axis)), size(x.dims.slice(axis))])];
  },
  Squeeze: (input) => {
    const x = need(input, 0);
    const axes = axesOf(input)?.map((axis) => axisOf(axis, x.dims.length));
    return [
      reshaped(
        x,
        x.dims.filter((dim, axis) => (axes ? !axes.includes(axis) : dim !== 1)),
      ),
    ];
  },
  Unsqueeze: (input) => {
    const x = need(input, 0);
    const axes = axesOf(input) ?? [];
    const rank = x.dims.length + axes.length;
    const added = new Set(axes.map((axis) => axisOf(axis, rank)));
    const rest = [...x.dims];
    return [
      reshaped(
        x,
        Array.from({ length: rank }, (_, axis) => (added.has(axis) ? 1 : (rest.shift() ?? 1))),
      ),
    ];
  },
  Transpose: (input) => {
    const x = need(input, 0);
    const permutation = input.node.ints('perm') ?? x.dims.map((_, axis) => x.dims.length - 1 - axis);
    const steps = strides(x.dims);
    return [
      gathered(
        x,
        permutation.map((axis) => x.dims[axis] ?? 1),
        (index) => permutation.reduce((sum, axis, at) => sum + (index[at] ?? 0) * (steps[axis] ?? 0), 0),
      ),
    ];
  },
  Expand: (input) => {
    const x = need(input, 0);
    const steps = strides(x.dims);
    return [gathered(x, broadcast(x.dims, known(input, 1)), (index) => broadcastPosition(index, x.dims, steps))];
  },
  Tile: (input) => {
    const x = need(input, 0);
    const repeats = known(input, 1);
    const steps = strides(x.dims);
    return [
      gathered(
        x,
        x.dims.map((dim, axis) => dim * (repeats[axis] ?? 1)),
        (index) => index.reduce((sum, i, axis) => sum + (i % (x.dims[axis] ?? 1)) * (steps[axis] ?? 0), 0),
      ),
    ];
  },
  Concat: (input) => {
    const parts = input.inputs.map((_, index) => need(input, index));
    const first = need(input, 0);
    const axis = axisOf(input.node.int('axis', 0), first.dims.length);
    const dims = first.dims.map((dim, at) =>
      at === axis ? parts.reduce((sum, part) => sum + (part.dims[axis] ?? 0), 0) : dim,
    );
    const type: ValueType = { dtype: first.dtype, dims };
    if (parts.every((part) => part.values) && size(dims) <= mostKnownValues) {
      const values: number[] = [];
      const outer = size(dims.slice(0, axis));
      for (let row = 0; row < outer; row++)
        for (const part of parts) {
          const count = size(part.dims.slice(axis));
          values.push(...(part.values ?? []).slice(row * count, (row + 1) * count));
        }
      type.values = values;
    }
    return [type];
  },
  Split: (input) => {
    const x = need(input, 0);
    const axis = axisOf(input.node.int('axis', 0), x.dims.length);
    const steps = strides(x.dims);
    let start = 0;
    return splitSizes(input).map((part) => {
      const from = start;
      start += part;
      return gathered(
        x,
        x.dims.map((dim, at) => (at === axis ? part : dim)),
        (index) => index.reduce((sum, i, at) => sum + (at === axis ? i + from : i) * (steps[at] ?? 0), 0),
      );
    });
  },
  Slice: (input) => {
    const x = need(input, 0);
    const ranges = new Map(sliceRanges(input).map((range) => [range.axis, range]));
    const steps = strides(x.dims);
    return [
      gathered(
        x,
        x.dims.map((dim, axis) => ranges.get(axis)?.count ?? dim),
        (index) =>
          index.reduce((sum, i, axis) => {
            const range = ranges.get(axis);
            return sum + (range ? range.start + i * range.step : i) * (steps[axis] ?? 0);
          }, 0),
      ),
    ];
  },
  Pad: (input) => {
    const x = need(input, 0);
    const rank = x.dims.length;
    const pads = input.node.ints('pads') ?? known(input, 1);
    const axes = input.inputs[3] ? known(input, 3).map((axis) => axisOf(axis, rank)) : x.dims.map((_, axis) => axis);
    const dims = [...x.dims];
    axes.forEach((axis, at) => {
      dims[axis] = (dims[axis] ?? 0) + (pads[at] ?? 0) + (pads[at + axes.length] ?? 0);
    });
    return [{ dtype: x.dtype, dims }];
  },
  Gather: gather,
  GatherElements: (input) => [{ dtype: need(input, 0).dtype, dims: need(input, 1).dims }],
  GatherND: (input) => {
    const x = need(input, 0);
    const at = need(input, 1).dims;
    const batch = input.node.int('batch_dims', 0);
    return [{ dtype: x.dtype, dims: [...at.slice(0, -1), ...x.dims.slice(batch + (at.at(-1) ?? 1))] }];
  },
  TopK: (input) => {
    const x = need(input, 0);
    const axis = axisOf(input.node.int('axis', -1), x.dims.length);
    const count = input.inputs[1] ? (known(input, 1)[0] ?? 0) : input.node.int('k', 0);
    const dims = x.dims.map((dim, at) => (at === axis ? count : dim));
    return [
      { dtype: x.dtype, dims },
      { dtype: 'int64', dims },
    ];
  },
  // The places of what is not 0, one column each: how many there are follows from the values only.
  NonZero: (input) => {
    const { dims } = need(input, 0);
    const values = known(input, 0);
    const places: number[][] = dims.map(() => []);
    eachIndex(dims, (index, position) => {
      if (values[position]) for (const [axis, at] of index.entries()) places[axis]?.push(at);
    });
    return [{ dtype: 'int64', dims: [dims.length, places[0]?.length ?? 0], values: places.flat() }];
  },
};

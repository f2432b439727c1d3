/**
 * Types and shapes of every operator's outputs, given those of its inputs; and their values, where these follow from
 * sizes and small constants (the shape arithmetic that exporters write out). One row per operator.
 */
import { constantValue, type DataType, dataTypes, type GraphNode, isFloat, numbersOf } from '../onnx/index.ts';
import {
  axisOf,
  broadcast,
  broadcastPosition,
  eachIndex,
  mostKnownValues,
  size,
  strides,
  type ValueType,
} from './types.ts';

export interface InferenceInput {
  node: GraphNode;
  /** By position; undefined where an optional input is left out. */
  inputs: (ValueType | undefined)[];
  opset: number;
}
/** Types of the outputs, by position. Throws an Error where the inputs do not fit the operator. */
export type InferenceRow = (input: InferenceInput) => ValueType[];

function need(input: InferenceInput, index: number): ValueType {
  const type = input.inputs[index];
  if (!type) throw new Error(`input ${index} is not known`);
  return type;
}

/** Values of an input that must be known for a shape to follow from it. */
function known(input: InferenceInput, index: number): readonly number[] {
  const { values } = need(input, index);
  if (!values) throw new Error(`the shape depends on the values of "${input.node.input(index)}"`);
  return values;
}

const dtypeOfCode = (code: number): DataType =>
  (Object.entries(dataTypes).find(([, row]) => row.code === code)?.[0] ?? 'float32') as DataType;

function cast(value: number, dtype: DataType): number {
  if (dtype === 'float32') return Math.fround(value);
  if (dtype === 'bool') return value === 0 ? 0 : 1;
  return isFloat(dtype) ? value : Math.trunc(value);
}

const same: InferenceRow = (input) => {
  const { dtype, dims } = need(input, 0);
  return [{ dtype, dims }];
};

const unary =
  (compute?: (value: number) => number, dtype?: DataType): InferenceRow =>
  (input) => {
    const x = need(input, 0);
    const type: ValueType = { dtype: dtype ?? x.dtype, dims: x.dims };
    if (compute && x.values) type.values = x.values.map((value) => cast(compute(value), type.dtype));
    return [type];
  };

const elementwise =
  (compute: ((...values: number[]) => number) | null, dtype?: DataType): InferenceRow =>
  (input) => {
    const types = input.inputs.map((_, index) => need(input, index));
    const dims = broadcast(...types.map((type) => type.dims));
    // the condition of a Where is not of the result's type
    const type: ValueType = { dtype: dtype ?? types.at(-1)?.dtype ?? 'float32', dims };
    if (compute && types.every((each) => each.values) && size(dims) <= mostKnownValues) {
      const steps = types.map((each) => strides(each.dims));
      const values: number[] = [];
      eachIndex(dims, (index) => {
        const operands = types.map((each, at) => each.values?.[broadcastPosition(index, each.dims, steps[at])] ?? 0);
        values.push(cast(compute(...operands), type.dtype));
      });
      type.values = values;
    }
    return [type];
  };

/** Axes of a reduction or a (un)squeeze: an input in newer opsets, an attribute in older ones. */
export function axesOf(input: InferenceInput, at = 1): readonly number[] | null {
  if (input.inputs[at]) return known(input, at);
  return input.node.ints('axes');
}

const reduction =
  (compute?: (values: number[]) => number): InferenceRow =>
  (input) => {
    const x = need(input, 0);
    const rank = x.dims.length;
    const given = axesOf(input);
    const empty = !given || given.length === 0;
    if (empty && input.node.int('noop_with_empty_axes', 0)) return [{ ...x }];
    const axes = new Set(empty ? x.dims.map((_, axis) => axis) : given.map((axis) => axisOf(axis, rank)));
    const keep = input.node.int('keepdims', 1) === 1;
    const dims = x.dims.flatMap((dim, axis) => (axes.has(axis) ? (keep ? [1] : []) : [dim]));
    const type: ValueType = { dtype: x.dtype, dims };
    if (compute && x.values && axes.size === rank) type.values = [cast(compute([...x.values]), x.dtype)];
    return [type];
  };

/** A rearrangement whose output element at an index is input element `source(index)`. */
function gathered(x: ValueType, dims: readonly number[], source: (index: readonly number[]) => number): ValueType {
  const type: ValueType = { dtype: x.dtype, dims };
  const { values } = x;
  if (values && size(dims) <= mostKnownValues) {
    const result: number[] = [];
    eachIndex(dims, (index) => result.push(values[source(index)] ?? 0));
    type.values = result;
  }
  return type;
}

const reshaped = (x: ValueType, dims: readonly number[]): ValueType => {
  if (size(dims) !== size(x.dims)) throw new Error(`[${x.dims.join(', ')}] cannot be reshaped to [${dims.join(', ')}]`);
  return { ...x, dims };
};

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

export function matMulDims(a: readonly number[], b: readonly number[]): number[] {
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
    const statistics: DataType = dtype === 'float64' ? 'float64' : 'float32';
    return [{ dtype, dims }, ...Array.from({ length: extraOutputs }, () => ({ dtype: statistics, dims: reduced }))];
  };

const comparison = (compute: (a: number, b: number) => boolean): InferenceRow =>
  elementwise((a = 0, b = 0) => Number(compute(a, b)), 'bool');

const integerAware =
  (whole: (a: number, b: number) => number, real: (a: number, b: number) => number): InferenceRow =>
  (input) =>
    elementwise(isFloat(need(input, 0).dtype) ? (a = 0, b = 0) => real(a, b) : (a = 0, b = 0) => whole(a, b))(input);

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

/** Operators of the default domain by name; others as `domain.Operator`. */
export const inferenceRows: Record<string, InferenceRow> = {
  // elementwise, one operand
  ...Object.fromEntries(
    [
      'Exp Log Sigmoid Tanh Erf Relu Gelu Softmax LogSoftmax Cos Sin Tan Acos Asin Atan Sinh Cosh Asinh Acosh Atanh',
      'LeakyRelu Elu Selu Celu HardSigmoid HardSwish Mish Softplus Softsign ThresholdedRelu CumSum Trilu Clip PRelu',
      'com.microsoft.QuickGelu com.microsoft.FastGelu com.microsoft.BiasGelu com.microsoft.Gelu LpNormalization',
      'ScatterND ScatterElements Swish',
    ]
      .join(' ')
      .split(' ')
      .map((name) => [name, same]),
  ),
  Identity: unary((value) => value),
  Dropout: (input) => [{ ...need(input, 0) }, { dtype: 'bool', dims: need(input, 0).dims }],
  Neg: unary((value) => -value),
  Abs: unary(Math.abs),
  Sqrt: unary(Math.sqrt),
  Reciprocal: unary((value) => 1 / value),
  Floor: unary(Math.floor),
  Ceil: unary(Math.ceil),
  Round: unary(),
  Sign: unary(Math.sign),
  Not: unary((value) => (value ? 0 : 1), 'bool'),
  IsNaN: unary((value) => Number(Number.isNaN(value)), 'bool'),
  IsInf: unary(undefined, 'bool'),
  Cast: (input) => unary((value) => value, dtypeOfCode(input.node.int('to', 1)))(input),
  CastLike: (input) => unary((value) => value, need(input, 1).dtype)(input),

  // elementwise, several operands
  Add: elementwise((a = 0, b = 0) => a + b),
  Sub: elementwise((a = 0, b = 0) => a - b),
  Mul: elementwise((a = 0, b = 0) => a * b),
  Div: integerAware(
    (a, b) => Math.trunc(a / b),
    (a, b) => a / b,
  ),
  Mod: integerAware(
    (a, b) => a - b * Math.floor(a / b),
    (a, b) => a % b,
  ),
  Pow: (input) => elementwise((a = 0, b = 0) => a ** b, need(input, 0).dtype)(input),
  Sum: elementwise((...values) => values.reduce((sum, value) => sum + value, 0)),
  Mean: elementwise(null),
  Min: elementwise(Math.min),
  Max: elementwise(Math.max),
  And: elementwise((a = 0, b = 0) => Number(a && b), 'bool'),
  Or: elementwise((a = 0, b = 0) => Number(a || b), 'bool'),
  Xor: elementwise((a = 0, b = 0) => Number(a !== b), 'bool'),
  Equal: comparison((a, b) => a === b),
  Less: comparison((a, b) => a < b),
  LessOrEqual: comparison((a, b) => a <= b),
  Greater: comparison((a, b) => a > b),
  GreaterOrEqual: comparison((a, b) => a >= b),
  Where: elementwise((condition = 0, a = 0, b = 0) => (condition ? a : b)),

  // sizes and constants
  Constant: ({ node }) => {
    const tensor = constantValue(node);
    if (!tensor) throw new Error('the constant has no value');
    const few = size(tensor.dims) <= mostKnownValues && tensor.data && tensor.dtype !== 'string';
    return [{ dtype: tensor.dtype, dims: tensor.dims, ...(few ? { values: numbersOf(tensor) } : {}) }];
  },
  Shape: (input) => {
    const { dims } = need(input, 0);
    const clamp = (at: number): number => Math.min(Math.max(axisOf(at, dims.length), 0), dims.length);
    const values = dims.slice(clamp(input.node.int('start', 0)), clamp(input.node.int('end', dims.length)));
    return [{ dtype: 'int64', dims: [values.length], values }];
  },
  Size: (input) => [{ dtype: 'int64', dims: [], values: [size(need(input, 0).dims)] }],
  ConstantOfShape: (input) => {
    const dims = [...known(input, 0)];
    const value = input.node.tensor('value');
    const type: ValueType = { dtype: value?.dtype ?? 'float32', dims };
    const fill = value ? (numbersOf(value)[0] ?? 0) : 0;
    if (size(dims) <= mostKnownValues) type.values = new Array<number>(size(dims)).fill(fill);
    return [type];
  },
  Range: (input) => {
    const start = known(input, 0)[0] ?? 0;
    const limit = known(input, 1)[0] ?? 0;
    const step = known(input, 2)[0] ?? 1;
    const count = Math.max(0, Math.ceil((limit - start) / step));
    const type: ValueType = { dtype: need(input, 0).dtype, dims: [count] };
    if (count <= mostKnownValues) type.values = Array.from({ length: count }, (_, at) => start + at * step);
    return [type];
  },
  OneHot: (input) => {
    const { dims } = need(input, 0);
    const axis = axisOf(input.node.int('axis', -1), dims.length + 1);
    return [
      { dtype: need(input, 2).dtype, dims: [...dims.slice(0, axis), known(input, 1)[0] ?? 0, ...dims.slice(axis)] },
    ];
  },

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
  ArgMax: (input) => [{ dtype: 'int64', dims: reduction()(input)[0]?.dims ?? [] }],

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
  LayerNormalization: normalisation(2),
  SimplifiedLayerNormalization: normalisation(1),
  RMSNormalization: normalisation(0),
};

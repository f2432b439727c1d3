/** Sizes and constants: what shape arithmetic starts from. */
import { constantValue, numbersOf } from '../../onnx/index.ts';
import { axisOf, mostKnownValues, size, type ValueType } from '../types.ts';
import { type InferenceRow, known, need } from './row.ts';

export const sizeInference: Record<string, InferenceRow> = {
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
};

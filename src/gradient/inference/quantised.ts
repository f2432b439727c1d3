/** Types of quantised operators and of what decodes quantised weights. */
import { type DataType, dataTypes } from '../../onnx/index.ts';
import { axisOf } from '../types.ts';
import { type InferenceRow, need } from './row.ts';

const dtypeOfCode = (code: number): DataType | undefined =>
  Object.entries(dataTypes).find(([, row]) => row.code === code)?.[0] as DataType | undefined;

const decoded: InferenceRow = (input) => [
  { dtype: dtypeOfCode(input.node.int('output_dtype', 0)) ?? need(input, 1).dtype, dims: need(input, 0).dims },
];

const encoded: InferenceRow = (input) => [
  {
    dtype: dtypeOfCode(input.node.int('output_dtype', 0)) ?? input.inputs[2]?.dtype ?? 'uint8',
    dims: need(input, 0).dims,
  },
];

export const quantisedInference: Record<string, InferenceRow> = {
  DequantizeLinear: decoded,
  'com.microsoft.DequantizeLinear': decoded,
  QuantizeLinear: encoded,
  'com.microsoft.QuantizeLinear': encoded,
  DynamicQuantizeLinear: (input) => [
    { dtype: 'uint8', dims: need(input, 0).dims },
    { dtype: 'float32', dims: [] },
    { dtype: 'uint8', dims: [] },
  ],
  'com.microsoft.MatMulNBits': (input) => {
    const { dtype, dims } = need(input, 0);
    const [depth, width] = [input.node.int('K', 0), input.node.int('N', 0)];
    if (dims.at(-1) !== depth) throw new Error(`[${dims.join(', ')}] cannot be multiplied by [${depth}, ${width}]`);
    return [{ dtype, dims: [...dims.slice(0, -1), width] }];
  },
  'com.microsoft.GatherBlockQuantized': (input) => {
    const { node } = input;
    const [data, indices, scales] = [need(input, 0), need(input, 1), need(input, 2)];
    // Bytes hold several entries along the last axis.
    const entries = data.dtype === 'uint8' ? 8 / node.int('bits', 4) : 1;
    const dims = data.dims.map((dim, axis) => (axis === data.dims.length - 1 ? dim * entries : dim));
    const axis = axisOf(node.int('gather_axis', 0), dims.length);
    return [{ dtype: scales.dtype, dims: [...dims.slice(0, axis), ...indices.dims, ...dims.slice(axis + 1)] }];
  },
};

/** What a row of the inference table is, and the parts that rows are made of. */
import { type DataType, type GraphNode, isFloat } from '../../onnx/index.ts';
import { broadcast, broadcastPosition, eachIndex, mostKnownValues, size, strides, type ValueType } from '../types.ts';

export interface InferenceInput {
  node: GraphNode;
  /** By position; undefined where an optional input is left out. */
  inputs: (ValueType | undefined)[];
  opset: number;
}
/** Types of the outputs, by position. Throws an Error where the inputs do not fit the operator. */
export type InferenceRow = (input: InferenceInput) => ValueType[];

export function need(input: InferenceInput, index: number): ValueType {
  const type = input.inputs[index];
  if (!type) throw new Error(`input ${index} is not known`);
  return type;
}

/** A shape that is known only once the model has run. */
export class DependsOnData extends Error {}

/** Values of an input that must be known for a shape to follow from it. */
export function known(input: InferenceInput, index: number): readonly number[] {
  const { values } = need(input, index);
  if (!values) throw new DependsOnData(`the shape depends on the values of "${input.node.input(index)}"`);
  return values;
}

export function cast(value: number, dtype: DataType): number {
  if (dtype === 'float32') return Math.fround(value);
  if (dtype === 'bool') return value === 0 ? 0 : 1;
  return isFloat(dtype) ? value : Math.trunc(value);
}

export const same: InferenceRow = (input) => {
  const { dtype, dims } = need(input, 0);
  return [{ dtype, dims }];
};

export const unary =
  (compute?: (value: number) => number, dtype?: DataType): InferenceRow =>
  (input) => {
    const x = need(input, 0);
    const type: ValueType = { dtype: dtype ?? x.dtype, dims: x.dims };
    if (compute && x.values) type.values = x.values.map((value) => cast(compute(value), type.dtype));
    return [type];
  };

export const elementwise =
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

/** A rearrangement whose output element at an index is input element `source(index)`. */
export function gathered(
  x: ValueType,
  dims: readonly number[],
  source: (index: readonly number[]) => number,
): ValueType {
  const type: ValueType = { dtype: x.dtype, dims };
  const { values } = x;
  if (values && size(dims) <= mostKnownValues) {
    const result: number[] = [];
    eachIndex(dims, (index) => result.push(values[source(index)] ?? 0));
    type.values = result;
  }
  return type;
}

export const reshaped = (x: ValueType, dims: readonly number[]): ValueType => {
  if (size(dims) !== size(x.dims)) throw new Error(`[${x.dims.join(', ')}] cannot be reshaped to [${dims.join(', ')}]`);
  return { ...x, dims };
};

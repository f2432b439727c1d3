/** What is known of a value once the sizes of the inputs are fixed, and the arithmetic of shapes. */
import type { DataType } from '../onnx/index.ts';

export interface ValueType {
  dtype: DataType;
  dims: readonly number[];
  /** The values themselves, where they follow from sizes and constants and are few. */
  values?: readonly number[];
}

/** Values of more elements than this are not computed here. */
export const mostKnownValues = 4096;

export const size = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);

export const sameDims = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((dim, index) => dim === b[index]);

/** Counted from the front; negative axes count from the back. */
export const axisOf = (axis: number, rank: number): number => (axis < 0 ? axis + rank : axis);

export function broadcast(...shapes: (readonly number[])[]): number[] {
  const rank = Math.max(0, ...shapes.map((dims) => dims.length));
  return Array.from({ length: rank }, (_, axis) => {
    let result = 1;
    for (const dims of shapes) {
      const dim = dims[axis - (rank - dims.length)] ?? 1;
      if (dim !== 1) {
        if (result !== 1 && result !== dim)
          throw new Error(`shapes ${shapes.map((dims) => `[${dims.join(', ')}]`).join(' and ')} do not broadcast`);
        result = dim;
      }
    }
    return result;
  });
}

/** Steps in memory of a row-major tensor. */
export function strides(dims: readonly number[]): number[] {
  const result = new Array<number>(dims.length).fill(1);
  for (let axis = dims.length - 2; axis >= 0; axis--) result[axis] = (result[axis + 1] ?? 1) * (dims[axis + 1] ?? 1);
  return result;
}

/** Calls back with each index of the shape, in row-major order. */
export function eachIndex(dims: readonly number[], visit: (index: number[], position: number) => void): void {
  const index = new Array<number>(dims.length).fill(0);
  const count = size(dims);
  for (let position = 0; position < count; position++) {
    visit(index, position);
    for (let axis = dims.length - 1; axis >= 0; axis--) {
      index[axis] = (index[axis] ?? 0) + 1;
      if ((index[axis] ?? 0) < (dims[axis] ?? 1)) break;
      index[axis] = 0;
    }
  }
}

/** Position in a tensor of shape `dims` of an index of a shape that it is broadcast to. */
export function broadcastPosition(index: readonly number[], dims: readonly number[], steps = strides(dims)): number {
  let position = 0;
  const shift = index.length - dims.length;
  for (let axis = 0; axis < dims.length; axis++)
    if (dims[axis] !== 1) position += (index[axis + shift] ?? 0) * (steps[axis] ?? 0);
  return position;
}

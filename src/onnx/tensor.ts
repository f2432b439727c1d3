/** Tensors of an ONNX file: element types, reading values, making new ones. Bytes are little-endian, as in the file. */
import { HumanError } from '../shared/errors.ts';

/** Element types: code in the file, bits per element. Names are ONNX Runtime's where it has one. */
export const dataTypes = {
  float32: { code: 1, bits: 32 },
  uint8: { code: 2, bits: 8 },
  int8: { code: 3, bits: 8 },
  uint16: { code: 4, bits: 16 },
  int16: { code: 5, bits: 16 },
  int32: { code: 6, bits: 32 },
  int64: { code: 7, bits: 64 },
  string: { code: 8, bits: 0 },
  bool: { code: 9, bits: 8 },
  float16: { code: 10, bits: 16 },
  float64: { code: 11, bits: 64 },
  uint32: { code: 12, bits: 32 },
  uint64: { code: 13, bits: 64 },
  complex64: { code: 14, bits: 64 },
  complex128: { code: 15, bits: 128 },
  bfloat16: { code: 16, bits: 16 },
  float8e4m3fn: { code: 17, bits: 8 },
  float8e4m3fnuz: { code: 18, bits: 8 },
  float8e5m2: { code: 19, bits: 8 },
  float8e5m2fnuz: { code: 20, bits: 8 },
  uint4: { code: 21, bits: 4 },
  int4: { code: 22, bits: 4 },
  float4e2m1: { code: 23, bits: 4 },
} as const;

export type DataType = keyof typeof dataTypes;

const nameOfCode = new Map<number, DataType>(
  Object.entries(dataTypes).map(([name, { code }]) => [code, name as DataType]),
);

/** The element type of a code in a file. */
export function dataTypeOf(code: number | undefined): DataType {
  const name = code === undefined ? undefined : nameOfCode.get(code);
  if (!name)
    throw new HumanError('unsupported', `The ONNX file uses element type ${code}, which Softbench does not know.`, {
      todo: 'Export the model again with a released version of its exporter.',
    });
  return name;
}

export const isFloat = (dtype: DataType): boolean =>
  dtype === 'float32' || dtype === 'float16' || dtype === 'float64' || dtype === 'bfloat16';

export const sizeOf = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);

export const bytesOf = (dtype: DataType, dims: readonly number[]): number =>
  Math.ceil((sizeOf(dims) * dataTypes[dtype].bits) / 8);

/** Where a tensor's bytes stand in another file, relative to the folder of the graph file. */
export interface ExternalData {
  location: string;
  offset: number;
  /** Bytes; null: to what the shape says. */
  length: number | null;
}

/** A constant of a graph. Its values are `data`, or `external`, or (dtype string) `strings`. */
export interface Tensor {
  dtype: DataType;
  dims: number[];
  /** Little-endian bytes; often a view into the file's buffer, so that `byteOffset` is the place in the file. */
  data?: Uint8Array;
  external?: ExternalData;
  strings?: Uint8Array[];
}

export function float16ToNumber(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const float32 = new Float32Array(1);
const float32Bits = new Uint32Array(float32.buffer);

/** Nearest float16, ties to even. */
export function numberToFloat16(value: number): number {
  float32[0] = value;
  const bits = float32Bits[0] ?? 0;
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude < 0x38800000) {
    // subnormal: count of steps of 2^-24, rounded to even
    const steps = Math.abs(float32[0] ?? 0) * 2 ** 24;
    const floor = Math.floor(steps);
    const rest = steps - floor;
    return sign | (rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor);
  }
  const rounded = magnitude + 0xfff + ((magnitude >>> 13) & 1);
  return sign | ((rounded - 0x38000000) >>> 13);
}

/** Bytes at an 8-byte boundary, so that any typed array can be laid over them. */
function aligned(data: Uint8Array): ArrayBuffer {
  const copy = new Uint8Array(data.byteLength);
  copy.set(data);
  return copy.buffer;
}

/** Values as numbers (64-bit integers beyond 2^53 lose their last bits). Throws where the bytes are in another file. */
export function numbersOf(tensor: Tensor): number[] {
  if (!tensor.data) throw new Error('The values of this tensor are not in memory.');
  const buffer = aligned(tensor.data);
  const count = sizeOf(tensor.dims);
  switch (tensor.dtype) {
    case 'float32':
      return Array.from(new Float32Array(buffer));
    case 'float64':
      return Array.from(new Float64Array(buffer));
    case 'float16':
      return Array.from(new Uint16Array(buffer), float16ToNumber);
    case 'bfloat16':
      return Array.from(new Uint16Array(buffer), (half) => {
        float32Bits[0] = half << 16;
        return float32[0] ?? 0;
      });
    case 'int64':
      return Array.from(new BigInt64Array(buffer), Number);
    case 'uint64':
      return Array.from(new BigUint64Array(buffer), Number);
    case 'int32':
      return Array.from(new Int32Array(buffer));
    case 'uint32':
      return Array.from(new Uint32Array(buffer));
    case 'int16':
      return Array.from(new Int16Array(buffer));
    case 'uint16':
      return Array.from(new Uint16Array(buffer));
    case 'int8':
      return Array.from(new Int8Array(buffer));
    case 'uint8':
    case 'bool':
      return Array.from(new Uint8Array(buffer));
    case 'uint4':
    case 'int4':
      return Array.from({ length: count }, (_, index) => {
        const byte = tensor.data?.[index >> 1] ?? 0;
        const nibble = index & 1 ? byte >> 4 : byte & 15;
        return tensor.dtype === 'int4' && nibble > 7 ? nibble - 16 : nibble;
      });
    default:
      throw new HumanError('unsupported', `Softbench cannot read values of type ${tensor.dtype}.`);
  }
}

const bytesOfArray = (array: ArrayBufferView<ArrayBuffer>): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** A tensor of the given values; a scalar where dims is []. */
export function tensorOf(dtype: DataType, dims: readonly number[], values: ArrayLike<number>): Tensor {
  const numbers = Array.from(values);
  const make = (): Uint8Array => {
    switch (dtype) {
      case 'float32':
        return bytesOfArray(Float32Array.from(numbers));
      case 'float64':
        return bytesOfArray(Float64Array.from(numbers));
      case 'float16':
        return bytesOfArray(Uint16Array.from(numbers, numberToFloat16));
      case 'int64':
        return bytesOfArray(BigInt64Array.from(numbers, toBigInt));
      case 'int32':
        return bytesOfArray(Int32Array.from(numbers));
      case 'uint8':
      case 'bool':
        return bytesOfArray(Uint8Array.from(numbers));
      case 'int8':
        return bytesOfArray(Int8Array.from(numbers));
      default:
        throw new Error(`tensorOf: dtype ${dtype} is not supported`);
    }
  };
  return { dtype, dims: [...dims], data: make() };
}

const maxInt64 = 2n ** 63n - 1n;
const minInt64 = -(2n ** 63n);

/** Saturates, so that "to the end" (the largest int64, 2^63 as a number) stays what it means. */
function toBigInt(value: number): bigint {
  const big = BigInt(Math.trunc(value));
  return big > maxInt64 ? maxInt64 : big < minInt64 ? minInt64 : big;
}

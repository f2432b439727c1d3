/**
 * The safetensors container in memory: eight bytes with the header's length (little-endian), a JSON header, the data.
 * Format: https://github.com/huggingface/safetensors#format. Pure bytes in, bytes out: no file access here.
 */
import { HumanError } from './errors.ts';

/** Element types and their width in bytes. */
const safetensorsTypes = {
  F64: 8,
  F32: 4,
  F16: 2,
  BF16: 2,
  I64: 8,
  I32: 4,
  I16: 2,
  I8: 1,
  U8: 1,
  BOOL: 1,
} as const;
export type SafetensorsType = keyof typeof safetensorsTypes;

export interface SafetensorsEntry {
  dtype: SafetensorsType;
  shape: number[];
  /** Row-major little-endian bytes; a view into the file's bytes, not necessarily aligned. */
  bytes: Uint8Array;
}

export interface SafetensorsFile {
  tensors: Map<string, SafetensorsEntry>;
  metadata: Record<string, string>;
}

/** The format's own limit on the header, against files that ask for gigabytes of JSON. */
const longestHeader = 100_000_000;

const isType = (value: unknown): value is SafetensorsType =>
  typeof value === 'string' && Object.hasOwn(safetensorsTypes, value);

/** Reads a safetensors file. `name` is used in messages. Throws HumanError('bad-input') where the bytes do not hold. */
export function decodeSafetensors(file: Uint8Array, name: string): SafetensorsFile {
  const broken = (what: string): HumanError =>
    new HumanError('bad-input', `This is not a whole safetensors file: ${what}.`, {
      place: { file: name },
      todo: 'Copy or export it again.',
    });
  if (file.byteLength < 8) throw broken(`it has ${file.byteLength} bytes, fewer than its header needs`);
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const headerLength = Number(view.getBigUint64(0, true));
  if (headerLength > longestHeader || 8 + headerLength > file.byteLength)
    throw broken(`its header says ${headerLength} bytes, the file has ${file.byteLength}`);
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(file.subarray(8, 8 + headerLength)));
  } catch {
    throw broken('its header is not JSON');
  }
  if (typeof header !== 'object' || header === null) throw broken('its header is not a JSON object');
  const data = file.subarray(8 + headerLength);
  const tensors = new Map<string, SafetensorsEntry>();
  let metadata: Record<string, string> = {};
  for (const [key, value] of Object.entries(header as Record<string, unknown>)) {
    if (key === '__metadata__') {
      metadata = value as Record<string, string>;
      continue;
    }
    const { dtype, shape, data_offsets: offsets } = value as { dtype: unknown; shape: unknown; data_offsets: unknown };
    if (!isType(dtype)) throw broken(`tensor "${key}" has the unknown type ${JSON.stringify(dtype)}`);
    if (!Array.isArray(shape) || !shape.every((size) => Number.isSafeInteger(size) && size >= 0))
      throw broken(`tensor "${key}" has no valid shape`);
    if (!Array.isArray(offsets) || offsets.length !== 2) throw broken(`tensor "${key}" has no data offsets`);
    const [start, end] = offsets as [number, number];
    const bytes = shape.reduce((product: number, size: number) => product * size, safetensorsTypes[dtype]);
    if (!(start >= 0 && end - start === bytes && end <= data.byteLength))
      throw broken(`the data of tensor "${key}" lies outside the file`);
    tensors.set(key, { dtype, shape: shape as number[], bytes: data.subarray(start, end) });
  }
  return { tensors, metadata };
}

/** Writes a safetensors file; tensors stand in the order given, wide types should come first to stay aligned. */
export function encodeSafetensors(
  tensors: Iterable<[string, SafetensorsEntry]>,
  metadata: Record<string, string> = {},
): Uint8Array {
  const header: Record<string, unknown> = {};
  if (Object.keys(metadata).length) header.__metadata__ = metadata;
  const entries = [...tensors];
  let offset = 0;
  for (const [name, { dtype, shape, bytes }] of entries) {
    header[name] = { dtype, shape, data_offsets: [offset, offset + bytes.byteLength] };
    offset += bytes.byteLength;
  }
  let text = new TextEncoder().encode(JSON.stringify(header));
  // Spaces after the header keep the data aligned to eight bytes, as the reference writer does.
  const padding = (8 - (text.byteLength % 8)) % 8;
  if (padding) {
    const padded = new Uint8Array(text.byteLength + padding).fill(0x20);
    padded.set(text);
    text = padded;
  }
  const file = new Uint8Array(8 + text.byteLength + offset);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.byteLength), true);
  file.set(text, 8);
  let at = 8 + text.byteLength;
  for (const [, { bytes }] of entries) {
    file.set(bytes, at);
    at += bytes.byteLength;
  }
  return file;
}

/** A float32 tensor as an entry (little-endian, which is what every platform of Node and of browsers has). */
export function float32Entry(data: Float32Array, shape: number[]): SafetensorsEntry {
  return { dtype: 'F32', shape, bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) };
}

/** IEEE half precision (bits) as a number. */
function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const floatReaders: Partial<Record<SafetensorsType, (view: DataView, at: number) => number>> = {
  F64: (view, at) => view.getFloat64(at, true),
  F32: (view, at) => view.getFloat32(at, true),
  F16: (view, at) => halfToNumber(view.getUint16(at, true)),
  BF16: (view, at) => {
    const wide = new DataView(new ArrayBuffer(4));
    wide.setUint16(2, view.getUint16(at, true), true);
    return wide.getFloat32(0, true);
  },
};

/** A floating-point tensor's values as float32 (a copy). Throws HumanError('bad-input') for integer types. */
export function toFloat32(entry: SafetensorsEntry, name: string): Float32Array {
  const read = floatReaders[entry.dtype];
  if (!read)
    throw new HumanError('bad-input', `Tensor "${name}" holds ${entry.dtype} where floating-point numbers are needed.`);
  if (entry.dtype === 'F32') {
    const copy = new Uint8Array(entry.bytes);
    return new Float32Array(copy.buffer, 0, copy.byteLength / 4);
  }
  const width = safetensorsTypes[entry.dtype];
  const view = new DataView(entry.bytes.buffer, entry.bytes.byteOffset, entry.bytes.byteLength);
  return Float32Array.from({ length: entry.bytes.byteLength / width }, (_, index) => read(view, index * width));
}

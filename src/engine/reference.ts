/** A folder's PyTorch reference: reference.json and reference.safetensors. Format: docs/architecture.md, "References". */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type JsonObject, readJsonFile } from '../model/index.ts';
import { asError, HumanError } from '../shared/errors.ts';
import { decodeSafetensors, type SafetensorsEntry } from '../shared/safetensors.ts';

/** A tensor's values as numbers, row-major. */
export interface ReferenceTensor {
  shape: number[];
  values: Float64Array;
}

export interface ReferenceTolerance {
  logits: number;
  loss: number;
  /** Largest error of a gradient entry ÷ the largest entry. */
  gradient: number;
  /** Entries of the soft prompt after the Adam steps. */
  parameter: number;
  /** Generated tokens count up to the first step whose two best logits are closer than this. */
  margin: number;
}

export interface Reference {
  file: string;
  tensors: Map<string, ReferenceTensor>;
  scalars: JsonObject;
  tolerance: ReferenceTolerance;
  /** How the graph was made; null where the reference does not say. */
  exporter: string | null;
  /**
   * Largest difference of the logits that ONNX Runtime had where the reference was made, running the file as it is:
   * without a soft prompt, and of all (with soft prompts too).
   */
  runtimeDifference: { plain: number; most: number } | null;
  /** One per sequence: tokens of prompt and of answer. */
  sequences: { prompt: number[]; answer: number[] }[];
}

const readers: Record<string, (view: DataView, at: number) => number> = {
  F64: (view, at) => view.getFloat64(at, true),
  F32: (view, at) => view.getFloat32(at, true),
  I64: (view, at) => Number(view.getBigInt64(at, true)),
  I32: (view, at) => view.getInt32(at, true),
};

function valuesOf(name: string, { dtype, shape, bytes }: SafetensorsEntry, file: string): ReferenceTensor {
  const read = readers[dtype];
  if (!read)
    throw new HumanError('unsupported', `Tensor "${name}" holds ${dtype}; F64, F32, I64 and I32 are read.`, {
      place: { file },
    });
  const count = shape.reduce((product, size) => product * size, 1);
  const width = count ? bytes.byteLength / count : 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { shape, values: Float64Array.from({ length: count }, (_, index) => read(view, index * width)) };
}

/** Rows of a two-dimensional tensor. */
export function rowsOf({ shape, values }: ReferenceTensor): Float64Array[] {
  const width = shape.at(-1) ?? 0;
  return Array.from({ length: width ? values.length / width : 0 }, (_, row) =>
    values.subarray(row * width, (row + 1) * width),
  );
}

const numberOf = (object: unknown, key: string, fallback: number): number =>
  isObject(object) && typeof object[key] === 'number' ? (object[key] as number) : fallback;

/** Differences of logits in `check.onnxruntime`: of rows padded on the right, as they are here, and with soft prompts. */
function runtimeDifference(check: unknown): Reference['runtimeDifference'] {
  const found = isObject(check) ? check.onnxruntime : null;
  if (!isObject(found)) return null;
  const differences = Object.entries(found).flatMap(([name, value]) =>
    /^logits_max_abs_diff_(right_pad|soft_n\d+)$/.test(name) && typeof value === 'number' ? [value] : [],
  );
  return differences.length
    ? { plain: numberOf(found, 'logits_max_abs_diff_right_pad', 0), most: Math.max(...differences) }
    : null;
}

/** Reads a reference. Throws HumanError('missing' | 'bad-input') where it is not there or not whole. */
export function readReference(folder: string): Reference {
  const file = join(folder, 'reference.json');
  const description = readJsonFile(file);
  const tensorFile = join(folder, 'reference.safetensors');
  let bytes: Uint8Array | null = null;
  try {
    bytes = readFileSync(tensorFile);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new HumanError('bad-input', `The reference cannot be read: ${asError(error).message}.`, {
        place: { file: tensorFile },
      });
  }
  if (!description || !bytes)
    throw new HumanError(
      'missing',
      `This folder has no ${description ? 'reference.safetensors' : 'reference.json'} to check the model against.`,
      {
        place: { file: folder },
        todo: 'Make a reference with PyTorch; docs/architecture.md says what is in it.',
      },
    );
  const tensors = new Map<string, ReferenceTensor>();
  for (const [name, entry] of decodeSafetensors(bytes, tensorFile).tensors)
    tensors.set(name, valuesOf(name, entry, tensorFile));
  const need = (name: string): ReferenceTensor => {
    const tensor = tensors.get(name);
    if (!tensor)
      throw new HumanError('bad-input', `The reference has no tensor "${name}".`, { place: { file: tensorFile } });
    return tensor;
  };
  const ids = rowsOf(need('input_ids_right'));
  const labels = rowsOf(need('labels_right'));
  const masks = rowsOf(need('attention_mask_right'));
  const sequences = ids.map((row, index) => {
    const answer = labels[index]?.findIndex((label) => label >= 0) ?? -1;
    const end = masks[index]?.reduce((sum, value) => sum + value, 0) ?? 0;
    if (answer < 1)
      throw new HumanError('bad-input', `Sequence ${index} of the reference has no answer behind a prompt.`, {
        place: { file: tensorFile },
      });
    return { prompt: Array.from(row.subarray(0, answer)), answer: Array.from(row.subarray(answer, end)) };
  });
  const { tolerance } = description;
  return {
    file,
    tensors,
    sequences,
    scalars: isObject(description.scalars) ? description.scalars : {},
    exporter: typeof description.export_kind === 'string' ? description.export_kind : null,
    runtimeDifference: runtimeDifference(description.check),
    tolerance: {
      logits: numberOf(tolerance, 'logits_abs', 1e-3),
      loss: numberOf(tolerance, 'loss_abs', 2e-4),
      gradient: numberOf(tolerance, 'dP_rel_to_max', 2e-3),
      parameter: numberOf(tolerance, 'adam_P_abs', 2e-3),
      margin: numberOf(tolerance, 'generation_margin', 1e-3),
    },
  };
}

/** Numbers of soft-prompt vectors for which the reference holds tensors called `prefix` + number. */
export function vectorCounts({ tensors }: Reference, prefix: string): number[] {
  const counts: number[] = [];
  for (const name of tensors.keys()) {
    const digits = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    if (/^\d+$/.test(digits)) counts.push(Number(digits));
  }
  return counts.sort((a, b) => a - b);
}

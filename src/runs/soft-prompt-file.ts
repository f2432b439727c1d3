/** Soft prompts and tuning checkpoints as safetensors files. */
import { readFile } from 'node:fs/promises';
import type { SoftPrompt } from '../evaluate/language-model.ts';
import type { TuningCheckpoint } from '../evaluate/run-store.ts';
import { asError, HumanError } from '../shared/errors.ts';
import { isSoftPromptPosition } from '../shared/modes.ts';
import {
  decodeSafetensors,
  encodeSafetensors,
  float32Entry,
  type SafetensorsEntry,
  type SafetensorsFile,
  toFloat32,
} from '../shared/safetensors.ts';
import { writeWhole } from './files.ts';

/** Name of the tensor, [vectors, hidden size]. PEFT's name, so that the file's content is known to others too. */
export const softPromptTensor = 'prompt_embeddings';

export function softPromptEntry({ vectors, hiddenSize, data }: SoftPrompt): SafetensorsEntry {
  return float32Entry(data, [vectors, hiddenSize]);
}

/** The matrix `key` of a file as a soft prompt. Throws HumanError('bad-input') where it is absent or of another form. */
export function softPromptOf(file: SafetensorsFile, key: string, name: string): SoftPrompt {
  const entry = file.tensors.get(key);
  const [vectors, hiddenSize, ...more] = entry?.shape ?? [];
  if (!entry || vectors === undefined || hiddenSize === undefined || more.length || vectors * hiddenSize === 0)
    throw new HumanError('bad-input', `There is no matrix "${key}" [vectors, hidden size] in this file.`, {
      place: { file: name },
      todo: `It holds: ${[...file.tensors].map(([key, { shape }]) => `${key} [${shape.join(', ')}]`).join('; ') || 'nothing'}.`,
    });
  const data = toFloat32(entry, key);
  if (data.some((value) => !Number.isFinite(value)))
    throw new HumanError('bad-input', `The matrix "${key}" holds numbers that are not finite.`, {
      place: { file: name },
    });
  const { model: tunedOn, position } = file.metadata;
  if (position !== undefined && !isSoftPromptPosition(position))
    throw new HumanError('bad-input', `The soft prompt stands at "${position}", a place that is not known here.`, {
      place: { file: name },
      todo: 'It was written by a newer Softbench: update Softbench to use it.',
    });
  return {
    vectors,
    hiddenSize,
    data,
    ...(position !== undefined && { position }),
    ...(tunedOn !== undefined && { tunedOn }),
  };
}

/** Reads a safetensors file from disk; null where it does not exist. */
export async function readSafetensors(path: string): Promise<SafetensorsFile | null> {
  try {
    return decodeSafetensors(await readFile(path), path);
  } catch (thrown) {
    if (thrown instanceof HumanError) throw thrown;
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new HumanError('disk', `Cannot read ${path}: ${asError(thrown).message}.`, { cause: thrown });
  }
}

/** Writes `soft-prompt.safetensors`. `metadata` says where the vectors come from (model, benchmark, step …). */
export async function writeSoftPrompt(
  path: string,
  softPrompt: SoftPrompt,
  metadata: Record<string, string>,
): Promise<void> {
  const file = encodeSafetensors([[softPromptTensor, softPromptEntry(softPrompt)]], {
    format: 'softbench-soft-prompt',
    schema: '1',
    ...metadata,
  });
  await writeWhole(path, file);
}

/** Reads a soft prompt of ours, or any safetensors file with a matrix "prompt_embeddings". Null where there is no file. */
export async function readSoftPrompt(
  path: string,
): Promise<{ softPrompt: SoftPrompt; metadata: Record<string, string> } | null> {
  const file = await readSafetensors(path);
  return file && { softPrompt: softPromptOf(file, softPromptTensor, path), metadata: file.metadata };
}

const checkpointFormat = 'softbench-checkpoint';

export async function writeCheckpoint(path: string, checkpoint: TuningCheckpoint): Promise<void> {
  const { step, softPrompt, firstMoment, secondMoment, best, seconds } = checkpoint;
  const shape = [softPrompt.vectors, softPrompt.hiddenSize];
  const tensors: [string, SafetensorsEntry][] = [
    ['soft_prompt', softPromptEntry(softPrompt)],
    ['first_moment', float32Entry(firstMoment, shape)],
    ['second_moment', float32Entry(secondMoment, shape)],
  ];
  if (best) tensors.push(['best.soft_prompt', softPromptEntry(best.softPrompt)]);
  await writeWhole(
    path,
    encodeSafetensors(tensors, {
      format: checkpointFormat,
      schema: '1',
      step: String(step),
      seconds: String(seconds),
      ...(best && { best: JSON.stringify({ step: best.step, F: best.F, S: best.S, loss: best.loss }) }),
    }),
  );
}

/** Reads a checkpoint; null where there is none. Throws HumanError('bad-input') where it is broken or newer. */
export async function readCheckpoint(path: string): Promise<TuningCheckpoint | null> {
  const file = await readSafetensors(path);
  if (!file) return null;
  const { metadata } = file;
  const broken = (what: string): HumanError =>
    new HumanError('bad-input', `This checkpoint cannot be read: ${what}.`, {
      place: { file: path },
      todo: 'Delete it to tune from the beginning.',
    });
  if (metadata.format !== checkpointFormat) throw broken('it is not a checkpoint of Softbench');
  if (metadata.schema !== '1') throw broken(`it was written by a newer Softbench (schema ${metadata.schema})`);
  const step = Number(metadata.step);
  const seconds = Number(metadata.seconds);
  if (!Number.isSafeInteger(step) || !Number.isFinite(seconds)) throw broken('its step or time is missing');
  const softPrompt = softPromptOf(file, 'soft_prompt', path);
  const moment = (key: string): Float32Array => {
    const { data } = softPromptOf(file, key, path);
    if (data.length !== softPrompt.data.length) throw broken(`"${key}" has another size than the soft prompt`);
    return data;
  };
  let best: TuningCheckpoint['best'] = null;
  if (metadata.best !== undefined) {
    const { step, F, S, loss } = JSON.parse(metadata.best) as { step: number; F: number; S: number; loss: number };
    best = { step, F, S, loss, softPrompt: softPromptOf(file, 'best.soft_prompt', path) };
  }
  return {
    step,
    softPrompt,
    firstMoment: moment('first_moment'),
    secondMoment: moment('second_moment'),
    best,
    seconds,
  };
}

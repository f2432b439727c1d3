/** A tuning step in parts, where memory does not hold the whole batch: gradients of the parts add up to the batch's. */
import { freemem, totalmem } from 'node:os';
import type { TrainingExample } from '../evaluate/language-model.ts';
import { HumanError } from '../shared/errors.ts';

/** Thrown where a step would take more memory than there is, before it is tried. */
export class NotEnoughMemory extends Error {
  constructor(
    readonly needed: number,
    readonly available: number,
  ) {
    super(`${needed} bytes are needed, ${available} are there`);
  }
}

/**
 * Bytes that a step may take for the values between its nodes. A share of what is free, since others take memory too;
 * macOS counts its file cache as taken, so there it is a share of all.
 */
export const memoryForSteps = (): number => (process.platform === 'darwin' ? 0.5 * totalmem() : 0.9 * freemem());

/** Whether an error of ONNX Runtime says that memory ran out, in the words of its allocators and of the drivers. */
export function saysOutOfMemory(thrown: unknown): boolean {
  if (thrown instanceof NotEnoughMemory) return true;
  const text = thrown instanceof HumanError ? `${thrown.message} ${String(thrown.details.cause)}` : String(thrown);
  return /bad.?alloc|failed to allocate|out of memory|not enough memory/i.test(text);
}

/** Parts of at most `most` examples, of sizes that differ by one at most, in order. */
export function inParts<T>(examples: readonly T[], most: number): T[][] {
  const count = Math.max(1, Math.ceil(examples.length / Math.max(1, most)));
  const [size, larger] = [Math.floor(examples.length / count), examples.length % count];
  let start = 0;
  return Array.from({ length: count }, (_, at) => {
    const part = examples.slice(start, start + size + (at < larger ? 1 : 0));
    start += part.length;
    return part;
  });
}

/** Answer tokens: the weight of a part in the batch's loss, which counts each of them alike. */
export const answerTokensOf = (examples: readonly TrainingExample[]): number =>
  examples.reduce((sum, { answer }) => sum + answer.length, 0);

/** The note for a run whose steps were computed in parts. */
export const partsNote = (most: number): string =>
  `Memory did not hold a whole batch: tuning steps were computed ${most === 1 ? 'one item' : `${most} items`} at a time, and the gradients added up.`;

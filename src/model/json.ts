/** JSON files of a model folder, with errors that name the file. */
import { readFileSync } from 'node:fs';
import { HumanError } from '../shared/errors.ts';

export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The text of a file, or null where there is none. Throws HumanError('bad-input') where it cannot be read. */
export function readTextFile(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new HumanError('bad-input', `This file of the model cannot be read: ${(error as Error).message}.`, {
      place: { file },
      todo: 'Check its permissions.',
      cause: error,
    });
  }
}

/** A JSON object from a file, or null where there is none. Throws HumanError('bad-input') on broken JSON. */
export function readJsonFile(file: string): JsonObject | null {
  const text = readTextFile(file);
  if (text === null) return null;
  let value: unknown;
  try {
    // Windows tools like to put a byte-order mark in front.
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new HumanError('bad-input', `This is not valid JSON: ${(error as Error).message}.`, {
      place: { file },
      todo: 'Copy the file again from where the model came from.',
      cause: error,
    });
  }
  if (!isObject(value))
    throw new HumanError('bad-input', 'A JSON object was expected here.', {
      place: { file },
      todo: 'Copy the file again from where the model came from.',
    });
  return value;
}

/** The first of the keys that holds a whole number. */
export function integerOf(object: JsonObject | null, ...keys: string[]): number | null {
  for (const key of keys) {
    const value = object?.[key];
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  }
  return null;
}

export function stringOf(object: JsonObject | null, key: string): string | null {
  const value = object?.[key];
  return typeof value === 'string' ? value : null;
}

/** Which files belong to an import: results files, and the samples beside them. */
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { JsonError, parseJson } from '../benchmark/json.ts';
import { HumanError } from '../shared/errors.ts';
import { sha256 } from '../system/index.ts';

/** A results file is read whole; what is larger is none. */
const largestResults = 256 * 1024 * 1024;

export interface ReadJson {
  file: string;
  value: unknown;
  digest: string;
}

/** JSON files under a folder that may be results, sorted by path; links are not followed. */
export async function resultsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((thrown: Error) => {
    throw new HumanError('missing', `The folder cannot be read: ${thrown.message}.`, { place: { file: folder } });
  });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json') && !entry.name.startsWith('.'))
    .filter(({ name }) => !name.startsWith('samples_'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((file) => !file.split(/[\\/]/).includes('node_modules'))
    .sort();
}

/** @throws HumanError with the line where it is no JSON */
export async function readJson(file: string): Promise<ReadJson> {
  const info = await stat(file).catch(() => null);
  if (!info) throw new HumanError('missing', 'There is no such file or folder.', { place: { file } });
  if (info.size > largestResults)
    throw new HumanError('bad-input', 'The file is larger than 256 MB: it is no results file.', {
      place: { file },
      todo: 'Samples are found by themselves beside the results file that they belong to: name that one.',
    });
  const bytes = await readFile(file);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new HumanError('bad-input', 'The file is not UTF-8 text.', { place: { file } });
  }
  const digest = sha256(bytes);
  try {
    return { file, value: JSON.parse(text), digest };
  } catch {
    // NaN and Infinity, which Python writes; else a message with its line.
  }
  try {
    return { file, value: parseJson(text), digest };
  } catch (thrown) {
    if (!(thrown instanceof JsonError)) throw thrown;
    const line = text.slice(0, thrown.offset).split('\n').length;
    throw new HumanError('bad-input', `The file is not valid JSON: ${thrown.message}`, { place: { file, line } });
  }
}

const time = /_(\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?)\.jsonl?(?:\.gz)?$/;

export const timeOf = (file: string): string | null => time.exec(basename(file))?.[1] ?? null;

/** `samples_<task>_<time>.jsonl`, or without the time: the task, else null. */
export function taskOfSamples(file: string): string | null {
  const name = basename(file);
  if (!name.startsWith('samples_') || !/\.jsonl?(?:\.gz)?$/.test(name)) return null;
  return name
    .slice('samples_'.length)
    .replace(time, '')
    .replace(/\.jsonl?(?:\.gz)?$/, '');
}

/**
 * The samples file of a task beside its results file: `samples_<task>_<time>` of the same time (since 0.4.3),
 * `<model arguments>_<task>.jsonl` (before), or the only one of that task where there is one results file only.
 */
export async function samplesBeside(results: string, task: string): Promise<string | null> {
  const folder = dirname(results);
  const names = (await readdir(folder)).filter((name) => /\.jsonl?(?:\.gz)?$/.test(name));
  const own = timeOf(results);
  const ofTask = names.filter((name) => taskOfSamples(name) === task);
  const same = ofTask.find((name) => timeOf(name) === own);
  if (same) return join(folder, same);
  const others = names.filter((name) => /^results.*\.json$/.test(name) && name !== basename(results));
  if (ofTask.length === 1 && others.length === 0 && ofTask[0]) return join(folder, ofTask[0]);
  const old = names.filter((name) => name.endsWith(`_${task}.jsonl`) && !name.startsWith('samples_'));
  return own === null && old.length === 1 && old[0] ? join(folder, old[0]) : null;
}

/** The results file that samples belong to, where it is beside them. */
export async function resultsBeside(samples: string): Promise<string | null> {
  const folder = dirname(samples);
  const names = (await readdir(folder)).filter((name) => /^(?:.*_)?results.*\.json$|_\d{4}-.*\.json$/.test(name));
  const own = timeOf(samples);
  const found = names.find((name) => timeOf(name) === own && !name.startsWith('samples_')) ?? null;
  return found === null ? null : join(folder, found);
}

/** The first bytes of a file, to see what it is. */
export async function beginning(file: string): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(65536), 0, 65536, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

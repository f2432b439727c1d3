/** Whether a source of records has changed since it was read: the files behind it, with their sizes and times. */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { HumanError } from '../shared/errors.ts';
import { readMapping } from './mapping.ts';

/** BIG-bench keeps `TASK/results/scores_MODEL.json`: thousands of files, which nobody names one by one. */
export async function resultFilesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names
    .filter((name) => /^scores_.*\.json$/i.test(basename(name)))
    .sort()
    .map((name) => join(folder, name));
}

/** The same as long as nothing of the source has changed; null where it is not there. */
export async function recordStamp(source: string): Promise<string | null> {
  const info = await stat(source).catch(() => null);
  if (!info) return null;
  const files = info.isDirectory() ? await resultFilesIn(source).catch(() => []) : await filesBehind(source);
  const stamps = [`${info.size} ${info.mtimeMs}`];
  for (const file of files) {
    const one = await stat(file).catch(() => null);
    stamps.push(one ? `${file} ${one.size} ${one.mtimeMs}` : `${file} missing`);
  }
  return stamps.join('\n');
}

/** Tables that a mapping file names. */
async function filesBehind(source: string): Promise<string[]> {
  if (!/\.ya?ml$/i.test(source)) return [];
  try {
    const { table, join: joins } = await readMapping(source);
    return [...(table === null ? [] : [table]), ...joins.map(({ file }) => file)].map((file) =>
      isAbsolute(file) ? file : join(dirname(source), file),
    );
  } catch (thrown) {
    // Whoever reads it says what is wrong with it.
    if (!(thrown instanceof HumanError)) throw thrown;
    return [];
  }
}

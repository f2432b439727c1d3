/** Copies that may be edited and are kept current all the same. Plain TypeScript. */
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { sha256 } from '../system/index.ts';

/**
 * Copies a folder over an earlier copy of it. A file that the user has changed since stays as it is; what was copied is
 * remembered in `copied.json` beside the copy.
 */
export async function copyUnlessChanged(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const manifest = join(dirname(to), 'copied.json');
  const copied = await readFile(manifest, 'utf8').then(
    (text) => JSON.parse(text) as Record<string, string>,
    () => ({}) as Record<string, string>,
  );
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const source = join(entry.parentPath, entry.name);
    const name = relative(from, source).split(sep).join('/');
    const target = join(to, name);
    const there = await readFile(target).catch(() => null);
    if (there && copied[name] !== sha256(there)) continue;
    const bytes = await readFile(source);
    if (!there || sha256(bytes) !== copied[name]) {
      await mkdir(dirname(target), { recursive: true });
      await cp(source, target);
    }
    copied[name] = sha256(bytes);
  }
  await writeFile(manifest, JSON.stringify(copied));
}

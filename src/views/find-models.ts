/** Finds model folders on disk by the files in them. Plain TypeScript. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** By its files: config.json and a graph, in the folder or in its `onnx`. */
export async function isModelFolder(folder: string): Promise<boolean> {
  const names = await namesIn(folder);
  if (!names.includes('config.json')) return false;
  if (names.some((name) => name.endsWith('.onnx'))) return true;
  return names.includes('onnx') && (await namesIn(join(folder, 'onnx'))).some((name) => name.endsWith('.onnx'));
}

/** Model folders in a folder, itself included, down to `depth` folders further in; sorted. */
export async function modelFoldersIn(folder: string, depth: number): Promise<string[]> {
  if (await isModelFolder(folder)) return [folder];
  if (depth === 0) return [];
  const inside = await Promise.all(
    (await namesIn(folder))
      .filter((name) => !name.startsWith('.') && name !== 'node_modules')
      .map(async (name) => {
        const path = join(folder, name);
        return (await stat(path).catch(() => null))?.isDirectory() ? modelFoldersIn(path, depth - 1) : [];
      }),
  );
  return inside.flat().sort();
}

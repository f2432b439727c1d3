/** Digests that tell one model from another without reading gigabytes at every run. */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';

/** Files up to this size are read whole. */
const wholeBytes = 64 * 2 ** 20;
const blockBytes = 2 ** 20;
/** Blocks of a larger file that are read, evenly spread, the first and the last among them. */
const blocks = 32;

/** Adds a file's size and content (the whole of it, or evenly spread blocks) to a hash. */
function addFile(hash: Hash, file: string): void {
  const { size } = statSync(file);
  hash.update(`size:${size};`);
  if (size <= wholeBytes) {
    hash.update(readFileSync(file));
    return;
  }
  const handle = openSync(file, 'r');
  try {
    const buffer = new Uint8Array(blockBytes);
    for (let block = 0; block < blocks; block++) {
      const at = Math.floor(((size - blockBytes) * block) / (blocks - 1));
      const read = readSync(handle, buffer, 0, blockBytes, at);
      hash.update(buffer.subarray(0, read));
    }
  } finally {
    closeSync(handle);
  }
}

/** SHA-256 (hex) of files in order: whole below 64 MiB, else of the size and 32 evenly spread blocks of 1 MiB. */
export function digestFiles(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) addFile(hash, file);
  return hash.digest('hex');
}

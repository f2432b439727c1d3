/** What rooms that keep files need of the machine: digests, files that are replaced as a whole, whether a process lives. */
export { sha256 } from './digest.ts';
export { diskError } from './disk-error.ts';
export { isProcessAlive } from './process.ts';
export { replaceFile, temporaryBeside } from './replace.ts';
export { makeFolder, writeWhole } from './whole.ts';

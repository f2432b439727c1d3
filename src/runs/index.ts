/** The run store on disk: one folder a run, safe against crashes, full disks and second windows; import and export. */
export type { RunFolder, RunStore, RunWriter } from '../evaluate/run-store.ts';
export { exportAdapter, importAdapter } from './adapter.ts';
export { readMarks, setMark } from './marks.ts';
export { readSoftPrompt } from './soft-prompt-file.ts';
export { DiskRunStore, openRunStore } from './store.ts';
export { runFiles } from './writer.ts';

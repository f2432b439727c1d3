/** Benchmark files in the editor: CodeLens, diagnostics, completion, hover, prompt preview. */
export { BenchmarkLenses, benchmarkFiles, type LensSource } from './codelens.ts';
export { registerCompletion } from './completion.ts';
export { registerDataActions } from './data-actions.ts';
export { findGroup, findTask, mayBeBenchmark, type TaskLine } from './detect.ts';
export { BenchmarkDiagnostics, type Checker } from './diagnostics.ts';
export { type JobLine, type Lens, type LensState, lensesOf } from './lenses.ts';
export { type PreviewSource, PromptPreviews } from './preview.ts';
export { resultLines, resultWords } from './words.ts';

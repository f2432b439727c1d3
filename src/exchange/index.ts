/** Results of other tools in, and of runs out: files of lm-evaluation-harness and of Every Eval Ever, tables. */
export { type ExportOptions, exportFormats, exportRuns } from './export.ts';
export { type ImportOptions, type ImportReport, importResults } from './import.ts';

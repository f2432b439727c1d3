/** Results of other tools in, and of runs out: files of lm-evaluation-harness and of Every Eval Ever, tables. */
export { type ExportOptions, exportRuns } from './export.ts';
export { type ImportOptions, importResults } from './import.ts';
export { measureResultsPage, type PageRun, writeResultsPage } from './results-page.ts';

/** Benchmark files: reads them (lm-evaluation-harness task YAML), renders their prompts, and reads and judges outputs. */

export { type CauseRow, causeTable } from './causes.ts';
export { chatOf } from './chat.ts';
export { type ConfigurationDigests, configurationDigests, digestsOfFile } from './configuration-digests.ts';
export {
  type BenchmarkDataset,
  canDownload,
  type DatasetNeed,
  type DatasetPlan,
  datasetConsent,
  datasetOf,
  fetchDataset,
  planDataset,
} from './dataset-download.ts';
export { readFolder } from './dataset-places.ts';
export { type SplitSize, splitSizes } from './dataset-rows.ts';
export { type AggregateMetric, type Group, type GroupTask, groupsOf, isGroup, leavesOf, tasksOf } from './group.ts';
export { addressParts, openGroup } from './group-tasks.ts';
export { dataKeys, fewShotKeys, generationKeys, type Key, softbenchKeys, softPromptKeys, taskKeys } from './keys.ts';
export { type Checked, checkBenchmark, openBenchmark } from './open.ts';
export type * from './types.ts';

/** What is known of a benchmark's data, for a hover and for the choice of a quick fix. Plain TypeScript. */
import type { BenchmarkDataset } from '../benchmark/dataset-download.ts';
import type { SplitSize } from '../benchmark/dataset-rows.ts';
import { formatBytes } from '../metrics/index.ts';

/** Keys of a benchmark file that say which data is read. */
export const dataKeyLine = /^\s*(dataset_path|dataset_name|(?:training|validation|test|fewshot)_split)\s*:/;

const origins: Readonly<Record<NonNullable<BenchmarkDataset['located']>['origin'], string>> = {
  folder: 'a folder beside the benchmark',
  mapped: 'a folder that is mapped to it',
  hub: 'the cache of the Hugging Face Hub',
  datasets: 'the cache of the `datasets` library',
};

/** Markdown of a hover over a key of the data. */
export function dataHover(dataset: BenchmarkDataset, sizes: readonly SplitSize[]): string {
  const { request, located, missing, splits } = dataset;
  const title = `**${request.path}**${located ? `, configuration ${located.configuration}` : request.name ? `, configuration ${request.name}` : ''}`;
  if (!located) return `${title}\n\n${missing?.message ?? 'Not found.'}`;
  const rows = sizes.map(
    ({ name, rows: count, files, bytes }) =>
      `| ${splits.includes(name) ? `**${name}**` : name} | ${count === null ? '?' : count.toLocaleString('en')} | ${formatBytes(bytes)} in ${files} ${files === 1 ? 'file' : 'files'} |`,
  );
  const absent = splits.filter((split) => !located.splits.has(split)).map((split) => `| **${split}** | – | not here |`);
  return [
    title,
    '',
    `| split | rows | |\n|---|--:|---|\n${[...rows, ...absent].join('\n')}`,
    '',
    `From ${origins[located.origin]}: \`${located.folder}\``,
    ...(missing ? ['', missing.message] : []),
  ].join('\n');
}

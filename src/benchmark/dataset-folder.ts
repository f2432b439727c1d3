/**
 * A Hugging Face dataset repository as a folder: which of its files hold which split of which configuration. The rules
 * are those of `datasets` (data_files.py, metadata.py of 4.x): the `configs` of README.md where it has any, else names.
 */
import { HumanError } from '../shared/errors.ts';
import { cardHeader } from './card-features.ts';
import { globPattern } from './glob.ts';

/** Formats that rows can be read from. */
export type DataFormat = 'json' | 'csv' | 'parquet' | 'arrow';

const formats: Readonly<Record<string, DataFormat>> = {
  json: 'json',
  jsonl: 'json',
  ndjson: 'json',
  csv: 'csv',
  tsv: 'csv',
  parquet: 'parquet',
  arrow: 'arrow',
};

/** The format that a file's name says, compression aside; null: not data that can be read. */
export function formatOf(file: string): DataFormat | null {
  const [, extension] = /\.([a-z0-9]+)(?:\.gz)?$/i.exec(file) ?? [];
  return formats[extension?.toLowerCase() ?? ''] ?? null;
}

export interface DatasetSplits {
  configuration: string;
  /** Paths within the repository, by split, in order. Without splits of which files are missing. */
  splits: Map<string, string[]>;
  /** Splits that the card or the name of a shard tells of, whether their files are there or not. */
  declared: string[];
}

const defaultSplits = ['train', 'validation', 'test'];
const splitWords: Readonly<Record<string, readonly string[]>> = {
  train: ['train', 'training'],
  validation: ['validation', 'valid', 'dev', 'val'],
  test: ['test', 'testing', 'eval', 'evaluation'],
};
/** What may stand beside a split's word in a name. */
const apart = '[-._ 0-9]';
const shard = /^(?:.*\/)?data\/([^/]+)-\d{5}-of-\d{5}[^/]*\.[^/]*$/;
const ignored = new Set(['README.md', 'config.json', 'dataset_info.json', 'dataset_infos.json', 'dataset_dict.json']);

interface CardConfiguration {
  name: string;
  isDefault: boolean;
  dataDir: string | null;
  dataFiles: { split: string; patterns: string[] }[] | null;
}

/** The `configs` of a dataset card's YAML header. */
function cardConfigurations(readme: string | null): CardConfiguration[] {
  const list = cardHeader(readme)?.configs;
  return (Array.isArray(list) ? list : []).flatMap((entry: Record<string, unknown> | null) => {
    if (typeof entry?.config_name !== 'string') return [];
    const texts = (value: unknown): string[] =>
      (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string');
    const { data_files: files, data_dir: folder } = entry;
    const bySplit = Array.isArray(files) && files.some((each) => typeof each === 'object');
    const dataFiles = bySplit
      ? files.map((each) => ({ split: String(each.split), patterns: texts(each.path) }))
      : texts(files).length > 0
        ? [{ split: 'train', patterns: texts(files) }]
        : null;
    return [
      {
        name: entry.config_name,
        isDefault: entry.default === true,
        dataDir: typeof folder === 'string' ? folder.replace(/^\.?\/|\/$/g, '') : null,
        dataFiles,
      },
    ];
  });
}

/** Splits by the files' names: shards under data/, else words in the names of folders, else in those of files. */
function splitsByName(files: readonly string[]): Map<string, string[]> {
  const shards = new Map<string, string[]>();
  for (const file of files) {
    const split = shard.exec(file)?.[1];
    if (split !== undefined) shards.set(split, [...(shards.get(split) ?? []), file]);
  }
  if (shards.size > 0) {
    const others = [...shards.keys()].filter((split) => !defaultSplits.includes(split)).sort();
    return new Map(
      [...defaultSplits, ...others].flatMap((split) => {
        const found = shards.get(split);
        return found ? [[split, found] as const] : [];
      }),
    );
  }
  const pattern = (words: readonly string[]): string => `(?:.*${apart})?(?:${words.join('|')})`;
  const tests: ((words: readonly string[]) => RegExp)[] = [
    (words) => new RegExp(`(?:^|/)(?:[^/]*${apart})?(?:${words.join('|')})(?:${apart}[^/]*)?/`),
    (words) => new RegExp(`(?:^|/)(?:${pattern(words).replace('.*', '[^/]*')})${apart}[^/]*$`),
  ];
  for (const test of tests) {
    const found = new Map<string, string[]>();
    for (const split of defaultSplits) {
      const matcher = test(splitWords[split] ?? []);
      const matching = files.filter((file) => matcher.test(file));
      if (matching.length > 0) found.set(split, matching);
    }
    if (found.size > 0) return found;
  }
  return new Map(files.length > 0 ? [['train', [...files]]] : []);
}

/** Of several formats the commonest counts, as `datasets` has it. */
function ofOneFormat(splits: ReadonlyMap<string, string[]>): Map<string, string[]> {
  const counts = new Map<DataFormat, number>();
  for (const file of [...splits.values()].flat()) {
    const format = formatOf(file);
    if (format) counts.set(format, (counts.get(format) ?? 0) + 1);
  }
  const [commonest] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? [];
  return new Map(
    [...splits].flatMap(([split, files]) => {
      const kept = files.filter((file) => formatOf(file) === commonest && commonest !== undefined);
      return kept.length > 0 ? [[split, kept] as const] : [];
    }),
  );
}

/** A split of which shards are missing (`…-00001-of-00003`) would be one with fewer rows: it is left out. */
function wholeSplits(splits: ReadonlyMap<string, string[]>): Map<string, string[]> {
  return new Map(
    [...splits].filter(([, files]) => {
      const counts = new Map<string, { there: number; of: number }>();
      for (const file of files) {
        const [, before, of] = /^(.*)-\d{5}-of-(\d{5})(?=[^/]*$)/.exec(file) ?? [];
        if (before === undefined) continue;
        const key = `${before} ${of}`;
        counts.set(key, { there: (counts.get(key)?.there ?? 0) + 1, of: Number(of) });
      }
      return files.length > 0 && [...counts.values()].every(({ there, of }) => there >= of);
    }),
  );
}

/** A folder as `DatasetDict.save_to_disk` writes it: a folder of Arrow files for each split, or one split alone. */
function savedSplits(files: readonly string[]): Map<string, string[]> | null {
  const arrow = files.filter((file) => file.endsWith('.arrow'));
  if (files.includes('dataset_dict.json')) {
    const folders = [...new Set(arrow.map((file) => file.slice(0, file.indexOf('/'))))];
    return new Map(folders.map((folder) => [folder, arrow.filter((file) => file.startsWith(`${folder}/data-`))]));
  }
  return files.includes('state.json') && arrow.length > 0
    ? new Map([['train', arrow.filter((file) => !file.includes('/'))]])
    : null;
}

const within = (file: string, folder: string | null): boolean =>
  folder === null || folder === '' || file.startsWith(`${folder}/`);

/**
 * The files of one configuration of a dataset.
 * @param files all paths in the repository, `/` between folders
 * @param readme the text of README.md, null where there is none
 * @param configuration `dataset_name`; null takes the default one
 * @param layout `converted`: the Hub's own conversion, a folder for each configuration; `own`: a folder of the user's, which
 *   need not know the configuration's name
 * @throws HumanError where there is no such configuration, or several and none is named
 */
export function datasetSplits(
  id: string,
  files: readonly string[],
  readme: string | null,
  configuration: string | null,
  layout: 'repository' | 'converted' | 'own' = 'repository',
): DatasetSplits {
  const made = (name: string, all: ReadonlyMap<string, string[]>): DatasetSplits => {
    const whole = wholeSplits(ofOneFormat(all));
    return { configuration: name, splits: whole, declared: [...all.keys()] };
  };
  const saved = savedSplits(files);
  if (saved) return made(configuration ?? 'default', saved);
  const data = files
    .filter((file) => !ignored.has(file) && !/(?:^|\/)(?:\.|__)/.test(file) && formatOf(file) !== null)
    .sort();
  const cards = cardConfigurations(readme);
  if (cards.length > 0) {
    const names = cards.map(({ name }) => name);
    const chosen =
      configuration === null
        ? (cards.find(({ isDefault }) => isDefault) ??
          cards.find(({ name }) => name === 'default') ??
          (cards.length === 1 ? cards[0] : undefined))
        : cards.find(({ name }) => name === configuration);
    if (!chosen)
      throw new HumanError(
        'bad-input',
        configuration === null
          ? `The data set ${id} has several configurations and no default one: ${names.slice(0, 20).join(', ')}.`
          : `The data set ${id} has no configuration "${configuration}"; it has ${names.slice(0, 20).join(', ')}.`,
        { todo: 'Name one as `dataset_name`.' },
      );
    const { dataDir, dataFiles } = chosen;
    const inside = data.filter((file) => within(file, dataDir));
    const splits = dataFiles
      ? new Map(
          dataFiles.map(({ split, patterns }) => {
            const matchers = patterns.map((pattern) =>
              globPattern(`${dataDir ? `${dataDir}/` : ''}${pattern.replace(/^\.?\//, '')}`),
            );
            return [split, inside.filter((file) => matchers.some((matcher) => matcher.test(file)))] as const;
          }),
        )
      : splitsByName(inside);
    return made(chosen.name, new Map(splits));
  }
  // Without a card a configuration can only be a folder, as in the hub's own conversions of scripted data sets.
  const folders = new Set(data.flatMap((file) => (file.includes('/') ? [file.slice(0, file.indexOf('/'))] : [])));
  const [only, ...others] = layout === 'converted' ? folders : [];
  if (layout === 'converted' && configuration === null && others.length > 0 && !folders.has('default'))
    throw new HumanError(
      'bad-input',
      `The data set ${id} has several configurations and no default one: ${[...folders].slice(0, 20).join(', ')}.`,
      { todo: 'Name one as `dataset_name`.' },
    );
  const name = configuration ?? (only !== undefined && !folders.has('default') ? only : 'default');
  if (folders.has(name)) return made(name, splitsByName(data.filter((file) => within(file, name))));
  if (configuration !== null && configuration !== 'default' && layout !== 'own')
    throw new HumanError('bad-input', `The data set ${id} has no configuration "${configuration}".`, {
      todo: `Leave out \`dataset_name\`${folders.size > 0 ? `, or name one of its folders: ${[...folders].slice(0, 20).join(', ')}` : ''}.`,
    });
  return made(name, splitsByName(data));
}

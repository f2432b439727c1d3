/** A file of samples, read twice: once to check every line of it, once to write its items. */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { HumanError } from '../shared/errors.ts';
import type { FilteredMetrics, ItemRecord } from '../shared/results.ts';
import type { Fields } from './foreign.ts';
import type { LmEvalSample } from './lm-eval-samples.ts';
import { type ReadOptions, type Row, readRows } from './rows.ts';
import { isRepeated, planFilters, SampleJudge } from './sample-judge.ts';
import type { ForeignItem } from './to-run.ts';

/** How the rows of a format are read. */
export interface SamplesFormat {
  /** Null where the row belongs to another task. @throws HumanError with the line */
  parse(file: string, row: Row): LmEvalSample | null;
  /** Filters in the order in which rows that name none come. */
  order: readonly string[];
  /** TaskConfig, where it is known. */
  config: Fields;
  /** Rows of this filter have no output, but what the likelihoods chose. */
  likelihoodFilter?: string;
  /** What the format knows of an item beyond its sample. */
  amend?(record: ItemRecord, sample: LmEvalSample): ItemRecord;
}

export interface SamplesFile {
  count: number;
  /** SHA-256 of the file. */
  digest: string;
  notes: string[];
  /** Outputs are in it, and not likelihoods only. */
  generates: boolean;
  read(): AsyncGenerator<ForeignItem[]>;
}

/** Rows that answer kind and metric are taken from. */
const sampleSize = 200;

/** What was seen of a samples file when it was checked. */
interface Scan {
  digest: string;
  documents: number;
  filters: string[];
  first: LmEvalSample[];
  size: number;
  changed: number;
}

/** Checks the file. @returns null where it has no row of the task */
export async function openSamples(
  file: string,
  format: SamplesFormat,
  options: ReadOptions = {},
): Promise<SamplesFile | null> {
  const scan = await check(file, format, options);
  if (scan.documents === 0) return null;
  const plan = planFilters(format.config, scan.filters);
  const first = scan.first.filter((sample) => sample.filter === plan.strict);
  const judge = new SampleJudge(format.config, plan, first);
  const isGenerated =
    plan.strict !== format.likelihoodFilter &&
    (first[0]?.responses[0]?.some((response) => 'text' in response) ?? false);
  const notes = [
    ...(first.length > 0 && first.every(({ values }) => Object.keys(values).every((name) => name === 'bypass'))
      ? ['The files have no verdicts (--predict_only): what is right is decided here, by filters and built-in readers.']
      : []),
    plan.hasPattern
      ? `In the required format: what the filter ${plan.strict} finds.`
      : `No filter of the task looks for a pattern: format is judged by the built-in reader (${judge.answerKind}).`,
    plan.lenient === null ? 'Lenient answers: the built-in reader.' : `Lenient answers: the filter ${plan.lenient}.`,
    ...(first.some(isRepeated)
      ? [
          'Items have several outputs: F, S, K and L are of the first, the metrics of the file of what its filters choose.',
        ]
      : []),
  ];
  return {
    count: scan.documents,
    digest: scan.digest,
    notes: isGenerated ? notes : [],
    generates: isGenerated,
    read: () => read(file, format, judge, scan, options),
  };
}

/** Names the filter of each row: its own, else by how often its document has come. */
function namer(file: string, order: readonly string[]): (sample: LmEvalSample) => LmEvalSample {
  const seen = new Map<number, string[]>();
  return (sample) => {
    const before = seen.get(sample.docId) ?? [];
    const filter = sample.filter ?? order[before.length];
    if (filter === undefined || before.includes(filter))
      throw new HumanError(
        'bad-input',
        `Document ${sample.docId} comes twice${sample.filter ? ` for the filter ${sample.filter}` : ''}: its first row is further up.`,
        {
          place: { file, line: sample.line },
          todo: 'An evaluation appends to a samples file that is there already; take one evaluation of it only.',
        },
      );
    // One list for all documents that have the same rows so far.
    seen.set(sample.docId, shared([...before, filter]));
    return { ...sample, filter };
  };
}

const known = new Map<string, string[]>();
function shared(names: string[]): string[] {
  const key = JSON.stringify(names);
  const found = known.get(key) ?? names;
  known.set(key, found);
  return found;
}

async function check(file: string, format: SamplesFormat, options: ReadOptions): Promise<Scan> {
  const hash = createHash('sha256');
  const documents = new Set<number>();
  const filters = new Set<string>();
  const perFilter = new Map<string, number>();
  const first: LmEvalSample[] = [];
  const { size, mtimeMs } = await statOf(file);
  for await (const samples of samplesOf(file, format, { ...options, hash }))
    for (const sample of samples) {
      const filter = sample.filter ?? 'none';
      documents.add(sample.docId);
      filters.add(filter);
      const count = (perFilter.get(filter) ?? 0) + 1;
      perFilter.set(filter, count);
      if (count <= sampleSize) first.push(sample);
    }
  for (const [filter, count] of perFilter)
    if (count !== documents.size)
      throw new HumanError(
        'bad-input',
        `The filter ${filter} has ${count} rows, but there are ${documents.size} documents: the file is not whole.`,
        { place: { file }, todo: 'Run the evaluation again, or import its results without the samples.' },
      );
  return {
    digest: hash.digest('hex'),
    documents: documents.size,
    filters: [...filters],
    first,
    size,
    changed: mtimeMs,
  };
}

async function statOf(file: string): Promise<{ size: number; mtimeMs: number }> {
  return stat(file).catch((thrown: NodeJS.ErrnoException) => {
    throw new HumanError('missing', `The samples file cannot be read (${thrown.code ?? thrown.message}).`, {
      place: { file },
    });
  });
}

async function* read(
  file: string,
  format: SamplesFormat,
  judge: SampleJudge,
  scan: Scan,
  options: ReadOptions,
): AsyncGenerator<ForeignItem[]> {
  const amended = format.amend ?? ((record: ItemRecord) => record);
  const others = await otherRows(file, format, judge, scan, options);
  for await (const rows of samplesOf(file, format, options))
    yield rows
      .filter(({ filter }) => filter === judge.plan.strict)
      .map((sample) => ({
        record: amended(judge.record(sample, others.get(sample.docId) ?? new Map()), sample),
        golds: judge.goldCores(sample),
      }));
  const now = await statOf(file);
  if (now.size !== scan.size || now.mtimeMs !== scan.changed)
    throw new HumanError('bad-input', `${basename(file)} was changed while it was read.`, {
      place: { file },
      todo: 'Wait until the evaluation has ended, then import it again.',
    });
}

async function* samplesOf(file: string, format: SamplesFormat, options: ReadOptions): AsyncGenerator<LmEvalSample[]> {
  const name = namer(file, format.order);
  for await (const rows of readRows(file, options))
    yield rows.flatMap((row) => {
      const sample = format.parse(file, row);
      return sample ? [name(sample)] : [];
    });
}

/** What the rows of the filters say that are not the strict one, by document. Outputs themselves are not kept. */
async function otherRows(
  file: string,
  format: SamplesFormat,
  judge: SampleJudge,
  scan: Scan,
  options: ReadOptions,
): Promise<Map<number, Map<string, FilteredMetrics>>> {
  const found = new Map<number, Map<string, FilteredMetrics>>();
  if (scan.filters.length < 2) return found;
  for await (const rows of samplesOf(file, format, options))
    for (const sample of rows) {
      const filter = sample.filter ?? 'none';
      if (filter === judge.plan.strict) continue;
      const of = found.get(sample.docId) ?? new Map<string, FilteredMetrics>();
      of.set(filter, judge.metricsOf(filter, sample));
      found.set(sample.docId, of);
    }
  return found;
}

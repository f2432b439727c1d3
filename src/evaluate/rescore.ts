/**
 * Scoring a finished run again, without the model: its outputs and likelihoods are what they are, and the benchmark file
 * as it is now reads and scores them. The result is a run of its own beside the old one.
 */
import { configurationDigests } from '../benchmark/configuration-digests.ts';
import { requestsOf } from '../benchmark/requests.ts';
import type { Benchmark, Item } from '../benchmark/types.ts';
import { missingNotes } from '../metrics/index.ts';
import { HumanError, sentenceOf, throwIfCancelled } from '../shared/errors.ts';
import type { RescoreRequest } from '../shared/protocol.ts';
import { withResponsesNote } from '../shared/response-words.ts';
import type { ItemRecord, RunFile, RunSummary } from '../shared/results.ts';
import { sha256 } from '../system/index.ts';
import type { JobHooks, JobRooms } from './job.ts';
import { predictOnlyNote } from './predict-only.ts';
import { answeredOf, recordOf } from './records.ts';
import type { RunFolder, RunStore } from './run-store.ts';
import { scoringPause } from './scoring-pause.ts';
import { summarise } from './summarise.ts';
import { turn } from './turn.ts';
import { asRun, benchmarkOfRun, type WantedRun } from './wanted-run.ts';

/** Nothing of a model is among them. */
export type RescoreRooms = Pick<JobRooms, 'openBenchmark' | 'openStore' | 'versions'>;

/** Items written together: each write is flushed. */
const chunkItems = 256;
/** Items that a message names. */
const mostNamed = 5;

/**
 * Scores runs again, one new run each, in the order given.
 * @throws HumanError where a run is not finished, or where items cannot be scored again and `skipChanged` is not set; the
 * store is then as it was
 */
export async function rescore(request: RescoreRequest, rooms: RescoreRooms, hooks: JobHooks): Promise<RunSummary[]> {
  const store = rooms.openStore(request.storeFolder);
  const benchmarks = new Map<string, Benchmark>();
  const plans: Plan[] = [];
  // All are looked at before the first is written: nothing is left half done.
  for (const id of request.runs) {
    throwIfCancelled(hooks.signal);
    const old = await store.read(id);
    const file = request.benchmarkFile ?? old.run.benchmark.file;
    hooks.progress({ kind: 'phase', phase: 'loading', mode: old.run.mode, message: 'Reading the benchmark' });
    const benchmark = benchmarks.get(file) ?? (await rooms.openBenchmark(file));
    benchmarks.set(file, benchmark);
    plans.push(await plan(old, benchmark, await store.readItems(id), request.skipChanged, hooks));
  }
  const summaries: RunSummary[] = [];
  for (const each of plans) {
    const summary = await write(each, store, request.group, rooms.versions.softbench, hooks);
    summaries.push(summary);
    hooks.progress({ kind: 'summary', summary });
  }
  return summaries;
}

interface Plan {
  old: RunFolder;
  benchmark: Benchmark;
  /** Items that can be scored again, with what was recorded of them. */
  pairs: { item: Item; record: ItemRecord }[];
  left: Unfit[];
}

/** An item that cannot be scored again, and why. */
interface Unfit {
  index: number;
  reason: string;
}

async function plan(
  old: RunFolder,
  given: Benchmark,
  records: readonly ItemRecord[],
  skipChanged: boolean,
  hooks: JobHooks,
): Promise<Plan> {
  const { run } = old;
  if (run.status !== 'finished')
    throw new HumanError(
      'bad-input',
      `The run "${run.id}" is ${run.status}: only a finished run can be scored again.`,
      {
        todo: 'Resume it first.',
      },
    );
  const benchmark = asRun(run, given);
  checkGeneration(run, benchmark, records);
  const otherwise = asksOtherwise(run, benchmark);
  const items = new Map((await benchmark.items('evaluation')).map((item) => [item.index, item]));
  const pairs: Plan['pairs'] = [];
  const left: Unfit[] = [];
  for (const [number, record] of records.entries()) {
    if (number % chunkItems === 0) {
      await turn();
      throwIfCancelled(hooks.signal);
    }
    const item = items.get(record.index);
    const reason = item ? await whyUnfit(run, benchmark, item, record, otherwise) : 'is not in the data any more';
    if (item && reason === null) pairs.push({ item, record });
    else left.push({ index: record.index, reason: reason ?? '' });
  }
  if (left.length > 0 && (!skipChanged || pairs.length === 0)) throw cannot(run, benchmark, left, records.length);
  return { old, benchmark, pairs, left };
}

/** The item's record with all that depends on scoring made anew. */
function scoredAgain(benchmark: Benchmark, item: Item, record: ItemRecord): ItemRecord {
  const answered = answeredOf(record);
  // What the file asks for no more is in the old run: likelihoods alone have no format, and nothing that was read.
  const outputs = benchmark.generates === false ? [] : answered.outputs.slice(0, benchmark.repeats ?? 1);
  return recordOf(benchmark, item, { ...answered, outputs });
}

/** Other stop markers or another length would have given other outputs. */
function checkGeneration(run: RunFile, benchmark: Benchmark, records: readonly ItemRecord[]): void {
  if (benchmark.generates === false || !records.some(({ generated }) => generated !== false)) return;
  const before = run.settings.generation;
  const now = benchmark.generation;
  const names = { until: 'stop markers', maxNewTokens: 'longest output', temperature: 'temperature' } as const;
  const changed = (Object.keys(names) as (keyof typeof names)[]).filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(now[key]),
  );
  if (changed.length > 0)
    throw new HumanError(
      'bad-input',
      `The run "${run.id}" cannot be scored again: with the benchmark file as it is now its outputs would be others. Changed: ${changed.map((key) => names[key]).join(', ')}.`,
      { place: { file: benchmark.file }, todo: 'Undo that change, or evaluate again.' },
    );
}

/** Why the responses recorded for an item are not those to what would be asked now; null where they are. */
async function whyUnfit(
  run: RunFile,
  benchmark: Benchmark,
  item: Item,
  record: ItemRecord,
  otherwise: boolean,
): Promise<string | null> {
  const { shots } = run.settings;
  const requests = await (benchmark.requests?.(item, shots) ?? requestsOf(benchmark, item, shots));
  const output = requests.find(({ kind }) => kind === 'generate');
  const first = output ?? requests[0];
  if (!first || sha256(first.kind === 'rolling' ? first.text : first.context) !== record.prompt.hash)
    return 'has another prompt';
  const { likelihoods, outputs } = answeredOf(record);
  if (output && outputs.length === 0) return 'needs an output that was not generated';
  if (output && outputs.length < (benchmark.repeats ?? 1)) return 'needs more outputs than were generated';
  const asked = requests.length - (output ? 1 : 0);
  if (asked > likelihoods.length) return 'needs likelihoods that were not computed';
  if (asked === 0) return null;
  const texts = benchmark.choices(item)?.texts;
  if (record.choices && JSON.stringify(texts) !== JSON.stringify(record.choices.texts)) return 'has other candidates';
  if (!record.choices && benchmark.target(item).text !== record.gold) return 'has another text to measure';
  return otherwise ? 'may have been asked about in another way' : null;
}

/** What stands between prompt and candidate is in no record: the keys that decide it must be the same. */
function asksOtherwise(run: RunFile, { configuration }: Benchmark): boolean {
  const { requests: before } = run.benchmark.digests;
  const now = configuration && configurationDigests(configuration).requests;
  return before !== undefined && now !== undefined && before !== now;
}

function cannot(run: RunFile, benchmark: Benchmark, left: readonly Unfit[], all: number): HumanError {
  const reasons = new Map<string, number[]>();
  for (const { index, reason } of left) reasons.set(reason, [...(reasons.get(reason) ?? []), index]);
  const lines = [...reasons].map(([reason, indices]) => `${namesOf(indices)} ${plural(reason, indices.length)}`);
  const some = left.length < all;
  return new HumanError(
    'bad-input',
    `${some ? `${left.length} of the ${all}` : `None of the ${all}`} items of the run "${run.id}" ${some ? 'cannot' : 'can'} be scored again: ${lines.join('; ')}.`,
    {
      place: { file: benchmark.file },
      todo: `Evaluate again: responses that are in the cache are not computed twice.${some ? ' Or leave these items out (--skip-changed).' : ''}`,
    },
  );
}

function namesOf(indices: readonly number[]): string {
  const named = indices.slice(0, mostNamed).join(', ');
  const more = indices.length - mostNamed;
  return `item${indices.length > 1 ? 's' : ''} ${named}${more > 0 ? ` and ${more} more` : ''}`;
}

const plurals: Record<string, string> = { has: 'have', is: 'are', needs: 'need' };
const plural = (reason: string, n: number): string =>
  n > 1 ? reason.replace(/^\w+/, (verb) => plurals[verb] ?? verb) : reason;

async function write(
  { old, benchmark, pairs, left }: Plan,
  store: RunStore,
  group: string,
  version: string,
  hooks: JobHooks,
): Promise<RunSummary> {
  const { run } = old;
  const { mode } = run;
  const writer = await store.create(await describe(old, benchmark, group, version, pairs.length, left));
  try {
    hooks.progress({ kind: 'run', run: writer.run });
    hooks.progress({ kind: 'phase', phase: 'scoring', mode, message: `${mode}: scoring again` });
    const records: ItemRecord[] = [];
    for (let from = 0; from < pairs.length; from += chunkItems) {
      throwIfCancelled(hooks.signal);
      const chunk = pairs
        .slice(from, from + chunkItems)
        .map(({ item, record }) => scoredAgain(benchmark, item, record));
      await Promise.all(chunk.map((record) => writer.appendItem(record)));
      records.push(...chunk);
      const progress = { done: records.length, total: pairs.length, secondsLeft: null };
      hooks.progress({ kind: 'items', run: writer.run.id, mode, ...progress, records: chunk });
      await turn();
    }
    const { seconds = 0, tuningSeconds = 0, bestStep = null, peakMemoryBytes = null, responses } = old.summary ?? {};
    const summary = await summarise(
      benchmark,
      pairs.map(({ item }) => item),
      records,
      { run: writer.run.id, mode, seconds, tuningSeconds, bestStep, peakMemoryBytes, responses },
      undefined,
      scoringPause(hooks, mode),
    );
    await writer.saveSummary(summary);
    const problem = await takeMarks(run.id, writer.run.id, store, pairs, records);
    const notes = [
      ...writer.run.notes,
      ...missingNotes(summary),
      ...(problem === null ? [] : [`Marks of items were not taken over: ${problem}`]),
    ];
    await writer.update({ status: 'finished', notes });
    await writer.close();
    return summary;
  } catch (thrown) {
    // Half of it is of no use, and all of it is made again in a moment.
    await writer.close().catch(() => undefined);
    await store.remove(writer.run.id).catch(() => undefined);
    throw thrown;
  }
}

/**
 * People's marks are of the items, which are the same. One that calls the right answer wrong is of that answer only.
 * @returns why there are none, as a sentence, where the old ones cannot be read: the scores do not hang on them
 */
async function takeMarks(
  from: string,
  to: string,
  store: RunStore,
  pairs: Plan['pairs'],
  records: readonly ItemRecord[],
): Promise<string | null> {
  const sameGold = new Map(pairs.map(({ record }, at) => [record.index, record.gold === records[at]?.gold]));
  try {
    await store.copyMarks(from, to, ({ index, kind }) => {
      const same = sameGold.get(index);
      return same !== undefined && (same || kind !== 'bad gold');
    });
    return null;
  } catch (thrown) {
    return sentenceOf(thrown);
  }
}

async function describe(
  { run, summary }: RunFolder,
  benchmark: Benchmark,
  group: string,
  version: string,
  items: number,
  left: readonly Unfit[],
): Promise<WantedRun> {
  const { id, created: _, updated: __, status: ___, message: ____, predictOnly: _____, ...kept } = run;
  const { generates: ______, ...settings } = run.settings;
  const { softPrompt, softPromptDigest, softPromptFrom } = settings;
  // What was said of its metrics is said anew.
  const outdated = [predictOnlyNote, ...(summary ? missingNotes(summary) : [])];
  const hasSoftPrompt = softPrompt !== null || softPromptDigest !== undefined;
  return {
    ...kept,
    softbench: version,
    group,
    benchmark: await benchmarkOfRun(benchmark, items),
    settings: {
      ...settings,
      softPromptFrom: softPromptFrom ?? (hasSoftPrompt ? id : null),
      ...(benchmark.generates === false && { generates: false as const }),
    },
    rescoredFrom: id,
    notes: [
      ...withResponsesNote(run.notes, null).filter((note) => !outdated.includes(note)),
      `Re-scored from the run ${id}: the outputs are its own; provider, times, tokens and memory are those of that run.`,
      ...(benchmark.generates === false && run.settings.generates !== false
        ? [`The benchmark file asks for likelihoods only: the outputs of the run ${id} are not read.`]
        : []),
      ...(left.length > 0
        ? [`Left out, since what is asked of the model has changed: ${namesOf(left.map(({ index }) => index))}.`]
        : []),
    ],
  };
}

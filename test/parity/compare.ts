/**
 * One run of the harness again, through a whole job of the product, and everything compared: texts, tokens,
 * log-likelihoods, outputs, what each item adds to each metric, and the scores.
 *
 * Near-ties. Two implementations of one network differ in the last digits, so that what is decided by less may be decided
 * otherwise: a generated token whose logit leads by less than 0.005 (then the outputs are equal up to it, and what follows
 * cannot be compared), and a choice whose log-likelihood leads by less than twice the tolerance. They are listed with
 * their margins, and a score they take part in is not compared.
 */
import { join } from 'node:path';
import { chatOf } from '../../src/benchmark/index.ts';
import { PythonRandom } from '../../src/benchmark/python-random.ts';
import type { Benchmark, ItemRequest } from '../../src/benchmark/types.ts';
import { type JobRooms, runJob } from '../../src/evaluate/index.ts';
import type { GenerationResult, LanguageModel } from '../../src/evaluate/language-model.ts';
import { metricScore } from '../../src/metrics/index.ts';
import type { ItemRecord, MetricValue } from '../../src/shared/results.ts';
import { digest, fixtures, type HarnessRun, type RequestTokens, type Sample, textHash } from './runs.ts';

/** Of a log-likelihood, absolute. */
export const tolerance = 1e-3;
/**
 * Of a number that is a sum over a whole text, besides: the harness takes the softmax over the vocabulary in float32, which
 * for 49,152 tokens is 6e-6 nats a token off, always to one side. Of SmolLM2's fifth text PyTorch has -291.89584 in float64,
 * the product -291.89576, the harness -291.89447.
 */
const relativeTolerance = 1e-5;
const within = (expected: number): number => Math.max(tolerance, relativeTolerance * Math.abs(expected));
/** As make-parity.py. */
const bootstrapIterations = 1000;

export interface Finding {
  of: number;
  different: string[];
}

export interface Comparison {
  prompts: Finding;
  tokens: Finding;
  likelihoods: Finding & { worst: number };
  outputs: Finding & { nearTies: string[] };
  verdicts: Finding & { nearTies: string[] };
  scores: Finding;
}

const pythonRandom = (seed: number): (() => number) => {
  const source = new PythonRandom(seed);
  return () => source.random();
};

/** What the job gave to the network. */
interface Seen {
  likelihoods: Map<string, { context: number; continuation: number }>;
  generated: Map<string, GenerationResult>;
}

/** The model, with what it was asked noted. */
function recording(model: LanguageModel, seen: Seen): LanguageModel {
  const asked: Pick<LanguageModel, 'logLikelihood' | 'generate'> = {
    logLikelihood: (requests, settings, hooks) => {
      for (const { context, continuation } of requests)
        seen.likelihoods.set(digest([...context, ...continuation]), {
          context: context.length,
          continuation: continuation.length,
        });
      return model.logLikelihood(requests, settings, hooks);
    },
    generate: (requests, settings, hooks) => {
      const ids = new Map(requests.map(({ index, tokens }) => [index, digest(tokens)]));
      return model.generate(requests, settings, {
        ...hooks,
        onResult: (result) => {
          seen.generated.set(ids.get(result.index) ?? '', result);
          return hooks.onResult(result);
        },
      });
    },
  };
  return new Proxy(model, {
    get(target, name) {
      const value: unknown = name in asked ? Reflect.get(asked, name) : Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

export interface CompareRooms extends Omit<JobRooms, 'openModel'> {
  model: LanguageModel;
  workspace: string;
}

export async function compareRun(run: HarnessRun, rooms: CompareRooms): Promise<Comparison> {
  const seen: Seen = { likelihoods: new Map(), generated: new Map() };
  const benchmarkFile = join(fixtures, 'tasks', `${run.task}.yaml`);
  const opened = await rooms.openBenchmark(benchmarkFile);
  const storeFolder = join(rooms.workspace, `${run.model}-${run.setting}-${run.task}`);
  const [summary] = await runJob(
    {
      benchmarkFile,
      modelFolder: run.model,
      modes: [run.shots > 0 ? 'few-shot' : 'zero-shot'],
      storeFolder,
      group: 'parity',
      reuseFinished: false,
      engine: { executionProvider: 'cpu', threads: 1 },
      overrides: {
        shots: run.shots,
        batchSize: 8,
        limit: run.limit,
        // The generated reading of candidates is ours; the harness has only their likelihoods.
        ...(opened.outputType === 'multiple_choice' && { generate: false as const }),
        ...(run.chat && {
          chat: {
            template: true,
            fewshotAsMultiturn: run.chat.fewshotAsMultiturn,
            ...(run.chat.systemInstruction !== null && { systemInstruction: run.chat.systemInstruction }),
          },
        }),
      },
    },
    { ...rooms, openModel: async () => recording(rooms.model, seen), openBenchmark: async () => opened },
    { signal: new AbortController().signal, progress: () => undefined },
  );
  if (!summary) throw new Error('The job made no run.');
  const store = rooms.openStore(storeFolder);
  // The prompts as the run's own record says how they were written.
  const benchmark = opened.withChat(chatOf((await store.read(summary.run)).run.settings.chat));
  // In the order of the data: a bootstrap depends on it, the file is in the order of finishing.
  const records = (await store.readItems(summary.run)).sort((a, b) => a.index - b.index);
  const items = await benchmark.items('evaluation');
  const requests = new Map<number, readonly ItemRequest[]>();
  for (const item of items) requests.set(item.index, (await benchmark.requests?.(item, run.shots)) ?? []);

  const byItem = new Map(records.map((record) => [record.index, record]));
  const first = firstSamples(run.samples);
  const outputs = compareOutputs(run, first, byItem, seen);
  const verdicts = compareVerdicts(run, byItem, outputs.tied);
  return {
    prompts: comparePrompts(run, first, requests),
    tokens: compareTokens(run, seen),
    likelihoods: compareLikelihoods(run, first, byItem),
    outputs: outputs.finding,
    verdicts: verdicts.finding,
    scores: await compareScores(run, benchmark, records, verdicts.tied),
  };
}

/** One sample an item: the others are of other filters. */
function firstSamples(samples: readonly Sample[]): Map<number, Sample> {
  const first = new Map<number, Sample>();
  for (const sample of samples) if (!first.has(sample.doc_id)) first.set(sample.doc_id, sample);
  return first;
}

/** The texts of a sample's requests. */
const textsOf = (sample: Sample): string[][] =>
  Object.values(sample.arguments).map((given) =>
    Object.values(given).filter((part): part is string => typeof part === 'string'),
  );

function comparePrompts(
  run: HarnessRun,
  first: Map<number, Sample>,
  requests: Map<number, readonly ItemRequest[]>,
): Finding {
  const finding: Finding = { of: 0, different: [] };
  for (const [item, sample] of first) {
    const theirs = textsOf(sample);
    const ours = (requests.get(item) ?? []).map((request) =>
      request.kind === 'rolling'
        ? [request.text]
        : request.kind === 'generate'
          ? [request.context]
          : [request.context, request.continuation],
    );
    if (run.hashed) for (const texts of ours) texts.splice(0, texts.length, ...texts.map(textHash));
    finding.of += theirs.length;
    // Behind likelihoods stands the generated reading, which the harness has not.
    for (const [at, texts] of theirs.entries())
      if (JSON.stringify(ours[at]) !== JSON.stringify(texts))
        finding.different.push(`item ${item}, request ${at}: ${JSON.stringify(texts)} / ${JSON.stringify(ours[at])}`);
  }
  return finding;
}

function compareTokens(run: HarnessRun, seen: Seen): Finding {
  const finding: Finding = { of: 0, different: [] };
  const check = (where: string, ids: string, context: number, continuation: number): void => {
    finding.of++;
    const ours = seen.likelihoods.get(ids);
    if (!ours) finding.different.push(`${where}: ${context} + ${continuation} tokens that were not asked`);
    else if (ours.context !== context || ours.continuation !== continuation)
      finding.different.push(`${where}: ${context} + ${continuation} / ${ours.context} + ${ours.continuation} tokens`);
  };
  for (const request of run.requests) {
    const where = `item ${request.item}, request ${request.request}`;
    if (request.output) {
      finding.of++;
      if (!seen.generated.has(request.ids ?? '')) finding.different.push(`${where}: a prompt that was not asked`);
    } else if (request.windows)
      for (const window of request.windows) check(where, window.ids, window.context, window.continuation);
    else check(where, request.ids ?? '', request.context ?? 0, request.continuation ?? 0);
  }
  return finding;
}

/** Log-likelihood and greedy flag of each request of a sample; a whole text has no flag. */
const likelihoodsOf = (sample: Sample): { sum: number; greedy?: boolean }[] =>
  sample.resps.map((responses) => {
    const [response] = responses;
    if (Array.isArray(response)) return { sum: Number(response[0]), greedy: response[1] === 'True' };
    return { sum: Number(response) };
  });

const generates = (run: HarnessRun): boolean => run.requests.some(({ output }) => output !== undefined);

function compareLikelihoods(
  run: HarnessRun,
  first: Map<number, Sample>,
  records: Map<number, ItemRecord>,
): Comparison['likelihoods'] {
  const finding = { of: 0, different: [] as string[], worst: 0 };
  if (generates(run)) return finding;
  for (const [item, sample] of first) {
    const ours = records.get(item)?.likelihoods ?? [];
    for (const [at, { sum, greedy }] of likelihoodsOf(sample).entries()) {
      finding.of++;
      const mine = ours[at];
      const apart = mine ? Math.abs(mine.sum - sum) : Number.POSITIVE_INFINITY;
      finding.worst = Math.max(finding.worst, apart);
      if (!(apart < within(sum))) finding.different.push(`item ${item}, request ${at}: ${sum} / ${mine?.sum}`);
      else if (greedy !== undefined && mine?.greedy !== greedy)
        finding.different.push(`item ${item}, request ${at}: greedy ${greedy} / ${mine?.greedy}`);
    }
  }
  return finding;
}

function compareOutputs(
  run: HarnessRun,
  first: Map<number, Sample>,
  records: Map<number, ItemRecord>,
  seen: Seen,
): { finding: Comparison['outputs']; tied: Set<number> } {
  const finding = { of: 0, different: [] as string[], nearTies: [] as string[] };
  const tied = new Set<number>();
  const tokens = new Map<number, RequestTokens>(run.requests.map((request) => [request.item, request]));
  if (!generates(run)) return { finding, tied };
  for (const [item, sample] of first) {
    const theirs = (sample.resps[0] as string[] | undefined) ?? [];
    const record = records.get(item);
    const ours = record ? [record.output, ...(record.repeats ?? []).map(({ output }) => output)] : [];
    for (const [at, text] of theirs.entries()) {
      finding.of++;
      if (ours[at] === text) continue;
      const asked = tokens.get(item);
      const mine = seen.generated.get(asked?.ids ?? '')?.tokens ?? [];
      const place = (asked?.output ?? []).findIndex((token, i) => token !== mine[i]);
      const margin = asked?.close?.[place];
      if (margin === undefined)
        finding.different.push(`item ${item}: ${JSON.stringify(text)} / ${JSON.stringify(ours[at])}`);
      else {
        tied.add(item);
        finding.nearTies.push(`item ${item}: token ${place} leads by ${margin.toExponential(1)}`);
      }
    }
  }
  return { finding, tied };
}

/** Are two values of a metric equal? Numbers to the tolerance of the log-likelihoods that they may be. */
function same(theirs: unknown, ours: unknown): boolean {
  // The harness writes probabilities as numpy prints them.
  if (typeof theirs === 'string' && Array.isArray(ours) && /^\[[^,]*\]$/.test(theirs))
    return same(theirs.slice(1, -1).trim().split(/\s+/).map(Number), ours);
  if (Array.isArray(theirs) && Array.isArray(ours))
    return theirs.length === ours.length && theirs.every((part, i) => same(part, ours[i]));
  if (typeof theirs === 'number' && (typeof ours === 'number' || typeof ours === 'boolean'))
    return Math.abs(theirs - Number(ours)) < within(theirs);
  return theirs === ours;
}

/** By how little the likeliest choice leads, where that decides a verdict. */
function leadOf(sample: Sample): number {
  const sums = likelihoodsOf(sample)
    .map(({ sum }) => sum)
    .sort((a, b) => b - a);
  return (sums[0] ?? 0) - (sums[1] ?? Number.NEGATIVE_INFINITY);
}

function compareVerdicts(
  run: HarnessRun,
  records: Map<number, ItemRecord>,
  tiedOutputs: ReadonlySet<number>,
): { finding: Comparison['verdicts']; tied: Set<number> } {
  const finding = { of: 0, different: [] as string[], nearTies: [] as string[] };
  const tied = new Set(tiedOutputs);
  for (const sample of run.samples) {
    const ours = records.get(sample.doc_id)?.metrics?.find(({ filter }) => filter === sample.filter);
    for (const metric of sample.metrics) {
      finding.of++;
      const theirs = sample[metric];
      const mine = ours?.values[metric];
      if (same(theirs, mine) || tiedOutputs.has(sample.doc_id)) continue;
      const lead = generates(run) ? Number.POSITIVE_INFINITY : leadOf(sample);
      const where = `item ${sample.doc_id}, ${metric},${sample.filter}`;
      if (lead < 2 * tolerance) {
        tied.add(sample.doc_id);
        finding.nearTies.push(`${where}: the likeliest choice leads by ${lead.toExponential(1)}`);
      } else finding.different.push(`${where}: ${JSON.stringify(theirs)} / ${JSON.stringify(mine)}`);
    }
  }
  return { finding, tied };
}

async function compareScores(
  run: HarnessRun,
  benchmark: Benchmark,
  records: readonly ItemRecord[],
  tied: ReadonlySet<number>,
): Promise<Finding> {
  const finding: Finding = { of: 0, different: [] };
  if (tied.size > 0) return finding;
  for (const { metric, aggregation, higherIsBetter } of benchmark.metricList ?? [])
    for (const filter of new Set(run.samples.map((sample) => sample.filter))) {
      const theirs = run.results[`${metric},${filter}`];
      if (theirs === undefined) continue;
      const values = records.flatMap((record): MetricValue[] => {
        const value = record.metrics?.find((entry) => entry.filter === filter)?.values[metric];
        return value === undefined ? [] : [value];
      });
      const score = await metricScore(
        { metric, filter, aggregation, higherIsBetter, values },
        pythonRandom,
        bootstrapIterations,
      );
      const check = (what: string, expected: number | string | undefined, found: number | null): void => {
        finding.of++;
        const equal =
          typeof expected === 'number'
            ? // A mean of verdicts is exact; what is made of log-likelihoods has their digits.
              found !== null &&
              Math.abs(found - expected) <= Math.max(run.hashed ? 1e-5 : 1e-9, 1e-4 * Math.abs(expected))
            : found === null;
        if (!equal) finding.different.push(`${metric}${what},${filter}: ${expected} / ${found}`);
      };
      check('', theirs, score.value);
      check('_stderr', run.results[`${metric}_stderr,${filter}`], score.standardError);
    }
  const missing = Object.keys(run.results).filter(
    (key) =>
      key.includes(',') &&
      !key.includes('_stderr') &&
      !benchmark.metricList?.some(({ metric }) => key.startsWith(`${metric},`)),
  );
  finding.different.push(...missing.map((key) => `${key} is not computed`));
  return finding;
}

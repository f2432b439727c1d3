/** From finished items to summary.json. */

import { PythonRandom } from '../benchmark/python-random.ts';
import type { Benchmark, Item } from '../benchmark/types.ts';
import { bigBenchMeasures, bootstrapIterations, mean, metricScore, metricTitle, scores } from '../metrics/index.ts';
import type { ItemRecord, MetricScore, MetricValue, RunSummary } from '../shared/results.ts';
import { bigBenchRow } from './records.ts';

export type SummaryFacts = Pick<
  RunSummary,
  'run' | 'mode' | 'seconds' | 'tuningSeconds' | 'bestStep' | 'peakMemoryBytes' | 'responses'
>;

/** Asked between the steps of what can take minutes, with its name and the share that is done. It may throw. */
export type PauseIn = (what: string, done: number) => Promise<void> | undefined;

/** How many different answers are tried as the constant one; the commonest golds and outputs come first. */
const constantCandidates = 200;

/**
 * Scores of the records; items without a record (a stopped run) do not count.
 * @param iterations bootstrap samples for the standard errors of the benchmark file's metrics; 0: none are computed
 * @param pause between bootstrap samples
 */
export async function summarise(
  benchmark: Benchmark,
  items: readonly Item[],
  records: readonly ItemRecord[],
  facts: SummaryFacts,
  iterations = bootstrapIterations,
  pause?: PauseIn,
): Promise<RunSummary> {
  const itemOf = new Map(items.map((item) => [item.index, item]));
  const known = records.flatMap((record) => {
    const item = itemOf.get(record.index);
    return item ? [{ item, record }] : [];
  });
  const truncated = known.filter(({ record }) => record.truncated).length;
  const generated = known.filter(({ record }) => record.generated !== false);
  const chances = known.flatMap(({ item }) => {
    const choices = benchmark.choices(item);
    return choices ? [bestCount(choices) / choices.texts.length] : [];
  });
  const bigBench =
    benchmark.metrics &&
    bigBenchMeasures(
      benchmark.metrics,
      known.map(({ item, record }) => bigBenchRow(benchmark, item, record)),
    );
  return {
    schema: 1,
    ...facts,
    scores: scores(
      known.map(({ record }) => record),
      {
        constantCandidates: byFrequency([
          // A gold answer counts as answered: as its reader would take it from the gold text, and as the text itself.
          ...generated.flatMap(({ item, record }) => goldAnswers(benchmark, item, record)),
          ...generated.flatMap(({ record }) => (record.lenient.answer === null ? [] : [record.lenient.answer])),
        ]).slice(0, constantCandidates),
        isRight: (position, answer) => {
          const entry = known[position];
          return entry ? benchmark.isRight(entry.item, answer) : false;
        },
        chance: chances.length > 0 ? mean(chances) : null,
      },
    ),
    ...(benchmark.metrics &&
      bigBench && {
        measures: bigBench,
        metrics: Object.fromEntries(
          benchmark.metrics.map((name) => [name, bigBench.find(({ metric }) => metric === name)?.value ?? null]),
        ),
      }),
    ...(benchmark.metricList && { measures: await measures(benchmark, known, iterations, pause) }),
    ...(truncated > 0 && { truncated }),
    promptTokens: known.reduce((sum, { record }) => sum + record.prompt.tokens, 0),
    outputTokens: known.reduce((sum, { record }) => sum + record.outputTokens, 0),
  };
}

const randomOf = (seed: number): (() => number) => {
  const source = new PythonRandom(seed);
  return () => source.random();
};

/** The metrics of the benchmark file by filter, in its order. Items of runs of earlier versions have none. */
async function measures(
  { metricList = [] }: Benchmark,
  known: readonly { record: ItemRecord }[],
  iterations: number,
  pause: PauseIn | undefined,
): Promise<MetricScore[]> {
  const filters = [...new Set(known.flatMap(({ record }) => record.metrics?.map(({ filter }) => filter) ?? []))];
  const found: MetricScore[] = [];
  for (const filter of filters) {
    const values = known.flatMap(({ record }): Record<string, MetricValue>[] => {
      const of = record.metrics?.find((one) => one.filter === filter);
      return of ? [of.values] : [];
    });
    for (const setting of metricList) {
      const column = values.flatMap((row) => (setting.metric in row ? [row[setting.metric] ?? null] : []));
      if (column.length === 0) continue;
      const title = `standard error of ${metricTitle({ metric: setting.metric, filter })}`;
      const between = pause && ((done: number): Promise<void> | undefined => pause(title, done));
      found.push(await metricScore({ ...setting, filter, values: column }, randomOf, iterations, between));
    }
  }
  return found;
}

function goldAnswers(benchmark: Benchmark, item: Item, record: ItemRecord): string[] {
  const read = benchmark.judge(item, record.gold, { reason: 'stop-string' });
  return [read.strict.answer, read.lenient.answer, record.gold].filter((answer) => answer !== null);
}

/** How many of the choices are right. */
const bestCount = ({ scores }: { scores?: readonly number[] }): number =>
  scores ? scores.filter((score) => score === Math.max(...scores)).length : 1;

function byFrequency(answers: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([answer]) => answer);
}

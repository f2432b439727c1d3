/** From finished items to summary.json. */
import type { Benchmark, Item } from '../benchmark/types.ts';
import { bigBenchScores, scores } from '../metrics/index.ts';
import type { ItemRecord, RunSummary } from '../shared/results.ts';

export type SummaryFacts = Pick<
  RunSummary,
  'run' | 'mode' | 'seconds' | 'tuningSeconds' | 'bestStep' | 'peakMemoryBytes' | 'responses'
>;

/** How many different answers are tried as the constant one; the commonest golds and outputs come first. */
const constantCandidates = 200;

/** Scores of the records; items without a record (a stopped run) do not count. */
export function summarise(
  benchmark: Benchmark,
  items: readonly Item[],
  records: readonly ItemRecord[],
  facts: SummaryFacts,
): RunSummary {
  const itemOf = new Map(items.map((item) => [item.index, item]));
  const known = records.flatMap((record) => {
    const item = itemOf.get(record.index);
    return item ? [{ item, record }] : [];
  });
  const chances = known.flatMap(({ item }) => {
    const choices = benchmark.choices(item);
    return choices ? [bestCount(choices) / choices.texts.length] : [];
  });
  return {
    schema: 1,
    ...facts,
    scores: scores(
      known.map(({ record }) => record),
      {
        constantCandidates: byFrequency([
          // A gold answer counts as answered: as its reader would take it from the gold text, and as the text itself.
          ...known.flatMap(({ item, record }) => goldAnswers(benchmark, item, record)),
          ...known.flatMap(({ record }) => (record.lenient.answer === null ? [] : [record.lenient.answer])),
        ]).slice(0, constantCandidates),
        isRight: (position, answer) => {
          const entry = known[position];
          return entry ? benchmark.isRight(entry.item, answer) : false;
        },
        chance: chances.length > 0 ? mean(chances) : null,
      },
    ),
    ...(benchmark.metrics && {
      metrics: Object.fromEntries(
        benchmark.metrics.map((name) => [
          name,
          bigBenchScores.get(name)?.(
            known.map(({ item, record }) => ({ record, references: benchmark.references?.(item) ?? [record.gold] })),
          ) ?? null,
        ]),
      ),
    }),
    promptTokens: known.reduce((sum, { record }) => sum + record.prompt.tokens, 0),
    outputTokens: known.reduce((sum, { record }) => sum + record.outputTokens, 0),
  };
}

function goldAnswers(benchmark: Benchmark, item: Item, record: ItemRecord): string[] {
  const read = benchmark.judge(item, record.gold, { reason: 'stop-string' });
  return [read.strict.answer, read.lenient.answer, record.gold].filter((answer) => answer !== null);
}

/** How many of the choices are right. */
const bestCount = ({ scores }: { scores?: readonly number[] }): number =>
  scores ? scores.filter((score) => score === Math.max(...scores)).length : 1;

const mean = (values: readonly number[]): number => values.reduce((sum, x) => sum + x, 0) / values.length;

function byFrequency(answers: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([answer]) => answer);
}

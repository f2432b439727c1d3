/** Ranks of a leaderboard's models with the ranks that they could have, drawn from the items of their runs. */
import {
  type DrawnScore,
  drawnScores,
  fewestBenchmarks,
  type ItemScores,
  itemScores,
  type RankChoice,
  type RankedModel,
  type RankedPart,
  type RankIntervals,
  rankIntervalSteps,
  rankModels,
} from '../metrics/index.ts';
import type { LeaderboardView } from '../shared/protocol.ts';
import type { ItemRecord, RunFile } from '../shared/results.ts';

export interface RankedModels {
  /** As {@link rankModels} orders them; `likely` stands by those that rank. */
  models: (RankedModel & { likely: { low: number; high: number } | null })[];
  drawn: RankIntervals['drawn'];
}

/** What it needs of a store: the run and its items; null for a run that it has not. */
export interface ItemReader {
  run(id: string): RunFile | null;
  items(id: string): Promise<ItemRecord[]>;
}

/**
 * The scores of items by run and metric, kept: finished runs do not change. Records are read one run at a time and only
 * what they add to the metric is held (16 bytes an item at most).
 */
export class ItemEvidence {
  readonly #kept = new Map<string, Promise<ItemScores | null>>();
  readonly #reader: ItemReader;
  #last: Promise<unknown> = Promise.resolve();

  constructor(reader: ItemReader) {
    this.#reader = reader;
  }

  of({ cell, figure }: RankedPart, metric: string): Promise<ItemScores | null> {
    const key = JSON.stringify([cell.run, metric]);
    const known = this.#kept.get(key);
    if (known) return known;
    const read = this.#last.then(() => this.#read(cell.run, metric, figure.value));
    this.#last = read.catch(() => {});
    this.#kept.set(key, read);
    return read;
  }

  /** Forgets runs that are gone. */
  keep(runs: ReadonlySet<string>): void {
    for (const key of this.#kept.keys()) if (!runs.has((JSON.parse(key) as string[])[0] ?? '')) this.#kept.delete(key);
  }

  async #read(id: string, metric: string, value: number): Promise<ItemScores | null> {
    const run = this.#reader.run(id);
    if (!run) return null;
    // A file that cannot be read leaves the interval to draw from.
    const records = await this.#reader.items(id).catch(() => []);
    const sorted = [...records].sort((a, b) => a.index - b.index);
    const { benchmark } = run;
    const items = JSON.stringify([benchmark.digests.data, benchmark.task, runsOf(sorted.map(({ index }) => index))]);
    return itemScores(sorted, metric, { items, value });
  }
}

/** Numbers as their runs, `0-99,120`: the same numbers give the same text, and a short one. */
function runsOf(numbers: readonly number[]): string {
  const words: string[] = [];
  for (let from = 0; from < numbers.length; ) {
    let to = from;
    while (numbers[to + 1] === (numbers[to] ?? 0) + 1) to++;
    words.push(`${numbers[from]}-${numbers[to]}`);
    from = to + 1;
  }
  return words.join();
}

/**
 * @param evidence null: all is drawn from intervals
 * @param pause waited for between slices of some milliseconds, so that whoever calls stays responsive
 */
export async function rankedModels(
  view: LeaderboardView,
  choice: RankChoice,
  evidence: ItemEvidence | null,
  pause: () => Promise<void> = () => Promise.resolve(),
): Promise<RankedModels> {
  const models = rankModels(view, choice);
  const ranked = models.filter(({ rank }) => rank !== null);
  const items = new Map<RankedPart, DrawnScore['items'] | null>();
  if (evidence && choice.tasks.length < fewestBenchmarks)
    for (const part of ranked.flatMap(({ parts }) => parts)) {
      items.set(part, await evidence.of(part, choice.metric));
      await pause();
    }
  const steps = rankIntervalSteps(
    drawnScores(ranked, (part) => items.get(part) ?? null),
    { higherIsBetter: ranked[0]?.score?.higherIsBetter ?? true },
  );
  for (;;) {
    const step = steps.next();
    if (!step.done) {
      await pause();
      continue;
    }
    const { ranks, drawn } = step.value;
    const likely = new Map(ranked.map(({ model }, at) => [model, ranks[at]]));
    return { models: models.map((one) => ({ ...one, likely: likely.get(one.model) ?? null })), drawn };
  }
}

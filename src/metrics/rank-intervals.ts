/**
 * Ranks that models could as well have: their scores are drawn again many times and ranked each time (bootstrap, Efron
 * 1979; percentile intervals of ranks as Goldstein and Spiegelhalter 1996).
 *
 * On one benchmark, or on fewer than {@link fewestBenchmarks}, items are drawn: the same items for all models that were
 * asked the same ones, so that what is hard for all of them moves nobody. A score without items at hand is drawn from the
 * normal distribution that its 95 % interval stands for, by itself. On more benchmarks the benchmarks are drawn: the ranks
 * then hold for other benchmarks of their kind too.
 */
import { Random } from '../shared/random.ts';
import { normalQuantile } from './intervals.ts';

/** A score that is a sum over items by another one: the numerators and denominators of its items. */
export interface ItemScores {
  /** Equal for runs on the same items in the same order. */
  items: string;
  numerators: ArrayLike<number>;
  /** Null: 1 for each item. */
  denominators: ArrayLike<number> | null;
}

/** A model's score on one benchmark, and what it is drawn from: its items where they are at hand, else its interval. */
export interface DrawnScore {
  value: number;
  low: number;
  high: number;
  items?: ItemScores;
}

export interface RankIntervals {
  /** In the order of the models. */
  ranks: { low: number; high: number }[];
  /** What was drawn. `both`: items of some models, intervals of others. */
  drawn: 'items' | 'intervals' | 'both' | 'benchmarks';
}

export interface RankOptions {
  higherIsBetter: boolean;
  /** Default: 1000. */
  iterations?: number;
  /** Default: 0. */
  seed?: number;
  /** Default: 0.95. */
  confidence?: number;
}

/** With fewer benchmarks than this, drawing them says nothing: they are taken as they are, and their items are drawn. */
export const fewestBenchmarks = 5;

/** Scores nearer than this are equal: means of equal shares may differ in their last bits. */
export const sameScore = 1e-9;

/** Work between two looks at the clock, in item scores. */
const slice = 2_000_000;

/**
 * The same as {@link rankIntervals}, in steps that take some milliseconds: a host goes on with other work in between.
 * @param models by model its scores, one a benchmark, in one order for all; each model has all
 */
export function* rankIntervalSteps(
  models: readonly (readonly DrawnScore[])[],
  { higherIsBetter, iterations = 1000, seed = 0, confidence = 0.95 }: RankOptions,
): Generator<void, RankIntervals, void> {
  const [first = []] = models;
  const random = new Random(seed);
  const byBenchmark = first.length >= fewestBenchmarks;
  const scores = new Float64Array(models.length);
  const draw = byBenchmark ? benchmarkDraws(models, random) : itemDraws(models, random);
  const tally = new RankTally(models.length);
  let work = 0;
  for (let i = 0; i < iterations; i++) {
    work += draw(scores);
    tally.add(scores, higherIsBetter);
    if (work > slice) {
      work = 0;
      yield;
    }
  }
  // The ranks of the scores as they are belong to them, whatever was drawn.
  const asTheyAre = new RankTally(models.length);
  asTheyAre.add(
    Float64Array.from(models, (own) => own.reduce((sum, { value }) => sum + value, 0) / Math.max(1, own.length)),
    higherIsBetter,
  );
  const all = models.flat();
  const withItems = all.filter(({ items }) => items).length;
  return {
    ranks: models.map((_, model) => {
      const { low, high } = tally.interval(model, confidence);
      const own = asTheyAre.interval(model, confidence);
      return { low: Math.min(low, own.low), high: Math.max(high, own.high) };
    }),
    drawn: byBenchmark ? 'benchmarks' : withItems === 0 ? 'intervals' : withItems === all.length ? 'items' : 'both',
  };
}

/** The ranks that each model could have; seeded, so that the same scores give the same ranks. */
export function rankIntervals(models: readonly (readonly DrawnScore[])[], options: RankOptions): RankIntervals {
  const steps = rankIntervalSteps(models, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Fills in a score a model; returns what it took. */
type Draw = (scores: Float64Array) => number;

function benchmarkDraws(models: readonly (readonly DrawnScore[])[], random: Random): Draw {
  const benchmarks = models[0]?.length ?? 0;
  const times = new Uint16Array(benchmarks);
  return (scores) => {
    times.fill(0);
    for (let i = 0; i < benchmarks; i++) {
      const at = random.below(benchmarks);
      times[at] = (times[at] ?? 0) + 1;
    }
    for (const [model, own] of models.entries()) {
      let sum = 0;
      for (let at = 0; at < benchmarks; at++) sum += (times[at] ?? 0) * (own[at]?.value ?? 0);
      scores[model] = sum / benchmarks;
    }
    return models.length * benchmarks;
  };
}

function itemDraws(models: readonly (readonly DrawnScore[])[], random: Random): Draw {
  const z = normalQuantile(0.95);
  // One list of how often each item was drawn, per set of items.
  const sets = new Map<string, { times: Uint16Array; n: number }>();
  for (const { items } of models.flat())
    if (items && !sets.has(items.items)) {
      const n = items.numerators.length;
      sets.set(items.items, { times: new Uint16Array(n), n });
    }
  return (scores) => {
    let work = models.length;
    for (const { times, n } of sets.values()) {
      times.fill(0);
      for (let i = 0; i < n; i++) {
        const at = random.below(n);
        times[at] = (times[at] ?? 0) + 1;
      }
      work += 4 * n;
    }
    for (const [model, own] of models.entries()) {
      let sum = 0;
      for (const score of own) {
        const times = score.items && sets.get(score.items.items)?.times;
        if (score.items && times) {
          sum += drawn(score.items, times);
          work += times.length;
        } else {
          const far = random.normal();
          sum += score.value + (far * (far > 0 ? score.high - score.value : score.value - score.low)) / z;
        }
      }
      scores[model] = sum / Math.max(1, own.length);
    }
    return work;
  };
}

function drawn({ numerators, denominators }: ItemScores, times: Uint16Array): number {
  let [above, below] = [0, 0];
  const n = times.length;
  if (!denominators) {
    for (let at = 0; at < n; at++) above += (times[at] as number) * (numerators[at] as number);
    return above / n;
  }
  for (let at = 0; at < n; at++) {
    const often = times[at] as number;
    above += often * (numerators[at] as number);
    below += often * (denominators[at] as number);
  }
  return above / below;
}

/** How often each model had which rank, at best and at worst where it is tied. */
class RankTally {
  readonly #models: number;
  readonly #best: Uint32Array;
  readonly #worst: Uint32Array;
  #draws = 0;

  constructor(models: number) {
    this.#models = models;
    this.#best = new Uint32Array(models * models);
    this.#worst = new Uint32Array(models * models);
  }

  add(scores: Float64Array, higherIsBetter: boolean): void {
    this.#draws++;
    // Where nothing could be counted (no item of the draw was in the format) the score is the worst.
    const of = (model: number): number => {
      const score = scores[model] as number;
      return Number.isNaN(score) ? Number.NEGATIVE_INFINITY : higherIsBetter ? score : -score;
    };
    const order = Array.from({ length: this.#models }, (_, model) => model).sort((a, b) => of(b) - of(a) || 0);
    for (let from = 0; from < order.length; ) {
      let to = from + 1;
      while (to < order.length && !(of(order[from] as number) - of(order[to] as number) >= sameScore)) to++;
      for (let at = from; at < to; at++) {
        const row = (order[at] as number) * this.#models;
        this.#best[row + from] = (this.#best[row + from] as number) + 1;
        this.#worst[row + to - 1] = (this.#worst[row + to - 1] as number) + 1;
      }
      from = to;
    }
  }

  interval(model: number, confidence: number): { low: number; high: number } {
    const row = model * this.#models;
    const outside = ((1 - confidence) / 2) * this.#draws;
    let low = 0;
    for (let sum = this.#best[row] ?? 0; sum <= outside && low < this.#models - 1; )
      sum += this.#best[row + ++low] ?? 0;
    let high = this.#models - 1;
    for (let sum = this.#worst[row + high] ?? 0; sum <= outside && high > 0; ) sum += this.#worst[row + --high] ?? 0;
    return { low: low + 1, high: high + 1 };
  }
}

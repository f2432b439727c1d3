/** Which examples stand before which item: the draws of lm-evaluation-harness 0.4.13 for the same seed. */
import { equal } from './python.ts';
import { PythonRandom } from './python-random.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * Examples for the items of the evaluated split, in order: the harness draws for one item after the other from one
 * generator, so the examples of item 7 depend on the seven draws before it. Draws are made as they are needed and kept.
 */
export class FewShotSampler {
  private readonly draws = new Map<number, { random: PythonRandom; done: number[][] }>();

  constructor(
    private readonly pool: readonly Row[],
    private readonly items: readonly Row[],
    private readonly options: {
      sampler: 'default' | 'first_n';
      seed: number;
      /** The items are in the pool: an item must not be its own example. */
      leaveOut: boolean;
    },
  ) {}

  /**
   * Positions in the pool of the examples for the item at `index`.
   * @throws RangeError where the pool is too small
   */
  examples(index: number, shots: number): readonly number[] {
    if (shots === 0) return [];
    if (this.options.sampler === 'first_n') return this.firstExamples(this.items[index], shots);
    const state = this.draws.get(shots) ?? { random: new PythonRandom(this.options.seed), done: [] };
    this.draws.set(shots, state);
    while (state.done.length <= index)
      state.done.push(
        this.draw(state.random, shots, this.options.leaveOut ? this.items[state.done.length] : undefined),
      );
    return state.done[index] ?? [];
  }

  /** Examples for a row that is not of the evaluated split (a training item): drawn for its own place, itself left out. */
  examplesForOther(row: Row, index: number, shots: number): readonly number[] {
    if (shots === 0) return [];
    if (this.options.sampler === 'first_n') return this.firstExamples(row, shots);
    return this.draw(new PythonRandom(this.options.seed + index + 1), shots, row);
  }

  private firstExamples(row: Row | undefined, shots: number): number[] {
    const positions = this.others(this.options.leaveOut ? row : undefined);
    if (positions.length < shots) throw new RangeError('too few rows');
    return positions.slice(0, shots);
  }

  private others(row: Row | undefined): number[] {
    const all = this.pool.map((_, position) => position);
    return row ? all.filter((position) => !equal(this.pool[position], row)) : all;
  }

  /** One row more is drawn where the item itself may turn up; copies of the item make a second draw necessary. */
  private draw(random: PythonRandom, shots: number, row: Row | undefined): number[] {
    if (!row) return random.sample(this.pool.length, shots);
    const drawn = random.sample(this.pool.length, shots + 1).filter((position) => !equal(this.pool[position], row));
    if (drawn.length >= shots) return drawn.slice(0, shots);
    const others = this.others(row);
    return random.sample(others.length, shots).map((position) => others[position] ?? 0);
  }
}

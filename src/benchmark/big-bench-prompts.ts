/** Questions and few-shot examples of BIG-bench's JSON tasks: the texts and the draws of `bigbench.api.json_task` 1.0.0. */
import type { BigBenchExample, BigBenchTask } from './big-bench-file.ts';
import { dump, fieldsOf } from './json-document.ts';
import { NumpyRandom } from './numpy-random.ts';

/** BIG-bench orders the choices of every example with this seed, anew for each. */
const choiceSeed = 42;

export interface FormattedExample {
  /** Question with its choices and both prefixes: ends where the answer begins. */
  question: string;
  /** Right answers, at least one; the first is the one that tuning teaches. */
  targets: string[];
}

/** As Python compares texts: by code points, where JavaScript compares halves of surrogate pairs. */
function byCodePoints(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (const [at, character] of left.entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    if (character !== other) return (character.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
  }
  return left.length - right.length;
}

/** Choices with the highest score, in the order of the file. */
export function bestChoices(scores: ReadonlyMap<string, number>): string[] {
  const most = Math.max(...scores.values());
  return [...scores].filter(([, score]) => score === most).map(([choice]) => choice);
}

export function format(task: BigBenchTask, { input, targets, scores }: BigBenchExample): FormattedExample {
  let text = input;
  if (scores && task.appendChoices) {
    const sorted = [...scores.keys()].sort(byCodePoints);
    const order = new NumpyRandom(choiceSeed).permutation(sorted.length);
    for (const at of order) text += task.choicePrefix + (sorted[at] ?? '');
  }
  const first = scores ? bestChoices(scores).slice(0, 1) : [];
  return { question: task.inputPrefix + text + task.outputPrefix, targets: targets ?? first };
}

/**
 * What BIG-bench compares examples by when it leaves an item out of its own examples: the formatted example with all its
 * fields in their order, numbers by value.
 */
function identity({ node }: BigBenchExample, { question, targets }: FormattedExample): string {
  const fields = new Map([...fieldsOf(node)].map(([key, value]) => [key, dump(value, true)]));
  fields.set('input', JSON.stringify(question));
  fields.set('target', JSON.stringify(targets));
  const choices = fieldsOf(node).get('target_scores');
  if (choices) fields.set('choice', JSON.stringify([...fieldsOf(choices).keys()]));
  return JSON.stringify([...fields]);
}

/** Draws between which the event loop gets its turn. */
const drawsInOneGo = 1 << 22;

/**
 * Few-shot examples of all items. BIG-bench shuffles the items, then draws for one after the other from one generator:
 * first the examples, then which of each one's right answers is shown. Made as far as they are asked for, and kept.
 */
export class BigBenchShots {
  private readonly formatted: readonly FormattedExample[];
  private readonly identities: readonly number[];
  private readonly draws = new Map<number, Promise<Draws>>();

  constructor(
    examples: readonly BigBenchExample[],
    formatted: readonly FormattedExample[],
    private readonly seed: number,
  ) {
    this.formatted = formatted;
    const known = new Map<string, number>();
    this.identities = examples.map((example, at) => {
      const key = identity(example, formatted[at] ?? { question: '', targets: [] });
      const found = known.get(key) ?? known.size;
      known.set(key, found);
      return found;
    });
  }

  /**
   * The examples before the item at `position` of all: question and answer of each, in order.
   * @throws RangeError where there are too few others
   */
  async examples(position: number, shots: number): Promise<Shown[]> {
    const state = this.draws.get(shots) ?? Promise.resolve(this.start());
    const drawn = state.then((draws) => this.drawUpTo(draws, position, shots));
    // The next caller goes on where this one ends; after an error it begins anew.
    this.draws.set(shots, drawn);
    drawn.catch(() => this.draws.delete(shots));
    return (await drawn).done.get(position) ?? [];
  }

  private start(): Draws {
    const random = new NumpyRandom(this.seed);
    return { random, order: random.permutation(this.formatted.length), done: new Map() };
  }

  private async drawUpTo(draws: Draws, position: number, shots: number): Promise<Draws> {
    let since = 0;
    while (!draws.done.has(position)) {
      const at = draws.order[draws.done.size];
      if (at === undefined) throw new Error(`There is no example ${position}.`);
      const others: number[] = [];
      for (const [other, identity] of this.identities.entries())
        if (identity !== this.identities[at]) others.push(other);
      const shown = draws.random.choose(others.length, shots).map((chosen) => {
        const { question, targets } = this.formatted[others[chosen] ?? 0] ?? { question: '', targets: [] };
        return { question, answer: targets[draws.random.chooseOne(targets.length)] ?? '' };
      });
      draws.done.set(at, shown);
      since += others.length;
      if (since > drawsInOneGo) {
        since = 0;
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    return draws;
  }
}

/** A few-shot example: question and the answer that is shown. */
interface Shown {
  question: string;
  answer: string;
}

interface Draws {
  random: NumpyRandom;
  /** Positions of the examples in the order in which BIG-bench goes through them. */
  order: Uint32Array;
  done: Map<number, Shown[]>;
}

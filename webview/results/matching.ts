/**
 * Which rows match a filter. Each condition's answer is kept, one byte a row: while somebody types, all conditions but the
 * last are known already, and a longer word is looked for only where its beginning was found. Long work is done in pieces.
 */
import type { Compiled, Condition } from './filter.ts';
import type { RowTable } from './rows.ts';

interface Answer {
  bits: Uint8Array;
  /** Rows from 0 that have been looked at. */
  done: number;
  /** Length of the table when the answer was made; answers that depend on other rows are good for that one only. */
  length: number;
  condition: Condition;
}

export interface Matches {
  bits: Uint8Array;
  known: number;
}

const kept = 64;
/** Rows tested between two looks at the clock. */
const step = 2000;
/** A word is looked for row by row where at most one row in so many can have it. */
const few = 20;

export class Matcher {
  readonly #answers = new Map<string, Answer>();
  #generation = -1;
  #marks: unknown = null;

  constructor(private readonly table: RowTable) {}

  /**
   * @param isLate asked now and then: true breaks off, and what was found so far is kept for the next call
   * @returns a byte for each row, 1 where it matches, and how many rows, from the first on, are known by now
   */
  match(root: Compiled, isLate: () => boolean = () => false): Matches {
    const { generation, itemMarks } = this.table;
    if (this.#generation !== generation || this.#marks !== itemMarks) {
      this.#answers.clear();
      this.#generation = generation;
      this.#marks = itemMarks;
    }
    return this.#of(root, isLate);
  }

  #of(part: Compiled, isLate: () => boolean): Matches {
    const { length } = this.table;
    if (part.kind === 'condition') return this.#answer(part.condition, isLate);
    if (part.kind === 'not') {
      const { bits: inside, known } = this.#of(part.part, isLate);
      const bits = new Uint8Array(length);
      for (let id = 0; id < length; id++) bits[id] = 1 - (inside[id] ?? 0);
      return { bits, known };
    }
    const isAnd = part.kind === 'and';
    const result = { bits: new Uint8Array(length).fill(isAnd ? 1 : 0), known: length };
    for (const one of part.parts) {
      const { bits, known } = this.#of(one, isLate);
      result.known = Math.min(result.known, known);
      const own = result.bits;
      if (isAnd) for (let id = 0; id < length; id++) own[id] = (own[id] ?? 0) & (bits[id] ?? 0);
      else for (let id = 0; id < length; id++) own[id] = (own[id] ?? 0) | (bits[id] ?? 0);
    }
    return result;
  }

  #answer(condition: Condition, isLate: () => boolean): Matches {
    const { length } = this.table;
    let answer = this.#answers.get(condition.id);
    if (!answer || (condition.acrossRuns && answer.length !== length))
      answer = { bits: new Uint8Array(length), done: 0, length, condition };
    // Used last, dropped last.
    this.#answers.delete(condition.id);
    this.#answers.set(condition.id, answer);
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= kept) break;
      this.#answers.delete(oldest);
    }
    if (answer.bits.length < length) {
      const larger = new Uint8Array(Math.max(length, 2 * answer.bits.length));
      larger.set(answer.bits);
      answer.bits = larger;
    }
    answer.length = length;
    this.#fill(answer, isLate);
    return { bits: answer.bits, known: answer.done };
  }

  /** Looks at the rows that have not been looked at, as far as there is time. */
  #fill(answer: Answer, isLate: () => boolean): void {
    const { condition, bits } = answer;
    const { length } = this.table;
    if (answer.done >= length) return;
    const candidates = this.#candidates(condition);
    if (condition.needle && !candidates) {
      const folded = this.table.fold(isLate);
      const { text, field } = condition.needle;
      this.table.find(text, field, bits, answer.done, folded);
      answer.done = Math.max(answer.done, folded);
      return;
    }
    const test = condition.test(this.table);
    while (answer.done < length) {
      if (isLate()) return;
      const to = Math.min(length, answer.done + step);
      for (let id = answer.done; id < to; id++) bits[id] = (!candidates || candidates[id]) && test(id) ? 1 : 0;
      answer.done = to;
    }
  }

  /** Rows that can have a word: those where a part of it was found, if that was looked for and they are few. */
  #candidates({ needle }: Condition): Uint8Array | null {
    if (!needle) return null;
    let best: { bits: Uint8Array; found: number } | null = null;
    for (const { bits, done, condition } of this.#answers.values()) {
      const other = condition.needle;
      if (!other || other.text === '' || done < this.table.length || !needle.text.includes(other.text)) continue;
      if (other.field !== null && other.field !== needle.field) continue;
      let found = 0;
      for (let id = 0; id < this.table.length; id++) found += bits[id] ?? 0;
      if (found * few <= this.table.length && (!best || found < best.found)) best = { bits, found };
    }
    return best?.bits ?? null;
  }
}

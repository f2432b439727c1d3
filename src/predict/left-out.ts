/** Counts what is not used, by reason, so that nothing is dropped without a line that says so. */
import type { LeftOut } from './types.ts';

const shownExamples = 3;

export class LeftOutCounter {
  private readonly reasons = new Map<string, LeftOut>();

  /**
   * @param reason as the end of a sentence: `scores that are no numbers`
   * @param example a place or a name; the first three different ones are kept
   */
  add(reason: string, example: string, count = 1): void {
    let line = this.reasons.get(reason);
    if (!line) {
      line = { reason, count: 0, examples: [] };
      this.reasons.set(reason, line);
    }
    line.count += count;
    if (line.examples.length < shownExamples && !line.examples.includes(example)) line.examples.push(example);
  }

  /** Adds what another table left out. */
  addAll(lines: readonly LeftOut[]): void {
    for (const { reason, count, examples } of lines) {
      const line = this.reasons.get(reason) ?? { reason, count: 0, examples: [] };
      line.count += count;
      line.examples = [...new Set([...line.examples, ...examples])].slice(0, shownExamples);
      this.reasons.set(reason, line);
    }
  }

  list(): LeftOut[] {
    return [...this.reasons.values()].map((line) => ({ ...line, examples: [...line.examples] }));
  }
}

/** What became of a run's batch size: the rows that were found for `auto`, and those that memory left. */
import type { RunWriter } from './run-store.ts';

type Kind = 'outputs' | 'likelihoods';

const noteOf = (of: Kind, rows: number): string =>
  `Memory ran out: ${of} were computed ${rows} at a time from then on. Results do not depend on it.`;

export class BatchRows {
  readonly #rows: { [kind in Kind]?: number } = {};
  readonly #lowered = new Set<Kind>();

  constructor(private readonly writer: RunWriter) {}

  /** The most that were computed together; after memory ran out, the fewest. */
  note(of: Kind, rows: number, lowered: boolean): void {
    if (lowered) this.#lowered.add(of);
    const before = this.#rows[of] ?? rows;
    this.#rows[of] = this.#lowered.has(of) ? Math.min(before, rows) : Math.max(before, rows);
  }

  /** Writes them into the run, where they are not what was asked for. */
  async record(): Promise<void> {
    const { settings, notes } = this.writer.run;
    if (settings.batchSize !== 'auto' && !this.#lowered.size) return;
    if (!Object.keys(this.#rows).length) return;
    const all = [...this.#lowered].map((of) => noteOf(of, this.#rows[of] ?? 1));
    await this.writer.update({
      settings: { ...settings, batchRows: { ...this.#rows } },
      ...(all.length && { notes: [...new Set([...notes, ...all])] }),
    });
  }
}

/** What a run reports while it is on: how long it will take, and items in handfuls. */
import type { ItemRecord } from '../shared/results.ts';

/** Seconds left from the pace since this process began; what took no time does not count: items of before, or cached. */
export class Pace {
  private readonly started = performance.now();
  #cached = 0;
  /** @param before items that were finished before */
  constructor(private readonly before: number) {}

  /** An item came without being computed. */
  skip(): void {
    this.#cached++;
  }

  /** Items that came so. */
  get cached(): number {
    return this.#cached;
  }

  secondsLeft(done: number, total: number): number | null {
    const own = done - this.before - this.#cached;
    return own < 1 ? null : ((total - done) * (performance.now() - this.started)) / 1000 / own;
  }
}

/** Sends finished items on a few times a second, not one message each. */
export class RecordFlow {
  private readonly waiting: ItemRecord[] = [];
  private last = 0;
  private done = 0;
  private total = 0;
  constructor(private readonly send: (records: ItemRecord[], done: number, total: number) => void) {}

  add(record: ItemRecord, done: number, total: number): void {
    this.waiting.push(record);
    this.done = done;
    this.total = total;
    if (performance.now() - this.last > 200) this.flush();
  }

  flush(): void {
    if (this.waiting.length === 0) return;
    this.last = performance.now();
    this.send(this.waiting.splice(0), this.done, this.total);
  }
}

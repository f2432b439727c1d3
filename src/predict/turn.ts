/** Long computations let timers, messages and a wish to stop come in between: loops of awaited steps, and generators of steps. */
import { openPace, type Pace, throwIfStopped } from './learn/pace.ts';
import type { Configuration, FittedPredictor } from './types.ts';

/** To be awaited in a loop: it returns to the loop at once most of the time, and throws CancelledError after a stop. */
export type Turn = () => Promise<void>;

export function turns(signal?: AbortSignal): Turn {
  const pace = openPace(signal);
  return async () => {
    throwIfStopped(signal);
    if (pace.due()) await pace.pause();
  };
}

export const turnsAt =
  (pace: Pace): Turn =>
  async () => {
    if (pace.due()) await pace.pause();
  };

/** A computation in steps of a few milliseconds at most: whoever runs it decides whether others have a turn between them. */
export type Steps<Result> = Generator<undefined, Result>;

/** Runs all steps without a break. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Runs the steps, with turns of others between them. */
export async function inTurns<Result>(steps: Steps<Result>, turn: Turn): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await turn();
  }
}

/** Entries of a list that a step goes over, where each takes a microsecond or two. */
const entriesOfStep = 2000;

/** The entries with their positions, and a step after every so many of them: `yield* stepwise(list, (entry, at) => …)`. */
export function* stepwise<Entry>(list: Iterable<Entry>, each: (entry: Entry, at: number) => void): Steps<void> {
  let at = 0;
  for (const entry of list) {
    each(entry, at);
    at++;
    if (at % entriesOfStep === 0) yield;
  }
}

/** Sorts a copy: parts of it, and then two parts at a time into one. Equal entries keep their order. */
export function* sortSteps<Entry>(list: readonly Entry[], compare: (a: Entry, b: Entry) => number): Steps<Entry[]> {
  let parts: Entry[][] = [];
  for (let from = 0; from < list.length; from += entriesOfStep) {
    parts.push(list.slice(from, from + entriesOfStep).sort(compare));
    yield;
  }
  while (parts.length > 1) {
    const merged: Entry[][] = [];
    for (let at = 0; at < parts.length; at += 2)
      merged.push(yield* mergeSteps(parts[at] as Entry[], parts[at + 1] ?? [], compare));
    parts = merged;
  }
  return parts[0] ?? [];
}

function* mergeSteps<Entry>(a: Entry[], b: Entry[], compare: (a: Entry, b: Entry) => number): Steps<Entry[]> {
  const out: Entry[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    out.push(compare(a[i] as Entry, b[j] as Entry) <= 0 ? (a[i++] as Entry) : (b[j++] as Entry));
    if (out.length % entriesOfStep === 0) yield;
  }
  for (; i < a.length; i++) out.push(a[i] as Entry);
  for (; j < b.length; j++) out.push(b[j] as Entry);
  return out;
}

/** Configurations that are predicted between two turns: fewer where they take long. */
const most = 256;
/** Milliseconds that are aimed at. */
const wanted = 5;

/** What `predict` answers, a part at a time. */
export async function predictInTurns(
  fitted: FittedPredictor,
  configurations: readonly Configuration[],
  turn: Turn,
): Promise<Float64Array> {
  const out = new Float64Array(configurations.length);
  let count = 1;
  for (let from = 0; from < configurations.length; ) {
    await turn();
    const begun = performance.now();
    out.set(fitted.predict(configurations.slice(from, from + count)), from);
    from += count;
    const taken = performance.now() - begun;
    if (taken < wanted) count = Math.min(most, 2 * count);
    else if (taken > 2 * wanted) count = Math.max(1, Math.floor(count / 4));
  }
  return out;
}

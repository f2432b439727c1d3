/**
 * What a decoder graph can do, where nothing in its inputs tells: found out on a few tokens, by comparing with what it
 * gives for the whole text at once.
 */
import { HumanError } from '../shared/errors.ts';
import type { KeyValueCache, Prefix } from './cache.ts';
import type { RunOptions } from './decoder.ts';
import type { Distribution, Wanted } from './run-tensors.ts';

type Tokens = readonly number[];

/** A decoder as trials use it. */
export interface Tried {
  /** One run of the session, new tokens of rows from `from` on. */
  run(
    cache: KeyValueCache | null,
    from: number,
    tokens: readonly Tokens[],
    wanted: readonly Wanted[],
    options: RunOptions,
  ): Promise<Distribution[]>;
  newCache(rows: number, longest: number, prefix: Prefix | null, exact?: boolean): KeyValueCache;
  vocabularySize: number;
  /** How far logits of the same text may be apart: more in half precision. */
  tolerance: number;
}

/** Several new tokens behind a cache: in a batch of rows, in one row at a time, or token by token. */
export type Continuing = 'batch' | 'row' | 'token';

const all = { logits: true };
/** Runs that may well fail. */
const quietly = { logits: true, quiet: true };

const someTokens = ({ vocabularySize }: Tried, count: number): number[] =>
  Array.from({ length: count }, (_, at) => (at + 1) % vocabularySize);

function sameLogits(expected: Distribution | undefined, found: Distribution | undefined, tolerance: number): boolean {
  return (
    expected?.logits?.every((logit, index) => Math.abs(logit - (found?.logits?.[index] ?? Number.NaN)) <= tolerance) ??
    false
  );
}

/** False where ONNX Runtime refuses: its word that shapes do not fit. */
async function unlessRefused(trial: () => Promise<boolean>): Promise<boolean> {
  try {
    return await trial();
  } catch (error) {
    if (error instanceof HumanError) return false;
    throw error;
  }
}

/** Whether a graph reads a text at once, and in two pieces, as another one does that knows no cache. */
export async function readsLike(tried: Tried, other: Tried): Promise<boolean> {
  const tokens = someTokens(tried, 7);
  const [begin, end] = [tokens.slice(0, 4), tokens.slice(4)];
  const each = (list: Tokens): Wanted[] => list.map((_, position) => ({ row: 0, position }));
  const expected = await other.run(null, 0, [tokens], each(tokens), all);
  return unlessRefused(async () => {
    const whole = await tried.run(null, 0, [tokens], each(tokens), quietly);
    const cache = tried.newCache(1, tokens.length, null);
    cache.addRow();
    const first = await tried.run(cache, 0, [begin], each(begin), quietly);
    const second = await tried.run(cache, 0, [end], each(end), quietly);
    const pieces = [...first, ...second];
    return expected.every((logits, at) =>
      [whole[at], pieces[at]].every((found) => sameLogits(logits, found, tried.tolerance)),
    );
  });
}

/** Whether one token behind a few others gets the same logits behind as many unused places as make up `columns`. */
export async function ignoresUnused(tried: Tried, columns: number): Promise<boolean> {
  const tokens = someTokens(tried, 5);
  const next = async (capacity: number): Promise<Distribution | undefined> => {
    // An exact cache has as many places as are asked for, not a few more.
    const cache = tried.newCache(1, capacity + 1, null, true);
    cache.addRow();
    await tried.run(cache, 0, [tokens], [], {});
    cache.reserve(capacity);
    const [distribution] = await tried.run(cache, 0, [tokens.slice(-1)], [{ row: 0, position: 0 }], quietly);
    return distribution;
  };
  const expected = await next(tokens.length);
  const found = await next(Math.max(columns - 1, tokens.length)).catch(() => undefined);
  return sameLogits(expected, found, tried.tolerance);
}

/**
 * Whether attention over a shared prefix gives what attention over the whole gives: the edit recognises attention by its
 * form, and a graph may add something to its scores that only looks like a mask.
 */
export async function sharesAttention(tried: Tried): Promise<boolean> {
  const tokens = someTokens(tried, 7);
  const [begin, last] = [tokens.slice(0, 5), tokens.slice(5)];
  const wanted = [{ row: 0, position: last.length - 1 }];
  const whole = tried.newCache(1, tokens.length, null);
  whole.addRow();
  await tried.run(whole, 0, [begin], [], {});
  const [expected] = await tried.run(whole, 0, [last], wanted, all);
  const beginning = tried.newCache(1, begin.length, null);
  beginning.addRow();
  await tried.run(beginning, 0, [begin], [], {});
  beginning.trim();
  const shared = tried.newCache(1, tokens.length, { cache: beginning, shared: true });
  shared.addRow();
  const [found] = await tried.run(shared, 0, [last], wanted, all);
  return sameLogits(expected, found, tried.tolerance);
}

/**
 * How several new tokens are read behind a cache, tried in rows with unlike numbers of them: ONNX Runtime's
 * GroupQueryAttention takes several tokens behind a past in batches of one row only, and the masks of some exporters fit
 * either a whole prompt or one token.
 */
export async function howItContinues(tried: Tried): Promise<Continuing> {
  const tokens = someTokens(tried, 7);
  const [begin, end] = [tokens.slice(0, 4), tokens.slice(4)];
  const places = end.map((_, position) => ({ row: 0, position: begin.length + position }));
  const expected = await tried.run(null, 0, [tokens], places, all);
  // Where activations are quantised as they come, logits depend on what is read together: by how much, steps tell.
  const steps = tried.newCache(1, tokens.length, null, true);
  steps.addRow();
  await tried.run(steps, 0, [begin], [], {});
  let noise = 0;
  for (const [at, token] of end.entries()) {
    const [step] = await tried.run(steps, 0, [[token]], [{ row: 0, position: 0 }], all);
    for (const [id, logit] of (step?.logits ?? []).entries())
      noise = Math.max(noise, Math.abs(logit - (expected[at]?.logits?.[id] ?? 0)));
  }
  const tolerance = Math.max(tried.tolerance, 4 * noise);
  const works = (rows: readonly Tokens[]): Promise<boolean> =>
    unlessRefused(async () => {
      const cache = tried.newCache(rows.length, tokens.length, null, true);
      for (const _ of rows) cache.addRow();
      const begins = rows.map(() => begin);
      const wanted = rows.map(({ length }, row) => ({ row, position: length - 1 }));
      await tried.run(cache, 0, begins, [], {});
      const found = await tried.run(cache, 0, rows, wanted, quietly);
      return rows.every(({ length }, row) => sameLogits(expected[length - 1], found[row], tolerance));
    });
  if (await works([end, end.slice(0, 1)])) return 'batch';
  return (await works([end])) ? 'row' : 'token';
}

/**
 * Whether a device computes what the CPU computes, on a few tokens of the model itself: providers have kernels that are
 * wrong for some graphs or some batches without a word, and a score from them would look like the model's.
 */
import { HumanError } from '../shared/errors.ts';
import type { KeyValueCache } from './cache.ts';
import type { Distribution, Wanted } from './run-tensors.ts';

/** A decoder, as the check uses it. */
export interface Checked {
  readonly cached: boolean;
  newCache(rows: number, longest: number): KeyValueCache;
  read(
    cache: KeyValueCache | null,
    from: number,
    tokens: readonly (readonly number[])[],
    wanted: readonly Wanted[],
    options?: { logits?: boolean },
  ): Promise<Distribution[]>;
}

/** Relative L2 difference of logits that half precision and another order of sums explain. */
const largestDifference = 0.03;

/** Past the blocks that attention kernels work in: one was right for 16 positions and wrong for 32. */
const lengths = [7, 40];

/**
 * `batch`: rows of different lengths are right together. `alone`: only rows of one length are.
 * @throws HumanError('engine') where not even one row by itself is
 */
export async function compareWithCpu(
  device: Checked,
  cpu: Checked,
  {
    provider,
    vocabularySize,
    contextLength,
  }: { provider: string; vocabularySize: number; contextLength: number | null },
): Promise<'batch' | 'alone'> {
  const rows = lengths.map((length, row) =>
    Array.from(
      { length: Math.min(length, contextLength ?? length) },
      (_, at) => (3 + 7 * at + 11 * row) % vocabularySize,
    ),
  );
  const each = (list: readonly (readonly number[])[]): Wanted[] =>
    list.flatMap((row, index) => row.map((_, position) => ({ row: index, position })));
  const all = { logits: true };
  const expected = await cpu.read(null, 0, rows, each(rows), all);
  let start = 0;
  let worst = 0;
  for (const row of rows) {
    const found = await device.read(null, 0, [row], each([row]), all);
    worst = Math.max(worst, farthest(found, expected.slice(start, start + row.length)));
    start += row.length;
  }
  const last = rows.at(-1) ?? [];
  if (device.cached && last.length > 1) {
    const cache = device.newCache(1, last.length);
    cache.addRow();
    await device.read(cache, 0, [last.slice(0, -1)], []);
    const found = await device.read(cache, 0, [last.slice(-1)], [{ row: 0, position: 0 }], all);
    worst = Math.max(worst, farthest(found, expected.slice(-1)));
  }
  if (!(worst <= largestDifference))
    throw new HumanError(
      'engine',
      `The execution provider "${provider}" computes this model wrongly: its logits for a short text differ from the CPU's by ${worst.toPrecision(2)} of their length.`,
      { todo: 'Run it on the CPU (--provider cpu), and report the model and the provider.' },
    );
  const together = await device.read(null, 0, rows, each(rows), all);
  return farthest(together, expected) <= largestDifference ? 'batch' : 'alone';
}

/** The largest relative L2 difference of two lists of logits; infinite where one is missing or not a number. */
function farthest(found: readonly Distribution[], expected: readonly Distribution[]): number {
  let worst = 0;
  for (const [index, { logits }] of expected.entries()) {
    const other = found[index]?.logits;
    if (!logits || !other) return Number.POSITIVE_INFINITY;
    let [difference, length] = [0, 0];
    for (const [token, value] of logits.entries()) {
      difference += ((other[token] ?? Number.NaN) - value) ** 2;
      length += value ** 2;
    }
    const relative = Math.sqrt(difference / Math.max(length, Number.MIN_VALUE));
    worst = Math.max(worst, Number.isFinite(relative) ? relative : Number.POSITIVE_INFINITY);
  }
  return worst;
}

/** Items as the results page lists them: without what only the details of one show, and packed for messages. */
import type { FailureCause } from './failure-causes.ts';
import type { ItemRow } from './protocol.ts';
import type { ItemRecord, StopReason } from './results.ts';

/** Copies what the table needs. */
export function rowOf({
  schema: _schema,
  prompt: _prompt,
  metrics: _metrics,
  repeats: _repeats,
  ...row
}: ItemRecord): ItemRow {
  return row;
}

/** What few items have. */
type Rare = Pick<ItemRow, 'choices' | 'likelihoods' | 'truncated'>;

/**
 * Rows by columns: a message with a list of objects takes four times as long to copy, and each copy of the editor's many
 * would hold the names of all members again for each row.
 */
export interface PackedRows {
  index: number[];
  output: string[];
  outputTokens: number[];
  gold: string[];
  /** Bits, see {@link bits}. */
  verdicts: number[];
  cause: (FailureCause | null)[];
  stop: StopReason[];
  marker: (string | null)[];
  strict: (string | null)[];
  lenient: (string | null)[];
  /** Start and end of the strict reading, then of the lenient one; -1 where there is none. */
  spans: number[];
  rare: { at: number; values: Rare }[];
}

const bits = { inFormat: 1, right: 2, lenientRight: 4, notGenerated: 8, notScored: 16 };

export function packRows(records: readonly ItemRow[]): PackedRows {
  const bit = (is: boolean, value: number): number => (is ? value : 0);
  return {
    index: records.map(({ index }) => index),
    output: records.map(({ output }) => output),
    outputTokens: records.map(({ outputTokens }) => outputTokens),
    gold: records.map(({ gold }) => gold),
    verdicts: records.map(
      ({ inFormat, right, lenientRight, generated, scored }) =>
        bit(inFormat, bits.inFormat) |
        bit(right, bits.right) |
        bit(lenientRight, bits.lenientRight) |
        bit(generated === false, bits.notGenerated) |
        bit(scored === false, bits.notScored),
    ),
    cause: records.map(({ cause }) => cause),
    stop: records.map(({ stop }) => stop.reason),
    marker: records.map(({ stop }) => stop.marker ?? null),
    strict: records.map(({ strict }) => strict.answer),
    lenient: records.map(({ lenient }) => lenient.answer),
    spans: records.flatMap(({ strict, lenient }) => [...(strict.span ?? [-1, -1]), ...(lenient.span ?? [-1, -1])]),
    rare: records.flatMap(({ choices, likelihoods, truncated }, at) =>
      choices || likelihoods || truncated !== undefined
        ? [
            {
              at,
              values: {
                ...(choices && { choices }),
                ...(likelihoods && { likelihoods }),
                ...(truncated !== undefined && { truncated }),
              },
            },
          ]
        : [],
    ),
  };
}

export function unpackRows(packed: PackedRows): ItemRow[] {
  const spanAt = (place: number): [number, number] | null => {
    const [start = -1, end = -1] = [packed.spans[place], packed.spans[place + 1]];
    return start < 0 ? null : [start, end];
  };
  const rows = packed.index.map((index, at): ItemRow => {
    const verdicts = packed.verdicts[at] ?? 0;
    const marker = packed.marker[at] ?? null;
    const reason = packed.stop[at] ?? 'eos';
    const row: ItemRow = {
      index,
      output: packed.output[at] ?? '',
      outputTokens: packed.outputTokens[at] ?? 0,
      stop: marker === null ? { reason } : { reason, marker },
      gold: packed.gold[at] ?? '',
      strict: { answer: packed.strict[at] ?? null, span: spanAt(4 * at) },
      lenient: { answer: packed.lenient[at] ?? null, span: spanAt(4 * at + 2) },
      inFormat: (verdicts & bits.inFormat) !== 0,
      right: (verdicts & bits.right) !== 0,
      lenientRight: (verdicts & bits.lenientRight) !== 0,
      cause: packed.cause[at] ?? null,
    };
    if (verdicts & bits.notGenerated) row.generated = false;
    if (verdicts & bits.notScored) row.scored = false;
    return row;
  });
  for (const { at, values } of packed.rare) Object.assign(rows[at] ?? {}, values);
  return rows;
}

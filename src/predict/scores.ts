/** From a score as it is written to one from 0 to 1. */
import type { LeftOutCounter } from './left-out.ts';
import { type MetricRange, rangeOf } from './metric-ranges.ts';
import { atOnce, type Steps, stepwise } from './turn.ts';
import type { ScoreRecord } from './types.ts';

const missing: ReadonlySet<string> = new Set([
  '',
  '-',
  '–',
  'nan',
  'na',
  'n/a',
  '#n/a',
  'null',
  'none',
  'nil',
  '.',
  '?',
]);
export const isMissing = (text: string): boolean => missing.has(text.trim().toLowerCase());

const decimal = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i;
const decimalComma = /^[-+]?\d+,\d+$/;

/** A number as people write it: `0.43`, `43 %` (0.43), `0,43`; null where it is none. */
export function numberIn(text: string): number | null {
  let plain = text.trim();
  const percent = plain.endsWith('%');
  if (percent) plain = plain.slice(0, -1).trimEnd();
  if (decimalComma.test(plain)) plain = plain.replace(',', '.');
  if (!decimal.test(plain)) return null;
  const value = Number(plain);
  return Number.isFinite(value) ? (percent ? value / 100 : value) : null;
}

/** A record whose score is still as it is written. */
export interface UnscaledRecord {
  record: ScoreRecord;
  /** Said by the source; null: the metric's. */
  range: MetricRange | null;
  /** In its file, for messages; 0 where it has none. */
  line: number;
  /** As it is written, in the unit of the score; tells the number of items where nobody says it. */
  standardError?: number;
}

/** Rounding of others. */
const slack = 1e-6;

/**
 * Scales the scores of one source. A metric that is a share and is above 1 in most of its scores (but zeros) is written in
 * percents there, else in shares; the minority that cannot be of that scale is left out. Among percents a model or a subtask
 * that never reaches 1 is on another scale than the rest: what it means cannot be told, and it is left out too.
 */
export const scaledRecords = (
  unscaled: readonly UnscaledRecord[],
  file: string,
  leftOut: LeftOutCounter,
): ScoreRecord[] => atOnce(scaleSteps(unscaled, file, leftOut));

/** The same in steps. */
export function* scaleSteps(
  unscaled: readonly UnscaledRecord[],
  file: string,
  leftOut: LeftOutCounter,
): Steps<ScoreRecord[]> {
  const percents = yield* percentMetrics(unscaled);
  const odd = yield* otherScale(unscaled, percents);
  const records: ScoreRecord[] = [];
  yield* stepwise(unscaled, ({ record, range: said, line, standardError }) => {
    let range = said ?? rangeOf(record.metric);
    if (!range) {
      leftOut.add(
        `scores of "${record.metric}", a metric whose range is not known (a mapping file can say it)`,
        placeOf(file, line),
      );
      return;
    }
    if (!said && percents.has(record.metric)) {
      if (odd.has(keys.model(record)) || odd.has(keys.subtask(record))) {
        leftOut.add(`scores of "${record.metric}" from 0 to 1 among percents: mixed scales`, placeOf(file, line));
        return;
      }
      range = { ...range, high: 100 };
    }
    const share = (record.score - range.low) / (range.high - range.low);
    if (share < -slack || share > 1 + slack) {
      leftOut.add(`scores of "${record.metric}" outside of ${range.low} to ${range.high}`, placeOf(file, line));
      return;
    }
    const inside = Math.min(1, Math.max(0, share));
    record.score = range.lowerIsBetter ? 1 - inside : inside;
    // lm-evaluation-harness divides by n − 1: error² = s (1 − s) / (n − 1).
    if (standardError !== undefined && record.n === null && inside > 0 && inside < 1)
      record.n = Math.round((inside * (1 - inside)) / (standardError / (range.high - range.low)) ** 2) + 1;
    records.push(record);
  });
  return records;
}

export const placeOf = (file: string, line: number): string => (line > 0 ? `${file}:${line}` : file);

const keys = {
  model: ({ metric, model }: ScoreRecord): string => `model ${metric} ${model}`,
  subtask: ({ metric, task, subtask }: ScoreRecord): string => `subtask ${metric} ${task} ${subtask}`,
};

function* percentMetrics(unscaled: readonly UnscaledRecord[]): Steps<Set<string>> {
  const counts = new Map<string, { above: number; inside: number }>();
  yield* stepwise(unscaled, ({ record, range }) => {
    if (range || record.score <= 0 || record.score > 100 + slack) return;
    const count = counts.get(record.metric) ?? { above: 0, inside: 0 };
    if (record.score > 1 + slack) count.above++;
    else count.inside++;
    counts.set(record.metric, count);
  });
  return new Set(
    [...counts]
      .filter(([metric, { above, inside }]) => above > inside && rangeOf(metric)?.share)
      .map(([metric]) => metric),
  );
}

/** Models and subtasks with at least three scores, none above 1 and one that no share of a percent would be taken for. */
function* otherScale(unscaled: readonly UnscaledRecord[], percents: ReadonlySet<string>): Steps<Set<string>> {
  const groups = new Map<string, { n: number; most: number; fractions: number }>();
  yield* stepwise(unscaled, ({ record, range }) => {
    if (range || !percents.has(record.metric)) return;
    for (const key of [keys.model(record), keys.subtask(record)]) {
      const group = groups.get(key) ?? { n: 0, most: Number.NEGATIVE_INFINITY, fractions: 0 };
      group.n++;
      group.most = Math.max(group.most, record.score);
      if (record.score > 0.1 && record.score < 1) group.fractions++;
      groups.set(key, group);
    }
  });
  return new Set(
    [...groups].filter(([, { n, most, fractions }]) => n >= 3 && most <= 1 && fractions * 2 > n).map(([key]) => key),
  );
}

/** What BIG-bench takes out of an output and compares with the targets. */
import type { StopReason } from '../shared/results.ts';
import { type BigBenchTask, bigBenchMetrics } from './big-bench-file.ts';
import { leftStrip, strip } from './python.ts';
import { findAll } from './python-regex.ts';

/** `json_task`'s pattern where a file gives neither pattern nor stop text: up to the end of a sentence or line. */
const defaultRegex = '[^\\.\\?\\!\\;\\n]+';

/**
 * The answer as BIG-bench's `postprocess_output` leaves it: the output up to and with the stop text, then the first match
 * of the pattern (or of its group). Outer spaces are removed, which BIG-bench leaves to the model's adapter.
 * @returns null where there is no answer; `byFile`: the file's own pattern found it
 */
export function readBigBench(
  { outputRegex, stopString }: Pick<BigBenchTask, 'outputRegex' | 'stopString'>,
  output: string,
  stop: { reason: StopReason; marker?: string },
): { answer: string; span: [number, number]; byFile: boolean } | null {
  let text = output + (stop.reason === 'stop-string' && stop.marker === stopString ? (stop.marker ?? '') : '');
  if (stopString) {
    const at = text.indexOf(stopString);
    // Not at the very beginning, where BIG-bench does not look.
    if (at > 0) text = text.slice(0, at + stopString.length);
  }
  const pattern = outputRegex ?? (stopString === null ? defaultRegex : null);
  const found = pattern ? findAll(pattern, text)[0]?.groups[0] : { text, start: 0 };
  if (!found || strip(found.text) === '') return null;
  const start = found.start + found.text.length - leftStrip(found.text).length;
  const answer = strip(found.text);
  return { answer, span: [start, Math.min(output.length, start + answer.length)], byFile: outputRegex !== null };
}

/** Is an answer right, by the right answers of its item? */
export type AnswerTest = (answer: string, golds: readonly string[]) => boolean;

/** The value of what Python's `float` reads; NaN for other texts. */
function pythonFloat(text: string): number {
  const plain = strip(text).replace(/(?<=\d)_(?=\d)/g, '');
  if (/^[-+]?(?:inf|infinity)$/i.test(plain)) return plain.startsWith('-') ? -Infinity : Infinity;
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(plain) ? Number(plain) : Number.NaN;
}

/** One row for each metric that calls a single answer right or wrong. */
const answerTests: ReadonlyMap<string, AnswerTest> = new Map([
  ['exact_str_match', (answer, golds) => golds.some((gold) => strip(gold) === strip(answer))],
  [
    'case_insensitive_str_match',
    (answer, golds) => golds.some((gold) => strip(gold).toLowerCase() === strip(answer).toLowerCase()),
  ],
  [
    'numeric_match_with_0_1_relative_error',
    // Of the first target, as BIG-bench; the error is relative to the target, absolute where that is 0.
    (answer, golds) => {
      const [value, target] = [pythonFloat(answer), pythonFloat(golds[0] ?? '')];
      return Math.abs(value - target) / (target === 0 ? 1 : target) <= 0.1;
    },
  ],
]);

/** The metric that calls answers right: the preferred score, else the first that can, else an exact match. */
const answerMetric = ({ preferredScore, metrics }: BigBenchTask): string =>
  [preferredScore, ...metrics].find((metric) => answerTests.has(metric)) ?? 'exact_str_match';

/** Its test of single answers. */
export function answerTestOf(task: BigBenchTask): AnswerTest {
  const name = answerMetric(task);
  const test = answerTests.get(name);
  if (!test || !bigBenchMetrics.has(name)) throw new Error(`There is no test of answers for ${name}.`);
  return test;
}

/** Scores that a run reports, of those that the file's metrics give; of those for single answers only the one judged by. */
export function reportedScores(task: BigBenchTask): string[] {
  const judged = answerMetric(task);
  const names = task.metrics.flatMap((metric) => {
    const row = bigBenchMetrics.get(metric);
    if (row?.asks === 'choice' || metric === judged) return [metric];
    return row?.scores ?? [];
  });
  // BIG-bench adds both calibration scores wherever choices are graded.
  if (names.includes('multiple_choice_grade'))
    names.push('calibration_multiple_choice_brier_score', 'expected_calibration_error');
  return [...new Set(names)];
}

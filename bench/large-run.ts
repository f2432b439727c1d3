/**
 * Runs of many items, made up: shaped as those of GSM8K, with outputs of some 500 characters that reason, answer, and in
 * part run on. The same by the same arguments, in Node and in a page.
 */
import type { PromptMode } from '../src/shared/modes.ts';
import type { ItemRecord } from '../src/shared/results.ts';
import { modeResult, uniform } from '../test/webview/data.ts';

const words =
  'so she has bought then three dozen apples and each of them costs half as much which makes the total for every week the number of sheep in Seattle divided by what is left after lunch we multiply twenty per cent'.split(
    ' ',
  );

/** Text of about `length` characters. */
function prose(random: () => number, length: number): string {
  let text = '';
  while (text.length < length) text += ` ${words[Math.floor(random() * words.length)]}`;
  return text;
}

const moved = (span: [number, number] | null, by: number): [number, number] | null =>
  span && [span[0] + by, span[1] + by];

/** A run with its items in file order. The few hostile texts of the page tests are among them as they are. */
export function largeRun(mode: PromptMode, items: number): ReturnType<typeof modeResult> {
  const { result, records } = modeResult(mode, items);
  const random = uniform(mode.length);
  return {
    result,
    records: records.map((record): ItemRecord => {
      const isAsItIs = record.output === '' || record.output.length > 5000;
      const before = isAsItIs ? '' : prose(random, 300 + Math.floor(random() * 400));
      return {
        ...record,
        output: before + record.output,
        outputTokens: record.outputTokens + Math.round(before.length / 4.5),
        strict: { ...record.strict, span: moved(record.strict.span, before.length) },
        lenient: { ...record.lenient, span: moved(record.lenient.span, before.length) },
        metrics: [{ filter: 'strict-match', values: { exact_match: record.right ? 1 : 0 } }],
      };
    }),
  };
}

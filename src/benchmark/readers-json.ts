/** Reads a JSON value out of an output. */
import { strip } from './python.ts';
import { answerPart, nothing, type Reader, readingAt } from './readers-common.ts';
import { asJson, type JsonBlock, jsonBlocks, jsonValue } from './relaxed-json.ts';

const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonical(entry)}`).join(',')}}`;
};

/** `[1]`, `[a]` in prose are marks of a footnote or a placeholder, not the answer. */
const isMark = ({ text }: JsonBlock): boolean => /^\[\s*-?\d{0,3}\s*\]$/.test(text);

const relaxedValue = (text: string): unknown => {
  const exact = jsonValue(text);
  if (exact !== undefined) return exact;
  const json = asJson(text);
  return json === null ? undefined : jsonValue(json);
};

export const json: Reader = {
  strict(output, { fits }) {
    const text = strip(output);
    const value = text === '' ? undefined : jsonValue(text);
    return value !== undefined && (fits?.(value) ?? true) ? readingAt(text, output.indexOf(text)) : nothing;
  },
  lenient(output, context) {
    const part = answerPart(output, context);
    const all = jsonBlocks(part);
    const { fits } = context;
    const fitting = fits ? all.filter(({ value }) => fits(value)) : all;
    const usable = fitting.length > 0 ? fitting : all;
    const weighty = usable.filter((block) => !isMark(block));
    const [first] = weighty;
    if (!first) return nothing;
    // An output that begins with JSON has answered at once; else it shows its working, and the last is the result.
    const atOnce = /^\s*(?:(?:json|output|answer|result)\s*:?\s*)?(?:```\w*\s*)?$/i.test(part.slice(0, first.start));
    const { text, start } = atOnce ? first : (weighty.at(-1) ?? first);
    return readingAt(text, start);
  },
  same(answer, gold) {
    const [a, b] = [relaxedValue(answer), relaxedValue(gold)];
    return a !== undefined && b !== undefined ? canonical(a) === canonical(b) : strip(answer) === strip(gold);
  },
};

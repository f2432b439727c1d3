/** `pprint.pformat` of Python 3.11 with its defaults: at most 80 columns where values allow, dicts sorted by key. */
import { spaces } from '../shared/whitespace.ts';
import { entriesOf, isDict, PythonTuple, repr, typeName } from './python.ts';
import { methodOf } from './template-methods.ts';
import { compare } from './template-operators.ts';

const width = 80;
/** Words with the white space behind them. */
const wordsWithSpace = new RegExp(`[^${spaces}]+[${spaces}]*|[${spaces}]+`, 'gu');
const length = (text: string): number => Array.from(text).length;

const sortedEntries = (dict: Map<unknown, unknown> | Record<string, unknown>): [unknown, unknown][] =>
  entriesOf(dict).sort(([a], [b]) => {
    // What has no order is ordered by the name of its type.
    const [x, y] = [`<class '${typeName(a)}'>`, `<class '${typeName(b)}'>`];
    return compare(a, b) ?? (x < y ? -1 : x > y ? 1 : 0);
  });

/** `repr` with the keys of all dicts in order. */
function oneLine(value: unknown): string {
  if (value instanceof PythonTuple) return `(${value.map(oneLine).join(', ')}${value.length === 1 ? ',' : ''})`;
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  if (!isDict(value)) return repr(value);
  return `{${sortedEntries(value)
    .map(([key, entry]) => `${oneLine(key)}: ${oneLine(entry)}`)
    .join(', ')}}`;
}

/**
 * @param indent columns in front of the value
 * @param allowance columns that must stay free behind it
 * @param level 1 at the top: a text of several lines is put in brackets there
 */
function formatted(value: unknown, indent: number, allowance: number, level: number): string {
  const line = oneLine(value);
  if (length(line) <= width - indent - allowance) return line;
  if (typeof value === 'string') return text(value, indent, allowance, level);
  if (value instanceof PythonTuple) {
    const end = value.length === 1 ? ',)' : ')';
    return `(${entries(value, indent, allowance + end.length, level)}${end}`;
  }
  if (Array.isArray(value)) return `[${entries(value, indent, allowance + 1, level)}]`;
  if (!isDict(value)) return line;
  const sorted = sortedEntries(value);
  const inner = sorted.map(([key, entry], at) => {
    const name = oneLine(key);
    const free = at === sorted.length - 1 ? allowance + 1 : 1;
    return `${name}: ${formatted(entry, indent + 1 + length(name) + 2, free, level + 1)}`;
  });
  return `{${inner.join(`,\n${' '.repeat(indent + 1)}`)}}`;
}

const entries = (values: readonly unknown[], indent: number, allowance: number, level: number): string =>
  values
    .map((value, at) => formatted(value, indent + 1, at === values.length - 1 ? allowance : 1, level + 1))
    .join(`,\n${' '.repeat(indent + 1)}`);

/** A long text in pieces, each ending behind white space or a line break. */
function text(value: string, indent: number, allowance: number, level: number): string {
  const [at, after] = level === 1 ? [indent + 1, allowance + 1] : [indent, allowance];
  const lines = methodOf(value, 'splitlines')?.({ positional: [true], named: new Map() }) as string[];
  const chunks: string[] = [];
  let room = width - at;
  for (const [number, line] of lines.entries()) {
    const isLast = number === lines.length - 1;
    if (isLast) room -= after;
    if (length(repr(line)) <= room) {
      chunks.push(repr(line));
      continue;
    }
    const parts = line.match(wordsWithSpace) ?? [];
    let most = width - at;
    let current = '';
    for (const [place, part] of parts.entries()) {
      if (place === parts.length - 1 && isLast) most -= after;
      if (length(repr(current + part)) > most) {
        if (current) chunks.push(repr(current));
        current = part;
      } else current += part;
    }
    if (current) chunks.push(repr(current));
  }
  if (chunks.length === 1) return chunks[0] ?? '';
  const joined = chunks.join(`\n${' '.repeat(at)}`);
  return level === 1 ? `(${joined})` : joined;
}

export const pformat = (value: unknown): string => formatted(value, 0, 0, 1);

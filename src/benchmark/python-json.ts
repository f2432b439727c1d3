/**
 * `json.dumps(value, ensure_ascii=False)` of Python, character by character: what lm-evaluation-harness hashes and writes.
 * Whole numbers are ints unless they are a {@link PythonFloat}; NaN and Infinity are written as Python does.
 */
import { entriesOf, isDict, isNumber, PythonTuple, repr, str } from './python.ts';

/** @param indent spaces a level (`indent=2`); null: on one line */
export function pythonJson(value: unknown, indent: number | null = null): string {
  return written(value, indent, 0);
}

function written(value: unknown, indent: number | null, depth: number): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (isNumber(value)) return notFinite[String(Number(value))] ?? repr(value);
  if (Array.isArray(value) || value instanceof PythonTuple)
    return block(
      '[]',
      Array.from(value, (entry) => written(entry, indent, depth + 1)),
      indent,
      depth,
    );
  if (isDict(value))
    return block(
      '{}',
      entriesOf(value).map(([key, entry]) => `${JSON.stringify(keyText(key))}: ${written(entry, indent, depth + 1)}`),
      indent,
      depth,
    );
  // `default=handle_non_serializable`: its text.
  return JSON.stringify(str(value));
}

const notFinite: Readonly<Record<string, string>> = { NaN: 'NaN', Infinity: 'Infinity', '-Infinity': '-Infinity' };

const keyText = (key: unknown): string =>
  key === null || typeof key === 'boolean' ? written(key, null, 0) : typeof key === 'string' ? key : repr(key);

function block([open, close]: string, parts: readonly string[], indent: number | null, depth: number): string {
  if (parts.length === 0) return `${open}${close}`;
  if (indent === null) return `${open}${parts.join(', ')}${close}`;
  const space = ' '.repeat(indent * (depth + 1));
  return `${open}\n${parts.map((part) => space + part).join(',\n')}\n${' '.repeat(indent * depth)}${close}`;
}

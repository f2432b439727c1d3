/** Python's operators, subscripts and slices, for templates. One row an operator. */
import { percentFormat } from './percent-format.ts';
import {
  entriesOf,
  equal,
  float,
  isDict,
  isFloat,
  isNumber,
  PythonError,
  PythonNamedTuple,
  PythonTuple,
  str,
  typeName,
} from './python.ts';

/** `object[key]`; undefined where there is no such entry. */
export function item(object: unknown, key: unknown): unknown {
  if (typeof object === 'string' || Array.isArray(object)) {
    if (object instanceof PythonNamedTuple && typeof key === 'string') return object.names.get(key);
    if (!isNumber(key)) return undefined;
    const at = Number(key);
    return typeof object === 'string' ? Array.from(object).at(at) : object.at(at);
  }
  if (object instanceof Map) {
    if (object.has(key)) return object.get(key);
    return undefined;
  }
  if (isDict(object))
    return Object.hasOwn(object, str(key)) ? (object as Record<string, unknown>)[str(key)] : undefined;
  return undefined;
}

/** `object[start:stop:step]` of a text or a list. @throws PythonError for anything else */
export function slice(object: unknown, start: number | null, stop: number | null, step: number | null): unknown {
  const text = typeof object === 'string';
  if (!text && !Array.isArray(object)) throw new PythonError(`'${typeName(object)}' object cannot be sliced.`);
  const all: unknown[] = text ? Array.from(object) : object;
  const by = step ?? 1;
  if (by === 0) throw new PythonError('slice step cannot be zero.');
  const clamp = (at: number): number => {
    const from = at < 0 ? at + all.length : at;
    return by > 0 ? Math.min(Math.max(from, 0), all.length) : Math.min(Math.max(from, -1), all.length - 1);
  };
  const first = start === null ? (by > 0 ? 0 : all.length - 1) : clamp(start);
  const last = stop === null ? (by > 0 ? all.length : -1) : clamp(stop);
  const out: unknown[] = [];
  for (let i = first; by > 0 ? i < last : i > last; i += by) out.push(all[i]);
  return text ? out.join('') : out;
}

type Operator = (left: unknown, right: unknown) => unknown;

const arithmetic =
  (compute: (a: number, b: number) => number, alwaysFloat = false): Operator =>
  (a, b) => {
    if (!isNumber(a) || !isNumber(b)) return undefined;
    const result = compute(Number(a), Number(b));
    return alwaysFloat || isFloat(a) || isFloat(b) ? float(result) : result;
  };

const divisor = (b: number): number => {
  if (b === 0) throw new PythonError('division by zero.');
  return b;
};

/** Order of two values: numbers, strings (by code point) or lists; undefined where Python has none. */
export function compare(a: unknown, b: unknown): number | undefined {
  if (isNumber(a) && isNumber(b)) return Number(a) - Number(b);
  if (typeof a === 'string' && typeof b === 'string') {
    const [x, y] = [Array.from(a), Array.from(b)];
    const at = x.findIndex((character, i) => character !== y[i]);
    if (at < 0) return x.length - y.length;
    return (x[at]?.codePointAt(0) ?? -1) - (y[at]?.codePointAt(0) ?? -1);
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    const at = a.findIndex((entry, i) => i >= b.length || !equal(entry, b[i]));
    return at < 0 || at >= b.length ? a.length - b.length : compare(a[at], b[at]);
  }
  return undefined;
}

const ordered =
  (holds: (order: number) => boolean): Operator =>
  (a, b) => {
    const order = compare(a, b);
    return order === undefined ? undefined : holds(order);
  };

const contains: Operator = (value, container) => {
  if (typeof container === 'string') return typeof value === 'string' ? container.includes(value) : undefined;
  if (Array.isArray(container)) return container.some((entry) => equal(entry, value));
  return isDict(container) ? entriesOf(container).some(([key]) => equal(key, value)) : undefined;
};

const repeat: Operator = (a, b) => {
  const [sequence, count] = typeof a === 'string' || Array.isArray(a) ? [a, b] : [b, a];
  if (typeof count !== 'number' || !Number.isInteger(count)) return undefined;
  const times = Math.max(0, count);
  if (typeof sequence === 'string') return sequence.repeat(times);
  return Array.isArray(sequence) ? Array.from({ length: times }, () => sequence).flat() : undefined;
};

/** What an operator gives; undefined where Python has it not for these types. */
export const operators: Record<string, Operator | undefined> = {
  '+': (a, b) => {
    if (typeof a === 'string' && typeof b === 'string') return a + b;
    if (Array.isArray(a) && Array.isArray(b)) return [...a, ...b];
    return arithmetic((x, y) => x + y)(a, b);
  },
  '-': arithmetic((a, b) => a - b),
  '*': (a, b) => arithmetic((x, y) => x * y)(a, b) ?? repeat(a, b),
  '/': arithmetic((a, b) => a / divisor(b), true),
  '//': arithmetic((a, b) => Math.floor(a / divisor(b))),
  '%': (a, b) =>
    typeof a === 'string' ? formatPercent(a, b) : arithmetic((x, y) => x - y * Math.floor(x / divisor(y)))(a, b),
  '**': (a, b) => arithmetic((x, y) => x ** y, isNumber(b) && Number(b) < 0)(a, b),
  '~': (a, b) => str(a) + str(b),
  '==': (a, b) => equal(a, b),
  '!=': (a, b) => !equal(a, b),
  '<': ordered((order) => order < 0),
  '>': ordered((order) => order > 0),
  '<=': ordered((order) => order <= 0),
  '>=': ordered((order) => order >= 0),
  in: contains,
  'not in': (a, b) => {
    const found = contains(a, b);
    return found === undefined ? undefined : !found;
  },
};

/** `"%s of %d" % (a, b)`, or `"%(a)s" % mapping`. */
function formatPercent(format: string, values: unknown): string {
  const queue = values instanceof PythonTuple ? [...values] : [values];
  return percentFormat(format, (name) => {
    if (name !== undefined) {
      const named = typeof values === 'object' && values !== null ? (values as Record<string, unknown>) : {};
      if (Object.hasOwn(named, name)) return named[name];
    } else if (queue.length > 0) return queue.shift();
    throw new PythonError('not enough arguments for format string.');
  });
}

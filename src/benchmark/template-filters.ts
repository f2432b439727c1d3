/** Jinja2's filters and tests (and lm-evaluation-harness's `regex_replace`). One row each. */
import { spaces } from '../shared/whitespace.ts';
import { fixed, percentFormat } from './percent-format.ts';
import {
  entriesOf,
  equal,
  float,
  isDict,
  isFloat,
  isNumber,
  PythonError,
  PythonFloat,
  PythonTuple,
  repr,
  str,
  strip,
  truthy,
  typeName,
} from './python.ts';
import { substitute } from './python-regex.ts';
import type { Evaluator } from './template-evaluator.ts';
import { methodOf } from './template-methods.ts';
import { compare, item } from './template-operators.ts';
import { type Arguments, type TemplateFilter, Undefined } from './template-scope.ts';
import { groupBy, textFilters } from './template-text-filters.ts';

type Filter = TemplateFilter;

/** An argument by place or by name. */
export const argument = ({ positional, named }: Arguments, place: number, name: string): unknown =>
  positional[place] ?? named.get(name);

const list = (value: unknown, evaluator: Evaluator): unknown[] => [...evaluator.iterate(value)];

const length = (value: unknown): number => {
  if (typeof value === 'string') return Array.from(value).length;
  if (Array.isArray(value)) return value.length;
  if (isDict(value)) return entriesOf(value).length;
  throw new PythonError(`object of type '${typeName(value)}' has no len().`);
};

const method =
  (name: string): Filter =>
  (value, args) =>
    methodOf(str(value), name)?.(args);

/** `a.b.0` of an entry; undefined parts give Undefined. */
function attribute(value: unknown, path: unknown): unknown {
  let at = value;
  for (const part of typeof path === 'number' ? [path] : str(path).split('.')) {
    const key = typeof part === 'string' && /^\d+$/.test(part) ? Number(part) : part;
    at = item(at, key);
    if (at === undefined) return new Undefined(`"${part}" is undefined`);
  }
  return at;
}

const folded = (value: unknown, caseSensitive: boolean): unknown =>
  !caseSensitive && typeof value === 'string' ? value.toLowerCase() : value;

function sorted(values: unknown[], key: (value: unknown) => unknown, reverse: boolean): unknown[] {
  const order = [...values].sort((a, b) => {
    const result = compare(key(a), key(b));
    if (result === undefined) throw new PythonError(`cannot sort ${typeName(key(a))} with ${typeName(key(b))}.`);
    return reverse ? -result : result;
  });
  return order;
}

const sort: Filter = (value, args, evaluator) => {
  const by = argument(args, 2, 'attribute') ?? null;
  const caseSensitive = truthy(argument(args, 1, 'case_sensitive'));
  const key = (entry: unknown): unknown =>
    folded(by === null ? entry : evaluator.defined(attribute(entry, by)), caseSensitive);
  return sorted(list(value, evaluator), key, truthy(argument(args, 0, 'reverse')));
};

const extreme =
  (sign: number): Filter =>
  (value, args, evaluator) => {
    const by = args.named.get('attribute') ?? null;
    const entries = list(value, evaluator);
    const key = (entry: unknown): unknown => folded(by === null ? entry : attribute(entry, by), false);
    return sorted(entries, key, sign < 0)[0] ?? new Undefined('no items');
  };

const map: Filter = (value, args, evaluator) => {
  const by = args.named.get('attribute');
  const entries = list(value, evaluator);
  if (by !== undefined)
    return entries.map((entry) => {
      const found = attribute(entry, by);
      return found instanceof Undefined ? (args.named.get('default') ?? found) : found;
    });
  const [name, ...rest] = args.positional;
  const filter = filters.get(str(name));
  if (!filter) throw new PythonError(`Softbench has no template filter named "${str(name)}".`);
  return entries.map((entry) => filter(entry, { positional: rest, named: args.named }, evaluator));
};

const select =
  (keep: boolean, byAttribute: boolean): Filter =>
  (value, args, evaluator) => {
    const [by, rest] = byAttribute ? [args.positional[0], args.positional.slice(1)] : [null, args.positional];
    const [name, other] = rest;
    const test = name === undefined ? undefined : tests.get(str(name));
    return list(value, evaluator).filter((entry) => {
      const subject = byAttribute ? attribute(entry, by) : entry;
      let holds: boolean;
      if (name === 'defined') holds = !(subject instanceof Undefined);
      else if (name === 'undefined') holds = subject instanceof Undefined;
      else if (name === undefined) holds = truthy(evaluator.defined(subject));
      else if (test) holds = test(evaluator.defined(subject), other);
      else throw new PythonError(`Softbench has no template test named "${str(name)}".`);
      return holds === keep;
    });
  };

/** Digits of a text in a base from 2 to 36, with or without the base's prefix; null where it is no such number. */
function inBase(text: string, base: number): number | null {
  const prefix = { 2: '0b', 8: '0o', 16: '0x' }[base] ?? '';
  const [, sign = '', bare = ''] = /^([-+]?)(.*)$/.exec(text.toLowerCase()) ?? [];
  const digits = prefix && bare.startsWith(prefix) ? bare.slice(2) : bare;
  const known = '0123456789abcdefghijklmnopqrstuvwxyz'.slice(0, base);
  if (digits === '' || [...digits].some((digit) => !known.includes(digit))) return null;
  return Number.parseInt(sign + digits, base);
}

function integer(value: unknown, fallback: unknown, base: number): unknown {
  if (isNumber(value)) return Math.trunc(Number(value));
  const source = strip(str(value)).replace(/(?<=[\da-z])_(?=[\da-z])/gi, '');
  const found = base === 10 ? null : inBase(source, base);
  if (found !== null) return found;
  if (base === 10 && /^[-+]?\d+$/.test(source)) return Number(source);
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(source) ? Math.trunc(Number(source)) : fallback;
}

function floating(value: unknown, fallback: unknown): unknown {
  if (isNumber(value)) return float(Number(value));
  const source = strip(str(value));
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(source) ? float(Number(source)) : fallback;
}

/** Half to even at `digits` decimals, as Python's `round`. */
function round(value: unknown, args: Arguments): unknown {
  const digits = Number(argument(args, 0, 'precision') ?? 0);
  const how = str(argument(args, 1, 'method') ?? 'common');
  const factor = 10 ** digits;
  const scaled = Number(value) * factor;
  if (how === 'ceil' || how === 'floor') return float(Math[how](scaled) / factor);
  if (digits > 0) return float(Number(fixed(Number(value), digits)));
  const down = Math.floor(scaled);
  const half = scaled - down === 0.5;
  return float((half ? down + (Math.abs(down) % 2) : Math.round(scaled)) / factor);
}

/** `json.dumps` with sorted keys and HTML-safe characters, as Jinja2's `tojson`. */
function toJson(value: unknown, indent: number | null): string {
  const plain = (part: unknown): unknown => {
    if (part instanceof PythonFloat) return part;
    if (Array.isArray(part)) return part.map(plain);
    if (!isDict(part)) return part;
    const entries = entriesOf(part).map(([key, entry]) => [str(key), plain(entry)] as const);
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  };
  return jsonText(plain(value), indent, '')
    .replace(/</g, '\\u003c')
    .replace(/>/g, '\\u003e')
    .replace(/&/g, '\\u0026')
    .replace(/'/g, '\\u0027');
}

export function jsonText(value: unknown, indent: number | null, margin: string): string {
  if (isNumber(value) && typeof value !== 'boolean') return repr(value);
  if (typeof value === 'string')
    return JSON.stringify(value).replace(
      /[\x7f-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  const inner = indent === null ? '' : `${margin}${' '.repeat(indent)}`;
  const wrap = (open: string, parts: string[], close: string): string => {
    if (parts.length === 0) return open + close;
    return indent === null
      ? open + parts.join(', ') + close
      : `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${margin}${close}`;
  };
  if (Array.isArray(value))
    return wrap(
      '[',
      value.map((part) => jsonText(part, indent, inner)),
      ']',
    );
  if (isDict(value))
    return wrap(
      '{',
      entriesOf(value).map(([key, part]) => `${JSON.stringify(str(key))}: ${jsonText(part, indent, inner)}`),
      '}',
    );
  return value === null || value === undefined ? 'null' : String(value);
}

/** Jinja2's `title`: a word begins at the start and after a space, hyphen or opening bracket. */
const title = (value: unknown): string =>
  str(value)
    .split(new RegExp(`([-({\\[<${spaces}]+)`))
    .map((word) => {
      const [first = '', ...rest] = Array.from(word);
      return first.toUpperCase() + rest.join('').toLowerCase();
    })
    .join('');

function indent(value: unknown, args: Arguments): string {
  const width = argument(args, 0, 'width') ?? 4;
  const by = typeof width === 'string' ? width : ' '.repeat(Number(width));
  const [first, blank] = [truthy(argument(args, 1, 'first')), truthy(argument(args, 2, 'blank'))];
  return str(value)
    .split('\n')
    .map((line, i) => ((i === 0 && !first) || (i > 0 && line === '' && !blank) ? line : by + line))
    .join('\n');
}

const escapeHtml: Filter = (value) =>
  str(value)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/'/g, '&#39;')
    .replace(/"/g, '&#34;');

const same: Filter = (value) => value;

export const filters: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ...textFilters,
  ['abs', (value) => (isFloat(value) ? float(Math.abs(Number(value))) : Math.abs(Number(value)))],
  ['capitalize', method('capitalize')],
  ['count', (value) => length(value)],
  [
    'dictsort',
    (value, args) => {
      if (!isDict(value)) throw new PythonError('dictsort needs a dict.');
      const place = argument(args, 1, 'by') === 'value' ? 1 : 0;
      const caseSensitive = truthy(argument(args, 0, 'case_sensitive'));
      const pairs: unknown[] = entriesOf(value).map((entry) => PythonTuple.from(entry));
      return sorted(
        pairs,
        (pair) => folded((pair as unknown[])[place], caseSensitive),
        truthy(argument(args, 2, 'reverse')),
      );
    },
  ],
  ['e', escapeHtml],
  ['escape', escapeHtml],
  ['first', (value, _, evaluator) => list(value, evaluator)[0] ?? new Undefined('No first item, sequence was empty')],
  ['float', (value, args) => floating(value, argument(args, 0, 'default') ?? float(0))],
  ['forceescape', escapeHtml],
  ['format', (value, { positional, named }) => formatted(str(value), positional, named)],
  [
    'groupby',
    groupBy(sort, attribute, (a, b, caseSensitive) => equal(folded(a, caseSensitive), folded(b, caseSensitive))),
  ],
  ['indent', indent],
  ['int', (value, args) => integer(value, argument(args, 0, 'default') ?? 0, Number(argument(args, 1, 'base') ?? 10))],
  ['items', (value) => (isDict(value) ? entriesOf(value).map((entry) => PythonTuple.from(entry)) : [])],
  [
    'join',
    (value, args, evaluator) => {
      const by = argument(args, 1, 'attribute');
      const parts = list(value, evaluator).map((entry) =>
        evaluator.defined(by === undefined ? entry : attribute(entry, by)),
      );
      return parts.map(str).join(str(argument(args, 0, 'd') ?? ''));
    },
  ],
  ['last', (value, _, evaluator) => list(value, evaluator).at(-1) ?? new Undefined('No last item, sequence was empty')],
  ['length', (value) => length(value)],
  ['list', (value, _, evaluator) => list(value, evaluator)],
  ['lower', method('lower')],
  ['map', map],
  ['max', extreme(-1)],
  ['min', extreme(1)],
  [
    'regex_replace',
    (value, args) =>
      substitute(
        str(argument(args, 0, 'pattern')),
        str(argument(args, 1, 'repl')),
        str(value),
        Number(argument(args, 2, 'count') ?? 0),
      ),
  ],
  ['reject', select(false, false)],
  ['rejectattr', select(false, true)],
  ['replace', (value, args) => methodOf(str(value), 'replace')?.({ positional: args.positional, named: new Map() })],
  [
    'reverse',
    (value, _, evaluator) =>
      typeof value === 'string' ? Array.from(value).reverse().join('') : list(value, evaluator).reverse(),
  ],
  ['round', (value, args) => round(value, args)],
  ['safe', same],
  ['select', select(true, false)],
  ['selectattr', select(true, true)],
  ['sort', sort],
  ['string', (value) => str(value)],
  [
    'sum',
    (value, args, evaluator) => {
      const by = argument(args, 0, 'attribute');
      const numbers = list(value, evaluator).map((entry) => (by === undefined ? entry : attribute(entry, by)));
      const total = numbers.reduce<number>(
        (sum, entry) => sum + Number(entry),
        Number(argument(args, 1, 'start') ?? 0),
      );
      return numbers.some(isFloat) ? float(total) : total;
    },
  ],
  ['title', (value) => title(value)],
  [
    'tojson',
    (value, args) => {
      const width = argument(args, 0, 'indent');
      return toJson(value, width === undefined || width === null ? null : Number(width));
    },
  ],
  ['trim', (value, args) => methodOf(str(value), 'strip')?.({ positional: args.positional, named: new Map() })],
  [
    'unique',
    (value, _, evaluator) => {
      const seen: unknown[] = [];
      return list(value, evaluator).filter((entry) => {
        const key = folded(entry, false);
        if (seen.some((other) => equal(other, key))) return false;
        seen.push(key);
        return true;
      });
    },
  ],
  ['upper', method('upper')],
  ['wordcount', (value) => (str(value).match(/[\p{L}\p{N}_]+/gu) ?? []).length],
]);

/** The `format` filter: `%` formatting with the arguments. */
function formatted(format: string, positional: readonly unknown[], named: ReadonlyMap<string, unknown>): string {
  let next = 0;
  return percentFormat(format, (name) => {
    if (name === undefined ? next >= positional.length : !named.has(name))
      throw new PythonError('not enough arguments for format string.');
    return name === undefined ? positional[next++] : named.get(name);
  });
}

type Test = (value: unknown, other: unknown) => boolean;
const order =
  (holds: (result: number) => boolean): Test =>
  (a, b) => {
    const result = compare(a, b);
    return result !== undefined && holds(result);
  };

export const tests: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['boolean', (value) => typeof value === 'boolean'],
  ['callable', (value) => typeof value === 'function'],
  ['divisibleby', (value, other) => Number(value) % Number(other) === 0],
  ['eq', (a, b) => equal(a, b)],
  ['equalto', (a, b) => equal(a, b)],
  ['even', (value) => Number(value) % 2 === 0],
  ['false', (value) => value === false],
  ['float', (value) => isFloat(value)],
  ['ge', order((result) => result >= 0)],
  ['greaterthan', order((result) => result > 0)],
  ['gt', order((result) => result > 0)],
  [
    'in',
    (value, container) =>
      typeof container === 'string'
        ? container.includes(str(value))
        : Array.isArray(container)
          ? container.some((entry) => equal(entry, value))
          : isDict(container) && entriesOf(container).some(([key]) => equal(key, value)),
  ],
  ['integer', (value) => typeof value === 'number' && Number.isInteger(value)],
  ['iterable', (value) => typeof value === 'string' || Array.isArray(value) || isDict(value)],
  ['le', order((result) => result <= 0)],
  ['lessthan', order((result) => result < 0)],
  ['lower', (value) => str(value) === str(value).toLowerCase()],
  ['lt', order((result) => result < 0)],
  ['mapping', (value) => isDict(value)],
  ['ne', (a, b) => !equal(a, b)],
  ['none', (value) => value === null],
  ['number', (value) => isNumber(value)],
  ['odd', (value) => Math.abs(Number(value) % 2) === 1],
  ['sameas', (a, b) => Object.is(a, b)],
  ['sequence', (value) => typeof value === 'string' || Array.isArray(value) || isDict(value)],
  ['string', (value) => typeof value === 'string'],
  ['true', (value) => value === true],
  ['upper', (value) => str(value) === str(value).toUpperCase()],
]);

/** All of Jinja2's filters (and lm-evaluation-harness's `regex_replace`). One row each. */
import { spaces } from '../shared/whitespace.ts';
import { percentFormat } from './percent-format.ts';
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
  truthy,
  typeName,
} from './python.ts';
import { pformat } from './python-pprint.ts';
import { substitute } from './python-regex.ts';
import type { Evaluator } from './template-evaluator.ts';
import { htmlFilters } from './template-html-filters.ts';
import { methodOf } from './template-methods.ts';
import { numberFilters, numberOf } from './template-number-filters.ts';
import { compare, item } from './template-operators.ts';
import { type Arguments, Namespace, type TemplateFilter, Undefined } from './template-scope.ts';
import { tests, testsOfUndefined } from './template-tests.ts';
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

/** What a method of a text gives. */
const called = (owner: string, name: string, ...positional: unknown[]): unknown =>
  methodOf(owner, name)?.({ positional, named: new Map() });

const method =
  (name: string): Filter =>
  (value) =>
    called(str(value), name);

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
    if (result === undefined) throw new PythonError(`cannot sort '${typeName(a)}' with '${typeName(b)}'.`);
    return reverse ? -result : result;
  });
  return order;
}

const sort: Filter = (value, args, evaluator) => {
  const by = argument(args, 2, 'attribute') ?? null;
  const caseSensitive = truthy(argument(args, 1, 'case_sensitive'));
  // Several attributes, separated by commas, count in their order.
  const paths = typeof by === 'string' ? by.split(',') : [by];
  const key = (entry: unknown): unknown =>
    by === null
      ? folded(entry, caseSensitive)
      : paths.map((path) => folded(evaluator.defined(attribute(entry, path)), caseSensitive));
  return sorted(list(value, evaluator), key, truthy(argument(args, 0, 'reverse')));
};

const extreme =
  (sign: number): Filter =>
  (value, args, evaluator) => {
    const by = argument(args, 1, 'attribute') ?? null;
    const caseSensitive = truthy(argument(args, 0, 'case_sensitive'));
    const entries = list(value, evaluator);
    const key = (entry: unknown): unknown =>
      folded(by === null ? entry : evaluator.defined(attribute(entry, by)), caseSensitive);
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
      if (name !== undefined && testsOfUndefined.has(str(name))) holds = test?.(subject, other, evaluator) ?? false;
      else if (name === undefined) holds = truthy(evaluator.defined(subject));
      else if (test) holds = test(evaluator.defined(subject), other, evaluator);
      else throw new PythonError(`Softbench has no template test named "${str(name)}".`);
      return holds === keep;
    });
  };

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
  const lines = called(`${str(value)}\n`, 'splitlines') as string[];
  const inner = lines.map((line, at) => (at === 0 || (line === '' && !blank) ? line : by + line));
  return (first ? by : '') + inner.join('\n');
}

/** The attribute, and never the entry of that name. */
const attr: Filter = (value, args) => {
  const name = str(argument(args, 0, 'name'));
  const found = value instanceof Namespace ? value.values.get(name) : methodOf(value, name);
  return found ?? new Undefined(`'${typeName(value)}' object has no attribute '${name}'`);
};

/** What stands for an undefined value, or for one that is false where that is asked for. */
const fallback: Filter = (value, args) => {
  const whenFalse = truthy(argument(args, 1, 'boolean'));
  const missing = value instanceof Undefined || (whenFalse && !truthy(value));
  return missing ? (argument(args, 0, 'default_value') ?? '') : value;
};

/** Filters that take an undefined value; for all others it is an error. */
export const filtersOfUndefined: ReadonlySet<string> = new Set(['d', 'default', 'items']);

const unseeded = (name: string): Filter => {
  return () => {
    throw new PythonError(
      `Softbench does not run the template filter "${name}": it draws without a seed, so that no two evaluations would have the same prompts. Draw once, and put the result into the data.`,
    );
  };
};

export const filters: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ...numberFilters,
  ...textFilters,
  ...htmlFilters,
  ['attr', attr],
  ['capitalize', method('capitalize')],
  ['count', (value) => length(value)],
  ['d', fallback],
  ['default', fallback],
  [
    'dictsort',
    (value, args) => {
      if (!isDict(value)) throw new PythonError('dictsort needs a dict.');
      const by = argument(args, 1, 'by') ?? 'key';
      if (by !== 'key' && by !== 'value') throw new PythonError('dictsort: by must be "key" or "value".');
      const place = by === 'value' ? 1 : 0;
      const caseSensitive = truthy(argument(args, 0, 'case_sensitive'));
      const pairs: unknown[] = entriesOf(value).map((entry) => PythonTuple.from(entry));
      return sorted(
        pairs,
        (pair) => folded((pair as unknown[])[place], caseSensitive),
        truthy(argument(args, 2, 'reverse')),
      );
    },
  ],
  ['first', (value, _, evaluator) => list(value, evaluator)[0] ?? new Undefined('No first item, sequence was empty')],
  ['format', (value, { positional, named }) => formatted(str(value), positional, named)],
  ['groupby', groupBy(attribute, (entries, key) => sorted(entries, key, false), folded)],
  ['indent', indent],
  [
    'items',
    (value) => {
      if (value instanceof Undefined) return [];
      if (!isDict(value)) throw new PythonError(`items needs a dict, not '${typeName(value)}'.`);
      return entriesOf(value).map((entry) => PythonTuple.from(entry));
    },
  ],
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
  ['pprint', (value) => pformat(value)],
  ['random', unseeded('random')],
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
  [
    'replace',
    (value, args) =>
      called(
        str(value),
        'replace',
        str(argument(args, 0, 'old')),
        str(argument(args, 1, 'new')),
        argument(args, 2, 'count') ?? -1,
      ),
  ],
  [
    'reverse',
    (value, _, evaluator) =>
      typeof value === 'string' ? Array.from(value).reverse().join('') : list(value, evaluator).reverse(),
  ],
  ['select', select(true, false)],
  ['selectattr', select(true, true)],
  ['sort', sort],
  ['string', (value) => str(value)],
  [
    'sum',
    (value, args, evaluator) => {
      const by = argument(args, 0, 'attribute');
      const numbers = list(value, evaluator).map((entry) =>
        by === undefined || by === null ? entry : evaluator.defined(attribute(entry, by)),
      );
      const total = numbers.reduce<number>(
        (sum, entry) => sum + numberOf(entry, 'sum'),
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
  ['trim', (value, args) => called(str(value), 'strip', argument(args, 0, 'chars') ?? null)],
  [
    'unique',
    (value, args, evaluator) => {
      const seen: unknown[] = [];
      const by = argument(args, 1, 'attribute') ?? null;
      const caseSensitive = truthy(argument(args, 0, 'case_sensitive'));
      return list(value, evaluator).filter((entry) => {
        const key = folded(by === null ? entry : evaluator.defined(attribute(entry, by)), caseSensitive);
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

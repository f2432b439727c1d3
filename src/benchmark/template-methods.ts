/** Methods of Python's strings, lists and dicts that templates may call. One row a method. */

import { spaces } from '../shared/whitespace.ts';
import { formatted } from './percent-format.ts';
import {
  entriesOf,
  equal,
  isDict,
  isDigits,
  isNumber,
  leftStrip,
  PythonError,
  PythonTuple,
  repr,
  rightStrip,
  str,
  strip,
  truthy,
} from './python.ts';
import type { Arguments, TemplateFunction } from './template-scope.ts';

type Method<Owner> = (owner: Owner, args: unknown[], named: Map<string, unknown>) => unknown;

/** What `str.splitlines` takes for the end of a line. */
const lineBreak = '\\r\\n|[\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029]';
const linesWithEnds = new RegExp(`(?:(?!${lineBreak})[^])*(?:${lineBreak})|(?:(?!${lineBreak})[^])+$`, 'g');

const whole = (value: unknown, fallback: number): number => (isNumber(value) ? Math.trunc(Number(value)) : fallback);
const text = (value: unknown, method: string): string => {
  if (typeof value !== 'string') throw new PythonError(`${method}() needs a text, not ${repr(value)}.`);
  return value;
};

/** Strips the characters of `set` from one or both ends. */
function stripSet(owner: string, set: unknown, left: boolean, right: boolean): string {
  if (set === undefined || set === null)
    return left && right ? strip(owner) : left ? leftStrip(owner) : rightStrip(owner);
  const among = new Set(Array.from(text(set, 'strip')));
  const points = Array.from(owner);
  let [from, to] = [0, points.length];
  if (left) while (from < to && among.has(points[from] ?? '')) from++;
  if (right) while (to > from && among.has(points[to - 1] ?? '')) to--;
  return points.slice(from, to).join('');
}

function split(owner: string, separator: unknown, most: number, fromRight: boolean): string[] {
  const limit = most < 0 ? Number.POSITIVE_INFINITY : most;
  if (separator === undefined || separator === null) {
    const words = [...owner.matchAll(new RegExp(`[^${spaces}]+`, 'g'))];
    if (words.length <= limit) return words.map((word) => word[0]);
    if (fromRight) {
      const kept = words.slice(words.length - limit);
      const rest = rightStrip(leftStrip(owner.slice(0, kept[0]?.index ?? owner.length)));
      return [rest, ...kept.map((word) => word[0])];
    }
    return [...words.slice(0, limit).map((word) => word[0]), rightStrip(owner.slice(words[limit]?.index))];
  }
  const between = text(separator, 'split');
  if (between === '') throw new PythonError('empty separator.');
  const parts = owner.split(between);
  if (parts.length - 1 <= limit) return parts;
  return fromRight
    ? [parts.slice(0, parts.length - limit).join(between), ...parts.slice(parts.length - limit)]
    : [...parts.slice(0, limit), parts.slice(limit).join(between)];
}

function replace(owner: string, from: unknown, to: unknown, count: number): string {
  const parts = split(owner, from === '' ? null : from, count, false);
  if (from === '') return Array.from(owner).reduce((out, point) => out + point + str(to), str(to));
  return parts.join(text(to, 'replace'));
}

const affix = (owner: string, wanted: unknown, holds: (affix: string) => boolean): boolean =>
  (Array.isArray(wanted) ? wanted : [wanted]).some((entry) => holds(text(entry, 'startswith')) && owner !== undefined);

/** Position in code points, as Python counts. */
const position = (owner: string, at: number): number => (at < 0 ? -1 : Array.from(owner.slice(0, at)).length);

function partition(owner: string, separator: unknown, at: number): PythonTuple {
  const between = text(separator, 'partition');
  return PythonTuple.from([owner.slice(0, at), between, owner.slice(at + between.length)]);
}

const capitalize = (owner: string): string => {
  const [first = '', ...rest] = Array.from(owner);
  return first.toUpperCase() + rest.join('').toLowerCase();
};

/** `str.format` with positional, numbered and named fields, and the format specs that templates use. */
function format(owner: string, args: readonly unknown[], named: ReadonlyMap<string, unknown>): string {
  let next = 0;
  return owner.replace(
    /\{\{|\}\}|\{([^{}:!]*)(?:!([rs]))?(?::([^{}]*))?\}/g,
    (whole, name?: string, conversion?: string, spec?: string) => {
      if (whole === '{{' || whole === '}}') return whole.slice(1);
      const value = name === '' ? args[next++] : /^\d+$/.test(name ?? '') ? args[Number(name)] : named.get(name ?? '');
      if (value === undefined) throw new PythonError(`format() has no value for {${name}}.`);
      return formatted(conversion === 'r' ? repr(value) : conversion === 's' ? str(value) : value, spec ?? '');
    },
  );
}

const stringMethods: Record<string, Method<string>> = {
  upper: (owner) => owner.toUpperCase(),
  lower: (owner) => owner.toLowerCase(),
  casefold: (owner) => owner.toLowerCase().replaceAll('ß', 'ss'),
  capitalize: (owner) => capitalize(owner),
  title: (owner) => owner.replace(/\p{L}+/gu, (word) => capitalize(word)),
  swapcase: (owner) =>
    Array.from(owner, (point) => (point === point.toLowerCase() ? point.toUpperCase() : point.toLowerCase())).join(''),
  strip: (owner, [set]) => stripSet(owner, set, true, true),
  lstrip: (owner, [set]) => stripSet(owner, set, true, false),
  rstrip: (owner, [set]) => stripSet(owner, set, false, true),
  removeprefix: (owner, [prefix]) => {
    const start = text(prefix, 'removeprefix');
    return owner.startsWith(start) ? owner.slice(start.length) : owner;
  },
  removesuffix: (owner, [suffix]) => {
    const end = text(suffix, 'removesuffix');
    return end !== '' && owner.endsWith(end) ? owner.slice(0, -end.length) : owner;
  },
  split: (owner, [separator, most], named) =>
    split(owner, separator ?? named.get('sep'), whole(most ?? named.get('maxsplit'), -1), false),
  rsplit: (owner, [separator, most], named) =>
    split(owner, separator ?? named.get('sep'), whole(most ?? named.get('maxsplit'), -1), true),
  splitlines: (owner, [keep], named) => {
    if (truthy(keep ?? named.get('keepends'))) return owner.match(linesWithEnds) ?? [];
    return owner === '' ? [] : owner.replace(new RegExp(`(?:${lineBreak})$`), '').split(new RegExp(lineBreak));
  },
  partition: (owner, [separator]) => {
    const at = owner.indexOf(text(separator, 'partition'));
    return at < 0 ? PythonTuple.from([owner, '', '']) : partition(owner, separator, at);
  },
  rpartition: (owner, [separator]) => {
    const at = owner.lastIndexOf(text(separator, 'rpartition'));
    return at < 0 ? PythonTuple.from(['', '', owner]) : partition(owner, separator, at);
  },
  replace: (owner, [from, to, count]) => replace(owner, from, to, whole(count, -1)),
  startswith: (owner, [wanted]) => affix(owner, wanted, (start) => owner.startsWith(start)),
  endswith: (owner, [wanted]) => affix(owner, wanted, (end) => owner.endsWith(end)),
  find: (owner, [wanted]) => position(owner, owner.indexOf(text(wanted, 'find'))),
  rfind: (owner, [wanted]) => position(owner, owner.lastIndexOf(text(wanted, 'rfind'))),
  index: (owner, [wanted]) => {
    const at = owner.indexOf(text(wanted, 'index'));
    if (at < 0) throw new PythonError(`substring ${repr(wanted)} not found.`);
    return position(owner, at);
  },
  count: (owner, [wanted]) =>
    wanted === '' ? Array.from(owner).length + 1 : owner.split(text(wanted, 'count')).length - 1,
  join: (owner, [items]) =>
    (Array.isArray(items) ? items : Array.from(text(items, 'join'))).map((entry) => text(entry, 'join')).join(owner),
  format: (owner, args, named) => format(owner, args, named),
  zfill: (owner, [width]) =>
    /^[-+]/.test(owner)
      ? owner.charAt(0) + owner.slice(1).padStart(whole(width, 0) - 1, '0')
      : owner.padStart(whole(width, 0), '0'),
  ljust: (owner, [width, fill]) => owner.padEnd(whole(width, 0), str(fill ?? ' ')),
  rjust: (owner, [width, fill]) => owner.padStart(whole(width, 0), str(fill ?? ' ')),
  isdigit: (owner) => isDigits(owner),
  isdecimal: (owner) => /^\p{Nd}+$/u.test(owner),
  isnumeric: (owner) => /^\p{N}+$/u.test(owner),
  isalpha: (owner) => /^\p{L}+$/u.test(owner),
  isalnum: (owner) => /^[\p{L}\p{N}]+$/u.test(owner),
  isspace: (owner) => owner !== '' && strip(owner) === '',
  isupper: (owner) => owner !== owner.toLowerCase() && owner === owner.toUpperCase(),
  islower: (owner) => owner !== owner.toUpperCase() && owner === owner.toLowerCase(),
};

const listMethods: Record<string, Method<unknown[]>> = {
  index: (owner, [wanted]) => {
    const at = owner.findIndex((entry) => equal(entry, wanted));
    if (at < 0) throw new PythonError(`${repr(wanted)} is not in the list ${repr(owner).slice(0, 120)}.`);
    return at;
  },
  count: (owner, [wanted]) => owner.filter((entry) => equal(entry, wanted)).length,
  append: (owner, [entry]) => {
    owner.push(entry);
    return null;
  },
  extend: (owner, [entries]) => {
    owner.push(...(entries as unknown[]));
    return null;
  },
  pop: (owner, [at]) => owner.splice(whole(at, -1), 1)[0] ?? null,
  copy: (owner) => [...owner],
};

type Dict = Map<unknown, unknown> | Record<string, unknown>;
const get = (owner: Dict, key: unknown): unknown =>
  owner instanceof Map ? owner.get(key) : Object.hasOwn(owner, str(key)) ? owner[str(key)] : undefined;

const dictMethods: Record<string, Method<Dict>> = {
  get: (owner, [key, fallback]) => get(owner, key) ?? fallback ?? null,
  items: (owner) => entriesOf(owner).map((entry) => PythonTuple.from(entry)),
  keys: (owner) => entriesOf(owner).map(([key]) => key),
  values: (owner) => entriesOf(owner).map(([, value]) => value),
};

/** The method `name` of a value, ready to be called; undefined where Python has none (or Softbench does not). */
export function methodOf(owner: unknown, name: string): TemplateFunction | undefined {
  const bind = <Owner>(table: Record<string, Method<Owner>>, self: Owner): TemplateFunction | undefined => {
    const method = Object.hasOwn(table, name) ? table[name] : undefined;
    return method && (({ positional, named }: Arguments) => method(self, positional, named));
  };
  if (typeof owner === 'string') return bind(stringMethods, owner);
  if (Array.isArray(owner)) return bind(listMethods, owner);
  return isDict(owner) ? bind(dictMethods, owner) : undefined;
}

/** Jinja2's filters that lay out texts and lists: widths, wrapping, sizes, parts. One row each. */
import { entriesOf, equal, isDict, isNumber, PythonError, PythonNamedTuple, repr, str, truthy } from './python.ts';
import type { Evaluator } from './template-evaluator.ts';
import { methodOf } from './template-methods.ts';
import { type Arguments, type TemplateFilter, Undefined } from './template-scope.ts';

const given = ({ positional, named }: Arguments, place: number, name: string): unknown =>
  positional[place] ?? named.get(name);

/** A whole number of a filter's arguments. @throws PythonError where it is none */
function whole(args: Arguments, place: number, name: string, usual?: number): number {
  const value = given(args, place, name) ?? usual;
  if (!isNumber(value) || !Number.isInteger(Number(value)))
    throw new PythonError(`${name} must be a whole number, not ${value === undefined ? 'missing' : repr(value)}.`);
  return Number(value);
}

/** `str.center`: of an odd rest the left gets more where the width is odd, as CPython has it. */
const center: TemplateFilter = (value, args) => {
  const text = str(value);
  const width = whole(args, 0, 'width', 80);
  const rest = Math.max(0, width - Array.from(text).length);
  const left = (rest >> 1) + (rest & width & 1);
  return ' '.repeat(left) + text + ' '.repeat(rest - left);
};

const truncate: TemplateFilter = (value, args) => {
  const letters = Array.from(str(value));
  const length = whole(args, 0, 'length', 255);
  const end = str(given(args, 2, 'end') ?? '...');
  const kept = length - Array.from(end).length;
  if (kept < 0) throw new PythonError(`truncate needs a length of at least ${Array.from(end).length}.`);
  if (letters.length <= length + whole(args, 3, 'leeway', 5)) return letters.join('');
  const cut = letters.slice(0, kept).join('');
  const space = cut.lastIndexOf(' ');
  return (given(args, 1, 'killwords') || space < 0 ? cut : cut.slice(0, space)) + end;
};

const fileSize: TemplateFilter = (value, args) => {
  const bytes = Number(isNumber(value) ? value : str(value));
  if (Number.isNaN(bytes)) throw new PythonError(`could not convert string to float: ${repr(value)}`);
  const binary = Boolean(given(args, 0, 'binary'));
  const base = binary ? 1024 : 1000;
  if (bytes === 1) return '1 Byte';
  if (bytes < base) return `${Math.trunc(bytes)} Bytes`;
  const letters = [...(binary ? 'KMGTPEZY' : 'kMGTPEZY')];
  const at = Math.max(
    0,
    letters.findIndex((_, power) => bytes < base ** (power + 2)),
  );
  const power = bytes < base ** (letters.length + 1) ? at : letters.length - 1;
  return `${((base * bytes) / base ** (power + 2)).toFixed(1)} ${letters[power]}${binary ? 'iB' : 'B'}`;
};

/** `urllib.parse.quote` of a text's UTF-8 bytes: all but letters, digits and `_.-~` (and `/` where it is safe). */
const quoted = (text: string, slash: boolean): string => {
  const all = encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return slash ? all.replaceAll('%2F', '/') : all.replaceAll('%20', '+');
};

const urlEncode: TemplateFilter = (value, _, evaluator) => {
  if (!isDict(value) && !Array.isArray(value)) return quoted(str(value), true);
  const pairs = isDict(value)
    ? entriesOf(value)
    : [...evaluator.iterate(value)].map((pair) => [...evaluator.iterate(pair)]);
  return pairs.map(([name, entry]) => `${quoted(str(name), false)}=${quoted(str(entry), false)}`).join('&');
};

/** Rows of `size` entries; the last is filled up with `fill_with` where that is given. */
const batch: TemplateFilter = (value, args, evaluator) => {
  const all = [...evaluator.iterate(value)];
  const size = whole(args, 0, 'linecount');
  const fill = given(args, 1, 'fill_with') ?? null;
  return Array.from({ length: Math.ceil(all.length / size) }, (_, row) => {
    const entries = all.slice(row * size, (row + 1) * size);
    return fill === null ? entries : [...entries, ...new Array(size - entries.length).fill(fill)];
  });
};

/** Columns: `slices` lists whose lengths differ by one at most; the shorter ones get `fill_with` where that is given. */
const slices: TemplateFilter = (value, args, evaluator) => {
  const all = [...evaluator.iterate(value)];
  const count = whole(args, 0, 'slices');
  const fill = given(args, 1, 'fill_with') ?? null;
  const [each, longer] = [Math.floor(all.length / count), all.length % count];
  return Array.from({ length: count }, (_, column) => {
    const start = column * each + Math.min(column, longer);
    const entries = all.slice(start, start + each + (column < longer ? 1 : 0));
    return fill !== null && column >= longer ? [...entries, fill] : entries;
  });
};

/** The pieces that `textwrap` wraps at: words, white space, and parts of words behind hyphens and around dashes. */
const pieces =
  /[\t\n\v\f\r ]+|[\w!"'&.,?]+-{2,}(?=\w)|-{2,}(?=\w)|\S+?(?:-(?:(?<=[^\d\W]{2}-)|(?<=[^\d\W]-[^\d\W]-))(?=[^\d\W]-?[^\d\W])|(?=[\t\n\v\f\r ]|$)|(?<=[\w!"'&.,?])(?=-{2,}\w))/gu;

/** One paragraph as `textwrap.wrap` breaks it, with tabs and white space left as they are. */
function wrapped(text: string, width: number, breakWords: boolean, breakHyphens: boolean): string[] {
  const chunks = (text.match(breakHyphens ? pieces : /[\t\n\v\f\r ]+|[^\t\n\v\f\r ]+/g) ?? []).reverse();
  const lines: string[] = [];
  const blank = (chunk: string | undefined): boolean => chunk !== undefined && chunk.trim() === '';
  while (chunks.length > 0) {
    if (lines.length > 0 && blank(chunks.at(-1))) chunks.pop();
    const line: string[] = [];
    let length = 0;
    for (let next = chunks.at(-1); next !== undefined && length + next.length <= width; next = chunks.at(-1)) {
      line.push(next);
      length += next.length;
      chunks.pop();
    }
    const long = chunks.at(-1);
    if (long !== undefined && long.length > width) {
      const room = width - length;
      if (breakWords) {
        const hyphen = breakHyphens && long.length > room ? long.lastIndexOf('-', room - 1) : -1;
        const whole = hyphen > 0 && /[^-]/.test(long.slice(0, hyphen)) ? hyphen + 1 : Math.max(1, room);
        line.push(long.slice(0, whole));
        chunks[chunks.length - 1] = long.slice(whole);
      } else if (line.length === 0) line.push(chunks.pop() ?? '');
    }
    if (blank(line.at(-1))) line.pop();
    if (line.length > 0) lines.push(line.join(''));
  }
  return lines;
}

const wordWrap: TemplateFilter = (value, args) => {
  const width = whole(args, 0, 'width', 79);
  const by = str(given(args, 2, 'wrapstring') ?? '\n');
  const [words, hyphens] = [given(args, 1, 'break_long_words') ?? true, given(args, 3, 'break_on_hyphens') ?? true];
  const lines = methodOf(str(value), 'splitlines')?.({ positional: [], named: new Map() }) as string[];
  return lines.map((line) => wrapped(line, width, Boolean(words), Boolean(hyphens)).join(by)).join(by);
};

/**
 * Pairs of a value and the entries that have it, in the order of the values.
 * @param attribute of an entry, which may be undefined
 * @param sorted in the order of a key; texts that differ in case are alike where `caseSensitive` is not set
 */
export const groupBy =
  (
    attribute: (entry: unknown, path: unknown) => unknown,
    sorted: (entries: unknown[], key: (entry: unknown) => unknown) => unknown[],
    folded: (value: unknown, caseSensitive: boolean) => unknown,
  ): TemplateFilter =>
  (value, args, evaluator: Evaluator) => {
    const by = given(args, 0, 'attribute');
    const otherwise = given(args, 1, 'default') ?? null;
    const caseSensitive = truthy(given(args, 2, 'case_sensitive'));
    const groupOf = (entry: unknown): unknown => {
      const found = attribute(entry, by);
      return found instanceof Undefined && otherwise !== null ? otherwise : evaluator.defined(found);
    };
    const keyOf = (entry: unknown): unknown => folded(groupOf(entry), caseSensitive);
    const groups: { key: unknown; entries: unknown[] }[] = [];
    for (const entry of sorted([...evaluator.iterate(value)], keyOf)) {
      const last = groups.at(-1);
      if (last && equal(keyOf(last.entries[0]), keyOf(entry))) last.entries.push(entry);
      // The value is that of the first entry, as it is written there.
      else groups.push({ key: groupOf(entry), entries: [entry] });
    }
    return groups.map(({ key, entries }) => PythonNamedTuple.named({ grouper: key, list: entries }));
  };

export const textFilters: readonly (readonly [string, TemplateFilter])[] = [
  ['batch', batch],
  ['center', center],
  ['filesizeformat', fileSize],
  ['slice', slices],
  ['truncate', truncate],
  ['urlencode', urlEncode],
  ['wordwrap', wordWrap],
];

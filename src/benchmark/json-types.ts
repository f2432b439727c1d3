/**
 * The types that `datasets` gives the columns of JSON files. A table has one type a column, in nested values too: a key that
 * an object lacks is None, integers beside floats are floats, the keys have one order. Files with one object a line go
 * through Arrow's reader, which makes moments of texts that look like ISO 8601; other files go through pandas, which does so
 * by the column's name and makes integers of whole floats.
 */
import { moment } from './column-values.ts';
import { isFloat, PythonFloat, type PythonObject } from './python.ts';

type Row = Record<string, unknown>;

/** What was seen of a column, or of what is in it. */
class Shape {
  floats = false;
  integers = false;
  texts = false;
  others = false;
  /** Every text so far is a moment. */
  moments = true;
  element: Shape | null = null;
  fields: Map<string, Shape> | null = null;
  /** Objects of it differ in their keys or in the order of them. */
  uneven = false;
  private objects = 0;

  observe(value: unknown, lines: boolean): void {
    if (value === null || value === undefined) return;
    if (typeof value === 'string') {
      this.texts = true;
      if (this.moments && !(lines && looksLikeMoment(value))) this.moments = false;
    } else if (isFloat(value)) this.floats = true;
    else if (typeof value === 'number') this.integers = true;
    else if (Array.isArray(value)) {
      this.element ??= new Shape();
      for (const entry of value) this.element.observe(entry, lines);
    } else if (isRow(value)) this.observeObject(value, lines);
    else this.others = true;
  }

  private observeObject(value: Row, lines: boolean): void {
    this.fields ??= new Map();
    this.objects++;
    let at = 0;
    const known = [...this.fields.keys()];
    for (const name in value) {
      if (known[at] !== name && this.objects > 1) this.uneven = true;
      at++;
      let shape = this.fields.get(name);
      if (!shape) {
        shape = new Shape();
        this.fields.set(name, shape);
      }
      shape.observe(value[name], lines);
    }
    if (at < this.fields.size) this.uneven = true;
  }

  /** Of several kinds: `datasets` refuses such a column; its values are left as they are here. */
  private get mixed(): boolean {
    const kinds = [this.texts, this.floats || this.integers, this.others, this.element !== null, this.fields !== null];
    return kinds.filter(Boolean).length > 1;
  }

  /** What becomes of a value; null where all stay as they are. */
  converter(): ((value: unknown) => unknown) | null {
    if (this.mixed) return null;
    const present =
      (convert: (value: never) => unknown) =>
      (value: unknown): unknown =>
        value === null || value === undefined ? null : convert(value as never);
    if (this.floats && this.integers) return present((value: number | PythonFloat) => toFloat(value));
    if (this.texts && this.moments) return present((text: string) => momentOf(text) ?? text);
    const within = this.element?.converter();
    if (within) return present((list: unknown[]) => list.map(within));
    if (!this.fields) return null;
    const fields = [...this.fields].map(([name, shape]) => [name, shape.converter()] as const);
    if (!this.uneven && fields.every(([, convert]) => convert === null)) return null;
    return present((object: Row) =>
      Object.fromEntries(
        fields.map(([name, convert]) => [name, convert ? convert(object[name]) : (object[name] ?? null)]),
      ),
    );
  }
}

const toFloat = (value: number | PythonFloat): unknown =>
  typeof value === 'number' && Number.isInteger(value) ? new PythonFloat(value) : value;

const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** How rows are laid out: JSON with one object a line, other JSON, or tables whose columns have types of their own. */
export type Layout = 'lines' | 'list' | 'table';

/**
 * What makes rows of one table of them: one type a column.
 * @returns null where they stay as they are
 */
export function unifier(rows: Iterable<Row>, layout: Layout): ((row: Row) => Row) | null {
  const shape = new Shape();
  // Of columns that pandas may make something else of.
  const values = new Map<string, unknown[]>();
  for (const row of rows) {
    shape.observe(row, layout === 'lines');
    if (layout === 'list') keepValues(row, values);
  }
  const convert = shape.converter() as ((row: Row) => Row) | null;
  const columns = [...values].flatMap(([name, present]) => {
    const column = asPandas(name, present);
    return column ? [[name, column] as const] : [];
  });
  if (columns.length === 0) return convert;
  return (row) => {
    const unified = { ...(convert ? convert(row) : row) };
    for (const [name, column] of columns) {
      const value = unified[name];
      if (value !== null && value !== undefined) unified[name] = column(value);
    }
    return unified;
  };
}

function keepValues(row: Row, values: Map<string, unknown[]>): void {
  for (const [name, value] of Object.entries(row)) {
    if (value === null || value === undefined) continue;
    if (typeof value !== 'number' && !(value instanceof PythonFloat) && !isDateName(name)) {
      // Of another kind: whole floats are not all that it has.
      values.set(name, [value]);
      continue;
    }
    const list = values.get(name);
    if (list) list.push(value);
    else values.set(name, [value]);
  }
}

/** What pandas' `read_json` does to a column. @param present its values that are not null */
function asPandas(name: string, present: readonly unknown[]): ((value: unknown) => unknown) | null {
  const date = isDateName(name) ? dateReader(present) : null;
  if (date) return date;
  if (!present.every((value) => value instanceof PythonFloat || Number.isInteger(value))) return null;
  return present.some((value) => value instanceof PythonFloat)
    ? (value) => (value instanceof PythonFloat ? Number(value) : value)
    : null;
}

/** Columns that pandas takes for dates (`convert_dates` with `keep_default_dates`). */
const isDateName = (name: string): boolean =>
  /(?:_at|_time)$|^timestamp/.test(name.toLowerCase()) || ['modified', 'date'].includes(name.toLowerCase());

/** Seconds below which pandas takes a number for no moment: one year. */
const earliest = 31_536_000;
/** Seconds that nanoseconds of 64 bits reach. */
const latest = 9_223_372_036;

function dateReader(values: readonly unknown[]): ((value: unknown) => unknown) | null {
  if (values.every((value) => typeof value === 'string' && momentOf(value) !== null))
    return (value) => momentOf(String(value));
  if (!values.every((value) => typeof value === 'number' && value > earliest)) return null;
  const largest = Math.max(...(values as number[]).slice(0, 100_000));
  const per = [1, 1e3, 1e6, 1e9].find((each) => largest / each < latest);
  return per === undefined ? null : (value) => moment(Math.floor(Number(value) / per), 'second');
}

// Arrow's ISO 8601 (value_parsing.h, ParseTimestampISO8601, unit second): hours, minutes and seconds may be left out.
const iso = /^(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2})(?::(\d{2})(?::(\d{2}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/;

function looksLikeMoment(text: string): boolean {
  return text.length >= 10 && text.length <= 25 && text.charCodeAt(4) === 45 && secondsOf(text) !== null;
}

const momentOf = (text: string): PythonObject | null => {
  const seconds = secondsOf(text);
  return seconds === null ? null : moment(seconds, 'second');
};

/** Seconds since 1970 of an ISO 8601 text; null where it is none. */
function secondsOf(text: string): number | null {
  const match = iso.exec(text);
  if (!match) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  if (hour > 23 || minute > 59 || second > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const zone = match[7];
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone ?? '') ?? [];
  if (Number(hours ?? 0) > 23 || Number(minutes ?? 0) > 59) return null;
  const offset = sign ? (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes ?? 0) * 60) : 0;
  return date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset;
}

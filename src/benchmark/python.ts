/** Python's values in JavaScript, as far as templates and answers show them: printing, equality, truth, literals. */
import { spaces } from '../shared/whitespace.ts';

/** A float whose value is a whole number; Python prints it as `1.0` where a JavaScript number would print `1`. */
export class PythonFloat {
  constructor(readonly value: number) {}
  valueOf(): number {
    return this.value;
  }
  toJSON(): number {
    return this.value;
  }
}

export class PythonTuple extends Array<unknown> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }
}

/** A tuple whose entries have names too. */
export class PythonNamedTuple extends PythonTuple {
  readonly names = new Map<string, unknown>();

  static named(entries: Readonly<Record<string, unknown>>): PythonNamedTuple {
    const made = new PythonNamedTuple();
    for (const [name, entry] of Object.entries(entries)) {
      made.push(entry);
      made.names.set(name, entry);
    }
    return made;
  }
}

/** A value of a Python class without a twin here (datetime, Decimal, bytes): what `str` and `repr` make of it. */
export class PythonObject {
  /** @param code what `repr` gives */
  constructor(
    readonly text: string,
    readonly code: string,
  ) {}
  toString(): string {
    return this.text;
  }
  toJSON(): string {
    return this.text;
  }
}

/** Raised by the Python code that lm-evaluation-harness would run; its message is for people. */
export class PythonError extends Error {}

export const float = (value: number): unknown => (Number.isInteger(value) ? new PythonFloat(value) : value);
export const isFloat = (value: unknown): boolean =>
  value instanceof PythonFloat || (typeof value === 'number' && !Number.isInteger(value));
export const isNumber = (value: unknown): value is number | boolean | PythonFloat =>
  typeof value === 'number' || typeof value === 'boolean' || value instanceof PythonFloat;
/** A dict: a Map, or an object without a class of its own. */
export const isDict = (value: unknown): value is Map<unknown, unknown> | Record<string, unknown> =>
  value instanceof Map ||
  (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype);

export const entriesOf = (dict: Map<unknown, unknown> | Record<string, unknown>): [unknown, unknown][] =>
  dict instanceof Map ? [...dict] : Object.entries(dict);

export function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'NoneType';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'str';
  if (isNumber(value)) return isFloat(value) ? 'float' : 'int';
  if (value instanceof PythonTuple) return 'tuple';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'function') return 'function';
  return isDict(value) ? 'dict' : 'object';
}

/** `str(value)`. */
export const str = (value: unknown): string =>
  typeof value === 'string' ? value : value instanceof PythonObject ? value.text : repr(value);

/** `repr(value)`. */
export function repr(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'string') return reprString(value);
  if (value instanceof PythonObject) return value.code;
  if (isNumber(value)) return isFloat(value) ? reprFloat(Number(value)) : reprInteger(Number(value));
  if (value instanceof PythonTuple) return `(${value.map(repr).join(', ')}${value.length === 1 ? ',' : ''})`;
  if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`;
  if (isDict(value))
    return `{${entriesOf(value)
      .map(([key, entry]) => `${repr(key)}: ${repr(entry)}`)
      .join(', ')}}`;
  return String(value);
}

const reprInteger = (value: number): string => (Object.is(value, -0) ? '0' : BigInt(value).toString());

/** Shortest digits that read back as the same number (as in JavaScript), with Python's rule for the exponent. */
function reprFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  if (Object.is(value, -0)) return '-0.0';
  if (value === 0) return '0.0';
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16)
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  // Not toFixed: of two shortest texts at the same distance it takes the upper one, Python (and String) the even one.
  const text = String(value);
  return text.includes('.') ? text : `${text}.0`;
}

const escapes: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

function reprString(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let out = quote;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const escaped = escapes[character];
    if (escaped) out += escaped;
    else if (character === quote) out += `\\${quote}`;
    else if (character !== ' ' && /[\p{C}\p{Z}]/u.test(character)) {
      if (code < 0x100) out += `\\x${code.toString(16).padStart(2, '0')}`;
      else if (code < 0x10000) out += `\\u${code.toString(16).padStart(4, '0')}`;
      else out += `\\U${code.toString(16).padStart(8, '0')}`;
    } else out += character;
  }
  return out + quote;
}

/** `bool(value)`. */
export function truthy(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return false;
  if (isNumber(value)) return Number(value) !== 0;
  if (Array.isArray(value)) return value.length > 0;
  if (isDict(value)) return entriesOf(value).length > 0;
  return true;
}

/** `a == b`. */
export function equal(a: unknown, b: unknown): boolean {
  if (isNumber(a) && isNumber(b)) return Number(a) === Number(b);
  if (Array.isArray(a) && Array.isArray(b))
    return (
      a instanceof PythonTuple === b instanceof PythonTuple &&
      a.length === b.length &&
      a.every((entry, i) => equal(entry, b[i]))
    );
  if (isDict(a) && isDict(b)) {
    const other = new Map(entriesOf(b));
    const own = entriesOf(a);
    return own.length === other.size && own.every(([key, value]) => other.has(key) && equal(value, other.get(key)));
  }
  if (a instanceof PythonObject && b instanceof PythonObject) return a.code === b.code;
  return (a ?? null) === (b ?? null);
}

const leading = new RegExp(`^[${spaces}]+`);
const trailing = new RegExp(`[${spaces}]+$`);
export const leftStrip = (text: string): string => text.replace(leading, '');
export const rightStrip = (text: string): string => text.replace(trailing, '');
export const strip = (text: string): string => rightStrip(leftStrip(text));
export const endsWithSpace = (text: string): boolean => trailing.test(text);
export const startsWithSpace = (text: string): boolean => leading.test(text);

/** `str.isdigit()`: one character or more, all of them digits. */
export const isDigits = (text: string): boolean =>
  /^[\p{Nd}\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089]+$/u.test(text);

/**
 * `ast.literal_eval`: the value of a Python literal (strings, numbers, lists, tuples, dicts, sets, True, False, None).
 * @throws PythonError where the text is not one
 */
export function literalEval(text: string): unknown {
  const reader = new LiteralReader(text.replace(/^[ \t]+/, ''));
  const value = reader.value();
  reader.end();
  return value;
}

const literalEscapes: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\n': '',
};

class LiteralReader {
  private at = 0;
  constructor(private readonly text: string) {}

  private space(): void {
    while (/\s/.test(this.text[this.at] ?? '')) this.at++;
  }

  private fail(): never {
    throw new PythonError(`not a Python literal at character ${this.at + 1}: ${repr(this.text.slice(0, 80))}`);
  }

  end(): void {
    this.space();
    if (this.at < this.text.length) this.fail();
  }

  private take(token: string): boolean {
    this.space();
    if (!this.text.startsWith(token, this.at)) return false;
    this.at += token.length;
    return true;
  }

  value(): unknown {
    this.space();
    const rest = this.text.slice(this.at);
    const word = /^(?:True|False|None)\b/.exec(rest)?.[0];
    if (word) {
      this.at += word.length;
      return word === 'None' ? null : word === 'True';
    }
    const number = /^[-+]?\s*(?:0[xX][\da-fA-F]+|\d[\d_]*(?:\.[\d_]*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)/.exec(
      rest,
    )?.[0];
    if (number) {
      this.at += number.length;
      const plain = number.replace(/[_\s]/g, '');
      const value = plain.startsWith('-') ? -Number(plain.slice(1)) : Number(plain);
      return /^[-+]?0x/i.test(plain) || !/[.eE]/.test(plain) ? value : float(value);
    }
    if (/^[rRuU]?['"]/.test(rest)) return this.strings();
    if (this.take('[')) return this.sequence(']');
    if (this.take('(')) {
      const items = this.sequence(')', true);
      return items;
    }
    if (this.take('{')) return this.dict();
    return this.fail();
  }

  /** Adjacent strings join, as in Python. */
  private strings(): string {
    let out = '';
    for (;;) {
      this.space();
      const open = /^([rRuU]?)('''|"""|'|")/.exec(this.text.slice(this.at));
      if (!open) return out;
      const raw = (open[1] ?? '').toLowerCase() === 'r';
      const quote = open[2] ?? '';
      this.at += open[0].length;
      for (;;) {
        if (this.at >= this.text.length) this.fail();
        if (this.text.startsWith(quote, this.at)) break;
        const character = this.text[this.at++] ?? '';
        if (quote.length === 1 && character === '\n') this.fail();
        if (character !== '\\') out += character;
        else out += raw ? `\\${this.text[this.at++] ?? ''}` : this.escape();
      }
      this.at += quote.length;
    }
  }

  private escape(): string {
    const rest = this.text.slice(this.at);
    const code = /^(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8}))/.exec(rest);
    if (code) {
      this.at += code[0].length;
      return String.fromCodePoint(Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '0', 16));
    }
    const octal = /^[0-7]{1,3}/.exec(rest);
    if (octal) {
      this.at += octal[0].length;
      return String.fromCharCode(Number.parseInt(octal[0], 8));
    }
    const character = rest[0] ?? '';
    this.at++;
    return literalEscapes[character] ?? `\\${character}`;
  }

  private sequence(close: string, tuple = false): unknown {
    const items: unknown[] = [];
    let comma = false;
    while (!this.take(close)) {
      if (items.length > 0 && !comma) this.fail();
      items.push(this.value());
      comma = this.take(',');
    }
    if (!tuple) return items;
    // Parentheses around one value are no tuple.
    return items.length === 1 && !comma ? items[0] : PythonTuple.from(items);
  }

  private dict(): unknown {
    const entries: [string, unknown][] = [];
    const set: unknown[] = [];
    let comma = true;
    while (!this.take('}')) {
      if (!comma) this.fail();
      const key = this.value();
      if (this.take(':')) entries.push([str(key), this.value()]);
      else set.push(key);
      comma = this.take(',');
    }
    return set.length > 0 ? set : Object.fromEntries(entries);
  }
}

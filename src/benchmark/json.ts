/**
 * JSON as Python reads it: `1.0` stays a float (templates print it so), whole numbers beyond 2⁵³ keep their digits (as
 * text), and the rows of an array know their line.
 */
import { PythonFloat } from './python.ts';

export class JsonError extends Error {
  constructor(
    message: string,
    /** Offset in the text. */
    readonly offset: number,
  ) {
    super(message);
  }
}

/** A number that JSON.parse would lose something of. */
const needsCare = /\d\.\d*0(?!\d)|\d[eE]|\d{16}|NaN|Infinity/;

/** A whole JSON text. @throws JsonError */
export function parseJson(text: string): unknown {
  if (!needsCare.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // Read again below, for a message with its place.
    }
  }
  const reader = new JsonReader(text);
  const value = reader.value();
  reader.end();
  return value;
}

/**
 * The rows of a JSON file with their offsets: the elements of its array, of the array at `field`, or, for rows one
 * behind the other without commas, each of them.
 * @throws JsonError
 */
export function parseRows(text: string, field: string | null): { value: unknown; offset: number }[] {
  const reader = new JsonReader(text);
  if (field !== null) {
    if (!reader.enter('{')) throw new JsonError(`The file must be an object with the key "${field}".`, reader.offset);
    while (!reader.enter('}')) {
      const key = reader.key();
      if (key === field) return reader.starts('{') ? rowsOfColumns(reader) : reader.elements();
      reader.value();
      reader.enter(',');
    }
    throw new JsonError(`The file has no key "${field}" at its top level.`, 0);
  }
  if (reader.starts('[')) {
    const rows = reader.elements();
    reader.end();
    return rows;
  }
  const rows: { value: unknown; offset: number }[] = [];
  while (!reader.atEnd()) {
    const offset = reader.offset;
    rows.push({ value: reader.value(), offset });
  }
  return rows;
}

/** Rows of an object of columns, `{"a": [1, 2], "b": [3, 4]}`, as pandas reads it. */
function rowsOfColumns(reader: JsonReader): { value: unknown; offset: number }[] {
  const { offset } = reader;
  const columns = Object.entries(reader.value() as Record<string, unknown>);
  const length = Array.isArray(columns[0]?.[1]) ? columns[0][1].length : 0;
  if (!columns.every(([, column]) => Array.isArray(column) && column.length === length))
    throw new JsonError('Expected a list of rows, or columns of one length.', offset);
  return Array.from({ length }, (_, row) => ({
    value: Object.fromEntries(columns.map(([name, column]) => [name, (column as unknown[])[row]])),
    offset,
  }));
}

/** A value with where it stands: offsets [from, to) in the text. Objects keep the order of their keys, and repeated ones. */
export type JsonNode = { from: number; to: number } & (
  | { kind: 'object'; entries: { key: string; from: number; to: number; value: JsonNode }[] }
  | { kind: 'list'; items: JsonNode[] }
  /** Whole numbers beyond 2⁵³ are the text of their digits. */
  | { kind: 'number'; value: unknown }
  | { kind: 'text'; value: string }
  | { kind: 'word'; value: true | false | null }
);

/** A whole JSON text as nodes with their places. @throws JsonError */
export function parseJsonNodes(text: string): JsonNode {
  const reader = new JsonReader(text);
  const node = reader.node();
  reader.end();
  return node;
}

class JsonReader {
  private at = 0;
  private depth = 0;
  constructor(private readonly text: string) {}

  get offset(): number {
    this.space();
    return this.at;
  }

  private space(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.at++;
    }
  }

  private fail(expected: string): never {
    const found =
      this.at >= this.text.length ? 'the end of the file' : JSON.stringify(this.text.slice(this.at, this.at + 12));
    throw new JsonError(`Expected ${expected}, found ${found}.`, this.at);
  }

  atEnd(): boolean {
    this.space();
    return this.at >= this.text.length;
  }

  end(): void {
    if (!this.atEnd()) this.fail('the end of the file');
  }

  starts(token: string): boolean {
    this.space();
    return this.text.startsWith(token, this.at);
  }

  enter(token: string): boolean {
    if (!this.starts(token)) return false;
    this.at += token.length;
    return true;
  }

  key(): string {
    if (!this.starts('"')) this.fail('a key in double quotes');
    const key = this.string();
    if (!this.enter(':')) this.fail('":"');
    return key;
  }

  elements(): { value: unknown; offset: number }[] {
    if (!this.enter('[')) this.fail('a list');
    const found: { value: unknown; offset: number }[] = [];
    if (this.enter(']')) return found;
    do {
      const offset = this.offset;
      found.push({ value: this.value(), offset });
    } while (this.enter(','));
    if (!this.enter(']')) this.fail('"," or "]"');
    return found;
  }

  value(): unknown {
    this.space();
    if (++this.depth > 512) this.fail('fewer than 512 nested values');
    try {
      const character = this.text[this.at];
      if (character === '"') return this.string();
      if (character === '[') return this.elements().map((entry) => entry.value);
      if (character === '{') return this.object();
      for (const [word, value] of [
        ['true', true],
        ['false', false],
        ['null', null],
        ['NaN', Number.NaN],
        ['Infinity', Number.POSITIVE_INFINITY],
        ['-Infinity', Number.NEGATIVE_INFINITY],
      ] as const)
        if (this.enter(word)) return value;
      return this.number();
    } finally {
      this.depth--;
    }
  }

  node(): JsonNode {
    const from = this.offset;
    const character = this.text[from];
    const whole = <Part extends object>(part: Part): Part & { from: number; to: number } => ({
      ...part,
      from,
      to: this.at,
    });
    if (character === '{' || character === '[') {
      if (++this.depth > 512) this.fail('fewer than 512 nested values');
      const entries: { key: string; from: number; to: number; value: JsonNode }[] = [];
      const items: JsonNode[] = [];
      const close = character === '{' ? '}' : ']';
      this.at++;
      if (!this.enter(close)) {
        do {
          if (character === '[') {
            items.push(this.node());
            continue;
          }
          const start = this.offset;
          if (!this.starts('"')) this.fail('a key in double quotes');
          const key = this.string();
          const end = this.at;
          if (!this.enter(':')) this.fail('":"');
          entries.push({ key, from: start, to: end, value: this.node() });
        } while (this.enter(','));
        if (!this.enter(close)) this.fail(`"," or "${close}"`);
      }
      this.depth--;
      return character === '{' ? whole({ kind: 'object', entries }) : whole({ kind: 'list', items });
    }
    const value = this.value();
    if (typeof value === 'boolean' || value === null) return whole({ kind: 'word', value });
    return character === '"' ? whole({ kind: 'text', value: String(value) }) : whole({ kind: 'number', value });
  }

  private object(): Record<string, unknown> {
    this.enter('{');
    const entries: [string, unknown][] = [];
    if (this.enter('}')) return {};
    do entries.push([this.key(), this.value()]);
    while (this.enter(','));
    if (!this.enter('}')) this.fail('"," or "}"');
    return Object.fromEntries(entries);
  }

  private number(): unknown {
    const pattern = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y;
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (!match) this.fail('a value');
    this.at += match[0].length;
    const value = Number(match[0]);
    if (match[1] !== undefined || match[2] !== undefined)
      return Number.isInteger(value) ? new PythonFloat(value) : value;
    return Number.isSafeInteger(value) ? value : match[0];
  }

  private string(): string {
    const from = this.at;
    let at = from + 1;
    for (;;) {
      const code = this.text.charCodeAt(at);
      if (Number.isNaN(code)) {
        this.at = this.text.length;
        this.fail('a closing quote');
      }
      if (code === 34) break;
      at += code === 92 ? 2 : 1;
    }
    this.at = at + 1;
    try {
      return JSON.parse(this.text.slice(from, at + 1)) as string;
    } catch {
      this.at = from;
      return this.fail('a text without bare line breaks or unknown escapes');
    }
  }
}

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
      if (key === field) return reader.elements();
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

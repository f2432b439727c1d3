/**
 * How a filter is written: terms one behind the other are and-ed, `OR` stands between alternatives, brackets group, `-` (or
 * `NOT`) negates. A term is `key:value,value`, `key>number`, or text; a value is bare, in quotes, or a `/pattern/`. Here a
 * filter is only read; what keys and values mean stands in filter-keys.ts.
 */

export interface Value {
  text: string;
  /** Set where the value is written as `/pattern/flags`: those flags. */
  flags: string | null;
  start: number;
  end: number;
}

export interface Term {
  start: number;
  end: number;
  negated: boolean;
  /** In lower case; null for plain text. */
  key: string | null;
  /** Comparisons (`tokens>100`) have their sign in front of the value. */
  values: Value[];
  /** Where the values begin, behind the key and its colon. */
  valuesStart: number;
}

export interface FilterError {
  start: number;
  end: number;
  message: string;
}

export type Expression =
  | { kind: 'term'; term: Term }
  | { kind: 'not'; part: Expression }
  | { kind: 'and' | 'or'; parts: Expression[] };

export interface Written {
  expression: Expression;
  terms: Term[];
  errors: FilterError[];
}

const space = /\s/;
const keyAndSign = /^([a-z]+)(:|>=|<=|>|<|=)/i;
const pattern = /^\/((?:[^/\\]|\\.)+)\/([dgimsuvy]*)(?=[\s,)]|$)/;
/** Bare words that join terms, where they stand alone. */
const joining = /^(OR|AND|NOT)(?=[\s()]|$)/;

class Reader {
  readonly terms: Term[] = [];
  readonly errors: FilterError[] = [];
  #at = 0;
  #depth = 0;

  constructor(
    private readonly text: string,
    /** Keys that are compared with numbers: `tokens>100`. For other words the sign is part of the text. */
    private readonly compares: (key: string) => boolean,
  ) {}

  whole(): Expression {
    const parts = [this.#alternatives()];
    // A bracket that was never opened: said, and left out.
    while (this.#at < this.text.length) {
      this.errors.push({
        start: this.#at,
        end: this.#at + 1,
        message: 'This bracket closes nothing. Put brackets that are meant as text in quotation marks.',
      });
      this.#at++;
      parts.push(this.#alternatives());
    }
    return parts.length === 1 && parts[0] ? parts[0] : { kind: 'and', parts };
  }

  #skip(): void {
    while (space.test(this.text[this.#at] ?? '')) this.#at++;
  }

  #word(): string | null {
    this.#skip();
    return joining.exec(this.text.slice(this.#at))?.[1] ?? null;
  }

  #alternatives(): Expression {
    const parts = [this.#together()];
    for (let word = this.#word(); word === 'OR'; word = this.#word()) {
      const start = this.#at;
      this.#at += word.length;
      const before = parts.at(-1);
      const next = this.#together();
      if (isEmpty(before) || isEmpty(next))
        this.errors.push({ start, end: start + word.length, message: '“OR” stands between two terms.' });
      parts.push(next);
    }
    const given = parts.filter((part) => !isEmpty(part));
    return given.length === 1 && given[0] ? given[0] : { kind: given.length ? 'or' : 'and', parts: given };
  }

  #together(): Expression {
    const parts: Expression[] = [];
    for (;;) {
      const word = this.#word();
      if (this.#at >= this.text.length || word === 'OR' || (this.#depth > 0 && this.text[this.#at] === ')')) break;
      if (this.text[this.#at] === ')') {
        // Alone it closes nothing; within a word it is text.
        break;
      }
      if (word === 'AND') {
        this.#at += word.length;
        continue;
      }
      const part = this.#one(word === 'NOT');
      if (part) parts.push(part);
    }
    return parts.length === 1 && parts[0] ? parts[0] : { kind: 'and', parts };
  }

  #one(not: boolean): Expression | null {
    const { text } = this;
    const start = this.#at;
    let negated = not;
    if (not) {
      this.#at += 3;
      this.#skip();
    }
    if (text[this.#at] === '-' && this.#at + 1 < text.length && !space.test(text[this.#at + 1] ?? '')) {
      negated = !negated;
      this.#at++;
    }
    if (text[this.#at] === '(') {
      const open = this.#at++;
      this.#depth++;
      const inside = this.#alternatives();
      this.#depth--;
      if (text[this.#at] === ')') this.#at++;
      else
        this.errors.push({
          start: open,
          end: open + 1,
          message: 'This bracket is not closed. Put brackets that are meant as text in quotation marks.',
        });
      if (isEmpty(inside)) return null;
      return negated ? { kind: 'not', part: inside } : inside;
    }
    if (this.#at >= text.length) {
      this.errors.push({ start, end: text.length, message: '“NOT” stands in front of a term.' });
      return null;
    }
    const term = this.#term(start, negated);
    if (!term) return null;
    this.terms.push(term);
    return { kind: 'term', term };
  }

  #term(start: number, negated: boolean): Term | null {
    const [, key, sign] = keyAndSign.exec(this.text.slice(this.#at)) ?? [];
    const name = key?.toLowerCase();
    if (!name || !sign || (sign !== ':' && !this.compares(name))) {
      const valuesStart = this.#at;
      const value = this.#value(/[\s"]/);
      // A lone sign of the language that is no term here.
      if (value.end === valuesStart) this.#at++;
      return value.text === '' ? null : { start, end: this.#at, negated, key: null, values: [value], valuesStart };
    }
    this.#at += name.length + sign.length;
    const valuesStart = this.#at;
    const values: Value[] = [];
    do {
      if (this.text[this.#at] === ',') this.#at++;
      values.push(this.#value(/[\s,]/));
    } while (this.text[this.#at] === ',');
    const prefix = sign === ':' || sign === '=' ? '' : sign;
    return {
      ...{ start, end: this.#at, negated, key: name, valuesStart },
      values: values.map((value) => ({ ...value, text: value.text === '' ? '' : prefix + value.text })),
    };
  }

  #value(stop: RegExp): Value {
    const { text } = this;
    const start = this.#at;
    if (text[start] === '"') {
      const value = this.#quoted();
      return { text: value, flags: null, start, end: this.#at };
    }
    const [all, source, flags] = pattern.exec(text.slice(start)) ?? [];
    if (all !== undefined && source !== undefined) {
      this.#at += all.length;
      return { text: source, flags: flags ?? '', start, end: this.#at };
    }
    while (this.#at < text.length && !stop.test(text[this.#at] ?? '') && !(this.#depth > 0 && text[this.#at] === ')'))
      this.#at++;
    return { text: text.slice(start, this.#at), flags: null, start, end: this.#at };
  }

  /** A quotation that is not closed is an error and ends with the text. */
  #quoted(): string {
    const { text } = this;
    const start = this.#at++;
    let value = '';
    while (this.#at < text.length && text[this.#at] !== '"') {
      if (text[this.#at] === '\\' && (text[this.#at + 1] === '"' || text[this.#at + 1] === '\\')) this.#at++;
      value += text[this.#at++] ?? '';
    }
    if (this.#at >= text.length)
      this.errors.push({ start, end: text.length, message: 'The quotation mark is not closed.' });
    else this.#at++;
    return value;
  }
}

const isEmpty = (expression: Expression | undefined): boolean =>
  !expression || ((expression.kind === 'and' || expression.kind === 'or') && expression.parts.length === 0);

/** Reads a filter. What cannot be read is left out and told among the errors. */
export function readFilter(text: string, compares: (key: string) => boolean): Written {
  const reader = new Reader(text, compares);
  const expression = reader.whole();
  return { expression, terms: reader.terms, errors: reader.errors };
}

/** A value as it has to be written. */
export const quoteValue = (value: string): string =>
  value === '' || /[\s",:()]|^[-/]|^(OR|AND|NOT)$/.test(value) ? `"${value.replace(/[\\"]/g, '\\$&')}"` : value;

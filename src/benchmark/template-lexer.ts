/** Jinja2's lexer: template source → text and the tokens of its tags, with whitespace control (Jinja2 3.1, `lexer.py`). */
import { PythonError, rightStrip } from './python.ts';

/** What decides how a template is read: Jinja2's environment options. */
export interface Syntaxes {
  /** The line break behind a block or comment is dropped. */
  trimBlocks: boolean;
  /** Spaces and tabs in front of a block or comment that begins a line are dropped. */
  lstripBlocks: boolean;
  /** The template's own last line break stays. */
  keepTrailingNewline: boolean;
}

export type TokenKind = 'text' | 'open' | 'close' | 'name' | 'string' | 'integer' | 'float' | 'operator' | 'end';

export interface Token {
  kind: TokenKind;
  /** Text, name, operator, or a literal's value as written; of `open` and `close` `{{`, `{%`, `}}`, `%}`. */
  value: string;
  line: number;
}

const operators = '// ** == != >= <= + - / * % ~ [ ] ( ) { } > < = . : | , ;'.split(' ');
const closing: Record<string, string> = { '(': ')', '[': ']', '{': '}' };

/** Names are Python's identifiers: any letter may be in them. */
const namePattern = /[\p{ID_Start}_][\p{ID_Continue}]*/uy;
const floatPattern = /(?<!\.)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?[eE][+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/y;
const integerPattern = /0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[\da-fA-F])+|[1-9](?:_?\d)*|0(?:_?0)*/y;
const stringPattern = /'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y;
const spacePattern = /\s+/y;

/** @throws PythonError where the source is not a template, with the line in it */
export function tokenize(source: string, syntaxes: Syntaxes): Token[] {
  let text = source.replace(/\r\n?/g, '\n');
  if (!syntaxes.keepTrailingNewline && text.endsWith('\n')) text = text.slice(0, -1);
  return new Lexer(text, syntaxes).run();
}

class Lexer {
  private readonly tokens: Token[] = [];
  private at = 0;
  private line = 1;
  private startsLine = true;

  constructor(
    private readonly source: string,
    private readonly syntaxes: Syntaxes,
  ) {}

  run(): Token[] {
    const { source } = this;
    while (this.at < source.length) {
      const open = this.find(/\{[{%#]/g);
      if (open < 0) {
        this.text(source.slice(this.at));
        break;
      }
      const kind = source[open + 1] ?? '';
      // The sign of `{{-1}}` belongs to the tag, as in Jinja2.
      const sign = /^[-+]/.exec(source.slice(open + 2, open + 3))?.[0] ?? '';
      this.text(this.before(source.slice(this.at, open), sign, kind !== '{'));
      this.advance(open + 2 + sign.length);
      if (kind === '#') this.comment();
      else if (kind === '%' && /^\s*raw\s*-?%\}/.test(source.slice(this.at))) this.raw();
      else this.tag(kind === '{' ? '}}' : '%}');
    }
    this.push('end', '');
    return this.tokens;
  }

  private find(pattern: RegExp): number {
    pattern.lastIndex = this.at;
    return pattern.exec(this.source)?.index ?? -1;
  }

  private advance(to: number): void {
    const passed = this.source.slice(this.at, to);
    this.line += passed.split('\n').length - 1;
    if (to > this.at) this.startsLine = passed.endsWith('\n');
    this.at = to;
  }

  private push(kind: TokenKind, value: string): void {
    this.tokens.push({ kind, value, line: this.line });
  }

  private text(value: string): void {
    if (value !== '') this.push('text', value);
  }

  /** The text in front of a tag with the whitespace control of the tag applied. */
  private before(text: string, sign: string, isBlock: boolean): string {
    if (sign === '-') return rightStrip(text);
    if (sign === '+' || !isBlock || !this.syntaxes.lstripBlocks) return text;
    const start = text.lastIndexOf('\n') + 1;
    if (start === 0 && !this.startsLine) return text;
    return /^\s*$/.test(text.slice(start)) ? text.slice(0, start) : text;
  }

  /** Goes behind the end of a tag that stands at `at`, with what its whitespace control takes. */
  private close(end: string): boolean {
    const rest = this.source.slice(this.at);
    const isBlock = end !== '}}';
    const match = rest.startsWith(`-${end}`)
      ? /^\s*/.exec(rest.slice(3))
      : isBlock && rest.startsWith(`+${end}`)
        ? ['']
        : rest.startsWith(end)
          ? /^\n?/.exec(isBlock && this.syntaxes.trimBlocks ? rest.slice(2) : '')
          : null;
    if (!match) return false;
    this.advance(this.at + (rest.startsWith(end) ? 2 : 3) + (match[0]?.length ?? 0));
    return true;
  }

  private comment(): void {
    const end = this.find(/[-+]?#\}/g);
    if (end < 0) throw this.error('a comment `{#` has no end `#}`');
    this.advance(end);
    this.close('#}');
  }

  private raw(): void {
    this.advance(this.at + (/^\s*raw\s*/.exec(this.source.slice(this.at))?.[0].length ?? 0));
    this.close('%}');
    const pattern = /\{%([-+]?)\s*endraw\s*/g;
    pattern.lastIndex = this.at;
    for (let end = pattern.exec(this.source); end; end = pattern.exec(this.source)) {
      const body = this.source.slice(this.at, end.index);
      const from = this.at;
      this.at = end.index + end[0].length;
      if (/^[-+]?%\}/.test(this.source.slice(this.at))) {
        this.at = from;
        this.text(this.before(body, end[1] ?? '', true));
        this.advance(end.index + end[0].length);
        this.close('%}');
        return;
      }
      this.at = from;
    }
    throw this.error('`{% raw %}` has no `{% endraw %}`');
  }

  private tag(end: '}}' | '%}'): void {
    this.push('open', end === '}}' ? '{{' : '{%');
    const brackets: string[] = [];
    for (;;) {
      this.take(spacePattern);
      if (this.at >= this.source.length) throw this.error(`the tag has no end \`${end}\``);
      // Inside of brackets `}}` closes two dicts.
      if (brackets.length === 0 && this.closed(end)) return;
      const taken =
        this.literal('float', floatPattern) ||
        this.literal('integer', integerPattern) ||
        this.literal('name', namePattern);
      if (taken || this.literal('string', stringPattern)) continue;
      const operator = operators.find((entry) => this.source.startsWith(entry, this.at));
      if (!operator) throw this.error(`unexpected character ${JSON.stringify(this.character())}`);
      if (closing[operator]) brackets.push(closing[operator]);
      else if (')]}'.includes(operator) && brackets.pop() !== operator) throw this.error(`unexpected "${operator}"`);
      this.push('operator', operator);
      this.advance(this.at + operator.length);
    }
  }

  private closed(end: '}}' | '%}'): boolean {
    const line = this.line;
    if (!this.close(end)) return false;
    this.tokens.push({ kind: 'close', value: end, line });
    return true;
  }

  private character(): string {
    return String.fromCodePoint(this.source.codePointAt(this.at) ?? 0);
  }

  private take(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.source)?.[0];
    if (found === undefined || found === '') return null;
    this.advance(this.at + found.length);
    return found;
  }

  private literal(kind: 'name' | 'string' | 'integer' | 'float', pattern: RegExp): boolean {
    const line = this.line;
    const found = this.take(pattern);
    if (found === null) return false;
    const value =
      kind === 'string' ? stringValue(found.slice(1, -1)) : kind === 'name' ? found : found.replaceAll('_', '');
    this.tokens.push({ kind, value, line });
    return true;
  }

  private error(what: string): PythonError {
    return new PythonError(this.source.includes('\n') ? `line ${this.line}: ${what}` : what);
  }
}

const single: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\x07',
  "'": "'",
  '"': '"',
  '\\': '\\',
  '\n': '',
};

/** The value of a string literal: Python's escapes; a backslash in front of anything else stays. */
const stringValue = (body: string): string =>
  body.replace(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|([\s\S]))/g,
    (whole, two?: string, four?: string, eight?: string, octal?: string, other?: string) => {
      const hex = two ?? four ?? eight;
      if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
      if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
      return single[other ?? ''] ?? whole;
    },
  );

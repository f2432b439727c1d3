/**
 * Python's `re` in terms of JavaScript's `RegExp`: patterns of filters and metrics are written for Python and must match
 * the same text here. Translated are: flags `(?i)`, `(?s)`, `(?m)`, `(?x)`, `(?a)` (for the whole pattern or a group),
 * named groups, `\A`, `\Z`, `$` before a final newline, `.` and `\s` with Python's line ends and spaces, Unicode `\d`,
 * `\w` and `\b`, octal escapes, literal braces and brackets. Atomic groups, possessive quantifiers and conditionals are
 * refused. Two differences stay, both of patterns that nobody writes on purpose: a group that a later repetition skips
 * keeps its text in Python and loses it here, and a repetition whose body may match nothing stops at different places.
 */
import { spaces } from '../shared/whitespace.ts';
import { PythonError } from './python.ts';

/** A pattern that Python would refuse, or that cannot be translated. */
export class PatternError extends PythonError {}

interface Flags {
  ignoreCase: boolean;
  multiline: boolean;
  dotAll: boolean;
  verbose: boolean;
  ascii: boolean;
}

const flagNames: Record<string, keyof Flags | null> = {
  i: 'ignoreCase',
  m: 'multiline',
  s: 'dotAll',
  x: 'verbose',
  a: 'ascii',
  u: null,
};

// Without JavaScript's `m` flag, `^` and `$` are the borders of the whole text. (A lookbehind for "nothing before" would
// also match between the halves of a surrogate pair.)
/** Bodies of character classes: Python's digits, word characters and spaces, and their ASCII variants. */
const classBodies = (ascii: boolean): Record<string, string> =>
  ascii ? { d: '0-9', w: 'A-Za-z0-9_', s: ' \\t-\\r' } : { d: '\\p{Nd}', w: '\\p{L}\\p{N}_', s: spaces };
const simpleEscapes: Record<string, string> = {
  n: '\\n',
  r: '\\r',
  t: '\\t',
  f: '\\f',
  v: '\\v',
  a: '\\x07',
};
const syntax = /[\^$\\.*+?()[\]{}|/]/;

/** A character outside of a class, as itself. */
const literal = (character: string): string => (syntax.test(character) ? `\\${character}` : character);
/** A character inside of a class, as itself. */
const classLiteral = (character: string): string => (/[\^\\\]\-[]/.test(character) ? `\\${character}` : character);

const bothCases = (character: string): string => {
  const cases = new Set(
    [character, character.toLowerCase(), character.toUpperCase()].filter((c) => Array.from(c).length === 1),
  );
  return cases.size > 1 ? `[${[...cases].map(classLiteral).join('')}]` : literal(character);
};

class Translator {
  private at = 0;
  private readonly points: string[];
  private flags: Flags = { ignoreCase: false, multiline: false, dotAll: false, verbose: false, ascii: false };
  /** Every flag of the pattern is global, so that the engine's own `i` does. */
  globalIgnoreCase = false;

  constructor(private readonly pattern: string) {
    this.points = Array.from(pattern);
  }

  fail(reason: string): never {
    throw new PatternError(`The pattern ${JSON.stringify(this.pattern)} ${reason} (at character ${this.at + 1}).`);
  }

  private peek(ahead = 0): string {
    return this.points[this.at + ahead] ?? '';
  }

  private looking(text: string): boolean {
    return this.points.slice(this.at, this.at + text.length).join('') === text;
  }

  private match(pattern: RegExp): RegExpExecArray | null {
    const found = pattern.exec(this.points.slice(this.at).join(''));
    if (found) this.at += Array.from(found[0]).length;
    return found;
  }

  translate(): string {
    const leading = this.match(/^\(\?([aiLmsux]+)\)/);
    if (leading) {
      this.setFlags(leading[1] ?? '', true);
      this.globalIgnoreCase = this.flags.ignoreCase;
    }
    const out = this.alternatives();
    if (this.at < this.points.length) this.fail('has a ")" too many');
    return out;
  }

  private setFlags(letters: string, value: boolean): void {
    for (const letter of letters) {
      if (!(letter in flagNames)) this.fail(`uses the flag "${letter}"`);
      const name = flagNames[letter];
      if (name) this.flags[name] = value;
    }
  }

  private alternatives(): string {
    let out = '';
    while (this.at < this.points.length && this.peek() !== ')') {
      if (this.peek() === '|') {
        this.at++;
        out += '|';
      } else out += this.quantified();
    }
    return out;
  }

  private quantified(): string {
    if (this.flags.verbose && this.match(/^(?:\s|#[^\n]*)+/)) return '';
    const start = this.at;
    const atom = this.atom();
    if (atom === '') return '';
    if (this.flags.verbose) this.match(/^(?:\s|#[^\n]*)+/);
    let quantifier = this.match(/^(?:[*+?]|\{\d*,\d*\}|\{\d+\})/)?.[0] ?? '';
    if (quantifier === '{,}') quantifier = '*';
    if (quantifier.startsWith('{,')) quantifier = `{0${quantifier.slice(1)}`;
    if (!quantifier) return atom;
    if (this.peek() === '+') {
      this.fail('has a possessive quantifier, which Softbench cannot translate');
    }
    if (this.match(/^\?/)) quantifier += '?';
    if (/^[*+]|^\{\d*,?\d*\}$/.test(this.peek())) this.fail('repeats a repetition');
    // An assertion cannot be repeated in JavaScript; an empty match repeated is one empty match.
    const assertion = /^\(\?<?[=!]/.test(atom) || atom === '^' || atom === '$';
    return assertion || this.at - start === 0 ? `(?:${atom})${quantifier}` : atom + quantifier;
  }

  private atom(): string {
    const character = this.peek();
    this.at++;
    switch (character) {
      case '(':
        return this.group();
      case '[':
        return this.set();
      case '\\':
        return this.escape(false);
      case '.':
        return this.flags.dotAll ? '[\\s\\S]' : '[^\\n]';
      case '^':
        return this.flags.multiline ? '(?:^|(?<=\\n))' : '^';
      case '$':
        return this.flags.multiline ? '(?=\\n|$)' : '(?=\\n?$)';
      case '*':
      case '+':
      case '?':
        this.at--;
        return this.fail('has nothing to repeat');
      default:
        return this.character(character);
    }
  }

  private character(character: string): string {
    return this.flags.ignoreCase && !this.globalIgnoreCase ? bothCases(character) : literal(character);
  }

  private group(): string {
    const comment = this.match(/^\?#[^)]*\)/);
    if (comment) return '';
    if (this.looking('?>')) this.fail('has an atomic group, which Softbench cannot translate');
    if (this.looking('?(')) this.fail('has a conditional group, which Softbench cannot translate');
    const reference = this.match(/^\?P=([A-Za-z_]\w*)\)/);
    if (reference) return `\\k<${reference[1]}>`;
    const outer = { ...this.flags };
    let open = '(';
    const named = this.match(/^\?P<([A-Za-z_]\w*)>/);
    if (named) open = `(?<${named[1]}>`;
    else {
      const look = this.match(/^\?(?:<?[=!]|:)/);
      if (look) open = `(${look[0]}`;
      else {
        const scoped = this.match(/^\?([aiLmsux]*)(?:-([imsx]+))?([:)])/);
        if (scoped) {
          if (scoped[3] === ')') this.fail('sets flags elsewhere than at its start');
          this.setFlags(scoped[1] ?? '', true);
          if (scoped[2]?.includes('i') && this.globalIgnoreCase)
            this.fail('switches "ignore case" off for a group, which Softbench cannot translate');
          this.setFlags(scoped[2] ?? '', false);
          open = '(?:';
        } else if (this.peek() === '?') this.fail(`has the unknown group "(?${this.peek(1)}"`);
      }
    }
    const body = this.alternatives();
    if (this.peek() !== ')') this.fail('has a "(" without its ")"');
    this.at++;
    this.flags = outer;
    return `${open}${body})`;
  }

  /** An escape, its backslash read; inside of a class where `inClass`. */
  private escape(inClass: boolean): string {
    const character = this.peek();
    if (character === '') this.fail('ends with a backslash');
    const code = this.match(/^(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8}))/);
    if (code) return this.codePoint(Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '0', 16), inClass);
    const octal = this.match(inClass ? /^[0-7]{1,3}/ : /^(?:0[0-7]{0,2}|[1-3][0-7]{2})/);
    if (octal) return this.codePoint(Number.parseInt(octal[0], 8), inClass);
    if (!inClass) {
      const back = this.match(/^[1-9]\d?/);
      if (back) return `(?:\\${back[0]})`;
    }
    this.at++;
    const bodies = classBodies(this.flags.ascii);
    const lower = character.toLowerCase();
    const body = bodies[lower];
    if (body) {
      if (!inClass) return character === lower ? `[${body}]` : `[^${body}]`;
      if (character === lower) return body;
      return character === 'S'
        ? this.complement('s')
        : character === 'D'
          ? this.flags.ascii
            ? '\\D'
            : '\\P{Nd}'
          : this.complement('w');
    }
    if (character in simpleEscapes) return simpleEscapes[character] ?? '';
    if (inClass) {
      if (character === 'b') return '\\x08';
      if (/[A-Za-z]/.test(character)) this.fail(`has the unknown escape "\\${character}"`);
      return classLiteral(character);
    }
    const word = `[${bodies.w}]`;
    if (character === 'b') return `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`;
    if (character === 'B') return `(?:(?<=${word})(?=${word})|(?<!${word})(?!${word}))`;
    if (character === 'A') return '^';
    if (character === 'Z') return '$';
    if (/[A-Za-z]/.test(character)) this.fail(`has the unknown escape "\\${character}"`);
    return this.character(character);
  }

  /** `\S` or `\W` inside of a class, as ranges would be long: the class is built as alternatives by {@link set}. */
  private complement(kind: string): string {
    this.extra.push(`[^${classBodies(this.flags.ascii)[kind]}]`);
    return '';
  }
  private extra: string[] = [];

  private codePoint(code: number, inClass: boolean): string {
    const character = String.fromCodePoint(code);
    return inClass ? classLiteral(character) : this.character(character);
  }

  private set(): string {
    const negated = this.peek() === '^';
    if (negated) this.at++;
    this.extra = [];
    let body = '';
    for (let first = true; ; first = false) {
      const character = this.peek();
      if (character === '') this.fail('has a "[" without its "]"');
      this.at++;
      if (character === ']' && !first) break;
      let part = character === '\\' ? this.escape(true) : classLiteral(character);
      const range = this.peek() === '-' && this.peek(1) !== ']' && this.peek(1) !== '';
      if (range && !/^\\p|^$/.test(part)) {
        this.at++;
        const to = this.peek();
        this.at++;
        const upper = to === '\\' ? this.escape(true) : classLiteral(to);
        if (upper.length > 1 && !upper.startsWith('\\')) part += `\\-${upper}`;
        else part += `-${upper}`;
      }
      body += part;
    }
    const cased = this.flags.ignoreCase && !this.globalIgnoreCase ? caseVariants(body) : body;
    if (this.extra.length === 0) return negated ? `[^${cased}]` : `[${cased}]`;
    const any = [...this.extra, ...(cased ? [`[${cased}]`] : [])].join('|');
    return negated ? `(?:(?!${any})[\\s\\S])` : `(?:${any})`;
  }
}

/** Letters and letter ranges of a class body in both cases, for "ignore case" in a part of a pattern. */
function caseVariants(body: string): string {
  const plain = body.replace(/\\p\{[^}]*\}|\\./gu, '');
  const swapped = Array.from(plain, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).filter(
    (c) => Array.from(c).length === 1,
  );
  return body + swapped.join('');
}

const compiled = new Map<string, RegExp>();

/**
 * The pattern for JavaScript, with flags `dgu` (and `i`): matches carry indices.
 * @throws PatternError where Python would refuse it or it cannot be translated
 */
export function compile(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known) return known;
  const translator = new Translator(pattern);
  const source = translator.translate();
  let made: RegExp;
  try {
    made = new RegExp(source, `dgu${translator.globalIgnoreCase ? 'i' : ''}`);
  } catch (thrown) {
    throw new PatternError(
      `The pattern ${JSON.stringify(pattern)} is not a valid regular expression: ${thrown instanceof Error ? thrown.message.replace(/^.*: /, '') : thrown}.`,
    );
  }
  compiled.set(pattern, made);
  return made;
}

/** One match as `findall` gives it: the groups' texts ('' where a group took no part), or the whole match without groups. */
export interface Match {
  groups: { text: string; start: number }[];
  /** The pattern has two groups or more: `findall` gives a tuple. */
  tuple: boolean;
}

/** `re.findall`, with the positions of the texts (UTF-16 units). */
export function findAll(pattern: string, text: string): Match[] {
  const found: Match[] = [];
  for (const match of text.matchAll(compile(pattern))) {
    const parts = match.length === 1 ? [0] : Array.from({ length: match.length - 1 }, (_, i) => i + 1);
    found.push({
      groups: parts.map((part) => ({ text: match[part] ?? '', start: match.indices?.[part]?.[0] ?? match.index })),
      tuple: match.length > 2,
    });
  }
  return found;
}

/** `re.sub` with Python's replacement syntax (`\1`, `\g<name>`, `\n`). `count` 0 replaces all. */
export function substitute(pattern: string, replacement: string, text: string, count = 0): string {
  let done = 0;
  return text.replace(compile(pattern), (...args) => {
    const whole = String(args[0]);
    if (count > 0 && done >= count) return whole;
    done++;
    const named = (typeof args.at(-1) === 'object' ? args.at(-1) : {}) as Record<string, string | undefined>;
    const group = (name: string): string =>
      /^\d+$/.test(name) ? String(args[Number(name)] ?? '') : (named[name] ?? '');
    return replacement.replace(
      /\\(?:g<(\w+)>|(\d{1,2})|([\s\S]))/g,
      (_, name?: string, number?: string, other?: string) => {
        const key = name ?? number;
        if (key !== undefined) return group(key);
        return { n: '\n', t: '\t', r: '\r', '\\': '\\' }[other ?? ''] ?? `\\${other}`;
      },
    );
  });
}

/** `re.escape`. */
export const escapePattern = (text: string): string => text.replace(/[()[\]{}?*+\-|^$\\.&~# \t\n\r\v\f]/g, '\\$&');

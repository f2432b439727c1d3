/** The expressions of Jinja2's grammar: what stands in `{{ }}` and behind the names of tags. */
import { PythonError } from './python.ts';
import type { Token, TokenKind } from './template-lexer.ts';
import type { Syntax } from './template-syntax.ts';

const comparisons = new Set(['==', '!=', '<', '>', '<=', '>=']);
const additions = new Set(['+', '-']);
const products = new Set(['*', '/', '//', '%']);

export class ExpressionParser {
  protected at = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  // ------------------------------------------------------------------ tokens

  protected get token(): Token {
    return this.tokens[this.at] ?? { kind: 'end', value: '', line: 0 };
  }

  protected next(): Token {
    const token = this.token;
    this.at++;
    return token;
  }

  protected is(kind: TokenKind, value?: string): boolean {
    return this.token.kind === kind && (value === undefined || this.token.value === value);
  }

  protected skip(kind: TokenKind, value: string): boolean {
    if (!this.is(kind, value)) return false;
    this.at++;
    return true;
  }

  protected expect(kind: TokenKind, value?: string): Token {
    if (this.is(kind, value)) return this.next();
    throw this.error(`expected ${value === undefined ? `a ${kind}` : `\`${value}\``}, got ${this.shown()}`);
  }

  protected shown(): string {
    return this.token.kind === 'end' ? 'the end of the template' : `\`${this.token.value}\``;
  }

  protected error(what: string): PythonError {
    const several = (this.tokens.at(-1)?.line ?? 1) > 1;
    return new PythonError(several ? `line ${this.token.line}: ${what}` : what);
  }

  // ------------------------------------------------------------- expressions

  /** An expression, or several with commas: a tuple. */
  protected tuple(options: { conditional?: boolean; ends?: readonly string[]; parentheses?: boolean } = {}): Syntax {
    const { conditional = true, ends = [], parentheses = false } = options;
    const ended = (): boolean =>
      this.is('close') || this.is('operator', ')') || (this.is('name') && ends.includes(this.token.value));
    const parts: Syntax[] = [];
    let comma = false;
    while (!ended()) {
      parts.push(conditional ? this.expression() : this.or());
      if (!this.skip('operator', ',')) break;
      comma = true;
    }
    const [only] = parts;
    if (only && !comma) return only;
    if (parts.length === 0 && !parentheses) throw this.error(`expected an expression, got ${this.shown()}`);
    return { type: 'TupleLiteral', value: parts };
  }

  protected expression(): Syntax {
    let value = this.or();
    while (this.skip('name', 'if')) {
      const condition = this.or();
      value = this.skip('name', 'else')
        ? { type: 'Ternary', condition, trueExpr: value, falseExpr: this.expression() }
        : { type: 'Ternary', condition, trueExpr: value };
    }
    return value;
  }

  private chain(operand: () => Syntax, kind: TokenKind, operators: ReadonlySet<string>): Syntax {
    let left = operand();
    while (this.token.kind === kind && operators.has(this.token.value)) {
      const operator = { value: this.next().value };
      left = { type: 'BinaryExpression', operator, left, right: operand() };
    }
    return left;
  }

  protected or(): Syntax {
    return this.chain(() => this.and(), 'name', new Set(['or']));
  }

  private and(): Syntax {
    return this.chain(() => this.not(), 'name', new Set(['and']));
  }

  private not(): Syntax {
    if (this.skip('name', 'not')) return { type: 'UnaryExpression', operator: { value: 'not' }, argument: this.not() };
    return this.comparison();
  }

  /** `a < b <= c` compares as in Python: each with its neighbour. */
  private comparison(): Syntax {
    const left = this.sum();
    const links: { operator: string; right: Syntax }[] = [];
    for (;;) {
      if (this.token.kind === 'operator' && comparisons.has(this.token.value))
        links.push({ operator: this.next().value, right: this.sum() });
      else if (this.skip('name', 'in')) links.push({ operator: 'in', right: this.sum() });
      else if (this.is('name', 'not') && this.tokens[this.at + 1]?.value === 'in') {
        this.at += 2;
        links.push({ operator: 'not in', right: this.sum() });
      } else break;
    }
    return links.length === 0 ? left : { type: 'Comparison', left, links };
  }

  private sum(): Syntax {
    return this.chain(() => this.concatenation(), 'operator', additions);
  }

  private concatenation(): Syntax {
    return this.chain(() => this.product(), 'operator', new Set(['~']));
  }

  private product(): Syntax {
    return this.chain(() => this.power(), 'operator', products);
  }

  private power(): Syntax {
    return this.chain(() => this.unary(), 'operator', new Set(['**']));
  }

  /** A sign binds tighter than a filter: `-1|abs` is 1. */
  private unary(filtered = true): Syntax {
    let node: Syntax;
    if (this.token.kind === 'operator' && additions.has(this.token.value)) {
      const operator = { value: this.next().value };
      node = { type: 'UnaryExpression', operator, argument: this.unary(false) };
    } else node = this.primary();
    node = this.postfix(node);
    return filtered ? this.filtered(node) : node;
  }

  private primary(): Syntax {
    const { kind, value } = this.next();
    if (kind === 'name') return { type: 'Identifier', value };
    if (kind === 'string') {
      let text = value;
      while (this.is('string')) text += this.next().value;
      return { type: 'StringLiteral', value: text };
    }
    if (kind === 'integer') return { type: 'IntegerLiteral', value: Number(value) };
    if (kind === 'float') return { type: 'FloatLiteral', value: Number(value) };
    if (kind === 'operator' && value === '(') {
      const inner = this.tuple({ parentheses: true });
      this.expect('operator', ')');
      return inner;
    }
    if (kind === 'operator' && value === '[')
      return { type: 'ArrayLiteral', value: this.listed(']', () => this.expression()) };
    if (kind === 'operator' && value === '{') {
      const pairs = this.listed('}', () => {
        const key = this.expression();
        this.expect('operator', ':');
        return [key, this.expression()] as const;
      });
      return { type: 'ObjectLiteral', value: new Map(pairs) };
    }
    this.at--;
    throw this.error(`expected an expression, got ${this.shown()}`);
  }

  private listed<Entry>(end: string, one: () => Entry): Entry[] {
    const entries: Entry[] = [];
    while (!this.skip('operator', end)) {
      if (entries.length > 0) this.expect('operator', ',');
      if (this.skip('operator', end)) break;
      entries.push(one());
    }
    return entries;
  }

  private postfix(start: Syntax): Syntax {
    let node = start;
    for (;;) {
      if (this.is('operator', '.') || this.is('operator', '[')) node = this.subscript(node);
      else if (this.is('operator', '(')) node = this.call(node);
      else return node;
    }
  }

  private filtered(start: Syntax): Syntax {
    let node = start;
    for (;;) {
      if (this.skip('operator', '|')) node = { type: 'FilterExpression', operand: node, filter: this.filterName() };
      else if (this.skip('name', 'is')) node = this.test(node);
      else if (this.is('operator', '(')) node = this.call(node);
      else return node;
    }
  }

  private call(callee: Syntax): Syntax {
    return { type: 'CallExpression', callee, args: this.args() };
  }

  private dottedName(): Syntax {
    let { value } = this.expect('name');
    while (this.skip('operator', '.')) value += `.${this.expect('name').value}`;
    return { type: 'Identifier', value };
  }

  protected filterName(): Syntax {
    const name = this.dottedName();
    return this.is('operator', '(') ? this.call(name) : name;
  }

  protected filterNames(): Syntax[] {
    const filters: Syntax[] = [];
    while (this.skip('operator', '|')) filters.push(this.filterName());
    return filters;
  }

  private test(operand: Syntax): Syntax {
    const negate = this.skip('name', 'not');
    const name = this.dottedName();
    const { kind, value } = this.token;
    let test: Syntax = name;
    if (this.is('operator', '(')) test = this.call(name);
    else if (
      ['string', 'integer', 'float'].includes(kind) ||
      (kind === 'operator' && '[{'.includes(value)) ||
      (kind === 'name' && !['else', 'or', 'and', 'if', 'in', 'not'].includes(value))
    ) {
      if (value === 'is' && kind === 'name') throw this.error('tests cannot be chained with `is`');
      test = { type: 'CallExpression', callee: name, args: [this.postfix(this.primary())] };
    }
    return { type: 'TestExpression', operand, negate, test };
  }

  private args(): Syntax[] {
    this.expect('operator', '(');
    return this.listed(')', () => {
      if (this.skip('operator', '**')) return { type: 'KeywordSpreadExpression', argument: this.expression() };
      if (this.skip('operator', '*')) return { type: 'SpreadExpression', argument: this.expression() };
      const following = this.tokens[this.at + 1];
      if (this.is('name') && following?.kind === 'operator' && following.value === '=') {
        const key = this.nameNode();
        this.at++;
        return { type: 'KeywordArgumentExpression', key, value: this.expression() };
      }
      return this.expression();
    });
  }

  protected nameNode(): Syntax {
    return { type: 'Identifier', value: this.expect('name').value };
  }

  private subscript(object: Syntax): Syntax {
    if (this.next().value === '.') {
      const property: Syntax = this.is('integer')
        ? { type: 'IntegerLiteral', value: Number(this.next().value) }
        : this.nameNode();
      return { type: 'MemberExpression', object, property, computed: property.type === 'IntegerLiteral' };
    }
    const parts = this.listed(']', () => this.subscripted());
    const [only] = parts;
    if (!only) throw this.error('a subscript is empty');
    const property: Syntax = parts.length === 1 ? only : { type: 'TupleLiteral', value: parts };
    return { type: 'MemberExpression', object, property, computed: true };
  }

  /** An index, or a slice with up to three bounds. */
  private subscripted(): Syntax {
    const bounds: (Syntax | undefined)[] = [undefined];
    for (;;) {
      if (this.skip('operator', ':')) bounds.push(undefined);
      else if (this.is('operator', ']') || this.is('operator', ',')) break;
      else bounds[bounds.length - 1] = this.expression();
    }
    const [start, stop, step] = bounds;
    if (bounds.length === 1 && start) return start;
    if (bounds.length > 3 || bounds.length === 1) throw this.error('a subscript has too many or no bounds');
    return { type: 'SliceExpression', ...(start && { start }), ...(stop && { stop }), ...(step && { step }) };
  }
}

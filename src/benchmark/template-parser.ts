/** Jinja2's grammar: the tokens of a template → its syntax tree (Jinja2 3.1, `parser.py`; precedences as there). */

import { ExpressionParser } from './template-expressions.ts';
import { type Syntaxes, type Token, tokenize } from './template-lexer.ts';
import type { Syntax } from './template-syntax.ts';

export interface Grammar extends Syntaxes {
  /** `{% break %}`, `{% continue %}` and `{% generation %}`: what chat templates have and benchmark files have not. */
  chatTags: boolean;
}

/** @throws PythonError where the source is not a template */
export const parse = (source: string, grammar: Grammar): Syntax =>
  new Parser(tokenize(source, grammar), grammar.chatTags).program();

class Parser extends ExpressionParser {
  constructor(
    tokens: readonly Token[],
    private readonly chatTags: boolean,
  ) {
    super(tokens);
  }

  program(): Syntax {
    return { type: 'Program', body: this.body([]) };
  }

  /** Nodes up to a block tag with one of the names, whose name is then the next token. */
  private body(ends: readonly string[]): Syntax[] {
    const nodes: Syntax[] = [];
    for (;;) {
      const token = this.next();
      if (token.kind === 'text') nodes.push({ type: 'Text', value: token.value });
      else if (token.kind === 'open' && token.value === '{{') {
        nodes.push(this.tuple());
        this.expect('close', '}}');
      } else if (token.kind === 'open') {
        if (ends.includes(this.token.value) && this.is('name')) return nodes;
        nodes.push(...this.statement());
      } else if (ends.length === 0) return nodes;
      else throw this.error(`\`{% ${ends.at(-1)} %}\` is missing`);
    }
  }

  private closeTag(): void {
    this.expect('close', '%}');
  }

  /** The body of a block and the tag that ends it. */
  private block(end: string): Syntax[] {
    this.closeTag();
    const body = this.body([end]);
    this.next();
    return body;
  }

  private statement(): Syntax[] {
    const { value: name } = this.expect('name');
    const made = this.statements.get(name)?.();
    if (!made) throw this.error(`there is no tag \`${name}\``);
    this.closeTag();
    return made;
  }

  private readonly statements = new Map<string, () => Syntax[] | undefined>([
    ['if', () => [this.ifStatement()]],
    ['for', () => [this.forStatement()]],
    ['set', () => [this.setStatement()]],
    ['macro', () => [this.macroStatement()]],
    ['call', () => [this.callStatement()]],
    ['with', () => [this.withStatement()]],
    [
      'filter',
      () => {
        const filters = [this.filterName(), ...this.filterNames()];
        return [{ type: 'FilterStatement', filters, body: this.block('endfilter') }];
      },
    ],
    ['print', () => [this.tuple()]],
    ['break', () => (this.chatTags ? [{ type: 'Break' }] : undefined)],
    ['continue', () => (this.chatTags ? [{ type: 'Continue' }] : undefined)],
    // Marks what the assistant says for training; its text is what stands in it.
    ['generation', () => (this.chatTags ? this.block('endgeneration') : undefined)],
  ]);

  private ifStatement(): Syntax {
    const test = this.tuple({ conditional: false });
    this.closeTag();
    const body = this.body(['elif', 'else', 'endif']);
    const { value } = this.next();
    if (value === 'elif') return { type: 'If', test, body, alternate: [this.ifStatement()] };
    return { type: 'If', test, body, alternate: value === 'else' ? this.block('endif') : [] };
  }

  private forStatement(): Syntax {
    const loopvar = this.target(['in']);
    this.expect('name', 'in');
    const iterable = this.tuple({ conditional: false, ends: ['recursive'] });
    const test = this.skip('name', 'if') ? this.expression() : undefined;
    if (this.is('name', 'recursive')) throw this.error('Softbench has no recursive loops');
    this.closeTag();
    const body = this.body(['endfor', 'else']);
    const defaultBlock = this.next().value === 'else' ? this.block('endfor') : [];
    return { type: 'For', loopvar, iterable, ...(test && { test }), body, defaultBlock };
  }

  private setStatement(): Syntax {
    const assignee = this.target([], true);
    if (this.skip('operator', '=')) return { type: 'Set', assignee, value: this.tuple() };
    const filters = this.filterNames();
    return { type: 'Set', assignee, filters, body: this.block('endset') };
  }

  private macroStatement(): Syntax {
    const name = this.nameNode();
    return { type: 'Macro', name, args: this.signature(), body: this.block('endmacro') };
  }

  private callStatement(): Syntax {
    const callerArgs = this.is('operator', '(') ? this.signature() : [];
    const call = this.expression();
    if (call.type !== 'CallExpression') throw this.error('`{% call %}` needs a call');
    return { type: 'CallStatement', call, callerArgs, body: this.block('endcall') };
  }

  private withStatement(): Syntax {
    const assignments: Syntax[] = [];
    while (!this.is('close')) {
      if (assignments.length > 0) this.expect('operator', ',');
      const assignee = this.target([]);
      this.expect('operator', '=');
      assignments.push({ type: 'Set', assignee, value: this.expression() });
    }
    return { type: 'With', args: assignments, body: this.block('endwith') };
  }

  /** Parameters of a macro, with their defaults. */
  private signature(): Syntax[] {
    this.expect('operator', '(');
    const parameters: Syntax[] = [];
    while (!this.skip('operator', ')')) {
      if (parameters.length > 0) this.expect('operator', ',');
      const key = this.nameNode();
      if (this.skip('operator', '='))
        parameters.push({ type: 'KeywordArgumentExpression', key, value: this.expression() });
      else if (parameters.at(-1)?.type === 'KeywordArgumentExpression')
        throw this.error('a parameter without default follows one with a default');
      else parameters.push(key);
    }
    return parameters;
  }

  /** What a value is assigned to: a name, several, or an attribute of a namespace. */
  private target(ends: readonly string[], namespace = false): Syntax {
    const one = (): Syntax => {
      if (this.skip('operator', '(')) {
        const inner = this.target([], namespace);
        this.expect('operator', ')');
        return inner;
      }
      const name = this.nameNode();
      if (!namespace || !this.skip('operator', '.')) return name;
      return { type: 'MemberExpression', object: name, property: this.nameNode(), computed: false };
    };
    const first = one();
    if (!this.is('operator', ',')) return first;
    const parts = [first];
    while (this.skip('operator', ',') && !ends.includes(this.token.value) && !this.is('operator', '='))
      parts.push(one());
    return { type: 'TupleLiteral', value: parts };
  }
}

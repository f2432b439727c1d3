/**
 * Templates as lm-evaluation-harness renders them: Jinja2 with `keep_trailing_newline`, no block trimming, and every
 * use of an undefined name an error (StrictUndefined). Evaluated with Python's values, since
 * `{{['no', 'yes'][label]}}` or `{{choices.index(answer)}}` must mean what they mean in Python.
 */
import { PythonError, str } from './python.ts';
import { Evaluator } from './template-evaluator.ts';
import { type Grammar, parse } from './template-parser.ts';
import { globals, Scope, type TemplateFilter } from './template-scope.ts';
import type { Syntax } from './template-syntax.ts';

/** What a template is read and rendered with: Jinja2's `Environment`. */
export interface Environment {
  grammar: Grammar;
  /** Is the use of an undefined name an error? */
  strict: boolean;
  /** Filters that stand in for Jinja2's own of the same name. */
  filters: ReadonlyMap<string, TemplateFilter>;
  globals: ReadonlyMap<string, unknown>;
}

/** The environment of lm-evaluation-harness. */
const harness: Environment = {
  grammar: { trimBlocks: false, lstripBlocks: false, keepTrailingNewline: true, chatTags: false },
  strict: true,
  filters: new Map(),
  globals: new Map(),
};

/** A template that cannot be read or rendered; the message is for people. */
export class TemplateError extends PythonError {}

export class Template {
  private readonly program: Syntax;
  /** The template as one `{{expression}}` and nothing else, or null. */
  private readonly expression: Syntax | null;

  /** @throws TemplateError where the syntax is wrong */
  constructor(
    readonly source: string,
    private readonly environment = harness,
  ) {
    try {
      this.program = parse(source, environment.grammar);
    } catch (thrown) {
      throw new TemplateError(`The template cannot be read: ${messageOf(thrown)}.`);
    }
    const body = this.program.body ?? [];
    const only = body.length === 1 ? body[0] : undefined;
    this.expression = only && isExpression(only) ? only : null;
  }

  /**
   * Renders with the fields of one item as names.
   * @throws TemplateError for undefined names and for what Python would refuse
   */
  render(fields: Readonly<Record<string, unknown>>): string {
    return this.run((evaluator, scope) => evaluator.block(this.program.body ?? [], scope), fields);
  }

  /** The value of a template that is a single `{{expression}}`, without printing it; otherwise the rendered text. */
  value(fields: Readonly<Record<string, unknown>>): unknown {
    const { expression } = this;
    if (!expression) return this.render(fields);
    return this.run((evaluator, scope) => evaluator.defined(evaluator.evaluate(expression, scope)), fields);
  }

  private run<Result>(work: (evaluator: Evaluator, scope: Scope) => Result, fields: Readonly<Record<string, unknown>>) {
    try {
      const { strict, filters, globals } = this.environment;
      const outer = new Scope(null, new Map(globals));
      return work(new Evaluator(strict, filters), new Scope(outer, new Map(Object.entries(fields))));
    } catch (thrown) {
      if (thrown instanceof PythonError) throw new TemplateError(thrown.message);
      if (thrown instanceof RangeError) throw new TemplateError(`The template goes too deep: ${messageOf(thrown)}.`);
      throw thrown;
    }
  }

  /** Names that the template takes from the item, in order of first use; those asked for with `is defined` or `default` are left out. */
  names(): string[] {
    const found = new Set<string>();
    walk(this.program, new Set(globals.keys()), found);
    return [...found];
  }

  /** Filters that the template uses. */
  filters(): string[] {
    const found = new Set<string>();
    visit(this.program, (node) => {
      if (node.type === 'FilterExpression') found.add(filterName(node.filter));
      for (const filter of node.filters ?? []) found.add(filterName(filter));
    });
    return [...found];
  }
}

const messageOf = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : str(thrown)).replace(/\.$/, '');

const statements = new Set([
  'Text',
  'Set',
  'If',
  'For',
  'Macro',
  'CallStatement',
  'FilterStatement',
  'With',
  'Break',
  'Continue',
]);
const isExpression = (node: Syntax): boolean => !statements.has(node.type);

const filterName = (filter: Syntax | undefined): string =>
  String(filter?.type === 'CallExpression' ? filter.callee?.value : filter?.value);

const isNode = (value: unknown): value is Syntax => typeof value === 'object' && value !== null && 'type' in value;

function children(node: Syntax): Syntax[] {
  const found: Syntax[] = [];
  for (const [key, value] of Object.entries(node)) {
    if (key === 'operator') continue;
    if (Array.isArray(value)) found.push(...value.filter(isNode));
    else if (value instanceof Map) for (const [k, v] of value) found.push(...[k, v].filter(isNode));
    else if (isNode(value)) found.push(value);
  }
  found.push(...(node.links?.map(({ right }) => right) ?? []));
  return found;
}

function visit(node: Syntax, each: (node: Syntax) => void): void {
  each(node);
  for (const child of children(node)) visit(child, each);
}

/** Adds the free names of `node` to `found`; `bound` grows by what the node sets. */
function walk(node: Syntax | null | undefined, bound: Set<string>, found: Set<string>): void {
  if (!node) return;
  const all = (nodes: readonly (Syntax | null | undefined)[] | undefined, names = bound): void => {
    for (const child of nodes ?? []) walk(child, names, found);
  };
  const bind = (target: Syntax | undefined, names: Set<string>): void => {
    if (target?.type === 'Identifier') names.add(String(target.value));
    else if (target?.type === 'TupleLiteral') for (const part of target.value as Syntax[]) bind(part, names);
  };
  switch (node.type) {
    case 'Identifier':
      if (!bound.has(String(node.value))) found.add(String(node.value));
      return;
    case 'For': {
      walk(node.iterable, bound, found);
      const inner = new Set(bound).add('loop');
      bind(node.loopvar, inner);
      walk(node.test, inner, found);
      all(node.body, inner);
      all(node.defaultBlock, inner);
      return;
    }
    case 'With': {
      const inner = new Set(bound);
      for (const { value, assignee } of node.args ?? []) {
        walk(value as Syntax, bound, found);
        bind(assignee, inner);
      }
      all(node.body, inner);
      return;
    }
    case 'Set':
      all([node.value as Syntax]);
      all(node.body);
      for (const filter of node.filters ?? []) if (filter.type === 'CallExpression') all(filter.args);
      bind(node.assignee, bound);
      return;
    case 'Macro': {
      bound.add(String(node.name?.value));
      const inner = new Set(bound).add('varargs').add('kwargs').add('caller');
      for (const argument of node.args ?? []) {
        if (argument.type === 'KeywordArgumentExpression') walk(argument.value as Syntax, bound, found);
        inner.add(String((argument.type === 'KeywordArgumentExpression' ? argument.key?.value : argument.value) ?? ''));
      }
      all(node.body, inner);
      return;
    }
    case 'MemberExpression':
      walk(node.object, bound, found);
      if (node.computed) walk(node.property, bound, found);
      return;
    case 'TestExpression':
      if (!['defined', 'undefined'].includes(String(node.test?.value))) walk(node.operand, bound, found);
      return;
    case 'Comparison':
      walk(node.left, bound, found);
      all(node.links?.map(({ right }) => right));
      return;
    case 'FilterExpression':
      if (!['default', 'd'].includes(filterName(node.filter))) walk(node.operand, bound, found);
      if (node.filter?.type === 'CallExpression') all(node.filter.args);
      return;
    case 'FilterStatement':
      all(node.body);
      for (const filter of node.filters ?? []) if (filter.type === 'CallExpression') all(filter.args);
      return;
    case 'KeywordArgumentExpression':
      walk(node.value as Syntax, bound, found);
      return;
    default:
      for (const child of children(node)) walk(child, bound, found);
  }
}

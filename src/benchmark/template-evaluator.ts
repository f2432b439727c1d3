/** Evaluates the syntax tree of a Jinja template with Python's meaning of values and operators. */
import {
  entriesOf,
  float,
  isDict,
  isFloat,
  isNumber,
  PythonError,
  PythonTuple,
  repr,
  str,
  truthy,
  typeName,
} from './python.ts';
import { filters, filtersOfUndefined } from './template-filters.ts';
import { methodOf } from './template-methods.ts';
import { item, operators, slice } from './template-operators.ts';
import {
  type Arguments,
  loopState,
  Namespace,
  Scope,
  type TemplateFilter,
  type TemplateFunction,
  Undefined,
} from './template-scope.ts';
import { nameOf, type Syntax } from './template-syntax.ts';
import { tests, testsOfUndefined } from './template-tests.ts';

/** `{% break %}` or `{% continue %}` on its way to the loop, with what its round has printed so far. */
class LoopControl {
  printed = '';
  constructor(readonly kind: 'Break' | 'Continue') {}
}

export class Evaluator {
  /**
   * @param strict any use of an undefined name but `is defined` and `default` is an error; else it prints as nothing, is
   *   false and empty, and only its attributes are an error (Jinja2's own default)
   * @param extra filters that stand in for those of the same name
   */
  constructor(
    private readonly strict = true,
    private readonly extra: ReadonlyMap<string, TemplateFilter> = new Map(),
  ) {}

  block(nodes: readonly Syntax[], scope: Scope): string {
    let out = '';
    for (const node of nodes) {
      try {
        out += this.print(node, scope);
      } catch (thrown) {
        if (thrown instanceof LoopControl) thrown.printed = out + thrown.printed;
        throw thrown;
      }
    }
    return out;
  }

  /** @throws PythonError where the value is undefined and names are strict */
  defined(value: unknown): unknown {
    if (!(value instanceof Undefined)) return value;
    if (value.lenient) return '';
    if (!this.strict) return value;
    throw new PythonError(`${value.reason}.`);
  }

  /** @throws PythonError where the value is undefined, however names are taken */
  private known(value: unknown): unknown {
    if (value instanceof Undefined && !value.lenient) throw new PythonError(`${value.reason}.`);
    return this.defined(value);
  }

  private text(value: unknown): string {
    const defined = this.defined(value);
    return defined instanceof Undefined ? '' : str(defined);
  }

  private print(node: Syntax, scope: Scope): string {
    switch (node.type) {
      case 'Text':
        return String(node.value);
      case 'Set':
        this.set(node, scope);
        return '';
      case 'If':
        return this.block(this.test(node.test, scope) ? (node.body ?? []) : (node.alternate ?? []), scope);
      case 'For':
        return this.loop(node, scope);
      case 'Macro':
        scope.names.set(String(node.name?.value), this.macro(node.args ?? [], node.body ?? [], scope));
        return '';
      case 'CallStatement': {
        const args = this.args(node.call?.args ?? [], scope);
        args.named.set('caller', this.macro(node.callerArgs ?? [], node.body ?? [], scope));
        return str(this.call(this.evaluate(node.call?.callee, scope), args, 'call'));
      }
      case 'FilterStatement':
        return str(this.filtered(this.block(node.body ?? [], new Scope(scope)), node, scope));
      case 'With': {
        const inner = new Scope(scope);
        for (const assignment of node.args ?? [])
          this.bind(assignment.assignee, this.evaluate(assignment.value as Syntax, scope), inner);
        return this.block(node.body ?? [], inner);
      }
      case 'Break':
      case 'Continue':
        throw new LoopControl(node.type);
      default:
        return this.text(this.evaluate(node, scope));
    }
  }

  private test(node: Syntax | undefined, scope: Scope): boolean {
    return isTrue(this.defined(this.evaluate(node, scope)));
  }

  private set(node: Syntax, scope: Scope): void {
    const value = node.value
      ? this.evaluate(node.value as Syntax, scope)
      : this.filtered(this.block(node.body ?? [], new Scope(scope)), node, scope);
    const { assignee } = node;
    if (assignee?.type === 'MemberExpression') {
      const target = this.evaluate(assignee.object, scope);
      if (!(target instanceof Namespace)) throw new PythonError('cannot assign attribute on non-namespace object.');
      target.values.set(String(assignee.property?.value), value);
    } else this.bind(assignee, value, scope);
  }

  private bind(target: Syntax | undefined, value: unknown, scope: Scope): void {
    if (target?.type === 'Identifier') {
      scope.names.set(String(target.value), value);
      return;
    }
    const parts = (target?.value ?? []) as Syntax[];
    const values = this.iterate(value);
    if (values.length !== parts.length)
      throw new PythonError(`cannot unpack ${values.length} values into ${parts.length} names.`);
    parts.forEach((part, i) => {
      this.bind(part, values[i], scope);
    });
  }

  iterate(value: unknown): unknown[] {
    if (this.defined(value) instanceof Undefined) return [];
    if (Array.isArray(value)) return value;
    if (typeof value === 'string') return Array.from(value);
    if (isDict(value)) return entriesOf(value).map(([key]) => key);
    throw new PythonError(`'${typeName(value)}' object is not iterable.`);
  }

  private loop(node: Syntax, scope: Scope): string {
    let items = this.iterate(this.evaluate(node.iterable, scope));
    if (node.test)
      items = items.filter((item) => {
        const inner = new Scope(scope);
        this.bind(node.loopvar, item, inner);
        return this.test(node.test, inner);
      });
    if (items.length === 0) return this.block(node.defaultBlock ?? [], new Scope(scope));
    let out = '';
    for (const [i, item] of items.entries()) {
      const inner = new Scope(scope);
      inner.names.set('loop', loopState(items, i));
      this.bind(node.loopvar, item, inner);
      for (const part of node.body ?? []) {
        try {
          out += this.print(part, inner);
        } catch (thrown) {
          if (!(thrown instanceof LoopControl)) throw thrown;
          out += thrown.printed;
          if (thrown.kind === 'Break') return out;
          break;
        }
      }
    }
    return out;
  }

  private macro(parameters: readonly Syntax[], body: readonly Syntax[], scope: Scope): TemplateFunction {
    return ({ positional, named }) => {
      const inner = new Scope(scope);
      parameters.forEach((parameter, i) => {
        const keyword = parameter.type === 'KeywordArgumentExpression';
        const name = String(keyword ? parameter.key?.value : parameter.value);
        let value: unknown = new Undefined(`parameter "${name}" was not provided`);
        if (i < positional.length) value = positional[i];
        else if (named.has(name)) value = named.get(name);
        else if (keyword) value = this.evaluate(parameter.value as Syntax, inner);
        inner.names.set(name, value);
      });
      if (named.has('caller')) inner.names.set('caller', named.get('caller'));
      return this.block(body, inner);
    };
  }

  private args(nodes: readonly Syntax[], scope: Scope): Arguments {
    const args: Arguments = { positional: [], named: new Map() };
    for (const node of nodes) {
      if (node.type === 'KeywordArgumentExpression')
        args.named.set(String(node.key?.value), this.evaluate(node.value as Syntax, scope));
      else if (node.type === 'SpreadExpression')
        args.positional.push(...this.iterate(this.evaluate(node.argument, scope)));
      else if (node.type === 'KeywordSpreadExpression') {
        const dict = this.evaluate(node.argument, scope);
        if (isDict(dict)) for (const [key, value] of entriesOf(dict)) args.named.set(str(key), value);
      } else args.positional.push(this.evaluate(node, scope));
    }
    return args;
  }

  private call(callee: unknown, args: Arguments, name: string): unknown {
    this.known(callee);
    if (typeof callee !== 'function') throw new PythonError(`'${typeName(callee)}' object is not callable (${name}).`);
    return (callee as TemplateFunction)(args);
  }

  /** A block's text through the filters of its tag. */
  private filtered(text: string, { filters: names = [] }: Syntax, scope: Scope): unknown {
    return names.reduce<unknown>((value, filter) => this.filter(value, filter, scope), text);
  }

  hasFilter(name: string): boolean {
    return this.extra.has(name) || filters.has(name);
  }

  private filter(operand: unknown, node: Syntax | undefined, scope: Scope): unknown {
    const called = node?.type === 'CallExpression';
    const name = String(called ? node.callee?.value : node?.value);
    const args = called ? this.args(node.args ?? [], scope) : { positional: [], named: new Map() };
    const filter = this.extra.get(name) ?? filters.get(name);
    if (!filter) throw new PythonError(`Softbench has no template filter named "${name}".`);
    if (filtersOfUndefined.has(name)) return filter(operand, args, this);
    const value = this.defined(operand);
    return filter(value instanceof Undefined && name !== 'tojson' ? '' : value, args, this);
  }

  evaluate(node: Syntax | null | undefined, scope: Scope): unknown {
    if (!node) return null;
    switch (node.type) {
      case 'IntegerLiteral':
      case 'StringLiteral':
        return node.value;
      case 'FloatLiteral':
        return float(Number(node.value));
      case 'ArrayLiteral':
        return (node.value as Syntax[]).map((entry) => this.evaluate(entry, scope));
      case 'TupleLiteral':
        return PythonTuple.from((node.value as Syntax[]).map((entry) => this.evaluate(entry, scope)));
      case 'ObjectLiteral':
        return new Map(
          [...(node.value as Map<Syntax, Syntax>)].map(([key, value]) => [
            this.evaluate(key, scope),
            this.evaluate(value, scope),
          ]),
        );
      case 'Identifier':
        return scope.find(String(node.value));
      case 'MemberExpression':
        return this.member(node, scope);
      case 'CallExpression':
        return this.call(this.evaluate(node.callee, scope), this.args(node.args ?? [], scope), nameOf(node.callee));
      case 'FilterExpression':
        return this.filter(this.evaluate(node.operand, scope), node.filter, scope);
      case 'TestExpression':
        return this.applyTest(node, scope) !== (node.negate ?? false);
      case 'UnaryExpression':
        return this.unary(node, scope);
      case 'BinaryExpression':
        return this.binary(node, scope);
      case 'Comparison':
        return this.comparison(node, scope);
      case 'Ternary':
        if (this.test(node.condition, scope)) return this.evaluate(node.trueExpr, scope);
        return node.falseExpr
          ? this.evaluate(node.falseExpr, scope)
          : new Undefined('the inline if-expression evaluated to false and no else section was defined', true);
      default:
        throw new PythonError(`Softbench does not know "${node.type}" in templates.`);
    }
  }

  private applyTest(node: Syntax, scope: Scope): boolean {
    const value = this.evaluate(node.operand, scope);
    const called = node.test?.type === 'CallExpression';
    const name = String(called ? node.test?.callee?.value : node.test?.value);
    const test = tests.get(name);
    if (!test) throw new PythonError(`Softbench has no template test named "${name}".`);
    const args = called ? this.args(node.test?.args ?? [], scope).positional : [];
    return test(testsOfUndefined.has(name) ? value : this.defined(value), args[0], this);
  }

  private unary(node: Syntax, scope: Scope): unknown {
    const value = this.defined(this.evaluate(node.argument, scope));
    if (node.operator?.value === 'not') return !isTrue(value);
    if (!isNumber(value))
      throw new PythonError(`bad operand type for unary ${node.operator?.value}: '${typeName(value)}'.`);
    const signed = node.operator?.value === '-' ? -Number(value) : Number(value);
    return isFloat(value) ? float(signed) : signed;
  }

  private member(node: Syntax, scope: Scope): unknown {
    const object = this.known(this.evaluate(node.object, scope));
    const { property } = node;
    if (node.computed && property?.type === 'SliceExpression') {
      const bound = (part: Syntax | undefined): number | null => {
        const value = part ? this.evaluate(part, scope) : null;
        return value === null ? null : Number(value);
      };
      return slice(object, bound(property.start), bound(property.stop), bound(property.step));
    }
    const key = node.computed ? this.defined(this.evaluate(property, scope)) : (property?.value ?? '');
    const where = `${nameOf(node.object)}${node.computed ? `[${repr(key)}]` : `.${key}`}`;
    if (object instanceof Namespace) return object.values.get(str(key)) ?? new Undefined(`"${where}" is undefined`);
    // `a.b` asks for the attribute first and for the entry then; `a["b"]` the other way round.
    const method = typeof key === 'string' && !node.computed ? methodOf(object, key) : undefined;
    if (method) return method;
    const entry = item(object, key);
    if (entry !== undefined) return entry;
    const late = typeof key === 'string' && node.computed ? methodOf(object, key) : undefined;
    return late ?? new Undefined(`"${where}" is undefined`);
  }

  private binary(node: Syntax, scope: Scope): unknown {
    const operator = node.operator?.value ?? '';
    const left = this.defined(this.evaluate(node.left, scope));
    if (operator === 'and') return isTrue(left) ? this.defined(this.evaluate(node.right, scope)) : left;
    if (operator === 'or') return isTrue(left) ? left : this.defined(this.evaluate(node.right, scope));
    return this.compute(operator, left, this.defined(this.evaluate(node.right, scope)));
  }

  /** Each value with its neighbour, up to the first that does not hold. */
  private comparison(node: Syntax, scope: Scope): unknown {
    let left = this.defined(this.evaluate(node.left, scope));
    let holds: unknown = true;
    for (const { operator, right: side } of node.links ?? []) {
      const right = this.defined(this.evaluate(side, scope));
      holds = this.compute(operator, left, right);
      if (!isTrue(holds)) return holds;
      left = right;
    }
    return holds;
  }

  private compute(operator: string, left: unknown, right: unknown): unknown {
    if (left instanceof Undefined || right instanceof Undefined) return this.withUndefined(operator, left, right);
    const compute = operators[operator];
    if (!compute) throw new PythonError(`Softbench does not know the operator "${operator}" in templates.`);
    const result = compute(left, right);
    if (result === undefined)
      throw new PythonError(`unsupported operand types for ${operator}: '${typeName(left)}' and '${typeName(right)}'.`);
    return result;
  }

  /** The few operators that an undefined value has: it equals another such value, contains nothing and prints as nothing. */
  private withUndefined(operator: string, left: unknown, right: unknown): unknown {
    const both = left instanceof Undefined && right instanceof Undefined;
    if (operator === '~') return this.text(left) + this.text(right);
    if (operator === '==' || operator === '!=') return both === (operator === '==');
    const empty = right instanceof Undefined || Array.isArray(right) || isDict(right);
    if ((operator === 'in' || operator === 'not in') && empty) return operator === 'not in';
    return this.known(left instanceof Undefined ? left : right);
  }
}

const isTrue = (value: unknown): boolean => !(value instanceof Undefined) && truthy(value);

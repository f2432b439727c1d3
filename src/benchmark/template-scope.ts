/** What the names of a template stand for: the item's fields, what the template sets, Jinja2's own. */
import { PythonError } from './python.ts';
import type { Evaluator } from './template-evaluator.ts';

/** What a name that is not there evaluates to: any use but `is defined` and `default` is an error, where names are strict. */
export class Undefined {
  constructor(
    readonly reason: string,
    /** Jinja2 prints the missing branch of `{{ a if b }}` as nothing, even with StrictUndefined. */
    readonly lenient = false,
  ) {}
}

export interface Arguments {
  positional: unknown[];
  named: Map<string, unknown>;
}
export type TemplateFunction = (args: Arguments) => unknown;
export type TemplateFilter = (value: unknown, args: Arguments, evaluator: Evaluator) => unknown;

/** `namespace(...)`: the one thing whose attributes a template may set. */
export class Namespace {
  readonly values = new Map<string, unknown>();
}

export class Scope {
  constructor(
    private readonly parent: Scope | null,
    readonly names = new Map<string, unknown>(),
  ) {}
  find(name: string): unknown {
    if (this.names.has(name)) return this.names.get(name);
    if (this.parent) return this.parent.find(name);
    return globals.has(name) ? globals.get(name) : new Undefined(`"${name}" is undefined`);
  }
}

/** Longest list that `range` may give: a template is rendered in the editor too. */
const longestRange = 100_000;

function range({ positional }: Arguments): number[] {
  const [first = 0, second, third = 1] = positional.map(Number);
  const [start, stop, step] = second === undefined ? [0, first, 1] : [first, second, third];
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (!(length <= longestRange)) throw new PythonError(`range() of ${length} entries is too long`);
  return Array.from({ length }, (_, i) => start + i * step);
}

/** `cycler(...)`: `next()` gives its values in turn. */
function cycler({ positional }: Arguments): Namespace {
  if (positional.length === 0) throw new PythonError('at least one item has to be provided.');
  const made = new Namespace();
  let at = 0;
  const move = (to: number): void => {
    at = to % positional.length;
    made.values.set('current', positional[at]);
  };
  move(0);
  made.values.set('next', () => {
    const now = positional[at];
    move(at + 1);
    return now;
  });
  made.values.set('reset', () => {
    move(0);
    return null;
  });
  return made;
}

/** `joiner(separator)`: nothing at the first call, the separator at all others. */
function joiner({ positional, named }: Arguments): TemplateFunction {
  const separator = positional[0] ?? named.get('sep') ?? ', ';
  let used = false;
  return () => {
    const now = used ? separator : '';
    used = true;
    return now;
  };
}

function lipsum(): never {
  throw new PythonError('Softbench does not run lipsum(): it draws its text without a seed.');
}

export const globals: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
  ['range', range],
  ['cycler', cycler],
  ['joiner', joiner],
  ['lipsum', lipsum],
  ['dict', ({ named }: Arguments) => new Map(named)],
  [
    'namespace',
    ({ named }: Arguments) => {
      const made = new Namespace();
      for (const [key, value] of named) made.values.set(key, value);
      return made;
    },
  ],
]);

/** What `loop` holds in the round at `i`. */
export function loopState(items: readonly unknown[], i: number): Map<string, unknown> {
  const neighbour = (at: number): unknown =>
    at >= 0 && at < items.length ? items[at] : new Undefined('there is no such item in the loop');
  return new Map<string, unknown>([
    ['index', i + 1],
    ['index0', i],
    ['revindex', items.length - i],
    ['revindex0', items.length - i - 1],
    ['first', i === 0],
    ['last', i === items.length - 1],
    ['length', items.length],
    ['previtem', neighbour(i - 1)],
    ['nextitem', neighbour(i + 1)],
    ['cycle', ({ positional }: Arguments) => positional[i % positional.length]],
  ]);
}

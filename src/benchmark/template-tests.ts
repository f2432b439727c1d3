/** Jinja2's tests (`x is odd`). One row each. */
import { entriesOf, equal, isDict, isFloat, isNumber, PythonError, str } from './python.ts';
import type { Evaluator } from './template-evaluator.ts';
import { methodOf } from './template-methods.ts';
import { numberOf } from './template-number-filters.ts';
import { compare } from './template-operators.ts';
import { Undefined } from './template-scope.ts';

const method = (owner: string, name: string): unknown => methodOf(owner, name)?.({ positional: [], named: new Map() });

/** @param other the test's argument */
type Test = (value: unknown, other: unknown, evaluator: Evaluator) => boolean;
const order =
  (holds: (result: number) => boolean): Test =>
  (a, b) => {
    const result = compare(a, b);
    return result !== undefined && holds(result);
  };

/** Tests that take an undefined value; for all others it is an error. */
export const testsOfUndefined: ReadonlySet<string> = new Set(['defined', 'undefined']);

export const tests: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['!=', (a, b) => !equal(a, b)],
  ['<', order((result) => result < 0)],
  ['<=', order((result) => result <= 0)],
  ['==', (a, b) => equal(a, b)],
  ['>', order((result) => result > 0)],
  ['>=', order((result) => result >= 0)],
  ['boolean', (value) => typeof value === 'boolean'],
  ['callable', (value) => typeof value === 'function'],
  ['defined', (value) => !(value instanceof Undefined)],
  ['divisibleby', (value, other) => numberOf(value, 'divisibleby') % numberOf(other, 'divisibleby') === 0],
  ['eq', (a, b) => equal(a, b)],
  ['equalto', (a, b) => equal(a, b)],
  [
    'escaped',
    () => {
      throw new PythonError(
        'Softbench has no template test named "escaped": nothing marks a text as escaped here, and escaping is off in prompts.',
      );
    },
  ],
  ['even', (value) => numberOf(value, 'even') % 2 === 0],
  ['false', (value) => value === false],
  ['filter', (value, _, evaluator) => evaluator.hasFilter(str(value))],
  ['float', (value) => isFloat(value)],
  ['ge', order((result) => result >= 0)],
  ['greaterthan', order((result) => result > 0)],
  ['gt', order((result) => result > 0)],
  [
    'in',
    (value, container) =>
      typeof container === 'string'
        ? container.includes(str(value))
        : Array.isArray(container)
          ? container.some((entry) => equal(entry, value))
          : isDict(container) && entriesOf(container).some(([key]) => equal(key, value)),
  ],
  ['integer', (value) => typeof value === 'number' && Number.isInteger(value)],
  ['iterable', (value) => typeof value === 'string' || Array.isArray(value) || isDict(value)],
  ['le', order((result) => result <= 0)],
  ['lessthan', order((result) => result < 0)],
  ['lower', (value) => method(str(value), 'islower') === true],
  ['lt', order((result) => result < 0)],
  ['mapping', (value) => isDict(value)],
  ['ne', (a, b) => !equal(a, b)],
  ['none', (value) => value === null],
  ['number', (value) => isNumber(value)],
  ['odd', (value) => Math.abs(numberOf(value, 'odd') % 2) === 1],
  ['sameas', (a, b) => Object.is(a, b)],
  ['sequence', (value) => typeof value === 'string' || Array.isArray(value) || isDict(value)],
  ['string', (value) => typeof value === 'string'],
  ['test', (value) => tests.has(str(value))],
  ['true', (value) => value === true],
  ['undefined', (value) => value instanceof Undefined],
  ['upper', (value) => method(str(value), 'isupper') === true],
]);

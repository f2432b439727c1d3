/** Jinja2's filters for numbers. One row each. */
import { fixed } from './percent-format.ts';
import { float, isFloat, isNumber, PythonError, str, strip, typeName } from './python.ts';
import type { Arguments, TemplateFilter } from './template-scope.ts';

const argument = ({ positional, named }: Arguments, place: number, name: string): unknown =>
  positional[place] ?? named.get(name);

/** A number of Python. @throws PythonError with what was to be done with it */
export function numberOf(value: unknown, purpose: string): number {
  if (!isNumber(value)) throw new PythonError(`${purpose} needs a number, not '${typeName(value)}'.`);
  return Number(value);
}

/** Digits of a text in a base from 2 to 36, with or without the base's prefix; null where it is no such number. */
function inBase(text: string, base: number): number | null {
  const prefix = { 2: '0b', 8: '0o', 16: '0x' }[base] ?? '';
  const [, sign = '', bare = ''] = /^([-+]?)(.*)$/.exec(text.toLowerCase()) ?? [];
  const digits = prefix && bare.startsWith(prefix) ? bare.slice(2) : bare;
  const known = '0123456789abcdefghijklmnopqrstuvwxyz'.slice(0, base);
  if (digits === '' || [...digits].some((digit) => !known.includes(digit))) return null;
  return Number.parseInt(sign + digits, base);
}

function integer(value: unknown, fallback: unknown, base: number): unknown {
  if (isNumber(value)) return Math.trunc(Number(value));
  const source = strip(str(value)).replace(/(?<=[\da-z])_(?=[\da-z])/gi, '');
  const found = base === 10 ? null : inBase(source, base);
  if (found !== null) return found;
  if (base === 10 && /^[-+]?\d+$/.test(source)) return Number(source);
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(source) ? Math.trunc(Number(source)) : fallback;
}

function floating(value: unknown, fallback: unknown): unknown {
  if (isNumber(value)) return float(Number(value));
  const source = strip(str(value)).replace(/(?<=\d)_(?=\d)/g, '');
  const [, sign = '', word] = /^([-+]?)(inf|infinity|nan)$/i.exec(source) ?? [];
  if (word !== undefined) return (sign === '-' ? -1 : 1) * (/nan/i.test(word) ? Number.NaN : Number.POSITIVE_INFINITY);
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(source) ? float(Number(source)) : fallback;
}

/** Half to even at `digits` decimals, as Python's `round`: a whole number stays one. */
function round(value: unknown, args: Arguments): unknown {
  const digits = Number(argument(args, 0, 'precision') ?? 0);
  const how = str(argument(args, 1, 'method') ?? 'common');
  const given = numberOf(value, 'round');
  if (how === 'ceil' || how === 'floor') return float(Math[how](given * 10 ** digits) / 10 ** digits);
  if (how !== 'common') throw new PythonError('round: method must be common, ceil or floor.');
  if (digits > 0) return isFloat(value) ? float(Number(fixed(given, digits))) : given;
  const unit = 10 ** -digits;
  const down = Math.floor(given / unit);
  const rest = given - down * unit;
  const up = rest * 2 === unit ? down % 2 !== 0 : rest * 2 > unit;
  const rounded = (down + (up ? 1 : 0)) * unit;
  return isFloat(value) ? float(rounded) : rounded;
}

export const numberFilters: readonly (readonly [string, TemplateFilter])[] = [
  [
    'abs',
    (value) => {
      const size = Math.abs(numberOf(value, 'abs'));
      return isFloat(value) ? float(size) : size;
    },
  ],
  ['float', (value, args) => floating(value, argument(args, 0, 'default') ?? float(0))],
  ['int', (value, args) => integer(value, argument(args, 0, 'default') ?? 0, Number(argument(args, 1, 'base') ?? 10))],
  ['round', (value, args) => round(value, args)],
];

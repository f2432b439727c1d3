/** Python's `%` formatting of texts: the operator in templates, and Jinja's filter `format`. */
import { isNumber, PythonError, repr, str } from './python.ts';

const conversion = /%(?:\((\w+)\))?([-+ 0#]*)(\d*)(?:\.(\d+))?([srdiufFeEgGxXoc%])/g;

/**
 * Writes values in the place of a format's conversions.
 * @param next gives the value of the next conversion, or of the name in brackets
 * @throws PythonError where a value is missing or is no number for a number's conversion
 */
export function percentFormat(format: string, next: (name: string | undefined) => unknown): string {
  return format.replace(conversion, (_, name, flags: string, width: string, precision, kind: string) => {
    if (kind === '%') return '%';
    const value = next(name);
    const digits = precision === undefined ? undefined : Number(precision);
    if ('src'.includes(kind)) {
      const text =
        kind === 'r'
          ? repr(value)
          : kind === 'c' && typeof value === 'number'
            ? String.fromCodePoint(value)
            : str(value);
      return padded('', text.slice(0, kind === 'c' ? undefined : digits), flags.replace('0', ''), width);
    }
    const number = isNumber(value) ? Number(value) : value;
    if (typeof number !== 'number' && typeof number !== 'bigint')
      throw new PythonError(`%${kind} format: a number is required, not ${str(value)}.`);
    const isNegative = number < 0 || Object.is(number, -0);
    const sign = isNegative ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
    const [prefix, text] = digitsOf(kind, isNegative ? -number : number, digits, flags.includes('#'));
    return padded(sign + prefix, text, flags, width);
  });
}

const specification = /^(?:(.)?([<>^=]))?([-+ ]?)(#?)(0?)(\d*)([,_]?)(?:\.(\d+))?([sdfFeEgGxXo%]?)$/su;

/**
 * A value by a specification of Python's `format`, such as `>5`, `,` or `.2f`.
 * @throws PythonError where the specification is none, or is not for such a value
 */
export function formatted(value: unknown, spec: string): string {
  if (spec === '') return str(value);
  const parts = specification.exec(spec);
  if (!parts) throw new PythonError(`"${spec}" is not a format that is known here.`);
  const [, filler, place, plus = '', hash, zero, width, group, precision, kind = ''] = parts;
  const digits = precision === undefined ? undefined : Number(precision);
  const number = isNumber(value) || typeof value === 'bigint' ? value : null;
  if (number === null && kind !== '' && kind !== 's')
    throw new PythonError(`The format "${spec}" is for a number, not for ${str(value)}.`);
  let sign = '';
  let text: string;
  if (number === null || kind === 's') text = str(value).slice(0, digits);
  else {
    const plain = typeof number === 'bigint' ? number : Number(number);
    const isNegative = plain < 0 || Object.is(plain, -0);
    const size = isNegative ? -plain : plain;
    const asWritten = str(value).replace(/^-/, '');
    const bare = kind === '' && digits === undefined;
    const [prefix, written] = bare
      ? ['', asWritten]
      : kind === '%'
        ? ['', `${fixed(Number(size) * 100, digits ?? 6)}%`]
        : digitsOf(kind || 'g', size, digits, hash === '#');
    sign = (isNegative ? '-' : plus === '-' ? '' : plus) + prefix;
    text = group ? written.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, group)) : written;
  }
  const fill = filler ?? (zero ? '0' : ' ');
  const missing = Math.max(0, Number(width || 0) - Array.from(sign + text).length);
  const at = place ?? (number === null ? '<' : zero ? '=' : '>');
  if (at === '=') return sign + fill.repeat(missing) + text;
  const left = at === '<' ? 0 : at === '>' ? missing : Math.floor(missing / 2);
  return fill.repeat(left) + sign + text + fill.repeat(missing - left);
}

/** A number without its sign: prefix and digits. */
function digitsOf(kind: string, value: number | bigint, digits: number | undefined, hash: boolean): [string, string] {
  const lower = kind.toLowerCase();
  const upper = (text: string): string => (kind === lower ? text : text.toUpperCase());
  const whole = { d: 10, i: 10, u: 10, x: 16, o: 8 }[lower];
  if (whole !== undefined) {
    const text = (typeof value === 'bigint' ? value : BigInt(Math.trunc(value))).toString(whole);
    const prefix = hash ? ({ 16: '0x', 8: '0o' }[whole] ?? '') : '';
    return [upper(prefix), upper(text.padStart(digits ?? 0, '0'))];
  }
  const number = Number(value);
  if (!Number.isFinite(number)) return ['', upper(Number.isNaN(number) ? 'nan' : 'inf')];
  if (lower === 'f') return ['', fixed(number, digits ?? 6)];
  if (lower === 'e') return ['', upper(exponent(number.toExponential(digits ?? 6)))];
  // %g: as many significant digits, without zeros at the end; an exponent where that is shorter.
  const significant = Math.max(1, digits ?? 6);
  const scientific = number.toExponential(significant - 1);
  const power = Number(scientific.split('e')[1]);
  const isShort = power >= -4 && power < significant;
  const [mantissa = '', rest = ''] = (isShort ? fixed(number, significant - 1 - power) : scientific).split('e');
  const bare = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  return ['', upper(isShort ? bare : exponent(`${bare}e${rest}`))];
}

/** Python writes two digits of an exponent at least. */
const exponent = (text: string): string => text.replace(/e([+-])(\d)$/, 'e$10$2');

/** Python rounds what lies exactly between two numbers to the even one; `toFixed` rounds it away from zero. */
export function fixed(value: number, digits: number): string {
  if (value < 0 || Object.is(value, -0)) return `-${fixed(-value, digits)}`;
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : 'inf';
  if (value >= 1e21) return `${BigInt(value)}${digits > 0 ? `.${'0'.repeat(digits)}` : ''}`;
  const exact = value.toFixed(Math.min(100, digits + 60));
  const point = exact.indexOf('.');
  const end = digits > 0 ? point + 1 + digits : point;
  const tail = exact.slice(end).replace('.', '');
  const cut = exact.slice(0, end);
  return /^50*$/.test(tail) && Number(cut.at(-1)) % 2 === 0 ? cut : value.toFixed(digits);
}

function padded(before: string, text: string, flags: string, width: string): string {
  const wide = Number(width || 0);
  if (flags.includes('-')) return (before + text).padEnd(wide);
  if (flags.includes('0')) return before + text.padStart(wide - before.length, '0');
  return (before + text).padStart(wide);
}

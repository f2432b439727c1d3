/** Values of typed columns (parquet, Arrow) as Python would have them: whole floats, datetime, Decimal, bytes. */
import { float, PythonObject } from './python.ts';

/** Units of a second. */
export type TimeUnit = 'second' | 'millisecond' | 'microsecond' | 'nanosecond';

const perSecond: Readonly<Record<TimeUnit, bigint>> = {
  second: 1n,
  millisecond: 1000n,
  microsecond: 1_000_000n,
  nanosecond: 1_000_000_000n,
};

/** Integers beyond 2⁵³ are the text of their digits, as in JSON files. */
export function integer(value: number | bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

export const floating = (value: unknown): unknown => float(Number(value));

const two = (value: number): string => String(value).padStart(2, '0');
/** Microseconds as `.ffffff`, where there are any. */
const fraction = (microseconds: number): string =>
  microseconds === 0 ? '' : `.${String(microseconds).padStart(6, '0')}`;
/** Trailing parts of a constructor that are 0 are not printed. */
const optional = (second: number, microsecond: number): string =>
  microsecond !== 0 ? `, ${second}, ${microsecond}` : second !== 0 ? `, ${second}` : '';

function dayParts(seconds: bigint): {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
} {
  const date = new Date(Number(seconds) * 1000);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
}

/**
 * A `datetime.datetime`.
 * @param value since 1970, in `unit`
 * @param zone name or offset; null: without zone
 */
export function moment(value: number | bigint, unit: TimeUnit, zone: string | null = null): PythonObject {
  const per = perSecond[unit];
  const ticks = BigInt(value);
  const seconds = ticks >= 0n ? ticks / per : -((-ticks + per - 1n) / per);
  const rest = ticks - seconds * per;
  const microsecond = Number((rest * 1_000_000n) / per);
  const shift = zone === null ? 0 : offsetMinutes(zone, Number(seconds) * 1000);
  const { year, month, day, hour, minute, second } = dayParts(seconds + BigInt(shift * 60));
  const absolute = Math.abs(shift);
  const suffix = zone === null ? '' : `${shift < 0 ? '-' : '+'}${two(Math.floor(absolute / 60))}:${two(absolute % 60)}`;
  const nanoseconds = unit === 'nanosecond' && rest % 1000n !== 0n ? String(rest % 1000n).padStart(3, '0') : '';
  const text = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}:${two(second)}${
    nanoseconds ? `.${String(microsecond).padStart(6, '0')}${nanoseconds}` : fraction(microsecond)
  }${suffix}`;
  // pandas takes over where Python's own class has no room for nanoseconds.
  if (unit === 'nanosecond')
    return new PythonObject(text, `Timestamp('${text}'${zone === null ? '' : `, tz='${zone}'`})`);
  const inZone = zone === null ? '' : `, tzinfo=${zone === 'UTC' ? '<UTC>' : `zoneinfo.ZoneInfo(key='${zone}')`}`;
  return new PythonObject(
    text,
    `datetime.datetime(${year}, ${month}, ${day}, ${hour}, ${minute}${optional(second, microsecond)}${inZone})`,
  );
}

/** Minutes east of Greenwich at a moment. */
function offsetMinutes(zone: string, milliseconds: number): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
  if (sign) return (sign === '-' ? -1 : 1) * (60 * Number(hours) + Number(minutes));
  try {
    const parts = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(
      milliseconds,
    );
    const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, eastOrWest, hour, minute] = /([+-])(\d\d):(\d\d)/.exec(name) ?? [];
    return eastOrWest ? (eastOrWest === '-' ? -1 : 1) * (60 * Number(hour) + Number(minute)) : 0;
  } catch {
    return 0;
  }
}

/** A `datetime.date`. @param days since 1970 */
export function day(days: number | bigint): PythonObject {
  const { year, month, day: ofMonth } = dayParts(BigInt(days) * 86_400n);
  const text = `${String(year).padStart(4, '0')}-${two(month)}-${two(ofMonth)}`;
  return new PythonObject(text, `datetime.date(${year}, ${month}, ${ofMonth})`);
}

/** A `datetime.time`. @param value since midnight, in `unit` */
export function timeOfDay(value: number | bigint, unit: TimeUnit): PythonObject {
  const microseconds = (BigInt(value) * 1_000_000n) / perSecond[unit];
  const seconds = Number(microseconds / 1_000_000n);
  const microsecond = Number(microseconds % 1_000_000n);
  const [hour, minute, second] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return new PythonObject(
    `${two(hour)}:${two(minute)}:${two(second)}${fraction(microsecond)}`,
    `datetime.time(${hour}, ${minute}${optional(second, microsecond)})`,
  );
}

/** A `datetime.timedelta`. */
export function duration(value: number | bigint, unit: TimeUnit): PythonObject {
  const microseconds = (BigInt(value) * 1_000_000n) / perSecond[unit];
  const perDay = 86_400_000_000n;
  const days = microseconds >= 0n ? microseconds / perDay : -((-microseconds + perDay - 1n) / perDay);
  const rest = Number(microseconds - days * perDay);
  const [seconds, microsecond] = [Math.floor(rest / 1e6), rest % 1e6];
  const time = `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}${fraction(microsecond)}`;
  const parts = [
    days === 0n ? '' : `days=${days}`,
    seconds === 0 ? '' : `seconds=${seconds}`,
    microsecond === 0 ? '' : `microseconds=${microsecond}`,
  ].filter(Boolean);
  return new PythonObject(
    `${days === 0n ? '' : `${days} day${days === 1n || days === -1n ? '' : 's'}, `}${time}`,
    `datetime.timedelta(${parts.join(', ') || '0'})`,
  );
}

/** A `decimal.Decimal`. @param unscaled the digits as one integer */
export function decimal(unscaled: bigint | number, scale: number): PythonObject {
  const digits = BigInt(unscaled);
  const all = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0');
  const text = `${digits < 0n ? '-' : ''}${scale > 0 ? `${all.slice(0, -scale)}.${all.slice(-scale)}` : all}`;
  return new PythonObject(text, `Decimal('${text}')`);
}

/** Bytes of a signed integer, the highest first. */
export function bigEndian(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.length * 8, value);
}

const escapes: Readonly<Record<number, string>> = { 9: '\\t', 10: '\\n', 13: '\\r', 92: '\\\\' };

/** A `bytes`; written out when it is printed, because pictures are long. */
export class PythonBytes extends PythonObject {
  readonly #bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    super('', '');
    this.#bytes = bytes;
    const shown = { get: () => this.#code() };
    Object.defineProperties(this, { text: shown, code: shown });
  }

  #code(): string {
    const quote = this.#bytes.includes(39) && !this.#bytes.includes(34) ? '"' : "'";
    let out = `b${quote}`;
    for (const byte of this.#bytes)
      out +=
        escapes[byte] ??
        (byte === quote.charCodeAt(0)
          ? `\\${quote}`
          : byte < 32 || byte > 126
            ? `\\x${byte.toString(16).padStart(2, '0')}`
            : String.fromCharCode(byte));
    return out + quote;
  }
}

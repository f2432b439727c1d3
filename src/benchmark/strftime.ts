/** Python's `strftime` in the C locale, for chat templates that write the date. */

const months = 'January February March April May June July August September October November December'.split(' ');
const days = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

const two = (value: number): string => String(value).padStart(2, '0');
const dayOfYear = (date: Date): number =>
  Math.round(
    (Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) - Date.UTC(date.getFullYear(), 0, 1)) / 864e5,
  ) + 1;

/** One row a directive. */
const directives: Record<string, (date: Date) => string> = {
  a: (date) => (days[date.getDay()] ?? '').slice(0, 3),
  A: (date) => days[date.getDay()] ?? '',
  b: (date) => (months[date.getMonth()] ?? '').slice(0, 3),
  B: (date) => months[date.getMonth()] ?? '',
  d: (date) => two(date.getDate()),
  e: (date) => String(date.getDate()).padStart(2, ' '),
  f: (date) => String(date.getMilliseconds() * 1000).padStart(6, '0'),
  H: (date) => two(date.getHours()),
  I: (date) => two(date.getHours() % 12 || 12),
  j: (date) => String(dayOfYear(date)).padStart(3, '0'),
  m: (date) => two(date.getMonth() + 1),
  M: (date) => two(date.getMinutes()),
  p: (date) => (date.getHours() < 12 ? 'AM' : 'PM'),
  S: (date) => two(date.getSeconds()),
  u: (date) => String(date.getDay() || 7),
  w: (date) => String(date.getDay()),
  y: (date) => two(date.getFullYear() % 100),
  Y: (date) => String(date.getFullYear()),
  D: (date) => strftime(date, '%m/%d/%y'),
  F: (date) => strftime(date, '%Y-%m-%d'),
  T: (date) => strftime(date, '%H:%M:%S'),
  R: (date) => strftime(date, '%H:%M'),
  x: (date) => strftime(date, '%m/%d/%y'),
  X: (date) => strftime(date, '%H:%M:%S'),
  c: (date) => strftime(date, '%a %b %e %H:%M:%S %Y'),
  z: () => '',
  Z: () => '',
  n: () => '\n',
  t: () => '\t',
  '%': () => '%',
};

/** The local time by a format such as `%d %b %Y`; `%-d` leaves zeros in front out. Unknown directives stay as they are. */
export function strftime(date: Date, format: string): string {
  return format.replace(/%(-?)([a-zA-Z%])/g, (whole, minus: string, directive: string) => {
    const text = directives[directive]?.(date);
    if (text === undefined) return whole;
    return minus ? text.replace(/^[0 ]+(?=.)/, '') : text;
  });
}

/** Numbers as people read them: shares in per cent with one decimal, intervals, durations, counts. */
import type { Share } from '../src/shared/results.ts';

/** Narrow no-break space, which typesetting wants before a per cent sign. */
const thin = '\u202f';

/** A share 0…1 as `61.5 %`; a dash where there is none. */
export const percent = (value: number | null | undefined, digits = 1): string =>
  value === null || value === undefined || Number.isNaN(value) ? '–' : `${(100 * value).toFixed(digits)}${thin}%`;

/** A difference of shares as signed points: `+21.0`. */
export function points(difference: number, digits = 1): string {
  const text = Math.abs(100 * difference).toFixed(digits);
  return Number(text) === 0 ? text : `${difference < 0 ? '−' : '+'}${text}`;
}

/** The bounds of a share: `52.1 – 70.0`; empty where the share has no value. */
export const bounds = (share: Share): string =>
  share.value === null ? '' : `${(100 * share.low).toFixed(1)} – ${(100 * share.high).toFixed(1)}`;

/** Bounds for a screen reader and a tooltip. */
export const shareInWords = (share: Share): string =>
  share.value === null
    ? 'not defined: no items to divide by'
    : `${share.count} of ${share.n} = ${percent(share.value)}, 95 % interval ${bounds(share)}`;

export const count = (value: number): string => value.toLocaleString('en-US');

/** Seconds as `8.4 s`, `2 min 05 s`, `1 h 12 min`. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return '–';
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** Time left, coarse on purpose: `about 3 min left`. */
export function timeLeft(seconds: number): string {
  if (seconds < 10) return 'a few seconds left';
  if (seconds < 55) return `about ${Math.round(seconds / 5) * 5} s left`;
  if (seconds < 3600) return `about ${Math.max(1, Math.round(seconds / 60))} min left`;
  const minutes = Math.round(seconds / 60);
  return `about ${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min left`;
}

export function bytes(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let rest = value;
  while (rest >= 1024 && unit < units.length - 1) {
    rest /= 1024;
    unit++;
  }
  return `${rest.toFixed(unit === 0 || rest >= 100 ? 0 : 1)} ${units[unit]}`;
}

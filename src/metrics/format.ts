/** Figures in words, the same in pages, in the editor and on the command line. */
import type { Share } from '../shared/results.ts';

type Estimate = Pick<Share, 'value' | 'low' | 'high'>;

/**
 * Decimals that an interval supports: those of the first digit of half its width, so that what is written is known. 61.3 ±
 * 4.2 is "61", 61.34 ± 0.5 is "61.3". The one rounding rule of pages, editor and command line.
 * @param halfWidth in the unit that is written (points for a percentage)
 * @param most never more than these; also what there is where an interval of no width says nothing
 */
export function decimalsFor(halfWidth: number, most: number): number {
  if (!(halfWidth > 0)) return most;
  let decimals = 0;
  while (decimals < most && halfWidth <= 10 ** -decimals) decimals++;
  return decimals;
}

/** Of a percentage: one where the interval has no width. */
const decimals = ({ low, high }: Pick<Share, 'low' | 'high'>): number =>
  low < high ? decimalsFor(50 * (high - low), 2) : 1;

/** "61 %", or "–" where there is no value. */
export function formatShare(entry: Estimate): string {
  return entry.value === null ? '–' : `${(entry.value * 100).toFixed(decimals(entry))} %`;
}

/** "54–68 %", or "" where there is no value. */
export function formatInterval(entry: Estimate): string {
  const digits = decimals(entry);
  return entry.value === null ? '' : `${(entry.low * 100).toFixed(digits)}–${(entry.high * 100).toFixed(digits)} %`;
}

/** "61 % (54–68 %)", or "–" where there is no value. */
export const formatShareAndInterval = (entry: Estimate | null): string =>
  entry === null || entry.value === null ? '–' : `${formatShare(entry)} (${formatInterval(entry)})`;

/** A difference of shares in points, with its sign: "+21.0". */
export function formatPoints(difference: number, digits = 1): string {
  const points = (difference * 100).toFixed(digits);
  if (Number(points) === 0) return (0).toFixed(digits);
  return difference > 0 ? `+${points}` : points.replace('-', '−');
}

/** "8.4 s", "2 min 5 s", "1 h 3 min". */
export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return '–';
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min${whole % 60 ? ` ${whole % 60} s` : ''}`;
  const minutes = Math.round(whole / 60);
  return `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ''}`;
}

/** Time left, coarse because it is a guess: "about 3 min left". */
export function formatTimeLeft(seconds: number): string {
  if (seconds < 10) return 'a few seconds left';
  if (seconds < 55) return `about ${Math.round(seconds / 5) * 5} s left`;
  if (seconds < 3570) return `about ${Math.max(1, Math.round(seconds / 60))} min left`;
  return `about ${formatSeconds(Math.round(seconds / 60) * 60)} left`;
}

/** "538 MB", in powers of 1000. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

/** Figures in words, the same in pages, in the editor and on the command line. */
import type { Share } from '../shared/results.ts';

type Estimate = Pick<Share, 'value' | 'low' | 'high'>;

/** Decimals of a percentage that its interval supports: none where it is wider than ±1 point either way. */
const decimals = ({ low, high }: Pick<Share, 'low' | 'high'>): number => ((high - low) / 2 > 0.01 ? 0 : 1);

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

/** Figures in words, the same in every page and on the command line. */
import type { Share } from '../shared/results.ts';

/** Decimals of a percentage that its interval supports: none where it is wider than ±1 point either way. */
const decimals = ({ low, high }: Pick<Share, 'low' | 'high'>): number => ((high - low) / 2 > 0.01 ? 0 : 1);

/** "61 %", or "–" where there is no value. */
export function formatShare(entry: Share): string {
  return entry.value === null ? '–' : `${(entry.value * 100).toFixed(decimals(entry))} %`;
}

/** "54–68 %", or "" where there is no value. */
export function formatInterval(entry: Share): string {
  const digits = decimals(entry);
  return entry.value === null ? '' : `${(entry.low * 100).toFixed(digits)}–${(entry.high * 100).toFixed(digits)} %`;
}

/** A difference of shares in points, with its sign: "+21.0". */
export function formatPoints(difference: number, digits = 1): string {
  const points = (difference * 100).toFixed(digits);
  if (Number(points) === 0) return (0).toFixed(digits);
  return difference > 0 ? `+${points}` : points.replace('-', '−');
}

/** "4 s", "2 min 5 s", "1 h 3 min". */
export function formatSeconds(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min${whole % 60 ? ` ${whole % 60} s` : ''}`;
  const minutes = Math.round(whole / 60);
  return `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ''}`;
}

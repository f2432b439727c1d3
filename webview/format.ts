/** Figures as pages show them: the wording of every other place (src/metrics/format.ts), typeset. */
import { formatInterval, formatShare } from '../src/metrics/index.ts';
import type { Share } from '../src/shared/results.ts';

/** A narrow no-break space before a per cent sign. */
export const typeset = (text: string): string => text.replaceAll(' %', '\u202f%');

export const percent = (share: Pick<Share, 'value' | 'low' | 'high'>): string => typeset(formatShare(share));

/** The bounds of a share; empty where it has no value. */
export const bounds = (share: Pick<Share, 'value' | 'low' | 'high'>): string => typeset(formatInterval(share));

/** For a screen reader and a tooltip. */
export const shareInWords = (share: Share): string =>
  share.value === null
    ? 'not defined: no items to divide by'
    : `${share.count} of ${share.n} = ${percent(share)}, 95 % interval ${bounds(share)}`;

/** One formatter for all: a call of toLocaleString makes its own each time. */
const whole = new Intl.NumberFormat('en-US');
export const count = (value: number): string => whole.format(value);

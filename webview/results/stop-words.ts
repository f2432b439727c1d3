/** How an output ended, in words and as a mark. */
import type { ItemRow } from '../../src/shared/protocol.ts';
import { visible } from '../text.ts';

/** One row a reason: what the mark behind the output says, and the sentence. */
export const stops = {
  'stop-string': { glyph: '■', name: 'stop string', sentence: 'stopped at a stop string' },
  eos: { glyph: '●', name: 'end of text', sentence: 'ended by itself (end of text)' },
  length: { glyph: '…', name: 'token limit', sentence: 'cut off at the token limit' },
} as const;

export const stopSentence = ({ stop }: Pick<ItemRow, 'stop'>): string =>
  `${stops[stop.reason].sentence}${stop.marker === undefined ? '' : ` ${JSON.stringify(visible(stop.marker))}`}`;

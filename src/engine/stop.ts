/** Where an output ends: at a stop string in its text, whatever tokens spell it, or at an end token. */
import type { ModelTokenizer } from '../model/index.ts';

export interface StopFinder {
  /** Looks whether the newest token completes a stop; the text before it where it does. */
  check(tokens: readonly number[]): { text: string; reason: 'stop-string' | 'eos'; marker: string } | null;
  /** The whole text of an output that ended by length. */
  text(tokens: readonly number[]): string;
}

/** Tokens before the window that keep a decoder's treatment of the first token (a dropped space) away from the stop. */
const slack = 4;

/**
 * Finds stop strings in decoded text. A stop string of n bytes is spelt by at most n tokens, so each step decodes a
 * window of that many and only a hit decodes the whole. Special tokens named as stop strings count by their id, since
 * decoded text leaves them out.
 */
export function stopFinder(tokenizer: ModelTokenizer, until: readonly string[]): StopFinder {
  const markers = new Map<number, string>();
  const strings: string[] = [];
  for (const stop of until) {
    if (stop === '') continue;
    const id = tokenizer.idOf(stop);
    if (id !== null && tokenizer.isSpecial(id)) markers.set(id, stop);
    else strings.push(stop);
  }
  const eos = new Set(tokenizer.eosTokenIds);
  const window = Math.max(0, ...strings.map((stop) => Buffer.byteLength(stop))) + slack;

  const firstStop = (text: string): { at: number; marker: string } | null => {
    let found: { at: number; marker: string } | null = null;
    for (const marker of strings) {
      const at = text.indexOf(marker);
      // Of two stops at one place the longer one is what stands there.
      if (at >= 0 && (!found || at < found.at || (at === found.at && marker.length > found.marker.length)))
        found = { at, marker };
    }
    return found;
  };

  return {
    check(tokens) {
      const last = tokens.at(-1);
      if (last === undefined) return null;
      const ended = eos.has(last) || markers.has(last);
      const text = (list: readonly number[]): string => tokenizer.decode(list);
      if (!ended) {
        if (!strings.length || !firstStop(text(tokens.slice(-window)))) return null;
      }
      const whole = text(ended ? tokens.slice(0, -1) : tokens);
      const found = firstStop(whole);
      if (found) return { text: whole.slice(0, found.at), reason: 'stop-string', marker: found.marker };
      if (!ended) return null;
      const marker = markers.get(last);
      // An end token is what it is even where the benchmark lists it among its stop strings.
      if (eos.has(last))
        return { text: whole, reason: 'eos', marker: marker ?? tokenizer.specialTokens.get(last) ?? '' };
      return { text: whole, reason: 'stop-string', marker: marker ?? '' };
    },
    text: (tokens) => {
      const whole = tokenizer.decode(tokens);
      const found = firstStop(whole);
      return found ? whole.slice(0, found.at) : whole;
    },
  };
}

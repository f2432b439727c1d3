/** Beginnings whose keys and values are kept for a while: the next call, or the next group, begins with them too. */
import type { SoftPrompt } from '../evaluate/language-model.ts';
import type { KeyValueCache } from './cache.ts';
import { sameBeginning, type Text } from './prefix-tree.ts';

interface Kept {
  tokens: readonly number[];
  /** A copy: the vectors of a tuning change in place. */
  softPrompt: SoftPrompt | null;
  exact: boolean;
  /** One row: vectors of the soft prompt, then tokens. */
  cache: KeyValueCache;
}

/** What may be kept, in number and in bytes; the newest always is. */
const most = { entries: 6, bytes: 2 ** 29 };

function sameVectors(a: SoftPrompt | null, b: SoftPrompt | null): boolean {
  if (!a || !b) return a === b;
  return (
    a.vectors === b.vectors &&
    a.data.length === b.data.length &&
    a.data.every((value, index) => value === b.data[index])
  );
}

export class PrefixMemory {
  /** The newest last. */
  readonly #kept: Kept[] = [];

  /** What begins like the text for the longest, and how many of the text's tokens it holds. */
  find(tokens: Text, softPrompt: SoftPrompt | null, exact: boolean): { cache: KeyValueCache; same: number } | null {
    let best: Kept | null = null;
    let longest = 0;
    for (const kept of this.#kept) {
      if (kept.exact !== exact || !sameVectors(kept.softPrompt, softPrompt)) continue;
      const same = sameBeginning(kept.tokens, tokens);
      const fits = same === tokens.length && kept.tokens.length === same;
      if (best && (same < longest || (same === longest && !fits))) continue;
      [best, longest] = [kept, same];
    }
    if (!best) return null;
    this.#kept.splice(this.#kept.indexOf(best), 1);
    this.#kept.push(best);
    return { cache: best.cache, same: longest };
  }

  keep(tokens: readonly number[], softPrompt: SoftPrompt | null, exact: boolean, cache: KeyValueCache): void {
    const copy = softPrompt && { ...softPrompt, data: softPrompt.data.slice() };
    this.#kept.push({ tokens, softPrompt: copy, exact, cache });
    const bytes = (): number => this.#kept.reduce((sum, kept) => sum + kept.cache.bytes, 0);
    while (this.#kept.length > 1 && (this.#kept.length > most.entries || bytes() > most.bytes)) this.#kept.shift();
  }
}

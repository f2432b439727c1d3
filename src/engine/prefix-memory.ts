/** Beginnings whose keys and values are kept for a while: the next call, or the next group, begins with them too. */
import type { SoftPrompt } from '../evaluate/language-model.ts';
import type { KeyValueCache } from './cache.ts';
import type { Decoder } from './decoder.ts';
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

  /** Keys and values of a soft prompt and of tokens behind it, at least one of them: what is kept of them, and the rest read. */
  async read(
    decoder: Decoder,
    tokens: readonly number[],
    softPrompt: SoftPrompt | null,
    { signal, exact }: { signal: AbortSignal | undefined; exact: boolean },
  ): Promise<KeyValueCache> {
    const vectors = softPrompt?.vectors ?? 0;
    const found = this.find(tokens, softPrompt, exact);
    if (found?.same === tokens.length && found.cache.length(0) === tokens.length + vectors) return found.cache;
    const cache = decoder.newCache(1, tokens.length + vectors, null, exact);
    // What rows read alone must not depend on what was read before; token by token it is quicker to read all of it again.
    const usable = found && !decoder.readsAlone && (found.same === tokens.length || (await decoder.continues()));
    const known = usable ? found.same : 0;
    if (found && known) {
      cache.addRow(found.cache, 0, known + vectors);
      if (known < tokens.length) await decoder.read(cache, 0, [tokens.slice(known)], [], { signal });
    } else {
      cache.addRow();
      await decoder.read(cache, 0, [tokens], [], { softPrompt, signal });
    }
    cache.trim();
    this.keep(tokens, softPrompt, exact, cache);
    return cache;
  }
}

/** Where a soft prompt stands among the tokens that a decoder reads. */
import type { SoftPrompt } from '../evaluate/language-model.ts';
import type { KeyValueCache } from './cache.ts';
import type { Decoder } from './decoder.ts';
import type { Distribution, Wanted } from './run-tensors.ts';

type Tokens = readonly number[];

export const isSuffix = (softPrompt: SoftPrompt | null): boolean => softPrompt?.position === 'suffix';

/** The soft prompt that stands in front of all rows, and is read with what they begin with; else null. */
export const inFront = (softPrompt: SoftPrompt | null): SoftPrompt | null => (isSuffix(softPrompt) ? null : softPrompt);

/**
 * Reads texts into rows from `from` on and, where the soft prompt stands behind the text, the soft prompt and what
 * follows it. A soft prompt in front is read here only where the rows hold nothing yet.
 * @param after what each row reads behind its text and the soft prompt
 * @param wanted positions counted in text and `after` together; behind the text's last token means behind the soft
 *   prompt that follows it. None may be before.
 */
export async function readTexts(
  decoder: Decoder,
  cache: KeyValueCache,
  from: number,
  { texts, after }: { texts: readonly Tokens[]; after?: readonly Tokens[] },
  softPrompt: SoftPrompt | null,
  wanted: readonly Wanted[],
  options: { logits?: boolean; signal?: AbortSignal } = {},
): Promise<Distribution[]> {
  const rest = texts.map((_, row) => after?.[row] ?? []);
  if (!softPrompt || !isSuffix(softPrompt)) {
    const whole = after ? texts.map((text, row) => [...text, ...(rest[row] ?? [])]) : texts;
    const unread = cache.position(from) === 0;
    return decoder.read(cache, from, whole, wanted, { ...options, softPrompt: unread ? softPrompt : null });
  }
  const behind = wanted.map((want) => ({ ...want, position: want.position - (texts[want.row]?.length ?? 0) }));
  if (texts.some(({ length }) => length > 0)) await decoder.read(cache, from, texts, [], { signal: options.signal });
  if (await decoder.continues()) return decoder.read(cache, from, rest, behind, { ...options, softPrompt });
  return readOneByOne(decoder, cache, from, rest, softPrompt, behind, options);
}

/** The vectors one after another, then the tokens: for graphs that read one place at a time behind a cache. */
async function readOneByOne(
  decoder: Decoder,
  cache: KeyValueCache,
  from: number,
  rest: readonly Tokens[],
  softPrompt: SoftPrompt,
  wanted: readonly Wanted[],
  options: { logits?: boolean; signal?: AbortSignal },
): Promise<Distribution[]> {
  const { vectors, hiddenSize, data } = softPrompt;
  const found = new Array<Distribution | undefined>(wanted.length);
  const part = async (
    tokens: readonly Tokens[],
    places: readonly (readonly [number, Wanted])[],
    vector: SoftPrompt | null,
  ): Promise<void> => {
    const asked = places.map(([, want]) => want);
    const results = await decoder.read(cache, from, tokens, asked, { ...options, softPrompt: vector });
    for (const [index, [place]] of places.entries()) found[place] = results[index];
  };
  const entries = [...wanted.entries()];
  for (let at = 0; at < vectors; at++)
    await part(
      rest.map(() => []),
      at === vectors - 1 ? entries.filter(([, { position }]) => position < 0) : [],
      { ...softPrompt, vectors: 1, data: data.subarray(at * hiddenSize, (at + 1) * hiddenSize) },
    );
  if (rest.some(({ length }) => length > 0))
    await part(
      rest,
      entries.filter(([, { position }]) => position >= 0),
      null,
    );
  return found.map((distribution) => {
    if (!distribution) throw new Error('A wanted position is not among the tokens.');
    return distribution;
  });
}

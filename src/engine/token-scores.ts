/**
 * Every token of one continuation by itself: how likely it was where it stands, how many tokens were likelier, and which
 * were the likeliest. The continuation is read as it is (teacher forcing), all of its places in one run.
 */
import type { SoftPrompt, TokenScore } from '../evaluate/language-model.ts';
import { throwIfCancelled } from '../shared/errors.ts';
import { type KeyValueCache, placesFor } from './cache.ts';
import { type Decoder, pieceLength } from './decoder.ts';
import { contextFor, type ScoringContext } from './log-likelihood.ts';
import type { Distribution, Wanted } from './run-tensors.ts';
import { inFront, isSuffix, readTexts } from './soft-prompt.ts';

/** Logits held at a time: 64 MB. A continuation of 340 tokens is one run with SmolLM2's vocabulary of 49,152. */
const mostLogits = 2 ** 24;

export interface TokenScoring extends ScoringContext {
  vocabularySize: number;
}

export interface TokenScoringSettings {
  softPrompt: SoftPrompt | null;
  /** How many of the likeliest tokens are named at each place. */
  alternatives: number;
  signal?: AbortSignal;
  /** Places whose logits are held at a time; by default as many as {@link mostLogits} are for. */
  places?: number;
}

/**
 * Scores the tokens of a continuation in their order. Values are those of `logLikelihood` of the same text, up to
 * rounding. Rank 1 is what greedy decoding takes; tokens with equal logits share a rank.
 * @throws HumanError where context and continuation are longer than the model's context
 */
export async function scoreTokens(
  scoring: TokenScoring,
  request: { context: readonly number[]; continuation: readonly number[] },
  settings: TokenScoringSettings,
): Promise<TokenScore[]> {
  const { continuation } = request;
  if (continuation.length === 0) return [];
  const context = contextFor(scoring, { index: 0, ...request }, settings.softPrompt);
  const read = scoring.decoder.cached
    ? await behindCache(scoring, context, request, settings)
    : whole(scoring, context, request, settings);
  const scores: TokenScore[] = [];
  const places = settings.places ?? Math.max(1, Math.floor(mostLogits / Math.max(1, scoring.vocabularySize)));
  for (let from = 0; from < continuation.length; from += places) {
    throwIfCancelled(settings.signal);
    const part = continuation.slice(from, from + places);
    for (const [offset, distribution] of (await read(from, part)).entries())
      scores.push(scoreOf(distribution, part[offset] ?? 0, settings.alternatives));
  }
  return scores;
}

/** Gives the distributions that predict the continuation's tokens from `from` on; asked for in order. */
type Reader = (from: number, part: readonly number[]) => Promise<Distribution[]>;

/** The context is kept for the next call: items of a run begin alike, and so do an item's candidates. */
async function behindCache(
  { decoder }: TokenScoring,
  context: readonly number[],
  { continuation }: { continuation: readonly number[] },
  { softPrompt, signal }: TokenScoringSettings,
): Promise<Reader> {
  const longest = context.length + continuation.length + (softPrompt?.vectors ?? 0);
  const exact = await decoder.exactFor(placesFor(longest) + Math.min(longest, pieceLength));
  const { cache, held } = await behindContext(decoder, context, { longest, softPrompt, signal, exact });
  return (from, part) => {
    // The token that predicts a part's first one was read with the part before, as its last.
    const rest = continuation.slice(from, from + part.length - 1);
    if (from === 0) {
      const texts = [context.slice(held)];
      const wanted = wantedOf(part, context.length - held - 1);
      return readTexts(decoder, cache, 0, { texts, after: [rest] }, softPrompt, wanted, { logits: true, signal });
    }
    const tokens = [continuation.slice(from - 1, from + part.length - 1)];
    return decoder.read(cache, 0, tokens, wantedOf(part, 0), { logits: true, signal });
  };
}

async function behindContext(
  decoder: Decoder,
  context: readonly number[],
  of: { longest: number; softPrompt: SoftPrompt | null; signal: AbortSignal | undefined; exact: boolean },
): Promise<{ cache: KeyValueCache; held: number }> {
  const { longest, softPrompt, signal, exact } = of;
  // Graphs that read token by token behind a cache would read the continuation so.
  const held = (await decoder.continues()) ? context.length - 1 : 0;
  const prefix = held ? await decoder.readPrefix(context.slice(0, held), inFront(softPrompt), signal, exact) : null;
  const cache = decoder.newCache(1, longest, prefix, exact);
  cache.addRow();
  return { cache, held };
}

/** Without a cache each part reads the whole text. */
function whole(
  { decoder }: TokenScoring,
  context: readonly number[],
  { continuation }: { continuation: readonly number[] },
  { softPrompt, signal }: TokenScoringSettings,
): Reader {
  const behind = isSuffix(softPrompt);
  const tokens = [[...context, ...continuation.slice(0, -1)]];
  return (from, part) => {
    const wanted = wantedOf(part, context.length - 1 + from).map((want) =>
      behind && want.position === context.length - 1 ? { ...want, position: -1 } : want,
    );
    const softPromptAt = behind ? [context.length] : undefined;
    return decoder.read(null, 0, tokens, wanted, { softPrompt, softPromptAt, logits: true, signal });
  };
}

const wantedOf = (part: readonly number[], first: number): Wanted[] =>
  part.map((target, offset) => ({ row: 0, position: first + offset, target }));

function scoreOf({ logits, logSumExp, targetLogProbability }: Distribution, token: number, most: number): TokenScore {
  if (!logits) throw new Error('Logits were asked for and are not there.');
  const own = logits[token] ?? Number.NaN;
  let rank = 1;
  const best: number[] = [];
  let least = Number.NEGATIVE_INFINITY;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id] ?? Number.NaN;
    if (logit > own) rank++;
    if (best.length === most && logit <= least) continue;
    let place = best.length;
    while (place > 0 && (logits[best[place - 1] ?? 0] ?? 0) < logit) place--;
    best.splice(place, 0, id);
    best.length = Math.min(best.length, most);
    least = logits[best.at(-1) ?? 0] ?? least;
  }
  return {
    token,
    logProbability: targetLogProbability,
    rank,
    best: best.map((id) => ({ token: id, logProbability: (logits[id] ?? Number.NaN) - logSumExp })),
  };
}

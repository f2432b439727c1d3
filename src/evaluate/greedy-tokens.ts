/**
 * The tokens that a model wrote, found again from its text. A record has the text; most often it splits into the tokens
 * that were written, but a model may spell a word in other tokens than its tokenizer would. An output without sampling
 * is made of the likeliest tokens, so where the split at hand holds another one, the likeliest is followed as long as its
 * text is what stands there, until both splits meet again.
 */
import type { LanguageModel, SoftPrompt, Tokenizer, TokenScore } from './language-model.ts';

export interface GreedyTokens {
  ids: number[];
  scores: TokenScore[];
}

interface Settings {
  softPrompt: SoftPrompt | null;
  alternatives: number;
  signal?: AbortSignal;
}

/** Looks at the model besides the first; an output that is far from what the model would write is left as it is split. */
const mostLooks = 48;

/**
 * Scores of a greedy output's own tokens.
 * @param ids the text's tokens as the tokenizer splits it, the stop included
 */
export async function greedyTokens(
  model: Required<Pick<LanguageModel, 'tokenizer' | 'tokenScores'>>,
  context: readonly number[],
  ids: readonly number[],
  settings: Settings,
): Promise<GreedyTokens> {
  const texts = tokenTexts(model.tokenizer, context, ids);
  const whole = texts.join('');
  /** Place in the text where each token of the given split begins. */
  const begins = new Map<number, number>();
  let at = 0;
  for (const [number, text] of texts.entries()) {
    if (!begins.has(at)) begins.set(at, number);
    at += text.length;
  }
  const plain = await model.tokenScores({ context, continuation: ids }, settings);
  const found: GreedyTokens = { ids: [], scores: [] };
  let place = 0;
  /** The given split from some token on, where both splits meet; null between two such places. */
  let met: { from: number; scores: TokenScore[] } | null = { from: 0, scores: plain };
  for (let looks = 0; looks < mostLooks; looks++) {
    let other: TokenScore | undefined;
    if (met) {
      const { from, scores } = met;
      const differs = scores.findIndex(({ rank }) => rank !== 1);
      const end = differs < 0 ? scores.length : differs;
      found.scores.push(...scores.slice(0, end));
      found.ids.push(...ids.slice(from, from + end));
      if (differs < 0) return found;
      place += texts.slice(from, from + end).join('').length;
      other = scores[differs];
    } else {
      const behind = [...context, ...found.ids];
      // Which token is scored does not matter: the likeliest is asked for.
      [other] = await model.tokenScores({ context: behind, continuation: ids.slice(0, 1) }, settings);
    }
    const best = other?.best[0];
    if (!other || !best) break;
    const text = tokenTexts(model.tokenizer, [...context, ...found.ids], [best.token])[0] ?? '';
    const rest = whole.slice(place);
    // A stop string may end in the middle of a token.
    if (text === '' || !(rest.startsWith(text) || text.startsWith(rest))) break;
    found.ids.push(best.token);
    found.scores.push({ token: best.token, logProbability: best.logProbability, rank: 1, best: other.best });
    place += text.length;
    if (place >= whole.length) return found;
    const from = begins.get(place);
    const behind = [...context, ...found.ids];
    met =
      from === undefined
        ? null
        : { from, scores: await model.tokenScores({ context: behind, continuation: ids.slice(from) }, settings) };
  }
  return { ids: [...ids], scores: plain };
}

/** Tokens in front whose text is decoded along, so that the first one keeps its space. */
const slack = 4;
/** Bytes of the longest character in UTF-8, each of which may be a token. */
const mostParts = 4;

/**
 * The text of each token, such that all together are the text of the whole. Tokens that are a part of a character have
 * none but the last of them, which has the character.
 */
export function tokenTexts(tokenizer: Tokenizer, context: readonly number[], ids: readonly number[]): string[] {
  const before = context.slice(-slack);
  const all = [...before, ...ids];
  const textOf = (from: number, to: number): string => tokenizer.decode(all.slice(from, to), { special: true });
  let from = 0;
  let shown = before.length;
  return ids.map((_, at) => {
    const end = before.length + at + 1;
    const known = textOf(from, shown);
    const now = textOf(from, end);
    const isPart = now.endsWith('\ufffd') && end - shown < mostParts && at < ids.length - 1;
    if (isPart || now.length <= known.length) return '';
    from = shown;
    shown = end;
    return now.slice(known.length);
  });
}

/** The tokens of an output that was not sampled are found again from its text, whatever its tokenizer makes of it. */
import { describe, expect, it } from 'vitest';
import { greedyTokens, tokenTexts } from '../../src/evaluate/greedy-tokens.ts';
import type { Tokenizer, TokenScore } from '../../src/evaluate/language-model.ts';

const pieces = ['', 'a', ' ball', ' b', 'all', ' ', 'b', 'al', 'l', ' red', ' hat', '.', 'xyz'];
const id = (piece: string): number => pieces.indexOf(piece);
const tokenizer: Tokenizer = {
  encode: () => [],
  decode: (ids) => ids.map((one) => pieces[one]).join(''),
  vocabularySize: pieces.length,
  eosTokenIds: [],
  bosTokenId: null,
  padTokenId: 0,
};

/** A model that writes these tokens behind the context, and puts any other token on rank 5. */
function writes(context: readonly number[], written: readonly string[]) {
  const asked: number[] = [];
  const target = written.map(id);
  return {
    asked,
    tokenizer,
    tokenScores: async (request: {
      context: readonly number[];
      continuation: readonly number[];
    }): Promise<TokenScore[]> => {
      asked.push(request.continuation.length);
      return request.continuation.map((token, at) => {
        const before = [...request.context, ...request.continuation.slice(0, at)].slice(context.length);
        const onTrack = before.every((one, place) => one === target[place]);
        const best = (onTrack ? target[before.length] : undefined) ?? id('xyz');
        return {
          token,
          logProbability: token === best ? -0.1 : -4,
          rank: token === best ? 1 : 5,
          best: [{ token: best, logProbability: -0.1 }],
        };
      });
    },
  };
}
const context = [id('a')];
const settings = { softPrompt: null, alternatives: 1 };
const found = async (split: string[], written: string[]) => {
  const model = writes(context, written);
  const { ids, scores } = await greedyTokens(model, context, split.map(id), settings);
  return { texts: ids.map((one) => pieces[one]), ranks: scores.map(({ rank }) => rank), asked: model.asked };
};

describe('tokens of a greedy output', () => {
  it('are those of the split at hand, in one look, where the model wrote them', async () => {
    const { texts, ranks, asked } = await found([' red', ' ball', '.'], [' red', ' ball', '.']);
    expect(texts).toEqual([' red', ' ball', '.']);
    expect(ranks).toEqual([1, 1, 1]);
    expect(asked).toEqual([3]);
  });

  it('are followed where the model spelled a word otherwise, until both splits meet again', async () => {
    const written = [' red', ' ', 'b', 'al', 'l', ' hat', ' b', 'all', '.'];
    const { texts, ranks } = await found([' red', ' ball', ' hat', ' ball', '.'], written);
    expect(texts).toEqual(written);
    expect(ranks).toEqual(written.map(() => 1));
  });

  it('end where the text does, though the last token goes on', async () => {
    // The output was cut at a stop string that ends in the middle of a token.
    const { texts, ranks } = await found([' red', ' b'], [' red', ' ball']);
    expect(texts).toEqual([' red', ' ball']);
    expect(ranks).toEqual([1, 1]);
  });

  it('stay as they are split where the text is not what the model would write', async () => {
    const { texts, ranks } = await found([' red', ' ball', '.'], [' red', ' hat', '.']);
    expect(texts).toEqual([' red', ' ball', '.']);
    expect(ranks).toEqual([1, 5, 5]);
  });
});

describe('the text of each token', () => {
  const bytes: Tokenizer = {
    ...tokenizer,
    // Tokens are bytes; a first space is dropped, as some tokenizers do.
    decode: (ids) => new TextDecoder().decode(Uint8Array.from(ids)).replace(/^ /, ''),
  };
  const ids = (text: string): number[] => [...new TextEncoder().encode(text)];

  it('is its part of the whole; parts of a character have none but the last', () => {
    expect(tokenTexts(bytes, ids('x'), ids('é!'))).toEqual(['', 'é', '!']);
    expect(tokenTexts(bytes, ids('x'), ids('日本'))).toEqual(['', '', '日', '', '', '本']);
    expect(tokenTexts(bytes, ids('x'), ids('😀')).join('')).toBe('😀');
  });

  it('keeps the space that decoding a text drops at its beginning', () => {
    expect(tokenTexts(bytes, ids('Answer:'), ids(' 1'))).toEqual([' ', '1']);
  });

  it('shows bytes that are no character as such, and goes on behind them', () => {
    const broken = [0xff, 0x41, 0xe6, 0x42];
    expect(tokenTexts(bytes, ids('x'), broken).join('')).toBe('\ufffdA\ufffdB');
  });
});

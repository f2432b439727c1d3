/** An item's texts token by token, with how likely the model held each. */

export interface TokenOfText {
  id: number;
  /** Its part of the text; empty where it is a part of a character, which the last such token has. */
  text: string;
  /** Natural log of its probability. */
  logProbability: number;
  /** 1: no token was likelier. */
  rank: number;
  /** The likeliest tokens at its place, the likeliest first. */
  best: { id: number; text: string; logProbability: number }[];
}

export interface ScoredText {
  /** `text`: one whose likelihood is measured as a whole. */
  of: 'output' | 'candidate' | 'target' | 'text';
  /** Which of several outputs or candidates, from 0. */
  number: number;
  text: string;
  tokens: TokenOfText[];
  /** So many of the last tokens are what ended the output: a stop string or an end token. */
  stopTokens: number;
}

export interface ItemTokens {
  texts: ScoredText[];
  /** What one should know of the values, as sentences. */
  notes: string[];
}

/** Steps of shading: the least probability of each, from the likeliest. */
export const tokenSteps = [
  { least: 0.9, name: 'sure', words: '90 % and more' },
  { least: 0.5, name: 'likely', words: '50 to 90 %' },
  { least: 0.1, name: 'unsure', words: '10 to 50 %' },
  { least: 0.01, name: 'unlikely', words: '1 to 10 %' },
  { least: 0, name: 'surprising', words: 'less than 1 %' },
] as const;
export type TokenStep = (typeof tokenSteps)[number];

/** The step that a token's probability falls into. */
export const stepOf = (logProbability: number): TokenStep =>
  tokenSteps.find(({ least }) => Math.exp(logProbability) >= least) ?? tokenSteps[4];

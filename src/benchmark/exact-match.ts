/** `exact_match` of lm-evaluation-harness: equality after what its options tell to ignore. */
import { substitute } from './python-regex.ts';

export interface ExactMatchOptions {
  /** Python patterns whose matches are removed from both sides, in order. */
  regexesToIgnore: readonly string[];
  ignoreCase: boolean;
  ignorePunctuation: boolean;
  ignoreNumbers: boolean;
}

export const plainMatch: ExactMatchOptions = {
  regexesToIgnore: [],
  ignoreCase: false,
  ignorePunctuation: false,
  ignoreNumbers: false,
};

/** ASCII punctuation: Python's `string.punctuation`. */
const punctuation = /[!-/:-@[-`{-~]/g;

/** A text with everything removed that the options ignore. */
export function normalise(text: string, options: ExactMatchOptions): string {
  let out = text;
  for (const pattern of options.regexesToIgnore) out = substitute(pattern, '', out);
  if (options.ignoreCase) out = out.toLowerCase();
  if (options.ignorePunctuation) out = out.replace(punctuation, '');
  if (options.ignoreNumbers) out = out.replace(/[0-9]/g, '');
  return out;
}

export const exactMatch = (answer: string, gold: string, options: ExactMatchOptions): boolean =>
  normalise(answer, options) === normalise(gold, options);

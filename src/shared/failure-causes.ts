/** Causes of format failures and their sentences, the same in files, in pages and on the command line. */

/** Why an output is not in the required format. One row each in src/benchmark/causes.ts. */
export const failureCauses = [
  'empty output',
  'stopped by length',
  'ran on',
  'refusal',
  'repeats the question',
  'several candidates',
  'choice text instead of letter',
  'letter instead of choice text',
  'LaTeX or Markdown wrapping',
  'foreign number format',
  'unparseable JSON',
  'JSON against the schema',
  'answer not in the required form',
  'no answer found',
] as const;
export type FailureCause = (typeof failureCauses)[number];

/** What each cause means, for the user; pages and the command line show the same words. */
export const causeSentences: Record<FailureCause, string> = {
  'empty output': 'The model stopped without writing anything.',
  'stopped by length': 'The longest output was reached before the answer was complete.',
  'ran on': 'The answer is followed by a next question or by other text: the model did not stop.',
  refusal: 'The model declined to answer.',
  'repeats the question': 'The output begins by repeating the question.',
  'several candidates': 'The output names several answers without deciding for one.',
  'choice text instead of letter': 'The output gives the text of a choice; its letter was asked for.',
  'letter instead of choice text': 'The output names the letter of a choice; its text was asked for.',
  'LaTeX or Markdown wrapping': 'The answer stands inside of LaTeX or Markdown marks.',
  'foreign number format': 'The number is written in the way or the digits of another language.',
  'unparseable JSON': 'The output looks like JSON but cannot be parsed.',
  'JSON against the schema': 'The output is JSON, but not as the schema of the benchmark asks.',
  'answer not in the required form': 'There is an answer, but not in the form that was asked for.',
  'no answer found': 'No answer could be found in the output.',
};

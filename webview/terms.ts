/** The words of the field as the pages show them: metrics with their definitions, modes, verdicts. One table each. */
import { likelihoodVerdict } from '../src/metrics/index.ts';
import type { PromptMode } from '../src/shared/modes.ts';
import type { ItemRow } from '../src/shared/protocol.ts';
import type { Scores, Share } from '../src/shared/results.ts';

export const metricNames = ['F', 'S', 'K', 'L', 'LL'] as const;
export type MetricName = (typeof metricNames)[number];

export const metrics: Record<MetricName, { name: string; definition: string }> = {
  F: { name: 'format-following', definition: 'Share of items whose output is in the required format.' },
  S: {
    name: 'benchmark score',
    definition: 'Share of items that are in the format and right: what leaderboards print.',
  },
  K: {
    name: 'knowledge given format',
    definition: 'S ÷ F: share of right answers among the items that are in the format.',
  },
  L: {
    name: 'lenient score',
    definition: 'Share of items whose answer, taken out by the forgiving extractor, is right.',
  },
  LL: {
    name: 'log-likelihood accuracy',
    definition:
      'Share of items whose gold answer is the most likely of the candidates (without candidates: is what the model would write): free of format.',
  },
};

export const shareOf = (scores: Scores, metric: MetricName): Share | null => scores[metric];

/** What each mode puts in front of the item. */
export const modeHints: Record<PromptMode, string> = {
  'zero-shot': 'the question alone',
  'few-shot': 'solved examples, then the question',
  'soft-prompt': 'learned vectors, then the question; with position: suffix behind it',
  'few-shot+soft-prompt': 'learned vectors, solved examples, then the question; with position: suffix the vectors last',
};

/** The last but one three are of items for which nothing was generated; the last is of outputs only. */
export const verdictNames = [
  'right',
  'unformatted',
  'wrong',
  'neither',
  'likely',
  'unlikely',
  'measured',
  'unscored',
] as const;
export type Verdict = (typeof verdictNames)[number];

/** The verdicts to choose from: of outputs and of likelihoods, each where there are such items. */
export function shownVerdicts(present: ReadonlySet<Verdict>): Verdict[] {
  const [outputs, likelihoods] = [verdictNames.slice(0, 4), verdictNames.slice(4)];
  const given = likelihoods.filter((name) => present.has(name));
  return given.length > 0 && !outputs.some((name) => present.has(name)) ? given : [...outputs, ...given];
}

export const verdicts: Record<Verdict, { label: string; sentence: string }> = {
  right: { label: 'right', sentence: 'In the required format and right.' },
  unformatted: {
    label: 'right, not in format',
    sentence: 'The right answer is there, but not in the required format.',
  },
  wrong: { label: 'in format, wrong', sentence: 'In the required format, but the answer is wrong.' },
  neither: { label: 'neither', sentence: 'Not in the required format, and no right answer was found in it.' },
  likely: {
    label: 'right by likelihood',
    sentence: 'The right candidate is the likeliest, or the target is what the model would write.',
  },
  unlikely: {
    label: 'wrong by likelihood',
    sentence: 'Another candidate is likelier, or the model would write something else than the target.',
  },
  measured: { label: 'measured', sentence: 'The likelihood of the text was measured: there is no right or wrong.' },
  unscored: { label: 'not scored', sentence: 'The output was kept and not judged: re-scoring the run does that.' },
};

/** What a verdict hangs on. */
export type Judged = Pick<
  ItemRow,
  'inFormat' | 'right' | 'lenientRight' | 'generated' | 'scored' | 'choices' | 'likelihoods'
>;

export function verdictOf(record: Judged): Verdict {
  if (record.scored === false) return 'unscored';
  if (record.generated === false) {
    const verdict = likelihoodVerdict(record);
    return verdict === null ? 'measured' : verdict ? 'likely' : 'unlikely';
  }
  if (record.inFormat) return record.right ? 'right' : 'wrong';
  return record.lenientRight ? 'unformatted' : 'neither';
}

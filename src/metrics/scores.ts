/** F, S, K, L, LL of one mode, and what stands beside them: the constant answer, the commonest answer, chance, causes. */
import type { FailureCause } from '../shared/failure-causes.ts';
import type { ItemRecord, Scores, Share } from '../shared/results.ts';
import { share } from './intervals.ts';

/** What is counted of an item; an ItemRecord has it. */
export type JudgedItem = Pick<
  ItemRecord,
  'inFormat' | 'right' | 'lenientRight' | 'cause' | 'lenient' | 'choices' | 'generated' | 'likelihoods'
>;

/**
 * Is the right candidate the likeliest, or, where there are no candidates, is the target what the model would write? Null
 * where no such likelihoods were measured.
 */
export function likelihoodVerdict(item: Pick<ItemRecord, 'choices' | 'generated' | 'likelihoods'>): boolean | null {
  if (item.choices) return item.choices.right;
  return item.generated === false ? (item.likelihoods?.[0]?.greedy ?? null) : null;
}

/** K says little where its 95 % interval is wider than this either way (margin of error rule, METHODS: FormatBiasEval). */
const reliableMargin = 0.05;

export interface ScoreOptions {
  /** Answers to try as "the same answer for every item"; the best one is reported. */
  constantCandidates: readonly string[];
  /** Would `answer` be right for the item at this position of `items`? */
  isRight(position: number, answer: string): boolean;
  /** Mean of 1 / number of choices over the items, where there are choices. */
  chance: number | null;
}

/**
 * S counts items that are in the format and right, so that S = F × K. L counts lenient answers that are right. Items of
 * which only likelihoods were measured count for LL alone.
 * @param items judged items of one run, in any order
 */
export function scores(items: readonly JudgedItem[], options: ScoreOptions): Scores {
  const n = items.length;
  const generated = items.filter((item) => item.generated !== false);
  const count = (test: (item: JudgedItem) => boolean): number => generated.filter(test).length;
  const inFormat = count((item) => item.inFormat);
  const right = count((item) => item.inFormat && item.right);
  const K = share(right, inFormat);
  const verdicts = items.map(likelihoodVerdict).filter((verdict) => verdict !== null);
  const causes: Partial<Record<FailureCause, number>> = {};
  for (const { cause } of items) if (cause) causes[cause] = (causes[cause] ?? 0) + 1;
  return {
    n,
    F: share(inFormat, generated.length),
    S: share(right, generated.length),
    K: { ...K, unreliable: (K.high - K.low) / 2 > reliableMargin },
    L: share(
      count((item) => item.lenientRight),
      generated.length,
    ),
    LL: verdicts.length > 0 ? share(verdicts.filter((right) => right).length, verdicts.length) : null,
    constant: generated.length > 0 ? bestConstant(n, options) : null,
    commonest: commonestAnswer(generated),
    chance: options.chance,
    causes,
  };
}

/** The single answer that would be right most often if it were given to every item. */
function bestConstant(n: number, { constantCandidates, isRight }: ScoreOptions): Scores['constant'] {
  let best: { answer: string; count: number } | null = null;
  for (const answer of new Set(constantCandidates)) {
    let count = 0;
    for (let position = 0; position < n; position++) if (isRight(position, answer)) count++;
    if (!best || count > best.count) best = { answer, count };
  }
  return best && n > 0 ? { answer: best.answer, share: share(best.count, n) } : null;
}

/** The answer that was (leniently) read most often, and its share of all items. */
function commonestAnswer(items: readonly JudgedItem[]): Scores['commonest'] {
  const counts = new Map<string, number>();
  for (const { lenient } of items)
    if (lenient.answer !== null) counts.set(lenient.answer, (counts.get(lenient.answer) ?? 0) + 1);
  let best: [string, number] | null = null;
  for (const entry of counts) if (!best || entry[1] > best[1]) best = entry;
  return best ? { answer: best[0], share: share(best[1], items.length) } : null;
}

/** What a gain is split by: F, S and K over the same items. */
export type FormatAndKnowledge = Record<'F' | 'S' | 'K', Share>;

export interface GainSplit {
  total: number;
  format: number;
  knowledge: number;
  /** False where one of the modes has nothing in the format: its K is unknown and taken to be the other's. */
  knowledgeMeasured: boolean;
}

/**
 * How much of a gain in S from mode `a` to mode `b` is format and how much knowledge:
 * ΔS = K̄·ΔF + F̄·ΔK with the means of both modes (exact, since S = F × K).
 * Where one of them has nothing in the format its K is not defined, and the whole gain counts as format.
 * @returns null where a mode has no items
 */
export function splitGain(a: FormatAndKnowledge, b: FormatAndKnowledge): GainSplit | null {
  const [fa, ka, fb, kb] = [a.F, a.K, b.F, b.K].map((entry: Share) => entry.value);
  if (fa == null || fb == null) return null;
  if (ka == null || kb == null) {
    const total = (b.S.value ?? 0) - (a.S.value ?? 0);
    return { total, format: total, knowledge: 0, knowledgeMeasured: false };
  }
  return {
    total: fb * kb - fa * ka,
    format: ((ka + kb) / 2) * (fb - fa),
    knowledge: ((fa + fb) / 2) * (kb - ka),
    knowledgeMeasured: true,
  };
}

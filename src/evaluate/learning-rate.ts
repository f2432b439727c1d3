/**
 * A learning rate that fits the model, so that nobody has to know one.
 *
 * Adam moves every entry of the soft prompt by about the rate per step. What a move means to the model depends on how
 * large the entries of its embedding are (the vectors start as rows of the table, and what follows the table expects
 * rows of that size) and on the width: the entries move together, so that a step changes the logits in proportion to
 * the sum over the entries, which grows with √width against the length of a row. Hence
 *
 *     rate = 15.5 × root mean square of the embedding's entries ÷ √width
 *
 * It is exact in the scale (a table ten times as large, undone by what follows, gets ten times the rate and tunes alike),
 * and a guess in everything else: depth, data and what the graph does behind the table. So `auto` takes it as the place
 * to look around from, and lets a few steps at neighbouring rates decide.
 */
import type { LearningRateChoice, LearningRateTrial } from '../shared/results.ts';

/** Fitted to models of widths 64 and 576; see docs/architecture.md, "Learning rate". */
const peakPerScale = 15.5;

/**
 * @param embeddingScale root mean square of the embedding table's entries, where the soft prompt stands
 * @param hiddenSize width of the embedding
 */
export function formulaLearningRate(embeddingScale: number, hiddenSize: number): number {
  return Number(((peakPerScale * embeddingScale) / Math.sqrt(hiddenSize)).toPrecision(2));
}

/** How a search goes: on a ladder of rates around the formula's, each a factor from the next. */
export interface SearchPlan {
  /** Tuning steps at each rate. */
  steps: number;
  /** Rungs that are tried in any case, the formula's being 0. */
  rungs: readonly number[];
  /** Rates tried at most. */
  most: number;
}

/** Rates that are a factor of 3 apart: what is best within that is within the noise of the seed. */
const factor = 3;

const plans: Readonly<Record<'auto' | 'search', SearchPlan>> = {
  // Two rates besides the formula's: the steps of the best are the run's own first steps, so two thirds are extra.
  auto: { steps: 6, rungs: [0], most: 5 },
  search: { steps: 10, rungs: [0, 1, -1, 2, -2], most: 9 },
};

/**
 * The search that a setting asks for, or null for none. `auto` does without where its steps would be more than a part
 * of the tuning.
 * @param steps optimiser steps of the tuning
 */
export function searchPlan(setting: 'auto' | 'search', steps: number): SearchPlan | null {
  const plan = plans[setting];
  if (setting === 'auto' && steps < 5 * plan.steps) return null;
  return { ...plan, steps: Math.min(plan.steps, steps) };
}

/** How many rates a plan tries, as far as it is known after `done` of them. */
export const expectedTrials = (plan: SearchPlan, done: number): number => Math.max(3, plan.rungs.length, done);

export const rateOf = (formula: number, rung: number): number => Number((formula * factor ** rung).toPrecision(2));

/** Losses that are less than this part apart say nothing: another seed would order them otherwise. */
const margin = 0.02;

const lossOf = (trial: LearningRateTrial | undefined): number => trial?.loss ?? Number.POSITIVE_INFINITY;

/**
 * Climbs the ladder towards the lower loss: the rungs of the plan first, then the neighbours of the best one until both
 * are known to be worse. Where the loss has one minimum over the rates, three trials are the fewest that can show it.
 * @param trial makes the steps at one rate and gives the loss afterwards; null where it diverged
 */
export async function searchLearningRate(
  formula: number,
  plan: SearchPlan,
  trial: (rate: number) => Promise<LearningRateTrial>,
): Promise<LearningRateChoice> {
  const tried = new Map<number, LearningRateTrial>();
  const best = (): number =>
    // From the formula's rate outwards: one that is farther off has to be better by the margin.
    [...tried.keys()]
      .sort((a, b) => Math.abs(a) - Math.abs(b))
      .reduce((a, b) => (lossOf(tried.get(b)) < (1 - margin) * lossOf(tried.get(a)) ? b : a));
  const next = (): number | undefined => {
    const planned = plan.rungs.find((rung) => !tried.has(rung));
    if (planned !== undefined || tried.size === 0) return planned;
    const at = best();
    // Where all have diverged, only smaller rates can help.
    const neighbours =
      lossOf(tried.get(at)) === Number.POSITIVE_INFINITY ? [Math.min(...tried.keys()) - 1] : [at + 1, at - 1];
    return neighbours.find((rung) => !tried.has(rung));
  };
  for (let rung = next(); rung !== undefined && tried.size < plan.most; rung = next())
    tried.set(rung, await trial(rateOf(formula, rung)));
  const trials = [...tried].sort(([a], [b]) => a - b).map(([, one]) => one);
  const value = tried.get(best())?.rate ?? formula;
  return { value, by: 'search', trials };
}

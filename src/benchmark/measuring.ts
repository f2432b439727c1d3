/**
 * What the responses to an item add to the metrics: ConfigurableTask.process_results of lm-evaluation-harness 0.4.13, once
 * for each filter.
 */
import type { FilteredMetrics, MetricValue } from '../shared/results.ts';
import { spaces } from '../shared/whitespace.ts';
import { choicesOf, forItem, goldOf, hasContexts, rightContext, targetOf } from './documents.ts';
import { exactMatch } from './exact-match.ts';
import { noFilter } from './filters.ts';
import { equal, str } from './python.ts';
import type { Settings } from './settings.ts';
import type { Item, ItemResponse } from './types.ts';

type Values = Record<string, MetricValue>;
type Likelihood = Extract<ItemResponse, { kind: 'loglikelihood' }>;

export class Measures {
  /** The harness takes it from the first item: its target is a list of right answers. */
  private readonly severalTargets: boolean;

  constructor(
    private readonly settings: Settings,
    first: Item | undefined,
  ) {
    this.severalTargets = first ? forItem(first, () => Array.isArray(targetOf(settings.turn, first.fields))) : false;
  }

  /** @param responses in the order of the requests: likelihoods, then outputs */
  measure(item: Item, responses: readonly ItemResponse[]): FilteredMetrics[] {
    return forItem(item, () => {
      if (this.settings.outputType === 'generate_until') return this.ofOutputs(item, responses);
      const values = this.ofLikelihoods(item, responses);
      const names = this.settings.filters.map(({ name }) => name);
      // Filters choose among equal copies of a likelihood: each leaves the first.
      return (names.length > 0 ? names : [noFilter.name]).map((filter) => ({ filter, values }));
    });
  }

  private chosen(all: Values): Values {
    return Object.fromEntries(
      this.settings.metrics.flatMap(({ metric }) => (metric in all ? [[metric, all[metric] ?? null]] : [])),
    );
  }

  // ------------------------------------------------------------ likelihoods

  private ofLikelihoods(item: Item, responses: readonly ItemResponse[]): Values {
    const { turn, outputType } = this.settings;
    const scored = responses.filter((response) => response.kind === 'loglikelihood');
    if (outputType === 'multiple_choice') return this.chosen(this.ofCandidates(item, scored));
    const [first] = responses;
    if (first?.kind === 'loglikelihood') return this.chosen({ perplexity: first.sum, acc: first.greedy ? 1 : 0 });
    if (first?.kind !== 'rolling') return {};
    const text = goldOf(turn, item.fields).texts[0] ?? '';
    const bytes = new TextEncoder().encode(text).length;
    return this.chosen({
      word_perplexity: [first.sum, text.split(blanks).length],
      byte_perplexity: [first.sum, bytes],
      bits_per_byte: [first.sum, bytes],
    });
  }

  private ofCandidates(item: Item, scored: readonly Likelihood[]): Values {
    const { turn } = this.settings;
    const texts = (choicesOf(turn.choice, item.fields) ?? []).map(str);
    const likelihoods = scored.slice(0, texts.length).map(({ sum }) => sum);
    const without = scored.slice(texts.length).map(({ sum }) => sum);
    const golds = this.goldNumbers(item, texts);
    const gold = golds[0] ?? none;
    const among = (found: number): number => (golds.includes(found) ? 1 : 0);
    const found = largest(likelihoods);
    const target: MetricValue = this.severalTargets ? golds : gold;
    return {
      acc: among(found),
      acc_norm: among(largest(likelihoods.map((sum, i) => sum / Array.from(texts[i] ?? '').length))),
      acc_bytes: among(largest(likelihoods.map((sum, i) => sum / new TextEncoder().encode(texts[i]).length))),
      exact_match: golds.some((at) => at !== none && scored.at(at)?.greedy) ? 1 : 0,
      f1: [target, found] as MetricValue,
      mcc: [target, found] as MetricValue,
      brier_score: [gold, softmax(likelihoods)],
      ...(without.length === texts.length && {
        acc_mutual_info: among(largest(likelihoods.map((sum, i) => sum - (without[i] ?? Number.NaN)))),
      }),
    };
  }

  /** Numbers of the right candidates; {@link none} for one that is not among them, which nothing equals. */
  private goldNumbers(item: Item, texts: readonly string[]): number[] {
    const { turn } = this.settings;
    if (hasContexts(turn, item.fields)) return [rightContext(turn, item.fields)];
    const target = targetOf(turn, item.fields);
    const golds = Array.isArray(target) ? target : [target];
    return golds.map((gold) => {
      const at = typeof gold === 'number' ? gold : texts.indexOf(str(gold));
      return at < texts.length && (typeof gold === 'number' || at >= 0) ? at : none;
    });
  }

  // ---------------------------------------------------------------- outputs

  private ofOutputs(item: Item, responses: readonly ItemResponse[]): FilteredMetrics[] {
    const outputs = responses.flatMap((response) =>
      response.kind === 'generate' ? response.outputs.map(({ text }) => text) : [],
    );
    const { choices } = item.fields;
    const context = { choices: Array.isArray(choices) ? choices.map(str) : null };
    const filters = this.settings.filters.length > 0 ? this.settings.filters : [noFilter];
    return filters.map((filter) => {
      const answer = filter.apply(outputs, context);
      return { filter: filter.name, answer, values: this.ofAnswer(item, answer) };
    });
  }

  private ofAnswer(item: Item, answer: MetricValue): Values {
    const golds = this.goldsFor(item, answer);
    const texts = golds.map(str);
    const pair = [this.severalTargets ? texts : (texts[0] ?? ''), answer] as MetricValue;
    return this.chosen({
      exact_match: this.match(golds, answer),
      bleu: pair,
      chrf: pair,
      'chrf++': pair,
      ter: pair,
      bypass: null,
    });
  }

  /** The right answers as the harness compares them: with the answer's type where there is one right answer. */
  private goldsFor(item: Item, answer: MetricValue): unknown[] {
    const { turn } = this.settings;
    if (turn.choice !== null) return goldOf(turn, item.fields).texts.slice(0, 1);
    const target = targetOf(turn, item.fields);
    if (this.severalTargets) return Array.isArray(target) ? target : [target];
    if (typeof answer === 'string') return [str(target)];
    return [typeof answer === 'number' ? Number(str(target)) : target];
  }

  /** Mean over the answers where a filter left several; of several right answers any will do. */
  private match(golds: readonly unknown[], answer: MetricValue): number {
    const answers: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
    const shares = golds.map((gold) => {
      // Two lists are compared place by place.
      if (Array.isArray(gold) && Array.isArray(answer))
        return gold.length === answers.length && gold.length > 0
          ? gold.filter((entry, at) => equal(entry, answers[at])).length / gold.length
          : 0;
      const equals = answers.filter((one) =>
        typeof one === 'string' && typeof gold !== 'number'
          ? exactMatch(one, str(gold), this.settings.metric)
          : equal(one, gold),
      );
      return answers.length > 0 ? equals.length / answers.length : 0;
    });
    if (this.severalTargets) return shares.some((share) => share > 0) ? 1 : 0;
    return shares[0] ?? 0;
  }
}

/** What stands for a right answer that is no candidate (the harness's own number). */
const none = -100;

/** Python's `\s+`. */
const blanks = new RegExp(`[${spaces}]+`, 'u');

/** Index of the largest value; the first of equals, as numpy.argmax. */
function largest(values: readonly number[]): number {
  let best = 0;
  for (const [at, value] of values.entries()) if (value > (values[best] ?? Number.NEGATIVE_INFINITY)) best = at;
  return best;
}

function softmax(values: readonly number[]): number[] {
  const most = Math.max(...values);
  const weights = values.map((value) => Math.exp(value - most));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

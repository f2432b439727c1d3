/** From the responses to an item to its record, and back: a record holds all that judging and measuring need. */
import type { Benchmark, Item, ItemResponse, Judgement } from '../benchmark/types.ts';
import { type BigBenchRow, bigBenchValues } from '../metrics/index.ts';
import type { ItemRecord } from '../shared/results.ts';
import { sha256 } from '../system/index.ts';

type Output = Extract<ItemResponse, { kind: 'generate' }>['outputs'][number] & { tokens: number };

/** What was asked and answered for an item. */
export interface Answered {
  prompt: ItemRecord['prompt'];
  /** In the order of the requests. */
  likelihoods: readonly Exclude<ItemResponse, { kind: 'generate' }>[];
  /** Tokens that each likelihood is the sum of. */
  tokens: readonly number[];
  /** One a repeat; empty where nothing was generated. */
  outputs: readonly Output[];
  truncated: number;
}

const nothing = { answer: null, span: null };
/** What stands in a record whose output nobody has judged, or that has none. */
export const notJudged: Judgement = {
  strict: nothing,
  lenient: nothing,
  inFormat: false,
  right: false,
  lenientRight: false,
  cause: null,
};

/** Reads, judges and measures: the line of items.jsonl. */
export function recordOf(benchmark: Benchmark, item: Item, answered: Answered): ItemRecord {
  const { prompt, likelihoods, tokens, outputs, truncated } = answered;
  const [first, ...others] = outputs;
  const judged = first ? benchmark.judge(item, first.text, first.stop) : notJudged;
  const measured = benchmark.measure?.(item, [
    ...likelihoods,
    ...(first ? [{ kind: 'generate' as const, outputs }] : []),
  ]);
  const choices = choicesOf(benchmark, item, likelihoods);
  const record: ItemRecord = {
    schema: 1,
    index: item.index,
    prompt,
    output: first?.text ?? '',
    outputTokens: first?.tokens ?? 0,
    stop: first?.stop ?? { reason: 'eos' },
    gold: benchmark.target(item).text,
    ...judged,
    ...(choices && { choices }),
    ...(!first && { generated: false as const }),
    ...(others.length > 0 && {
      repeats: others.map(({ text, tokens: outputTokens, stop }) => ({ output: text, outputTokens, stop })),
    }),
    ...(likelihoods.length > 0 && {
      likelihoods: likelihoods.map((response, at) => ({
        sum: response.sum,
        tokens: tokens[at] ?? 0,
        ...(response.kind === 'loglikelihood' && { greedy: response.greedy }),
      })),
    }),
    ...(measured && { metrics: measured }),
    ...(truncated > 0 && { truncated }),
    ...(benchmark.scored === false && { scored: false as const }),
  };
  if (!benchmark.metrics) return record;
  const values = bigBenchValues(benchmark.metrics, bigBenchRow(benchmark, item, record));
  return { ...record, metrics: [{ filter: 'none', values }] };
}

/** What BIG-bench's scores are computed of. */
export const bigBenchRow = (benchmark: Benchmark, item: Item, record: ItemRecord): BigBenchRow => ({
  record,
  references: benchmark.references?.(item) ?? [record.gold],
});

/** What a record was made of, so that a changed reader or metric can judge it again without the model. */
export function answeredOf(record: ItemRecord): Answered {
  const { choices, likelihoods = [] } = record;
  // Records of earlier versions have the candidates' likelihoods only.
  const sums =
    likelihoods.length > 0 || !choices
      ? likelihoods
      : choices.logLikelihoods.map((sum) => ({ sum, tokens: 0, greedy: false }));
  return {
    prompt: record.prompt,
    // What is not finite is null in JSON: a candidate that the model holds for impossible.
    likelihoods: sums.map(({ sum, greedy }) => {
      const finite = sum ?? Number.NEGATIVE_INFINITY;
      return greedy === undefined ? { kind: 'rolling', sum: finite } : { kind: 'loglikelihood', sum: finite, greedy };
    }),
    tokens: sums.map(({ tokens }) => tokens),
    outputs:
      record.generated === false
        ? []
        : [record, ...(record.repeats ?? [])].map(({ output, outputTokens, stop }) => ({
            text: output,
            tokens: outputTokens,
            stop,
          })),
    truncated: record.truncated ?? 0,
  };
}

export const promptFacts = ({ text, tokens }: { text: string; tokens: number }): ItemRecord['prompt'] => ({
  hash: sha256(text),
  tokens,
});

/** Log-likelihood of each candidate behind the prompt, and whether the right one is the likeliest: by sum, and by character. */
function choicesOf(benchmark: Benchmark, item: Item, likelihoods: Answered['likelihoods']): ItemRecord['choices'] {
  if (benchmark.outputType !== 'multiple_choice' || likelihoods.length === 0) return undefined;
  const choices = benchmark.choices(item);
  if (!choices) return undefined;
  const { texts, gold, scores } = choices;
  const logLikelihoods = likelihoods.slice(0, texts.length).map(({ sum }) => sum);
  const perCharacter = logLikelihoods.map((sum, i) => sum / Math.max(1, Array.from(texts[i] ?? '').length));
  return {
    texts,
    logLikelihoods,
    gold,
    right: isBest(choices, largest(logLikelihoods)),
    rightNormalised: isBest(choices, largest(perCharacter)),
    ...(scores && { scores }),
  };
}

/** Is this a right choice, or one of those with the highest score where choices are graded? */
const isBest = ({ gold, golds, scores }: NonNullable<ReturnType<Benchmark['choices']>>, chosen: number): boolean =>
  scores ? scores[chosen] === Math.max(...scores) : (golds ?? [gold]).includes(chosen);

/** Index of the largest value; the first of equals, as numpy.argmax. */
function largest(values: readonly number[]): number {
  let best = 0;
  values.forEach((value, i) => {
    if (value > (values[best] ?? Number.NEGATIVE_INFINITY)) best = i;
  });
  return best;
}

/** An item's requests in tokens, cut to what the model reads, and their likelihoods. */
import { requestsOf } from '../benchmark/requests.ts';
import type { Benchmark, Item, ItemRequest, ItemResponse } from '../benchmark/types.ts';
import { HumanError } from '../shared/errors.ts';
import type { BatchSize, Hooks, LanguageModel, LogLikelihoodRequest, SoftPrompt } from './language-model.ts';
import { encodePair, encodeText, type Pair, prefixToken, rollingWindows } from './text.ts';

type Encoded =
  | { kind: 'generate'; tokens: readonly number[] }
  | { kind: 'loglikelihood'; pair: Pair; withoutContext: boolean }
  | { kind: 'rolling'; windows: readonly Pair[] };

export interface PreparedItem {
  item: Item;
  encoded: readonly Encoded[];
  /** What the model reads first: the prompt, or the text whose likelihood is measured. */
  prompt: { text: string; tokens: number };
  /** Most tokens that were left out at the beginning of a prompt. */
  truncated: number;
}

export interface Reader {
  model: Pick<LanguageModel, 'tokenizer' | 'contextLength'>;
  /** Positions that the soft prompt takes. */
  vectors: number;
}

/** Positions for text. */
const roomOf = ({ model, vectors }: Reader): number =>
  model.contextLength === null ? Number.POSITIVE_INFINITY : model.contextLength - vectors;

/**
 * Builds the requests of an item and encodes them. What is longer than the model's context loses its beginning, as in
 * lm-evaluation-harness: a prompt keeps room for the longest output, a context the last tokens before its continuation.
 * @throws HumanError where a continuation alone is longer than the context
 */
export async function prepareItem(
  reader: Reader,
  benchmark: Benchmark,
  item: Item,
  shots: number,
): Promise<PreparedItem> {
  const requests = benchmark.requests
    ? await benchmark.requests(item, shots)
    : await requestsOf(benchmark, item, shots);
  const { tokenizer } = reader.model;
  const known = new Map<string, readonly number[]>();
  const encode = (text: string): readonly number[] => {
    const ids = known.get(text) ?? encodeText(tokenizer, text);
    known.set(text, ids);
    return ids;
  };
  let truncated = 0;
  const encoded = requests.map((request): Encoded => {
    if (request.kind === 'rolling') return { kind: 'rolling', windows: windowsOf(reader, request.text) };
    if (request.kind === 'loglikelihood') {
      const whole = encodePair(tokenizer, request.context, request.continuation, encode);
      const pair = fitPair(reader, item, whole);
      truncated = Math.max(truncated, whole.context.length - pair.context.length);
      return { kind: 'loglikelihood', pair, withoutContext: request.context === '' };
    }
    // What has no tokens at all begins as a text does.
    const start = prefixToken(tokenizer);
    const encodedContext = encode(request.context);
    const ids = encodedContext.length > 0 || start === null ? encodedContext : [start];
    const tokens = fitPrompt(reader, ids, benchmark.generation.maxNewTokens);
    truncated = Math.max(truncated, ids.length - tokens.length);
    return { kind: 'generate', tokens };
  });
  return { item, encoded, prompt: promptOf(requests, encoded), truncated };
}

/** The last tokens of a prompt, with room for the longest output where the context is longer than that. */
function fitPrompt(reader: Reader, tokens: readonly number[], maxNewTokens: number): readonly number[] {
  const room = roomOf(reader);
  const most = room - maxNewTokens;
  // Where outputs may be as long as the whole context they end with it.
  const kept = most > 0 ? most : Math.max(1, room - 1);
  return tokens.length <= kept ? tokens : tokens.slice(tokens.length - kept);
}

function fitPair(reader: Reader, item: Item, { context, continuation }: Pair): Pair {
  const room = roomOf(reader);
  if (continuation.length > room)
    throw new HumanError(
      'bad-input',
      `Item ${item.index} has a candidate or target of ${continuation.length} tokens; the model has room for ${room}.`,
      { place: item.place, todo: 'Choose a model with a longer context.' },
    );
  // The last token is predicted, not read.
  const kept = room + 1 - continuation.length;
  return { context: context.length <= kept ? context : context.slice(context.length - kept), continuation };
}

function windowsOf(reader: Reader, text: string): Pair[] {
  const tokens = encodeText(reader.model.tokenizer, text);
  const prefix = prefixToken(reader.model.tokenizer);
  if (prefix === null)
    throw new HumanError('bad-input', 'The model has no start token to measure the likelihood of whole texts behind.', {
      todo: 'Name a `bos_token` or `eos_token` in its tokenizer_config.json; lm-evaluation-harness takes one of them.',
    });
  return rollingWindows(tokens, prefix, Math.min(roomOf(reader), Math.max(1, tokens.length)));
}

function promptOf(requests: readonly ItemRequest[], encoded: readonly Encoded[]): PreparedItem['prompt'] {
  const at = Math.max(
    0,
    encoded.findIndex(({ kind }) => kind === 'generate'),
  );
  const [request, ids] = [requests[at], encoded[at]];
  if (!request || !ids) return { text: '', tokens: 0 };
  const text = request.kind === 'rolling' ? request.text : request.context;
  if (ids.kind === 'generate') return { text, tokens: ids.tokens.length };
  if (ids.kind === 'loglikelihood') return { text, tokens: ids.pair.context.length };
  return { text, tokens: ids.windows.reduce((sum, { continuation }) => sum + continuation.length, 0) };
}

/** Likelihoods of an item, and how many tokens each is the sum of. */
export interface ScoredItem {
  likelihoods: Exclude<ItemResponse, { kind: 'generate' }>[];
  tokens: number[];
}

/** One likelihood request of an item while its parts are computed. */
interface Sum {
  sum: number;
  greedy: boolean;
  tokens: number;
}

/**
 * Computes the likelihoods that the items ask for. Candidates without a question are the same for many items: each is
 * computed once.
 * @param onItem called for each item as its last likelihood is there
 */
export async function scoreItems(
  model: Pick<LanguageModel, 'logLikelihood'>,
  items: readonly PreparedItem[],
  settings: { batchSize: BatchSize; softPrompt: SoftPrompt | null },
  onItem: (prepared: PreparedItem, scored: ScoredItem) => void | Promise<void>,
  hooks: Pick<Hooks<unknown>, 'signal' | 'onBatchSize'> = {},
): Promise<void> {
  const requests: LogLikelihoodRequest[] = [];
  /** Where the result of a request goes. */
  const takers: { item: Waiting; into: Sum }[][] = [];
  const shared = new Map<string, number>();
  const ask = (pair: Pair, taker: { item: Waiting; into: Sum }, key: string | null): void => {
    const known = key === null ? undefined : shared.get(key);
    if (known !== undefined) takers[known]?.push(taker);
    else {
      if (key !== null) shared.set(key, requests.length);
      takers.push([taker]);
      requests.push({ index: requests.length, ...pair });
    }
    taker.item.open++;
  };
  const waiting = items.map((prepared): Waiting => {
    const item: Waiting = { prepared, sums: [], open: 0 };
    for (const encoded of prepared.encoded) {
      if (encoded.kind === 'generate') continue;
      const into: Sum = { sum: 0, greedy: true, tokens: 0 };
      item.sums.push(into);
      if (encoded.kind === 'rolling') for (const window of encoded.windows) ask(window, { item, into }, null);
      else ask(encoded.pair, { item, into }, encoded.withoutContext ? encoded.pair.continuation.join() : null);
    }
    return item;
  });
  for (const item of waiting) if (item.open === 0) await onItem(item.prepared, scoredOf(item));
  await model.logLikelihood(requests, settings, {
    ...hooks,
    onResult: async ({ index, sum, greedy }) => {
      const tokens = requests[index]?.continuation.length ?? 0;
      for (const { item, into } of takers[index] ?? []) {
        into.sum += sum;
        into.greedy &&= greedy;
        into.tokens += tokens;
        if (--item.open === 0) await onItem(item.prepared, scoredOf(item));
      }
    },
  });
}

interface Waiting {
  prepared: PreparedItem;
  sums: Sum[];
  open: number;
}

function scoredOf({ prepared, sums }: Waiting): ScoredItem {
  const kinds = prepared.encoded.filter(({ kind }) => kind !== 'generate').map(({ kind }) => kind);
  return {
    likelihoods: sums.map(({ sum, greedy }, at) =>
      kinds[at] === 'rolling' ? { kind: 'rolling', sum } : { kind: 'loglikelihood', sum, greedy },
    ),
    tokens: sums.map(({ tokens }) => tokens),
  };
}

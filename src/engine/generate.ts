/**
 * Batched generation with a KV cache. What all prompts begin with (examples, instruction, soft prompt) is read once and
 * copied to every row; rows that end make room for the next prompts at once.
 */
import type {
  GenerationRequest,
  GenerationResult,
  GenerationSettings as GivenSettings,
  Hooks,
} from '../evaluate/language-model.ts';
import type { ModelTokenizer } from '../model/index.ts';
import { HumanError, throwIfCancelled } from '../shared/errors.ts';
import { type KeyValueCache, type Prefix, placesFor } from './cache.ts';
import { type Decoder, pieceLength } from './decoder.ts';
import { Drafter, mostProposed, proposals } from './drafts.ts';
import { prefixTree, sameBeginning, textsBelow } from './prefix-tree.ts';
import { howToShare, noCache, type PrefixGroup, planPrefixes, type ReadingCosts } from './reading-plan.ts';
import type { Distribution } from './run-tensors.ts';
import { randomStream, sampleToken } from './sampling.ts';
import { inFront, isSuffix, readTexts } from './soft-prompt.ts';
import { type StopFinder, stopFinder } from './stop.ts';

/** With the number of rows that was decided on. */
export type GenerationSettings = GivenSettings & { batchSize: number };

interface Row {
  request: GenerationRequest;
  tokens: number[];
  logProbabilities: number[];
  random: () => number;
  /** Most tokens that this row may produce: the setting, or what the context leaves. */
  room: number;
  /** Proposes tokens; null where each run produces one. */
  drafter: Drafter | null;
}

export interface GenerationContext {
  decoder: Decoder;
  tokenizer: ModelTokenizer;
  contextLength: number | null;
}

/** Prompts checked against the context and ordered so that those of like length run together, the longest first. */
function inOrder(
  requests: readonly GenerationRequest[],
  settings: GenerationSettings,
  contextLength: number | null,
): GenerationRequest[] {
  const vectors = settings.softPrompt?.vectors ?? 0;
  for (const { index, tokens } of requests) {
    if (tokens.length + vectors === 0)
      throw new HumanError('bad-input', `The prompt of item ${index} has no tokens.`, {
        todo: 'Give the benchmark a prompt template (doc_to_text) that is not empty.',
      });
    if (contextLength !== null && tokens.length + vectors >= contextLength)
      throw new HumanError(
        'bad-input',
        `The prompt of item ${index} has ${tokens.length} tokens${vectors ? ` and ${vectors} soft-prompt vectors` : ''}; the model's context holds ${contextLength} and nothing is left for the answer.`,
        { todo: 'Use fewer examples or shorter prompts, or a model with a longer context.' },
      );
  }
  return [...requests].sort((a, b) => b.tokens.length - a.tokens.length || a.index - b.index);
}

/** Generates for all requests; `hooks.onResult` gets each as it ends, in no fixed order. */
export async function generate(
  context: GenerationContext,
  requests: readonly GenerationRequest[],
  given: GenerationSettings,
  hooks: Hooks<GenerationResult>,
): Promise<void> {
  if (!requests.length) return;
  const { decoder, tokenizer } = context;
  const settings = decoder.readsAlone ? { ...given, batchSize: 1 } : given;
  const vectors = settings.softPrompt?.vectors ?? 0;
  const queue = inOrder(requests, settings, context.contextLength);
  const begun = { ...context, settings, hooks, stops: stopFinder(tokenizer, settings.until), done: 0 };
  if (decoder.cached)
    await decoder.prepare((requests.length * settings.maxNewTokens) / Math.max(1, settings.batchSize));
  if (!decoder.cached)
    return generateWithoutCache({ ...begun, exact: false, drafts: false, costs: { ...noCache, steps: 1 } }, queue);

  const texts = queue.map(({ tokens }) => tokens);
  const prompt = queue[0]?.tokens.length ?? 0;
  const size = Math.max(1, Math.min(settings.batchSize, queue.length));
  const wanted = prompt + vectors + settings.maxNewTokens;
  const longest = Math.min(wanted, context.contextLength ?? wanted);
  // New prompts are read beside rows that are nearly full.
  const exact = await decoder.exactFor(placesFor(longest) + Math.max(Math.min(prompt, pieceLength), 1 + mostProposed));
  const costs = await decoder.readingCosts(size, likelySteps(settings.maxNewTokens), exact);
  const job: Job = { ...begun, exact, costs, drafts: !exact && (await decoder.drafts(size)) };
  // Every row must read at least one token itself, for its first distribution.
  const limits = texts.map(({ length }) => length - 1);
  await generateGroup(job, queue, planPrefixes(prefixTree(texts), texts, limits, costs));
}

/** Steps that a row is expected to take: many outputs end before they must. */
const likelySteps = (most: number): number => Math.max(1, Math.min(most, 64) / 2);

/** Generates what begins with a prefix, then what begins with longer ones. */
async function generateGroup(job: Job, queue: readonly GenerationRequest[], group: PrefixGroup): Promise<void> {
  const { decoder, settings, costs, hooks, exact } = job;
  const mine = group.nodes.flatMap((node) => textsBelow(node)).sort((a, b) => a - b);
  const left = mine.flatMap((index) => queue[index] ?? []);
  const front = inFront(settings.softPrompt);
  // Graphs that read token by token behind a cache would read all prompts so: there vectors in front go with each row.
  const alone = costs.continuing !== 'token' || group.length > 0;
  const beginning = queue[group.text]?.tokens.slice(0, group.length) ?? [];
  const prefix = alone ? await decoder.readPrefix(beginning, front, hooks.signal, exact) : null;
  if (left.length) await generateBatches(job, left, prefix, group.length);
  for (const inner of group.inner) await generateGroup(job, queue, inner);
}

/** Generates for prompts that begin with a prefix of `shared` tokens, the longest first. */
async function generateBatches(
  job: Job,
  queue: GenerationRequest[],
  prefix: Prefix | null,
  shared: number,
): Promise<void> {
  const { decoder, settings, hooks, exact, contextLength } = job;
  const size = Math.max(1, Math.min(settings.batchSize, queue.length));
  const wanted = (queue[0]?.tokens.length ?? 0) + (settings.softPrompt?.vectors ?? 0) + settings.maxNewTokens;
  const cache = decoder.newCache(size, Math.min(wanted, contextLength ?? wanted), prefix, exact);
  const rows: Row[] = [];
  // New prompts are read together once a quarter of the batch is free: one by one costs more runs, and rows that are free
  // have each step read the weights for fewer.
  const refill = Math.max(1, size >> 2);
  while (rows.length || queue.length) {
    throwIfCancelled(hooks.signal);
    const free = size - rows.length;
    const mayJoin = rows.length === 0 || (!exact && free >= refill);
    if (queue.length && mayJoin) await join(job, cache, shared, rows, queue, free);
    else await step(job, cache, rows);
  }
}

interface Job extends GenerationContext {
  settings: GenerationSettings;
  hooks: Hooks<GenerationResult>;
  stops: StopFinder;
  /** Rows of the cache share one length (KeyValueCache). */
  exact: boolean;
  costs: ReadingCosts;
  /** A run may read proposed tokens (drafts.ts). */
  drafts: boolean;
  /** Tokens produced so far. */
  done: number;
}

/** Reads the next prompts into free rows and takes their first tokens. */
async function join(
  job: Job,
  cache: KeyValueCache,
  shared: number,
  rows: Row[],
  queue: GenerationRequest[],
  free: number,
): Promise<void> {
  const { decoder, settings } = job;
  let taken = queue.splice(0, free);
  if (job.exact) {
    const same = taken.filter(({ tokens }) => tokens.length === taken[0]?.tokens.length);
    queue.unshift(...taken.slice(same.length));
    taken = same;
  }
  const from = cache.count;
  const { whole, forks } = forksOf(job, rows, taken, shared);
  for (const _ of whole) cache.addRow();
  const read = (requests: readonly GenerationRequest[], first: number, at: (row: number) => number) => {
    const texts = requests.map(({ tokens }, row) => tokens.slice(at(row)));
    const wanted = texts.map(({ length }, row) => ({ row, position: length - 1 }));
    const options = { logits: settings.temperature > 0, signal: job.hooks.signal };
    return readTexts(decoder, cache, first, { texts }, settings.softPrompt, wanted, options);
  };
  const distributions = whole.length ? await read(whole, from, () => shared) : [];
  if (forks.length) {
    const behind = cache.count;
    const before = cache.position(0) - cache.length(0);
    const front = inFront(settings.softPrompt)?.vectors ?? 0;
    for (const { row, same } of forks) cache.addRow(cache, row, same + front - before);
    const going = forks.map(({ request }) => request);
    distributions.push(...(await read(going, behind, (row) => forks[row]?.same ?? shared)));
  }
  rows.push(...[...whole, ...forks.map(({ request }) => request)].map((request) => newRow(job, request)));
  await take(job, cache, rows, from, oneEach(distributions));
}

/** A prompt that goes on from a copy of another row, behind the tokens that both begin with. */
interface Fork {
  request: GenerationRequest;
  row: number;
  same: number;
}

/** Of new prompts those that begin like a row that is there, or is read whole with them, for long enough. */
function forksOf(
  { costs, exact }: Job,
  rows: readonly Row[],
  taken: readonly GenerationRequest[],
  shared: number,
): { whole: GenerationRequest[]; forks: Fork[] } {
  if (exact) return { whole: [...taken], forks: [] };
  const parents = rows.map(({ request }) => request.tokens);
  const whole: GenerationRequest[] = [];
  const forks: Fork[] = [];
  for (const request of taken) {
    const { tokens } = request;
    let best: Fork = { request, row: -1, same: shared };
    for (const [row, parent] of parents.entries()) {
      // It reads one token at least itself.
      const same = Math.min(sameBeginning(parent, tokens), tokens.length - 1);
      if (same > best.same) best = { request, row, same };
    }
    const { same } = best;
    const sizes = { texts: 2, shared: same - shared, rest: tokens.length - same, alone: true };
    if (howToShare({ ...costs, steps: 0 }, sizes) !== 'again') forks.push(best);
    else {
      whole.push(request);
      parents.push(tokens);
    }
  }
  return { whole, forks };
}

function newRow({ settings, contextLength, drafts }: Job, request: GenerationRequest): Row {
  const used = request.tokens.length + (settings.softPrompt?.vectors ?? 0);
  return {
    request,
    tokens: [],
    logProbabilities: [],
    random: randomStream(settings.seed, request.index),
    room: Math.min(settings.maxNewTokens, (contextLength ?? Number.POSITIVE_INFINITY) - used),
    drafter: drafts ? new Drafter(request.tokens) : null,
  };
}

/** What was proposed to a row, and the distributions behind its newest token and behind each proposal. */
interface RowStep {
  proposed: readonly number[];
  distributions: readonly Distribution[];
}

const oneEach = (distributions: readonly Distribution[]): RowStep[] =>
  distributions.map((distribution) => ({ proposed: [], distributions: [distribution] }));

/** One decode step of all rows. */
async function step(job: Job, cache: KeyValueCache, rows: Row[]): Promise<void> {
  const proposed = propose(rows);
  const distributions = await job.decoder.read(
    cache,
    0,
    rows.map(({ tokens }, row) => [...tokens.slice(-1), ...(proposed[row] ?? [])]),
    proposed.flatMap((list, row) => [0, ...list.keys()].map((_, position) => ({ row, position }))),
    { logits: job.settings.temperature > 0 },
  );
  const left = [...distributions];
  const steps = proposed.map((list) => ({ proposed: list, distributions: left.splice(0, 1 + list.length) }));
  await take(job, cache, rows, 0, steps);
}

/** Tokens to be tried behind each row's newest one. */
function propose(rows: readonly Row[]): number[][] {
  const drafters = rows.flatMap(({ drafter }) => drafter ?? []);
  if (drafters.length < rows.length) return rows.map(() => []);
  const rooms = rows.map(({ room, tokens }) => room - tokens.length - 1);
  const count = proposals(drafters, rooms);
  return drafters.map((drafter, row) => drafter.propose(Math.min(count, rooms[row] ?? 0)));
}

/** Appends tokens to each row from `from` on, and hands over and removes the rows that end. */
async function take(
  job: Job,
  cache: KeyValueCache | null,
  rows: Row[],
  from: number,
  steps: readonly RowStep[],
): Promise<void> {
  const ended: { row: Row; result: GenerationResult }[] = [];
  for (const [index, { proposed, distributions }] of steps.entries()) {
    const row = rows[from + index];
    if (!row) throw new Error('More distributions than rows.');
    let produced = 0;
    let result: GenerationResult | null = null;
    for (const distribution of distributions) {
      result = advance(job, row, distribution);
      produced++;
      // What stands behind a proposal that is not the model's own choice was read in vain.
      if (result || row.tokens.at(-1) !== proposed[produced - 1]) break;
    }
    job.done += produced;
    cache?.shorten(from + index, distributions.length - produced);
    row.drafter?.note(proposed.length, produced - 1);
    if (result) ended.push({ row, result });
  }
  for (const { row } of ended) {
    // The last row takes the place of the one that goes, here as in the cache.
    const place = rows.indexOf(row);
    const last = rows.pop();
    if (last && last !== row) rows[place] = last;
    cache?.removeRow(place);
  }
  job.hooks.onTokens?.(job.done);
  for (const { result } of ended) await job.hooks.onResult(result);
}

/** Adds the next token to a row; the result where that ends it. */
function advance({ settings, stops }: Job, row: Row, distribution: Distribution): GenerationResult | null {
  const { logits, logSumExp } = distribution;
  const sampled = settings.temperature > 0 && logits;
  const token = sampled ? sampleToken(logits, settings.temperature, settings.topP, row.random) : distribution.token;
  row.tokens.push(token);
  row.drafter?.push(token);
  row.logProbabilities.push(sampled ? (logits[token] ?? Number.NaN) - logSumExp : distribution.logProbability);
  const { tokens, logProbabilities } = row;
  const { index } = row.request;
  const stop = stops.check(tokens);
  if (stop)
    return { index, tokens, text: stop.text, stop: { reason: stop.reason, marker: stop.marker }, logProbabilities };
  if (tokens.length < row.room) return null;
  return { index, tokens, text: stops.text(tokens), stop: { reason: 'length' }, logProbabilities };
}

/** For graphs without a cache: every step reads all of the text again. */
async function generateWithoutCache(job: Job, queue: GenerationRequest[]): Promise<void> {
  const { decoder, settings, hooks } = job;
  const rows: Row[] = [];
  while (rows.length || queue.length) {
    throwIfCancelled(hooks.signal);
    for (const request of queue.splice(0, Math.max(1, settings.batchSize) - rows.length))
      rows.push(newRow(job, request));
    const texts = rows.map(({ request, tokens }) => [...request.tokens, ...tokens]);
    const behind = isSuffix(settings.softPrompt) ? rows.map(({ request }) => request.tokens.length) : null;
    const distributions = await decoder.read(
      null,
      0,
      texts,
      texts.map(({ length }, row) => ({ row, position: behind?.[row] === length ? -1 : length - 1 })),
      {
        softPrompt: settings.softPrompt,
        softPromptAt: behind ?? undefined,
        logits: settings.temperature > 0,
      },
    );
    await take(job, null, rows, 0, oneEach(distributions));
  }
}

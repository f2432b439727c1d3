/**
 * Log-likelihood of continuations. All texts of a call (context and continuation) are a tree of what they begin with:
 * long beginnings are read once and held for whole batches, shorter ones (a context and its continuations, continuations
 * that begin alike) are read in one row, and the others go on from copies of it (reading-plan.ts). Only the positions that
 * predict a continuation's tokens go through the head.
 */
import type { Hooks, LogLikelihoodRequest, LogLikelihoodResult, SoftPrompt } from '../evaluate/language-model.ts';
import { HumanError, throwIfCancelled } from '../shared/errors.ts';
import { type KeyValueCache, type Prefix, placesFor } from './cache.ts';
import { type Decoder, pieceLength } from './decoder.ts';
import { prefixTree } from './prefix-tree.ts';
import {
  type Branch,
  branchesOf,
  noCache,
  type PrefixGroup,
  partition,
  planPrefixes,
  type ReadingCosts,
} from './reading-plan.ts';
import type { Wanted } from './run-tensors.ts';
import { inFront, isSuffix, readTexts } from './soft-prompt.ts';

export interface ScoringContext {
  decoder: Decoder;
  contextLength: number | null;
  /** Stands in for an empty context, as in lm-evaluation-harness: BOS, or EOS where there is none. */
  startToken: number | null;
}

export interface ScoringSettings {
  batchSize: number;
  softPrompt: SoftPrompt | null;
}

/** One request: what is read, and what is known of it so far. */
interface Scored {
  request: LogLikelihoodRequest;
  /** Context, a placeholder for each vector of a soft prompt behind it, the continuation without its last token. */
  text: Int32Array;
  /** Place in the text whose distribution predicts the continuation's first token. */
  first: number;
  /** By continuation token. */
  logProbabilities: Float64Array;
  left: number;
  greedy: boolean;
}

interface Job extends ScoringContext, ScoringSettings {
  scored: readonly Scored[];
  texts: readonly Int32Array[];
  hooks: Hooks<LogLikelihoodResult>;
  costs: ReadingCosts;
  /** Rows of a cache share one length (KeyValueCache). */
  exact: boolean;
  /** Vectors that stand in front of the text, and behind the context. */
  front: number;
  behind: number;
  /** Tokens read so far. */
  read: number;
}

/** What begins with one prefix. */
interface GroupJob extends Job {
  prefix: Prefix | null;
  /** Caches behind the prefix that nothing goes on from any more. */
  free: KeyValueCache[];
}

/** Stands for vector `at` of a soft prompt behind the context: no token's id. */
const placeholder = (at: number): number => -1 - at;

/**
 * The context of a request, or the start token in place of an empty one.
 * @throws HumanError where there is neither, or where context and continuation are longer than the model's context
 */
export function contextFor(
  { contextLength, startToken }: ScoringContext,
  request: LogLikelihoodRequest,
  softPrompt: SoftPrompt | null,
): readonly number[] {
  const { continuation } = request;
  const context = request.context.length || startToken === null ? request.context : [startToken];
  if (context.length === 0)
    throw new HumanError(
      'bad-input',
      `The context of item ${request.index} has no tokens, and the model has no start token.`,
      { todo: 'Give the benchmark a prompt template (doc_to_text) that is not empty.' },
    );
  const vectors = softPrompt?.vectors ?? 0;
  const length = context.length + continuation.length - 1 + vectors;
  if (contextLength !== null && length > contextLength)
    throw new HumanError(
      'bad-input',
      `Item ${request.index} needs ${length} positions (${context.length} of context, ${continuation.length} of continuation${vectors ? `, ${vectors} of the soft prompt` : ''}); the model's context holds ${contextLength}.`,
      { todo: 'Use fewer examples or shorter prompts, or a model with a longer context.' },
    );
  return context;
}

function prepare(scoring: ScoringContext, request: LogLikelihoodRequest, softPrompt: SoftPrompt | null): Scored {
  const { continuation } = request;
  const context = contextFor(scoring, request, softPrompt);
  const vectors = softPrompt?.vectors ?? 0;
  const behind = isSuffix(softPrompt) ? vectors : 0;
  const placeholders = Array.from({ length: behind }, (_, at) => placeholder(at));
  return {
    request,
    text: Int32Array.from([...context, ...placeholders, ...continuation.slice(0, -1)]),
    first: context.length + behind - 1,
    logProbabilities: new Float64Array(continuation.length),
    left: continuation.length,
    greedy: true,
  };
}

/** Scores all requests; `hooks.onResult` gets each as its last token is scored. */
export async function logLikelihood(
  scoring: ScoringContext,
  requests: readonly LogLikelihoodRequest[],
  settings: ScoringSettings,
  hooks: Hooks<LogLikelihoodResult>,
): Promise<void> {
  const { decoder } = scoring;
  const { softPrompt } = settings;
  const scored: Scored[] = [];
  for (const request of requests)
    if (request.continuation.length) scored.push(prepare(scoring, request, softPrompt));
    // Nothing is certain.
    else await hooks.onResult({ index: request.index, tokens: [], sum: 0, greedy: true });
  if (!scored.length) return;
  const texts = scored.map(({ text }) => text);
  const rows = decoder.readsAlone ? 1 : Math.max(1, settings.batchSize);
  const front = inFront(softPrompt)?.vectors ?? 0;
  const behind = isSuffix(softPrompt) ? (softPrompt?.vectors ?? 0) : 0;
  const tree = prefixTree(texts);
  await decoder.prepare(tree.leaves / rows);
  const job = { ...scoring, ...settings, scored, texts, hooks, front, behind, read: 0 };
  if (!decoder.cached) {
    const costs: ReadingCosts = { ...noCache, rows };
    return scoreWithoutCache({ ...job, exact: false, costs }, branchesOf(tree, 0, null));
  }
  const longest = Math.max(...texts.map(({ length }) => length)) + front;
  // Behind a cache with room for the longest text, up to all of a text is read.
  const exact = await decoder.exactFor(placesFor(longest) + Math.min(longest, pieceLength));
  const costs = await decoder.readingCosts(rows, 0, exact);
  const limits = scored.map(({ first }) => first - behind);
  await scoreGroup({ ...job, exact, costs }, planPrefixes(tree, texts, limits, costs));
}

/** Scores what begins with a prefix, then what begins with longer ones: at any time one way through the tree is held. */
async function scoreGroup(job: Job, group: PrefixGroup): Promise<void> {
  const { decoder, hooks, exact, costs } = job;
  const front = inFront(job.softPrompt);
  const tokens = [...(job.texts[group.text]?.subarray(0, group.length) ?? [])];
  // Graphs that read token by token behind a cache would read all texts so: there vectors in front go with each row.
  const alone = costs.continuing !== 'token' || group.length > 0;
  const prefix = alone ? await decoder.readPrefix(tokens, front, hooks.signal, exact) : null;
  const branches = group.nodes.flatMap((node) => branchesOf(node, group.length, costs));
  await scoreBranches(
    { ...job, prefix, free: [] },
    branches.map((branch) => ({ branch, parent: null })),
  );
  for (const inner of group.inner) await scoreGroup(job, inner);
}

/** A branch, and the row that it goes on from; without one it goes on from the prefix. */
interface Growing {
  branch: Branch;
  parent: { cache: KeyValueCache; row: number } | null;
}

/** What rows of one run must have in common. */
function shapeOf({ branch: { text, start, end } }: Growing, { scored, behind, exact }: Job): string {
  const vectors = (scored[text]?.first ?? 0) + 1 - behind;
  const reads = !behind || start > vectors ? 'tokens' : start === vectors ? 'vectors' : 'both';
  if (!exact) return reads;
  // Rows of one length, and on both sides of the vectors.
  return [reads, start, end, reads === 'both' ? vectors : 0].join();
}

/**
 * Keys and values that rows beyond a batch's may take, and those that wait for what goes on from them. What goes on from a
 * batch's rows is mostly a few tokens each (the choices of its questions): a run of them costs little more than reading
 * the weights, so that one run for the choices of several batches is better than three for each. Fresh memory costs time
 * too: three times as much was slower (ARC-Easy, SmolLM2-135M, 2 threads).
 */
const mostForkBytes = 32e6;

const lengthOf = ({ branch }: Growing): number => branch.end - branch.start;

/** Branches that are read in one run each. `read`: new tokens of the run that filled the rows that they go on from. */
function batchesOf(job: Job, branches: readonly Growing[], read: number): Growing[][] {
  const { decoder, costs } = job;
  // Never more new tokens than the rows' own run had.
  const rowsOf = (longest: number, bytes: number): number =>
    costs.widensForks
      ? Math.max(costs.rows, Math.floor(Math.min(read / Math.max(1, longest), costs.rows + mostForkBytes / bytes)))
      : costs.rows;
  const alike = new Map<string, Growing[]>();
  for (const one of branches) {
    const shape = shapeOf(one, job);
    const list = alike.get(shape);
    if (list) list.push(one);
    else alike.set(shape, [one]);
  }
  return [...alike.values()].flatMap((list) => {
    const left = [...list].sort((a, b) => lengthOf(b) - lengthOf(a));
    const bytes = decoder.positionBytes * Math.max(...left.map(({ branch }) => branch.end));
    const runs = partition(left.map(lengthOf), costs.run, (longest) => rowsOf(longest, bytes));
    return runs.map((rows) => left.splice(0, rows));
  });
}

/**
 * Reads branches in batches, the longest first, each behind its parent or behind the prefix. `read`: new tokens of the
 * largest run that filled parents.
 */
async function scoreBranches(job: GroupJob, branches: readonly Growing[], read = 0): Promise<void> {
  const { decoder, prefix, free, exact, front, costs } = job;
  const held = prefix?.shared ? prefix.cache.length(0) : 0;
  let waiting = { forks: [] as Growing[], caches: [] as KeyValueCache[], read: 0 };
  const readForks = async (): Promise<void> => {
    const { forks, caches, read: most } = waiting;
    waiting = { forks: [], caches: [], read: 0 };
    if (forks.length) await scoreBranches(job, forks, most);
    free.push(...caches);
  };
  for (const batch of batchesOf(job, branches, read)) {
    throwIfCancelled(job.hooks.signal);
    const longest = Math.max(...batch.map(({ branch }) => branch.end)) + front;
    const cache = decoder.newCache(batch.length, longest, prefix, exact, free);
    // Once for all rows: the memory is spaced by the longest.
    if (!exact) cache.reserve(longest - held);
    for (const { branch, parent } of batch)
      if (parent) cache.addRow(parent.cache, parent.row, branch.start + front - held);
      else cache.addRow();
    await readBatch(job, cache, batch);
    const forks = batch.flatMap(({ branch }, row) =>
      branch.forks.map((fork) => ({ branch: fork, parent: { cache, row } })),
    );
    if (!forks.length) {
      free.push(cache);
      continue;
    }
    waiting.forks.push(...forks);
    waiting.caches.push(cache);
    waiting.read = Math.max(waiting.read, batch.length * Math.max(...batch.map(lengthOf)));
    const bytes = waiting.caches.reduce((sum, each) => sum + each.bytes, 0);
    if (!costs.widensForks || bytes >= mostForkBytes) await readForks();
  }
  await readForks();
}

/** A place whose distribution is wanted, and the requests that it predicts a token of. */
interface Asked extends Wanted {
  target: number;
  of: { scored: Scored; offset: number }[];
}

/** What is wanted of a row: positions in its text, each with a target once. */
function askedOf({ scored }: Job, { parts }: Branch, row: number): Asked[] {
  const asked = new Map<string, Asked>();
  for (const { texts, from, to } of parts)
    for (const index of texts) {
      const one = scored[index];
      if (!one) continue;
      const { continuation } = one.request;
      for (let position = Math.max(from, one.first); position < to; position++) {
        const offset = position - one.first;
        const target = continuation[offset];
        if (target === undefined) break;
        const key = `${position},${target}`;
        const same = asked.get(key);
        if (same) same.of.push({ scored: one, offset });
        else asked.set(key, { row, position, target, of: [{ scored: one, offset }] });
      }
    }
  return [...asked.values()];
}

async function readBatch(job: Job, cache: KeyValueCache, batch: readonly Growing[]): Promise<void> {
  const { decoder, softPrompt, behind } = job;
  const tokens = batch.map(({ branch: { text, start, end } }) => [...(job.texts[text]?.subarray(start, end) ?? [])]);
  const asked = batch.flatMap(({ branch }, row) => askedOf(job, branch, row));
  const starts = batch.map(({ branch }) => branch.start);
  const wanted = asked.map(({ row, position, target }) => ({ row, position: position - (starts[row] ?? 0), target }));
  const vectors = tokens.map((list) => (behind ? list.indexOf(placeholder(0)) : -1));
  const distributions = vectors.every((at) => at < 0)
    ? await readTexts(decoder, cache, 0, { texts: tokens }, behind ? null : softPrompt, wanted)
    : await readTexts(
        decoder,
        cache,
        0,
        {
          texts: tokens.map((list, row) => list.slice(0, vectors[row])),
          after: tokens.map((list, row) => list.slice((vectors[row] ?? 0) + behind)),
        },
        softPrompt,
        wanted.map((want) => ({ ...want, position: want.position - behind })),
      );
  await settle(job, asked, distributions, tokens);
}

/** Notes what a run has found, and hands over the requests that are scored with it. */
async function settle(
  job: Job,
  asked: readonly Asked[],
  distributions: readonly { token: number; targetLogProbability: number }[],
  tokens: readonly (readonly number[])[],
): Promise<void> {
  const { hooks } = job;
  const finished: Scored[] = [];
  for (const [index, { target, of }] of asked.entries()) {
    const distribution = distributions[index];
    if (!distribution) throw new Error('A run gave fewer distributions than were asked for.');
    for (const { scored, offset } of of) {
      scored.logProbabilities[offset] = distribution.targetLogProbability;
      if (distribution.token !== target) scored.greedy = false;
      if (--scored.left === 0) finished.push(scored);
    }
  }
  job.read += tokens.reduce((sum, { length }) => sum + length, 0);
  hooks.onTokens?.(job.read);
  for (const { request, logProbabilities, greedy } of finished)
    await hooks.onResult({
      index: request.index,
      tokens: [...logProbabilities],
      sum: logProbabilities.reduce((sum, value) => sum + value, 0),
      greedy,
    });
}

/** Graphs without a cache read whole texts; one that begins another is read with it. */
async function scoreWithoutCache(job: Job, branches: readonly Branch[]): Promise<void> {
  const { decoder, softPrompt, behind, scored, texts, costs } = job;
  const left = [...branches].sort((a, b) => b.end - a.end);
  while (left.length) {
    throwIfCancelled(job.hooks.signal);
    const batch = left.splice(0, costs.rows);
    const asked = batch.flatMap((branch, row) => askedOf(job, branch, row));
    const tokens = batch.map(({ text }) => [...(texts[text] ?? [])].filter((id) => id >= 0));
    const contexts = batch.map(({ text }) => (scored[text]?.first ?? 0) + 1 - behind);
    const wanted = asked.map(({ row, position, target }) => {
      const last = (contexts[row] ?? 0) + behind - 1;
      return { row, position: !behind || position > last ? position - behind : -1, target };
    });
    const softPromptAt = behind ? contexts : undefined;
    await settle(job, asked, await decoder.read(null, 0, tokens, wanted, { softPrompt, softPromptAt }), tokens);
  }
}

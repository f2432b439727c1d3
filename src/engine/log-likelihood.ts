/**
 * Log-likelihood of continuations. Only the positions that predict a continuation's tokens go through the head; what all
 * requests begin with is read once, and so is a context that several continuations share.
 */
import type { Hooks, LogLikelihoodRequest, LogLikelihoodResult, SoftPrompt } from '../evaluate/language-model.ts';
import { HumanError, throwIfCancelled } from '../shared/errors.ts';
import { type KeyValueCache, type Prefix, placesFor } from './cache.ts';
import type { Decoder } from './decoder.ts';
import { commonPrefixLength } from './prefix.ts';
import type { Distribution, Wanted } from './run-tensors.ts';
import { inFront, isSuffix, readTexts } from './soft-prompt.ts';

/** Continuations of one context. */
interface Group {
  context: readonly number[];
  members: { request: LogLikelihoodRequest; logProbabilities: number[]; greedy: boolean }[];
}

type Member = Group['members'][number];

export interface ScoringContext {
  decoder: Decoder;
  contextLength: number | null;
  /** Stands in for an empty context, as in lm-evaluation-harness: BOS, or EOS where there is none. */
  startToken: number | null;
}

function groupByContext(
  { contextLength, startToken }: ScoringContext,
  requests: readonly LogLikelihoodRequest[],
  vectors: number,
): Group[] {
  const groups = new Map<string, Group>();
  for (const request of requests) {
    const context = request.context.length || startToken === null ? request.context : [startToken];
    if (context.length === 0)
      throw new HumanError(
        'bad-input',
        `The context of item ${request.index} has no tokens, and the model has no start token.`,
        {
          todo: 'Give the benchmark a prompt template (doc_to_text) that is not empty.',
        },
      );
    const length = context.length + request.continuation.length - 1 + vectors;
    if (contextLength !== null && length > contextLength)
      throw new HumanError(
        'bad-input',
        `Item ${request.index} needs ${length} positions (${context.length} of context, ${request.continuation.length} of continuation${vectors ? `, ${vectors} of the soft prompt` : ''}); the model's context holds ${contextLength}.`,
        { todo: 'Use fewer examples or shorter prompts, or a model with a longer context.' },
      );
    const key = context.join();
    const group = groups.get(key) ?? { context, members: [] };
    group.members.push({ request, logProbabilities: [], greedy: true });
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.context.length - a.context.length);
}

function note(member: Member, target: number, distribution: Distribution): void {
  member.logProbabilities.push(distribution.targetLogProbability);
  if (distribution.token !== target) member.greedy = false;
}

/** Scores all requests; `hooks.onResult` gets each as its batch ends. */
export async function logLikelihood(
  scoring: ScoringContext,
  requests: readonly LogLikelihoodRequest[],
  settings: { batchSize: number; softPrompt: SoftPrompt | null },
  hooks: Hooks<LogLikelihoodResult>,
): Promise<void> {
  const { decoder } = scoring;
  const vectors = settings.softPrompt?.vectors ?? 0;
  const groups = groupByContext(scoring, requests, vectors);
  if (!groups.length) return;
  const size = Math.max(1, settings.batchSize);
  await decoder.prepare(groups.length / size);
  const shortest = groups.at(-1)?.context.length ?? 0;
  const common = decoder.cached
    ? commonPrefixLength(
        groups.map(({ context }) => context),
        shortest - 1,
      )
    : 0;
  const continuation = Math.max(...requests.map((request) => request.continuation.length));
  const context = groups[0]?.context ?? [];
  const front = inFront(settings.softPrompt);
  const rest = context.length - common + continuation;
  const shares = decoder.cached && (await decoder.sharesPrefix(common + (front?.vectors ?? 0), rest, size));
  const shared = shares ? common : 0;
  const longest = context.length + vectors + continuation;
  // A first run reads context and continuation behind the prefix, a later one the continuation behind the context.
  const columns = placesFor(longest) + Math.max(context.length - shared, 0) + continuation;
  const exact = decoder.cached && (await decoder.exactFor(columns));
  const prefix = shares ? await decoder.readPrefix(context.slice(0, shared), front, hooks.signal, exact) : null;
  let read = 0;
  while (groups.length) {
    throwIfCancelled(hooks.signal);
    const batch = takeBatch(groups, size, exact, isSuffix(settings.softPrompt));
    const finished = decoder.cached
      ? await scoreBatch(decoder, batch, { prefix, shared, softPrompt: settings.softPrompt, size, exact })
      : await scoreWithoutCache(decoder, batch, settings.softPrompt);
    read += finished;
    hooks.onTokens?.(read);
    for (const { members } of batch)
      for (const { request, logProbabilities, greedy } of members)
        await hooks.onResult({
          index: request.index,
          tokens: logProbabilities,
          sum: logProbabilities.reduce((sum, value) => sum + value, 0),
          greedy,
        });
  }
}

/** What a group reads behind its context in its first run: the continuation where that is the only one. */
const behindContext = ({ members }: Group): readonly number[] => {
  const only = members.length === 1 ? members[0]?.request.continuation : undefined;
  return only?.slice(0, -1) ?? [];
};

/** What must be equal in groups that share a batch of rows of one length. */
const shapeOf = (group: Group, suffix: boolean): string => {
  const [context, behind] = [group.context.length, behindContext(group).length];
  return suffix ? `${context}+${behind}` : `${context + behind}`;
};

function takeBatch(groups: Group[], size: number, sameLength: boolean, suffix: boolean): Group[] {
  const batch = groups.splice(0, size);
  if (!sameLength) return batch;
  const shape = batch[0] && shapeOf(batch[0], suffix);
  const same = batch.filter((group) => shapeOf(group, suffix) === shape);
  groups.unshift(...batch.filter((group) => shapeOf(group, suffix) !== shape));
  return same;
}

interface BatchSettings {
  prefix: Prefix | null;
  /** Tokens of the prefix. */
  shared: number;
  softPrompt: SoftPrompt | null;
  size: number;
  /** Rows of a cache share one length (KeyValueCache). */
  exact: boolean;
}

async function scoreBatch(
  decoder: Decoder,
  groups: readonly Group[],
  { prefix, shared, softPrompt, size, exact }: BatchSettings,
): Promise<number> {
  const after = groups.map(behindContext);
  const lengths = groups.map(({ context }, row) => context.length + (after[row]?.length ?? 0));
  const longest = Math.max(...lengths) + (softPrompt?.vectors ?? 0);
  const cache = decoder.newCache(groups.length, longest, prefix, exact);
  for (const _ of groups) cache.addRow();
  const wanted: (Wanted & { target: number; member: Member })[] = [];
  for (const [row, { context, members }] of groups.entries())
    for (const member of members)
      for (const [offset, target] of member.request.continuation.entries())
        if (offset === 0 || members.length === 1)
          wanted.push({ row, position: context.length - shared - 1 + offset, target, member });
  const distributions = await readTexts(
    decoder,
    cache,
    0,
    { texts: groups.map(({ context }) => context.slice(shared)), after },
    softPrompt,
    wanted,
  );
  for (const [index, { member, target }] of wanted.entries()) {
    const distribution = distributions[index];
    if (distribution) note(member, target, distribution);
  }
  let read = lengths.reduce((sum, length) => sum + length - shared, 0);
  // Further tokens of several continuations: each goes on from a copy of its context's keys and values.
  const rest = groups.flatMap(({ members }, row) =>
    members.length > 1
      ? members.filter(({ request }) => request.continuation.length > 1).map((member) => ({ member, row }))
      : [],
  );
  rest.sort((a, b) => a.member.request.continuation.length - b.member.request.continuation.length);
  while (rest.length) {
    let batch = rest.splice(0, size);
    if (exact) {
      const key = ({ member, row }: (typeof batch)[number]): string =>
        `${member.request.continuation.length}/${cache.length(row)}`;
      const first = batch[0];
      const same = batch.filter((entry) => first && key(entry) === key(first));
      rest.unshift(...batch.filter((entry) => !same.includes(entry)));
      batch = same;
    }
    read += await scoreRest(decoder, cache, batch, longest, prefix);
  }
  return read;
}

async function scoreRest(
  decoder: Decoder,
  contexts: KeyValueCache,
  batch: readonly { member: Member; row: number }[],
  longest: number,
  prefix: Prefix | null,
): Promise<number> {
  const extra = Math.max(...batch.map(({ member }) => member.request.continuation.length));
  const cache = decoder.newCache(batch.length, longest + extra, prefix, contexts.exact);
  for (const { row } of batch) cache.addRow(contexts, row);
  const wanted = batch.flatMap(({ member }, row) =>
    member.request.continuation.slice(1).map((target, position) => ({ row, position, target, member })),
  );
  const texts = batch.map(({ member }) => member.request.continuation.slice(0, -1));
  const distributions = await decoder.read(cache, 0, texts, wanted);
  for (const [index, { member, target }] of wanted.entries()) {
    const distribution = distributions[index];
    if (distribution) note(member, target, distribution);
  }
  return texts.reduce((sum, text) => sum + text.length, 0);
}

async function scoreWithoutCache(
  decoder: Decoder,
  groups: readonly Group[],
  softPrompt: SoftPrompt | null,
): Promise<number> {
  const members = groups.flatMap(({ context, members }) => members.map((member) => ({ context, member })));
  const texts = members.map(({ context, member }) => [...context, ...member.request.continuation.slice(0, -1)]);
  const behind = isSuffix(softPrompt) ? members.map(({ context }) => context.length) : null;
  const wanted = members.flatMap(({ context, member }, row) =>
    member.request.continuation.map((target, offset) => ({
      row,
      position: behind && offset === 0 ? -1 : context.length - 1 + offset,
      target,
      member,
    })),
  );
  const distributions = await decoder.read(null, 0, texts, wanted, { softPrompt, softPromptAt: behind ?? undefined });
  for (const [index, { member, target }] of wanted.entries()) {
    const distribution = distributions[index];
    if (distribution) note(member, target, distribution);
  }
  return texts.reduce((sum, text) => sum + text.length, 0);
}

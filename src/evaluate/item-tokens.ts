/**
 * An item's output token by token, as the model sees it: the recorded text is put to the model again behind the prompt it
 * was written for, and each of its tokens has the probability that it had there. Likewise candidates and targets.
 */
import { requestsOf } from '../benchmark/requests.ts';
import type { Benchmark, Item } from '../benchmark/types.ts';
import { HumanError, throwIfCancelled } from '../shared/errors.ts';
import type { ItemTokens, ScoredText, TokenOfText } from '../shared/item-tokens.ts';
import { usesExamples } from '../shared/modes.ts';
import type { ItemRecord, RunFile } from '../shared/results.ts';
import { sha256 } from '../system/index.ts';
import { type PreparedItem, prepareItem } from './asking.ts';
import { greedyTokens, tokenTexts } from './greedy-tokens.ts';
import type { LanguageModel, SoftPrompt, Tokenizer, TokenScore } from './language-model.ts';
import { encodeExample, type Pair } from './text.ts';

export interface ItemTokensOf {
  model: LanguageModel;
  /** As the run asked for it (`asRun`). */
  benchmark: Benchmark;
  item: Item;
  run: RunFile;
  record: ItemRecord;
  softPrompt: SoftPrompt | null;
}

/** Likeliest tokens that are named at each place. */
const alternatives = 3;
/** Candidates that are scored; lists of hundreds (tags, countries) would take minutes. */
const mostCandidates = 32;

/** @throws HumanError where the prompt is not what it was in the run, or where the model cannot score token by token */
export async function itemTokens(of: ItemTokensOf, signal?: AbortSignal): Promise<ItemTokens> {
  const { model, benchmark, item, run, record, softPrompt } = of;
  const shots = usesExamples(run.mode) ? run.settings.shots : 0;
  const reader = { model, vectors: softPrompt?.vectors ?? 0 };
  const prepared = await prepareItem(reader, benchmark, item, shots);
  if (sha256(prepared.prompt.text) !== record.prompt.hash)
    throw new HumanError(
      'bad-input',
      `The prompt of item ${record.index} is another than in this run: the benchmark file, its data or its examples have changed since.`,
      { place: { file: benchmark.file }, todo: 'Undo the change, or evaluate again.' },
    );
  const notes: string[] = [];
  const texts: ScoredText[] = [];
  for (const asked of [...outputsOf(of, prepared), ...(await likelihoodsOf(of, prepared, shots, notes))]) {
    throwIfCancelled(signal);
    texts.push(await scored(of, asked, notes, signal));
  }
  return { texts, notes: [...new Set(notes)] };
}

/** A text to be scored: its tokens in parts, each behind a context of its own (more than one for texts in windows). */
interface Asked {
  label: Pick<ScoredText, 'of' | 'number' | 'text'>;
  pairs: readonly Pair[];
  /** Other ways in which a text of one part may have been written; the one whose first token is likelier counts. */
  others?: readonly Pair[];
  /** Of an output: how many tokens the model wrote, and whether without sampling. */
  output?: { tokens: number; greedy: boolean };
}

/** The output and its further repeats, with what ended them. */
function outputsOf({ model, record, run }: ItemTokensOf, prepared: PreparedItem): Asked[] {
  const request = prepared.encoded.find(({ kind }) => kind === 'generate');
  if (request?.kind !== 'generate' || record.generated === false) return [];
  const { tokenizer } = model;
  const outputs = [record, ...(record.repeats ?? [])];
  return outputs.flatMap(({ output, outputTokens, stop }, number) => {
    // Greedy repeats are copies.
    if (outputs.findIndex((other) => other.output === output) < number) return [];
    const marker = stop.reason === 'stop-string' ? (stop.marker ?? '') : '';
    const end = stop.reason === 'eos' ? endToken(tokenizer, stop.marker) : [];
    const encode = (text: string): number[] => [
      ...encodeExample(tokenizer, prepared.prompt.text, { text: text + marker, endsWithEos: false }).answer,
    ];
    // Some tokenizers drop the space that a text begins with when they decode it: it may have been there.
    const dropped = encode(` ${output}`);
    const splits = [encode(output), ...(tokenizer.decode(dropped) === output + marker ? [dropped] : [])];
    const label = { of: 'output', number, text: output } as const;
    const wrote = { tokens: outputTokens, greedy: run.settings.generation.temperature <= 0 };
    const pairs = splits.map((ids) => ({ context: request.tokens, continuation: [...ids, ...end] }));
    return [{ label, pairs: pairs.slice(0, 1), others: pairs.slice(1), output: wrote }];
  });
}

/** The end token that is written so, or the model's first one. */
function endToken(tokenizer: Tokenizer, marker: string | undefined): number[] {
  const { eosTokenIds } = tokenizer;
  const named = eosTokenIds.find((id) => tokenizer.decode([id], { special: true }) === marker);
  return [named ?? eosTokenIds[0]].filter((id) => id !== undefined);
}

/** Candidates or targets whose likelihood was asked for behind the prompt, and whole texts. */
async function likelihoodsOf(
  { benchmark, item, record }: ItemTokensOf,
  prepared: PreparedItem,
  shots: number,
  notes: string[],
): Promise<Asked[]> {
  const requests = await (benchmark.requests?.(item, shots) ?? requestsOf(benchmark, item, shots));
  const asked: Asked[] = [];
  let left = 0;
  for (const [at, request] of prepared.encoded.entries()) {
    const text = requests[at];
    if (request.kind === 'generate' || !text || text.kind === 'generate') continue;
    if (request.kind === 'rolling' && text.kind === 'rolling')
      asked.push({ label: { of: 'text', number: 0, text: text.text }, pairs: request.windows });
    if (request.kind !== 'loglikelihood' || text.kind !== 'loglikelihood' || request.withoutContext) continue;
    if (asked.length === mostCandidates) {
      left++;
      continue;
    }
    const of = record.choices ? 'candidate' : 'target';
    asked.push({ label: { of, number: asked.length, text: text.continuation }, pairs: [request.pair] });
  }
  if (left > 0) notes.push(`${left} further candidates are left out.`);
  return asked;
}

async function scored(
  { model, softPrompt }: ItemTokensOf,
  { label, pairs: given, others = [], output }: Asked,
  notes: string[],
  signal: AbortSignal | undefined,
): Promise<ScoredText> {
  const { tokenizer, contextLength } = model;
  const { tokenScores } = model;
  if (!tokenScores) throw new HumanError('unsupported', 'This model gives no log-probabilities of single tokens.');
  const settings = { softPrompt, alternatives, signal };
  const tokens: TokenOfText[] = [];
  let pairs = given;
  let most = Number.NEGATIVE_INFINITY;
  if (others.length > 0)
    for (const pair of [...given, ...others]) {
      const first = { context: pair.context, continuation: pair.continuation.slice(0, 1) };
      const [score] = await tokenScores.call(model, first, settings);
      if (!score || score.logProbability <= most) continue;
      most = score.logProbability;
      pairs = [pair];
    }
  for (const { context, continuation } of pairs) {
    throwIfCancelled(signal);
    const places = contextLength === null ? Number.POSITIVE_INFINITY : contextLength - (softPrompt?.vectors ?? 0);
    const room = Math.max(0, places - context.length + 1);
    if (continuation.length > room)
      notes.push(`The last ${continuation.length - room} tokens are left out: they are beyond the model's context.`);
    const ids = continuation.slice(0, room);
    const found = output?.greedy
      ? await greedyTokens({ tokenizer, tokenScores: tokenScores.bind(model) }, context, ids, settings)
      : { ids, scores: await tokenScores.call(model, { context, continuation: ids }, settings) };
    if (output && (found.ids.length !== output.tokens || (output.greedy && found.scores.some(({ rank }) => rank > 1))))
      notes.push(splitNote(output.greedy, found.ids.length, output.tokens));
    tokens.push(...withTexts(tokenizer, context, found.ids, found.scores));
  }
  // The space that decoding drops.
  const dropped = others.includes(pairs[0] ?? { context: [], continuation: [] }) ? 1 : 0;
  return { ...label, tokens, stopTokens: output ? stopTokens(tokens, label.text.length + dropped) : 0 };
}

/** Why values of an output may not be those of the tokens that the model wrote. */
function splitNote(greedy: boolean, found: number, wrote: number): string {
  const counts = found === wrote ? '' : ` (${found} tokens, where the model wrote ${wrote})`;
  return greedy
    ? `Not every token is the likeliest at its place, though the output was not sampled${counts}: the model spelled a word in other tokens than these, or rounding differs from that of the run.`
    : `The text is split into tokens anew${counts}: where the model spelled a word in other tokens, the values are not those of the ones that it wrote.`;
}

/** How many of the last tokens begin behind the recorded text, whose end is where the stop begins. */
function stopTokens(tokens: readonly TokenOfText[], length: number): number {
  let written = 0;
  return tokens.filter(({ text }) => {
    const begins = written;
    written += text.length;
    return begins >= length && written > length;
  }).length;
}

function withTexts(
  tokenizer: Tokenizer,
  context: readonly number[],
  ids: readonly number[],
  scores: readonly TokenScore[],
): TokenOfText[] {
  const texts = tokenTexts(tokenizer, context, ids);
  return scores.map(({ token, logProbability, rank, best }, at) => ({
    id: token,
    text: texts[at] ?? '',
    logProbability,
    rank,
    best: best.map((one) => ({
      id: one.token,
      text: tokenizer.decode([one.token], { special: true }),
      logProbability: one.logProbability,
    })),
  }));
}

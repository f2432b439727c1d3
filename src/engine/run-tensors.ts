/** The tensors of one run of the edited graph: rows of tokens, their cache and a soft prompt in; distributions out. */
import type { SoftPrompt } from '../evaluate/language-model.ts';
import type { ModelSignature } from '../model/index.ts';
import type { DataType } from '../onnx/index.ts';
import { asError, HumanError } from '../shared/errors.ts';
import { OutOfMemoryError } from './batch-size.ts';
import type { KeyValueCache, NewEntries } from './cache.ts';
import { type InferenceGraph, names } from './inference-graph.ts';
import { type Ort, type OrtTensor, runtimeWords, type Session } from './runtime.ts';
import { prefixInput } from './shared-prefix.ts';

type Outputs = Awaited<ReturnType<Session['run']>>;

/** A place whose next-token distribution is wanted. */
export interface Wanted {
  /** Row of this call, from 0. */
  row: number;
  /** Index into that row's new tokens; -1 is the last vector of the soft prompt. */
  position: number;
  /** Token whose log-probability is wanted; where absent it is 0 and its value means nothing. */
  target?: number;
}

export interface Distribution {
  /** Most likely next token. */
  token: number;
  /** Natural log of its probability, and of the target's. */
  logProbability: number;
  targetLogProbability: number;
  /** All logits [vocabulary]; only where they were asked for. */
  logits: Float32Array | null;
  logSumExp: number;
}

/** What stays the same in all runs of a graph. */
export interface RunContext {
  ort: Ort;
  signature: ModelSignature;
  graph: InferenceGraph;
  /** Id that fills places without a token. */
  padTokenId: number;
  /** Width of the token embedding. */
  hiddenSize: number;
  /** A cache for so many rows that holds nothing. */
  noCache(rows: number): KeyValueCache;
}

export interface Run {
  cache: KeyValueCache | null;
  /** First row of the cache that is read on. */
  from: number;
  /** New tokens of each row. */
  tokens: readonly (readonly number[])[];
  wanted: readonly Wanted[];
  softPrompt: SoftPrompt | null;
  /** Without a cache: how many of each row's tokens stand before the soft prompt; none where absent. */
  softPromptAt?: readonly number[];
  /** New positions of each row: vectors and tokens. */
  counts: readonly number[];
  /** Whether no row holds anything yet. */
  empty: boolean;
  /** Places of the cache that the run sees, and of new positions, padding counted. */
  past: number;
  sequence: number;
}

/** Everything that the graph takes, by the names of its inputs. */
export function feedsOf(of: RunContext, run: Run): Record<string, OrtTensor> {
  const { ort, graph } = of;
  const { cache, from, tokens, softPrompt, softPromptAt, empty } = run;
  const rows = tokens.length;
  const vectors = softPrompt?.vectors ?? 0;
  const feeds = tokenFeeds(of, run);
  if (graph.cache) {
    const views = empty ? of.noCache(0).views(0, 0) : (cache ?? of.noCache(0)).views(from, from + rows);
    const tensor = (data: Float32Array | Uint16Array, dims: number[]): OrtTensor =>
      data instanceof Float32Array ? new ort.Tensor('float32', data, dims) : new ort.Tensor('float16', data, dims);
    for (const { name, data, dims } of views) {
      if (empty) dims[0] = rows;
      feeds[name] = tensor(data, dims);
    }
    if (graph.sharesPrefix)
      // Without one, an empty tensor of the same kind.
      for (const { name, data, dims } of (cache?.sharedPrefix ?? of.noCache(1)).views(0, cache?.sharedPrefix ? 1 : 0))
        feeds[prefixInput(name)] = tensor(data, dims.slice(1));
  }
  if (graph.embedding !== null) {
    const data = softPrompt?.data ?? new Float32Array(0);
    feeds[names.softPrompt] = new ort.Tensor('float32', data, [vectors, of.hiddenSize]);
    if (!graph.cache) {
      const each = tokens.flatMap((_, row) =>
        Array.from({ length: vectors }, (_, vector) => [row, (softPromptAt?.[row] ?? 0) + vector]),
      );
      const places = BigInt64Array.from(each.flat(), BigInt);
      feeds[names.softPromptPlaces] = new ort.Tensor('int64', places, [rows, vectors, 2]);
    }
  }
  return Object.assign(feeds, wantedFeeds(of, run));
}

/** Ids, positions and mask. */
function tokenFeeds(of: RunContext, run: Run): Record<string, OrtTensor> {
  const { ort, signature } = of;
  const { cache, from, tokens, softPrompt, softPromptAt, counts, past, sequence } = run;
  const rows = tokens.length;
  const vectors = softPrompt?.vectors ?? 0;
  const ids = new Float64Array(rows * sequence).fill(of.padTokenId);
  const positions = new Float64Array(rows * sequence);
  const mask = new Float64Array(rows * (past + sequence));
  for (const [row, list] of tokens.entries()) {
    const before = cache?.length(from + row) ?? 0;
    const first = cache?.position(from + row) ?? 0;
    const count = counts[row] ?? 0;
    const at = softPromptAt?.[row] ?? 0;
    for (const [index, id] of list.entries()) ids[row * sequence + (index < at ? 0 : vectors) + index] = id;
    // Padding repeats the row's last position: learned position tables have no row beyond their end.
    for (let index = 0; index < sequence; index++)
      positions[row * sequence + index] = Math.max(0, first + Math.min(index, count - 1));
    const start = row * (past + sequence);
    mask.fill(1, start, start + before);
    mask.fill(1, start + past, start + past + count);
  }
  const feeds: Record<string, OrtTensor> = {};
  const integers = (
    value: { name: string; dtype: DataType | null } | null,
    data: Float64Array,
    dims: number[],
  ): void => {
    if (!value) return;
    feeds[value.name] =
      value.dtype === 'int32'
        ? new ort.Tensor('int32', Int32Array.from(data), dims)
        : new ort.Tensor('int64', BigInt64Array.from(data as unknown as ArrayLike<bigint>, BigInt), dims);
  };
  integers(signature.inputIds, ids, [rows, sequence]);
  integers(signature.positionIds, positions, [rows, sequence]);
  integers(signature.attentionMask, mask, [rows, past + sequence]);
  if (signature.useCacheBranch) feeds[signature.useCacheBranch.name] = new ort.Tensor('bool', [past > 0], [1]);
  return feeds;
}

/**
 * Which distribution each wanted one is: a place goes through the head once, however many targets it has (four choices of
 * a question begin with four tokens at one place).
 */
function placesOf(wanted: readonly Wanted[]): { first: Wanted[]; of: number[] } {
  const first: Wanted[] = [];
  const known = new Map<string, number>();
  const of = wanted.map((want) => {
    const key = `${want.row},${want.position}`;
    const place = known.get(key) ?? first.push(want) - 1;
    known.set(key, place);
    return place;
  });
  return { first, of };
}

/** Rows and places of the wanted distributions, and their targets. */
function wantedFeeds({ ort }: RunContext, run: Run): Record<string, OrtTensor> {
  const { wanted, softPrompt, softPromptAt } = run;
  const vectors = softPrompt?.vectors ?? 0;
  const { first, of } = placesOf(wanted);
  const places = first.flatMap(({ row, position }) => {
    const at = softPromptAt?.[row] ?? 0;
    return [row, position < 0 ? at + vectors - 1 : position < at ? position : position + vectors];
  });
  const targets = wanted.flatMap(({ target }, index) => [of[index] ?? 0, target ?? 0]);
  const pairs = (values: number[]): OrtTensor =>
    new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [values.length / 2, 2]);
  // An answer that nobody fetches: reductions of ONNX Runtime refuse tensors without rows, or give them wrong shapes.
  const spare = [0, 0];
  return wanted.length
    ? { [names.rows]: pairs(places), [names.targets]: pairs(targets) }
    : { [names.rows]: pairs(spare), [names.targets]: pairs(spare) };
}

/** Names of the outputs that a run is asked for. */
export function fetchesOf(
  graph: InferenceGraph,
  of: { distributions: boolean; logits: boolean; entries: boolean },
): string[] {
  const scalars = [names.token, names.maximum, names.targetLogit, names.logSumExp];
  return [
    ...(of.distributions ? scalars : []),
    ...(of.distributions && of.logits ? [names.logits] : []),
    ...(of.entries ? graph.cacheOutputs.map(({ output }) => output) : []),
  ];
}

/** New keys and values, by the name of the cache's input. */
export function entriesOf(graph: InferenceGraph, outputs: Outputs): Map<string, NewEntries> {
  const entries = new Map<string, NewEntries>();
  for (const { past: name, output, entries: kind } of graph.cacheOutputs) {
    const tensor = outputs[output];
    if (!tensor) throw new Error(`The graph gave no ${output}.`);
    entries.set(name, {
      data: tensor.data as Float32Array | Uint16Array,
      time: tensor.dims[2] ?? 0,
      start: kind === 'behind rows' ? null : 0,
    });
  }
  return entries;
}

/** @throws HumanError('engine') where a probability is not a finite number */
export function distributionsOf(outputs: Outputs, wanted: readonly Wanted[], withLogits: boolean): Distribution[] {
  const floats = (name: string): Float32Array => outputs[name]?.data as Float32Array;
  const token = outputs[names.token]?.data as BigInt64Array;
  const maximum = floats(names.maximum);
  const target = floats(names.targetLogit);
  const logSumExp = floats(names.logSumExp);
  const logits = withLogits ? floats(names.logits) : null;
  const { first, of } = placesOf(wanted);
  const vocabulary = logits ? logits.length / first.length : 0;
  return of.map((place, index) => {
    const normaliser = logSumExp[place] ?? Number.NaN;
    const logProbability = (maximum[place] ?? Number.NaN) - normaliser;
    if (!Number.isFinite(logProbability))
      throw new HumanError('engine', 'The model gave values that are not finite numbers (NaN or infinity).', {
        todo: 'A soft prompt with huge values or a half-precision export that overflows does this: try another export, or tune again with a lower learning rate.',
      });
    return {
      token: Number(token[place] ?? 0n),
      logProbability,
      targetLogProbability: (target[index] ?? Number.NaN) - normaliser,
      logits: logits?.subarray(place * vocabulary, (place + 1) * vocabulary) ?? null,
      logSumExp: normaliser,
    };
  });
}

/** A failure of ONNX Runtime, told to people. */
export function runError(error: unknown, rows: number, length: number): HumanError {
  const message = asError(error).message;
  if (/bad_alloc|Failed to allocate|out of memory|allocation failed|BFCArena/i.test(message))
    return new OutOfMemoryError('engine', `The machine ran out of memory on a batch of ${rows} × ${length} tokens.`, {
      todo: 'Set a smaller batch size.',
      cause: error,
    });
  return new HumanError(
    'engine',
    `ONNX Runtime failed on a batch of ${rows} × ${length} tokens: ${runtimeWords(error)}`,
    { todo: 'Report the message together with how the model was exported.', cause: error },
  );
}

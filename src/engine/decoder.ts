/** One session of the edited graph, fed with rows of tokens: prefill, decode step and scoring are the same call. */
import type { SoftPrompt } from '../evaluate/language-model.ts';
import type { ModelFiles, ModelSignature } from '../model/index.ts';
import { HumanError, throwIfCancelled } from '../shared/errors.ts';
import { automaticRows, type Extent, modelSizes, mostPositions } from './batch-size.ts';
import { KeyValueCache, type Prefix } from './cache.ts';
import { compareWithCpu } from './device-check.ts';
import { exactFiles } from './exact-files.ts';
import { type InferenceGraph, inferenceGraph } from './inference-graph.ts';
import { freeBytes } from './memory.ts';
import { bothBranches, filesOfBranch } from './merged-decoder.ts';
import { PackedWeights, type PackedWeightsLimits } from './packed-weights.ts';
import { inGroups, inPieces } from './pieces.ts';
import { PrefixMemory } from './prefix-memory.ts';
import { type Provider, providerOf } from './providers.ts';
import { type ReadingCosts, readingCosts } from './reading-plan.ts';
import {
  type Distribution,
  distributionsOf,
  entriesOf,
  feedsOf,
  fetchesOf,
  runError,
  type Wanted,
} from './run-tensors.ts';
import { createSession, loadOnnxRuntime, type Ort, type Session, type SessionSettings } from './runtime.ts';
import { powerOfTwo } from './shapes.ts';
import { streamlined, streamlinedForm } from './streamline.ts';
import { type Continuing, howItContinues, ignoresUnused, readsLike, sharesAttention, type Tried } from './trials.ts';

/** Positions fed to one row in one run: attention scores grow with its square, so long prompts go in pieces. */
export const pieceLength = 512;

export interface DecoderSettings extends Omit<SessionSettings, 'weightFolder'> {
  /** Id that fills places without a token. */
  padTokenId: number;
  vocabularySize: number;
  /** Width of the token embedding. */
  hiddenSize: number;
  /** Positions that the model has; null where its configuration does not say. */
  contextLength: number | null;
  /** Compute in float32, with activations that are not quantised, whatever the file does. */
  exactArithmetic?: boolean;
  /** Where and up to which sizes packed weights are kept on disk, if not as usual. */
  packedWeights?: PackedWeightsLimits;
}

export interface RunOptions {
  softPrompt?: SoftPrompt | null;
  /** Without a cache: how many of each row's tokens stand before the soft prompt; none where absent. */
  softPromptAt?: readonly number[];
  /** All logits of the wanted positions. */
  logits?: boolean;
  /** Nothing of a failure goes to the error output: it is expected. */
  quiet?: boolean;
}

/** Rows know their own length in the graph: it takes no position ids, and needs no equal lengths. */
const countsRows = ({ cacheOutputs }: InferenceGraph): boolean =>
  cacheOutputs.length > 0 && cacheOutputs.every(({ entries }) => entries === 'behind rows');

const hasFewBits = ({ model }: InferenceGraph): boolean =>
  model.graph.nodes.some(({ operator }) => operator === 'MatMulNBits');

export class Decoder {
  /** All rows of a batch must have one length, because the graph takes positions from the cache's; see {@link exactFor}. */
  exact: boolean;

  private constructor(
    private readonly ort: Ort,
    private session: Session,
    private readonly signature: ModelSignature,
    private readonly graph: InferenceGraph,
    private readonly settings: DecoderSettings,
    /** Weights that are to be packed before text is generated; null: they are, or never will be. */
    private unpacked: PackedWeights | null,
    oneByOne = false,
  ) {
    const counts = signature.positionIds !== null || countsRows(graph);
    this.exact = !counts || !signature.attentionMask;
    if (oneByOne) this.#continuing = Promise.resolve('token');
  }

  /** On a device it is compared with the CPU before it is used. @throws HumanError('engine') where it computes wrongly */
  static async open(files: ModelFiles, settings: DecoderSettings): Promise<Decoder> {
    const decoder = await Decoder.#openUnchecked(files, settings);
    const { running } = settings.provider;
    if (running === 'cpu') return decoder;
    const provider = { ...settings.provider, running: 'cpu' };
    const cpu = await Decoder.#openUnchecked(files, { ...settings, provider, placement: undefined, prepack: false });
    try {
      const { vocabularySize, contextLength } = settings;
      const found = await compareWithCpu(decoder, cpu, { provider: running, vocabularySize, contextLength });
      if (found === 'alone') decoder.exact = true;
      return decoder;
    } catch (error) {
      await decoder.close();
      throw error;
    } finally {
      await cpu.close();
    }
  }

  static async #openUnchecked(files: ModelFiles, settings: DecoderSettings): Promise<Decoder> {
    const exact = settings.exactArithmetic ?? false;
    // A shared beginning is an empty tensor where there is none.
    const { emptyTensors: share } = providerOf(settings.provider);
    if (!files.signature.useCacheBranch) {
      const { file, signature } = exact ? exactFiles(files) : files;
      return Decoder.#open(inferenceGraph(file, signature, { share }), signature, settings);
    }
    // A merged decoder: its branch with a cache serves for everything, unless it was traced for one new token.
    const [cached, fresh] = [filesOfBranch(files, true, exact), filesOfBranch(files, false, exact)];
    const graph = inferenceGraph(cached.file, cached.signature, { share });
    const decoder = await Decoder.#open(graph, cached.signature, settings);
    const other = inferenceGraph(fresh.file, fresh.signature, { share: false });
    const reference = await Decoder.#open(other, fresh.signature, { ...settings, prepack: hasFewBits(other) });
    try {
      if (await readsLike(decoder.#tried(), reference.#tried())) return decoder;
    } finally {
      await reference.close();
    }
    await decoder.close();
    const merged = { ...cached.signature, useCacheBranch: files.signature.useCacheBranch };
    return Decoder.#open(bothBranches(files, exact), merged, settings, true);
  }

  static async #open(
    edited: InferenceGraph,
    signature: ModelSignature,
    settings: DecoderSettings,
    oneByOne = false,
  ): Promise<Decoder> {
    const ort = await loadOnnxRuntime();
    const sessionSettings = { ...settings, weightFolder: edited.weightFolder };
    // Packing is the CPU's; a device has copies of its own.
    const packs = (settings.prepack ?? true) && providerOf(settings.provider).shapes === 'many';
    // Products with weights of few bits compute otherwise before they are packed (4 bits: activations are not quantised)
    // or not at all (8 bits).
    const packed =
      packs && !hasFewBits(edited)
        ? await PackedWeights.of(edited.model, streamlinedForm, sessionSettings, settings.packedWeights)
        : null;
    // Where they are not on disk yet, a session opens over the weights as they are in the file, and is followed by one
    // over packed weights where text is generated.
    const opened = await packed?.open();
    const fused = settings.provider.running === 'cpu';
    const graph = opened ? edited : streamlined(edited, signature, { fused });
    const session = opened ?? (await createSession(graph.model, { ...sessionSettings, prepack: packs && !packed }));
    return new Decoder(ort, session, signature, graph, settings, opened ? null : packed, oneByOne);
  }

  /**
   * Makes ready for about `steps` runs. A product re-orders a weight that is not packed at every call, and with few rows
   * does little else: with packed ones decoding was 1.9 × as fast at batch 8 and 1.2 × at batch 1 (SmolLM2-135M,
   * 2 threads). Packing takes as long as some tens of steps.
   */
  async prepare(steps: number): Promise<void> {
    const { unpacked } = this;
    if (!unpacked || steps < 32) return;
    this.unpacked = null;
    const before = this.session;
    this.session = await unpacked.session(this.graph.model);
    await before.release();
  }

  /** Whether the graph has a KV cache; without one every step reads the whole text again. */
  get cached(): boolean {
    return this.graph.cache !== null;
  }
  get takesSoftPrompt(): boolean {
    return this.graph.embedding !== null;
  }

  /** Places up to which unused ones of the cache are known to change nothing, and from which on they are known to. */
  #harmless = 0;
  #harmful = Number.POSITIVE_INFINITY;

  /**
   * Whether the rows of a job must be kept exact, where its runs may have `columns` places of the cache and new tokens
   * together, unused ones counted. Attention with a sliding window counts distances in the cache, unused places
   * included, and older exports (transformers before 4.40 or so) cut their causal mask out of a table as long as the
   * context and fail beyond it. Neither is told by the graph's inputs, so it is tried at that size.
   */
  async exactFor(columns: number): Promise<boolean> {
    if (this.exact || columns >= this.#harmful) return true;
    if (columns <= this.#harmless) return false;
    const harmless = await ignoresUnused(this.#tried(), columns);
    if (harmless) this.#harmless = columns;
    else this.#harmful = columns;
    return !harmless;
  }

  /** This decoder for trials.ts. */
  #tried(): Tried {
    return {
      run: (...given) => this.#run(...given),
      newCache: (...given) => this.newCache(...given),
      vocabularySize: this.settings.vocabularySize,
      tolerance: this.graph.cache?.dtype === 'float32' ? 1e-3 : 5e-2,
    };
  }

  /**
   * Room for `rows` rows of up to `longest` positions, the prefix counted, that all begin with `prefix`. `free`: caches
   * behind that prefix that are not used any more; one that is large enough is taken from them.
   */
  newCache(
    rows: number,
    longest: number,
    prefix: Prefix | null = null,
    exact = this.exact,
    free: KeyValueCache[] = [],
  ): KeyValueCache {
    if (!this.graph.cache) throw new Error('This graph has no KV cache.');
    const own = prefix?.shared ? longest - prefix.cache.length(0) : longest;
    const at = free.findIndex((cache) => cache.reuse(rows, own));
    const [found] = at < 0 ? [] : free.splice(at, 1);
    if (found) return found;
    // What is too small now would be for most of what comes.
    free.pop();
    return new KeyValueCache(this.graph.cache, rows, own, exact, prefix, this.#row.shapes);
  }

  /** Bytes of a position's keys and values in all layers. */
  get positionBytes(): number {
    return modelSizes(this.graph.model.graph, this.graph.cache, this.settings).cacheBytes;
  }

  /** What reading costs in batches of `rows` rows that take `steps` steps each (reading-plan.ts). */
  async readingCosts(rows: number, steps: number, exact = this.exact): Promise<ReadingCosts> {
    this.#continuing ??= howItContinues(this.#tried());
    const continuing = await this.#continuing;
    const sharesPrefix = !exact && !this.exact && this.graph.sharesPrefix;
    return readingCosts({ shapes: this.#row.shapes, continuing, sharesPrefix, exact, rows, steps });
  }

  /** Rows of a batch, by what they take and what memory is free; a device's memory cannot be asked for. */
  automaticRows(extent: Extent): number {
    const { settings, graph } = this;
    if (this.readsAlone) return 1;
    const sizes = modelSizes(graph.model.graph, graph.cache, settings);
    const free = settings.provider.running === 'cpu' ? freeBytes() : null;
    const { shapes } = this.#row;
    return automaticRows(sizes, { ...extent, read: Math.min(extent.read, pieceLength) }, free, shapes);
  }

  readonly #prefixes = new PrefixMemory();

  /**
   * What many rows begin with: read, or taken from what was read before as far as that begins the same. Null where that is
   * nothing.
   */
  async readPrefix(
    tokens: readonly number[],
    softPrompt: SoftPrompt | null,
    signal?: AbortSignal,
    exact = this.exact,
  ): Promise<Prefix | null> {
    const vectors = softPrompt?.vectors ?? 0;
    if (tokens.length + vectors === 0) return null;
    const cache = await this.#prefixes.read(this, tokens, softPrompt, { signal, exact });
    if (exact || this.exact || !this.graph.sharesPrefix) return { cache, shared: false };
    this.#sharing ??= sharesAttention(this.#tried());
    return { cache, shared: await this.#sharing };
  }

  #sharing: Promise<boolean> | null = null;

  /**
   * Reads new tokens of rows [from, from + tokens.length) of the cache and gives the distributions behind the wanted
   * positions, in their order. Long rows go in pieces. The soft prompt, where given, stands before the tokens.
   */
  async read(
    cache: KeyValueCache | null,
    from: number,
    tokens: readonly (readonly number[])[],
    wanted: readonly Wanted[],
    options: Omit<RunOptions, 'quiet'> & { signal?: AbortSignal } = {},
  ): Promise<Distribution[]> {
    const longest = Math.max(...tokens.map(({ length }) => length));
    const held = tokens.some((_, row) => (cache?.length(from + row) ?? 0) > 0);
    const piece = cache?.exact === false ? pieceLength : longest;
    const vectors = options.softPrompt?.vectors ?? 0;
    if (!cache || longest + vectors === 1) return this.#run(cache, from, tokens, wanted, options);
    /** So many rows at a time, each in pieces of such a length. */
    const parts = (rows: number, length: number): Promise<Distribution[]> =>
      inGroups(tokens, wanted, rows, (first, list, own) =>
        inPieces(list, own, length, (start, some, here) => {
          throwIfCancelled(options.signal);
          return this.#run(cache, from + first, some, here, start === 0 ? options : { logits: options.logits });
        }),
      );
    // More positions in a run take more memory and no less time.
    const rows = cache.exact
      ? tokens.length
      : Math.max(1, Math.floor(mostPositions[this.#row.shapes] / (Math.min(longest, piece) + vectors)));
    if (!held && longest <= piece) return parts(rows, longest);
    this.#continuing ??= howItContinues(this.#tried());
    const continuing = await this.#continuing;
    this.#continues = continuing;
    if (continuing === 'token' || (continuing === 'row' && cache.exact && tokens.length > 1))
      return held ? parts(tokens.length, 1) : this.#run(cache, from, tokens, wanted, options);
    return parts(continuing === 'batch' ? rows : 1, piece);
  }

  /**
   * Activations are quantised with one scale over all of a run's tokens: what is read together changes results, so rows
   * are read one by one.
   */
  get readsAlone(): boolean {
    return this.graph.model.graph.nodes.some(({ operator }) => operator === 'DynamicQuantizeLinear');
  }

  /** How the graph reads several new tokens behind a cache; null: not tried yet. */
  #continuing: Promise<Continuing> | null = null;

  /**
   * Whether reading proposed tokens beside a row's newest one gives the same and is worth it (drafts.ts), in batches of
   * `rows`: not where a run would take them one by one; nor on devices, which want few shapes; nor without packed
   * weights, where a second row makes a run more than twice as slow; nor where activations are quantised with a scale
   * over all of a run's tokens.
   */
  async drafts(rows: number): Promise<boolean> {
    const { settings } = this;
    if (settings.provider.running !== 'cpu' || settings.prepack === false || this.unpacked) return false;
    if (this.readsAlone) return false;
    this.#continuing ??= howItContinues(this.#tried());
    const continuing = await this.#continuing;
    return continuing === 'batch' || (continuing === 'row' && rows === 1);
  }

  /** Whether several tokens can be read in one run behind what a cache holds. */
  async continues(): Promise<boolean> {
    this.#continuing ??= howItContinues(this.#tried());
    return (await this.#continuing) !== 'token';
  }

  /** New tokens of a run: as they are, or up to one of few sizes, whose further places are masked. */
  #padded(longest: number, past: number, few: boolean): number {
    if (!few || this.exact || longest === 1) return longest;
    // Behind a cache only where that is known to do: GroupQueryAttention counts them.
    if (past > 0 && this.#continues !== 'batch') return longest;
    const { contextLength } = this.settings;
    const room = contextLength === null ? Number.POSITIVE_INFINITY : contextLength - past;
    return Math.max(longest, Math.min(powerOfTwo(longest, 16), room));
  }

  #continues: Continuing | null = null;

  get #row(): Provider {
    return providerOf(this.settings.provider);
  }

  async #run(
    cache: KeyValueCache | null,
    from: number,
    tokens: readonly (readonly number[])[],
    wanted: readonly Wanted[],
    { softPrompt = null, softPromptAt, logits = false, quiet = false }: RunOptions,
  ): Promise<Distribution[]> {
    const { signature, graph, ort } = this;
    const vectors = softPrompt?.vectors ?? 0;
    if (vectors && !this.takesSoftPrompt)
      throw new HumanError(
        'unsupported',
        'No token embedding was found at the top of this graph, so it takes no soft prompt.',
        {
          todo: 'Export the model with optimum-cli export onnx --task text-generation-with-past.',
        },
      );
    const { padTokenId, hiddenSize } = this.settings;
    const counts = tokens.map(({ length }) => length + vectors);
    const { shapes } = this.#row;
    // Rows that hold nothing yet are read as a first prompt, whatever room there is for them.
    const empty = tokens.every((_, row) => (cache?.length(from + row) ?? 0) === 0);
    const past = empty ? 0 : (cache?.capacity ?? 0);
    const sequence = this.#padded(Math.max(...counts), past, shapes === 'few' && !cache?.exact);
    const shape = { counts, empty, past, sequence };
    const feeds = feedsOf(
      { ort, signature, graph, padTokenId, hiddenSize, noCache: (held) => this.newCache(held, 0) },
      { cache, from, tokens, wanted, softPrompt, softPromptAt, ...shape },
    );
    const fetches = fetchesOf(graph, { distributions: wanted.length > 0, logits, entries: cache !== null });
    let outputs: Awaited<ReturnType<Session['run']>>;
    try {
      outputs = await this.session.run(feeds, fetches, quiet ? { logSeverityLevel: 4 } : {});
    } catch (error) {
      throw runError(error, tokens.length, past + sequence);
    }
    cache?.append(from, counts, entriesOf(graph, outputs));
    if (!wanted.length) return [];
    return distributionsOf(outputs, wanted, logits);
  }

  async close(): Promise<void> {
    await this.session.release();
  }
}

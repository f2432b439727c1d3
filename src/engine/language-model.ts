/** A model folder opened for running: what tune() and evaluate() see. */
import type {
  BatchSize,
  ChatTemplates,
  GenerationRequest,
  GenerationResult,
  GenerationSettings,
  Hooks,
  LanguageModel,
  LogLikelihoodRequest,
  LogLikelihoodResult,
  SoftPrompt,
  TokenScore,
  TrainingEngine,
  TrainingOptions,
} from '../evaluate/language-model.ts';
import { arithmeticOf, missingGradientRules } from '../gradient/index.ts';
import {
  contextLengthOf,
  hiddenSizeOf,
  identify,
  loadTokenizer,
  type ModelFiles,
  type ModelTokenizer,
  openModelFiles,
} from '../model/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { EngineSettings } from '../shared/protocol.ts';
import type { ModelIdentity, NodePlacement, ProviderReport } from '../shared/results.ts';
import { backingOff, type Extent } from './batch-size.ts';
import { Decoder } from './decoder.ts';
import { EmbeddingTable } from './embedding.ts';
import { holdsBfloat16 } from './exact-files.ts';
import { generate } from './generate.ts';
import { logLikelihood, type ScoringContext } from './log-likelihood.ts';
import { MemoryPeak } from './memory.ts';
import { chooseProvider } from './runtime.ts';
import { SuffixLayout } from './suffix-training.ts';
import { scoreTokens } from './token-scores.ts';
import { OnnxTraining } from './training.ts';

export class OnnxLanguageModel implements LanguageModel {
  readonly identity: ModelIdentity;
  readonly contextLength: number | null;
  readonly notes: readonly string[];
  #decoder: Promise<Decoder> | null = null;
  readonly #memory = new MemoryPeak();

  constructor(
    readonly files: ModelFiles,
    readonly tokenizer: ModelTokenizer,
    private readonly chosen: ProviderReport,
    private readonly embedding: EmbeddingTable | null,
    private readonly exactArithmetic = false,
  ) {
    this.identity = identify(files);
    this.contextLength = contextLengthOf(files.folder.config);
    this.notes = notesOf(files, embedding);
  }

  readonly #placements = new Map<NodePlacement['graph'], NodePlacement>();
  readonly #onPlacement = (placement: NodePlacement): void => {
    this.#placements.set(placement.graph, placement);
  };

  /** With the nodes that the CPU computes, once graphs have run on another provider. */
  get provider(): ProviderReport {
    return this.#placements.size ? { ...this.chosen, nodes: [...this.#placements.values()] } : this.chosen;
  }

  get chatTemplates(): ChatTemplates {
    return this.files.folder.chatTemplates;
  }

  get hiddenSize(): number {
    return this.embedding?.hiddenSize ?? hiddenSizeOf(this.files.folder.config) ?? 0;
  }
  get embeddingScale(): number {
    return this.embedding?.scale ?? 1;
  }

  /** The CPU has next to no kernels for bfloat16. */
  get #widened(): boolean {
    return this.chosen.running === 'cpu' && holdsBfloat16(this.files.file.graph);
  }

  /** The session that generates and scores, opened at its first use: tuning alone does not need it. */
  decoder(): Promise<Decoder> {
    this.#decoder ??= Decoder.open(this.files, {
      provider: this.chosen,
      placement: { graph: 'inference', report: this.#onPlacement },
      padTokenId: this.tokenizer.padTokenId,
      hiddenSize: this.hiddenSize,
      contextLength: this.contextLength,
      exactArithmetic: this.exactArithmetic || this.#widened,
      vocabularySize: this.files.signature.vocabularySize ?? this.tokenizer.vocabularySize,
    });
    return this.#decoder;
  }

  async embeddingRows(ids: readonly number[]): Promise<Float32Array> {
    if (!this.embedding) throw noEmbedding(this.files);
    const size = this.tokenizer.vocabularySize;
    const outside = ids.find((id) => !Number.isInteger(id) || id < 0);
    if (outside !== undefined) throw new Error(`Token id ${outside} is outside of the vocabulary (${size} entries).`);
    return this.embedding.rows(ids);
  }

  async generate(
    requests: readonly GenerationRequest[],
    settings: GenerationSettings,
    hooks: Hooks<GenerationResult>,
  ): Promise<void> {
    this.#check(settings.softPrompt);
    if (!requests.length) return;
    const decoder = await this.decoder();
    const { tokenizer, contextLength } = this;
    const vectors = settings.softPrompt?.vectors ?? 0;
    const read = Math.max(...requests.map(({ tokens }) => tokens.length)) + vectors;
    const extent = { longest: read + settings.maxNewTokens, read, wanted: 1, rows: requests.length };
    await this.#inBatches(settings.batchSize, extent, requests, hooks, (left, batchSize, own) =>
      generate({ decoder, tokenizer, contextLength }, left, { ...settings, batchSize }, own),
    );
  }

  async logLikelihood(
    requests: readonly LogLikelihoodRequest[],
    settings: { batchSize: BatchSize; softPrompt: SoftPrompt | null },
    hooks: Hooks<LogLikelihoodResult>,
  ): Promise<void> {
    this.#check(settings.softPrompt);
    if (!requests.length) return;
    const scoring = await this.#scoring();
    const vectors = settings.softPrompt?.vectors ?? 0;
    const longest = Math.max(...requests.map(({ context, continuation }) => context.length + continuation.length));
    const wanted = Math.max(...requests.map(({ continuation }) => continuation.length));
    const extent = { longest: longest + vectors, read: longest + vectors, wanted, rows: requests.length };
    await this.#inBatches(settings.batchSize, extent, requests, hooks, (left, batchSize, own) =>
      logLikelihood(scoring, left, { ...settings, batchSize }, own),
    );
  }

  async #scoring(): Promise<ScoringContext> {
    const { tokenizer, contextLength } = this;
    const startToken = tokenizer.bosTokenId ?? tokenizer.eosTokenIds[0] ?? null;
    return { decoder: await this.decoder(), contextLength, startToken };
  }

  async tokenScores(
    request: Omit<LogLikelihoodRequest, 'index'>,
    settings: { softPrompt: SoftPrompt | null; alternatives: number; signal?: AbortSignal },
  ): Promise<TokenScore[]> {
    this.#check(settings.softPrompt);
    const vocabularySize = this.files.signature.vocabularySize ?? this.tokenizer.vocabularySize;
    return scoreTokens({ ...(await this.#scoring()), vocabularySize }, request, settings);
  }

  /** Rows with which memory did not run out after it had. */
  #most = Number.POSITIVE_INFINITY;

  /** Runs requests in batches of the size asked for or found, and of half of it where memory runs out. */
  async #inBatches<Request extends { index: number }, Result extends { index: number }>(
    asked: BatchSize,
    extent: Extent,
    requests: readonly Request[],
    hooks: Hooks<Result>,
    run: (left: Request[], rows: number, hooks: Hooks<Result>) => Promise<void>,
  ): Promise<void> {
    const wanted = asked === 'auto' ? (await this.decoder()).automaticRows(extent) : Math.max(1, asked);
    const rows = Math.min(wanted, this.#most);
    hooks.onBatchSize?.(rows, false);
    const last = await backingOff(requests, rows, hooks, run);
    if (last < rows) this.#most = last;
  }

  #check(softPrompt: SoftPrompt | null): void {
    if (!softPrompt) return;
    if (!this.embedding) throw noEmbedding(this.files);
    if (softPrompt.hiddenSize !== this.hiddenSize)
      throw new HumanError(
        'bad-input',
        `The soft prompt has vectors of ${softPrompt.hiddenSize} numbers; "${this.identity.name}" takes ${this.hiddenSize}.`,
        { todo: 'A soft prompt fits only the model that it was tuned on: tune one for this model.' },
      );
  }

  checkTuning(): void {
    if (!this.embedding) throw noEmbedding(this.files);
    const [missing] = missingGradientRules(this.files.file);
    if (missing)
      throw new HumanError(
        'unsupported',
        `No soft prompt can be tuned on this model: tuning does not know the operator ${missing.operator} (node "${missing.node}").`,
        {
          place: { file: this.files.folder.graphPath },
          todo: `${missing.advice} Prompt modes without a soft prompt run as it is.`,
        },
      );
  }

  async openTraining({
    vectors,
    batchSize,
    position = 'prefix',
    passes = 1,
    recompute,
    microBatchSize,
  }: TrainingOptions): Promise<TrainingEngine> {
    if (!this.embedding) throw noEmbedding(this.files);
    const { padTokenId } = this.tokenizer;
    const { contextLength, chosen: provider } = this;
    const layout =
      position === 'suffix'
        ? new SuffixLayout(this.files, () => this.decoder(), { padTokenId, contextLength, passes })
        : undefined;
    return new OnnxTraining(this.files.file, {
      vectors,
      batchSize,
      provider,
      padTokenId,
      contextLength,
      layout,
      recompute,
      microBatchSize,
      onPlacement: this.#onPlacement,
    });
  }

  peakMemoryBytes(): number {
    return this.#memory.bytes;
  }

  restartPeakMemory(): void {
    this.#memory.restart();
  }

  async close(): Promise<void> {
    const decoder = this.#decoder;
    this.#decoder = null;
    this.#memory.close();
    await (await decoder?.catch(() => null))?.close();
    await this.embedding?.close();
  }
}

const noEmbedding = (files: ModelFiles): HumanError =>
  new HumanError('unsupported', 'No token embedding was found at the top of this graph, so it takes no soft prompt.', {
    place: { file: files.folder.graphPath },
    todo: 'Export the model with optimum-cli export onnx --task text-generation-with-past.',
  });

function notesOf({ signature, file }: ModelFiles, embedding: EmbeddingTable | null): string[] {
  const notes: string[] = [];
  if (!signature.cache) notes.push('The graph has no KV cache: every token reads the whole text again, which is slow.');
  if (!embedding) notes.push('The graph has no token embedding at its top: soft prompts cannot be used with it.');
  const { quantisesActivations, quantisedWeights } = arithmeticOf(file);
  const quantised = [
    ...(quantisedWeights ? ['has weights of 8 bits or fewer'] : []),
    ...(quantisesActivations ? ['rounds activations to 8 bits as it runs'] : []),
  ];
  if (quantised.length)
    notes.push(`The graph ${quantised.join(' and ')}: results differ from those of the original model.`);
  if (holdsBfloat16(file.graph))
    notes.push('The weights are bfloat16; on the CPU they are widened and computed with in float32.');
  return notes;
}

/**
 * Opens a model folder, or an ONNX file in one. Nothing is read twice and no weight is copied. `exactArithmetic`: what
 * the file's weights say, in float32, in place of what the file computes with them.
 * Throws HumanError where the folder cannot run; the message says what to do.
 */
export async function openLanguageModel(
  path: string,
  settings: EngineSettings,
  { exactArithmetic = false } = {},
): Promise<OnnxLanguageModel> {
  const files = openModelFiles(path);
  const tokenizer = await loadTokenizer(files.folder);
  const provider = await chooseProvider(settings);
  const vocabularySize = files.signature.vocabularySize ?? tokenizer.vocabularySize;
  const embedding = await EmbeddingTable.open(files, Math.min(vocabularySize, tokenizer.vocabularySize), { provider });
  return new OnnxLanguageModel(files, tokenizer, provider, embedding, exactArithmetic);
}

/** What must be the same for a response to be the same, as one digest. */
import { createHash } from 'node:crypto';
import type {
  GenerationRequest,
  GenerationSettings,
  LanguageModel,
  LogLikelihoodRequest,
  SoftPrompt,
} from '../evaluate/language-model.ts';
import { sha256 } from '../system/index.ts';
import { keyDigits } from './key-table.ts';

/** How responses are written down. Raised with the format, so that lines of another one are never read. */
const formatVersion = 1;

export interface EngineVersions {
  onnxruntime: string;
  /** Number of the engine's own arithmetic: raised where a change of ours changes outputs. */
  engine: number;
}

/**
 * What all responses of an opened model have in common: its files (graph, and with it the precision of the weights;
 * weights, tokenizer, configuration) and what computes them. Neither threads nor batch size: results do not depend on
 * them but for rounding.
 */
export interface Context {
  /** SHA-256, hex. */
  digest: string;
  /** For people who look into the folder. */
  about: Record<string, unknown>;
}

export function contextOf(model: Pick<LanguageModel, 'identity' | 'provider'>, versions: EngineVersions): Context {
  const { digests, name, graphFile } = model.identity;
  const determinants = [
    formatVersion,
    digests.graph,
    digests.weights,
    digests.tokenizer,
    digests.config,
    versions.onnxruntime,
    versions.engine,
    model.provider.running,
  ];
  return {
    digest: sha256(JSON.stringify(determinants)),
    about: { schema: 1, model: name, graphFile, digests, ...versions, provider: model.provider.running },
  };
}

/** Settings that change no response: how many are computed at a time. The soft prompt counts by its content. */
type CallSettings = { batchSize: unknown; softPrompt: SoftPrompt | null };

/** Digest of what the requests of one call have in common; a key is made of it and of a request's tokens. */
function callDigest(context: Context, kind: string, { softPrompt, ...settings }: Record<string, unknown>): Buffer {
  const { batchSize: _, ...rest } = settings;
  const hash = createHash('sha256').update(`${context.digest} ${kind} `);
  hash.update(JSON.stringify(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1))));
  if (softPrompt) addSoftPrompt(hash, softPrompt as SoftPrompt);
  return hash.digest();
}

function addSoftPrompt(hash: ReturnType<typeof createHash>, softPrompt: SoftPrompt): void {
  const { vectors, hiddenSize, data, position = 'prefix' } = softPrompt;
  hash.update(` soft prompt ${position} ${vectors} ${hiddenSize} `);
  hash.update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}

let scratch = new Int32Array(4096);

/** Lists of ids as bytes, four for each; valid until the next call. One memory for all: keys are made by the hundred thousand. */
function bytesOf(...lists: (readonly number[])[]): Uint8Array {
  const length = lists.reduce((sum, list) => sum + list.length, 0);
  if (length > scratch.length) scratch = new Int32Array(2 * length);
  let at = 0;
  for (const list of lists) for (let i = 0; i < list.length; i++) scratch[at++] = list[i] ?? 0;
  return new Uint8Array(scratch.buffer, 0, 4 * length);
}

/**
 * Keys of generations. With sampling, the engine draws by seed and by the request's own number, so both belong to the
 * key; greedy generations have neither. Null where outputs cannot be repeated: sampling without a fixed seed.
 */
export function generationKeys(
  context: Context,
  settings: GenerationSettings & CallSettings,
): ((request: GenerationRequest) => string) | null {
  const { temperature, topP, seed, ...rest } = settings;
  const samples = temperature > 0;
  if (samples && !Number.isSafeInteger(seed)) return null;
  const common = callDigest(context, 'generate', { ...rest, ...(samples && { temperature, topP, seed }) });
  return ({ tokens, index }) => {
    const hash = createHash('sha256').update(common).update(bytesOf(tokens));
    return (samples ? hash.update(` stream ${index}`) : hash).digest('hex').slice(0, keyDigits);
  };
}

type LogLikelihoodSettings = Parameters<LanguageModel['logLikelihood']>[1];
/** A setting that the engine gains does not compile here until it is in the key, or known to change nothing. */
const noOther: [Exclude<keyof LogLikelihoodSettings, 'batchSize' | 'softPrompt'>] extends [never] ? true : never = true;

/**
 * Keys of log-likelihoods: the soft prompt, the tokens of context and continuation, and where the one ends. No other
 * setting is looked at, since callers may hand over objects that hold more.
 */
export function logLikelihoodKeys(
  context: Context,
  { softPrompt }: Pick<LogLikelihoodSettings, 'softPrompt'>,
): (request: LogLikelihoodRequest) => string {
  const common = callDigest(context, 'log-likelihood', { softPrompt, noOther });
  return ({ context: before, continuation }) =>
    createHash('sha256')
      .update(common)
      .update(bytesOf([before.length], before, continuation))
      .digest('hex')
      .slice(0, keyDigits);
}

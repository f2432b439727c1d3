/** A model whose responses are looked up before they are computed, and kept once they are. Evaluation does not notice. */
import type {
  GenerationRequest,
  GenerationResult,
  GenerationSettings,
  Hooks,
  LanguageModel,
  LogLikelihoodRequest,
  LogLikelihoodResult,
} from '../evaluate/language-model.ts';
import type { ResponseCache } from '../evaluate/response-cache.ts';
import { turn } from '../evaluate/turn.ts';
import { throwIfCancelled } from '../shared/errors.ts';
import { overlaid } from '../shared/overlaid.ts';
import { DiskCache } from './disk-cache.ts';
import { contextOf, type EngineVersions, generationKeys, logLikelihoodKeys } from './key.ts';
import type { Place } from './key-table.ts';

/** Between two requests whose keys are made, the event loop turns once so often: a cancel message gets through. */
const turnEvery = 4096;

export interface ResponseCacheSettings {
  /** Folder that holds `responses/`. */
  storeFolder: string;
  limitBytes: number;
  /** false: responses are kept, but none is looked up. */
  lookUp: boolean;
}

/** Puts a cache in front of a model. Throws nothing: where it cannot be used, {@link ResponseCache.problems} says why. */
export function openResponseCache(
  model: LanguageModel,
  versions: EngineVersions,
  { storeFolder, limitBytes, lookUp }: ResponseCacheSettings,
): ResponseCache {
  const context = contextOf(model, versions);
  const problems: string[] = [];
  const disk = new DiskCache(storeFolder, context, { limitBytes, onProblem: (message) => problems.push(message) });
  const counts = { cached: 0, computed: 0 };
  let delivering = false;

  /** Answers what is on disk, hands the rest to the model, each different request once, and keeps what comes back. */
  async function through<Request extends { index: number }, Result extends { index: number }>(
    requests: readonly Request[],
    keyOf: (request: Request) => string,
    isResult: (value: unknown) => boolean,
    hooks: Hooks<Result>,
    compute: (requests: readonly Request[], hooks: Hooks<Result>) => Promise<void>,
  ): Promise<void> {
    const found: { place: Place; key: string; request: Request }[] = [];
    const missing = new Map<string, { key: string; request: Request; others: number[] }>();
    const miss = (key: string, request: Request): void => {
      const same = missing.get(key);
      if (same) same.others.push(request.index);
      else missing.set(key, { key, request, others: [] });
    };
    for (const [number, request] of requests.entries()) {
      if (number % turnEvery === turnEvery - 1) {
        await turn();
        throwIfCancelled(hooks.signal);
      }
      const key = keyOf(request);
      const place = lookUp ? disk.find(key) : null;
      if (place) found.push({ place, key, request });
      else miss(key, request);
    }
    try {
      delivering = true;
      let delivered = 0;
      await disk.read(found, ({ key, request }, value) => {
        throwIfCancelled(hooks.signal);
        if (!isResult(value)) return miss(key, request);
        counts.cached++;
        const waits = hooks.onResult({ ...(value as Result), index: request.index });
        return delivered++ % turnEvery === turnEvery - 1 ? turn().then(() => waits) : waits;
      });
    } finally {
      delivering = false;
    }
    if (missing.size === 0) return;
    const byIndex = new Map([...missing.values()].map((entry) => [entry.request.index, entry]));
    try {
      await compute(
        [...missing.values()].map(({ request }) => request),
        {
          ...hooks,
          onResult: async (result) => {
            const entry = byIndex.get(result.index);
            if (!entry) throw new Error(`The engine answered request ${result.index}, which was not asked.`);
            const { index: _, ...response } = result;
            // JSON has no infinite numbers: such a response is computed anew.
            if (isFinitely(response)) disk.put(entry.key, response);
            counts.computed++;
            await hooks.onResult(result);
            for (const index of entry.others) await hooks.onResult({ ...result, index });
          },
        },
      );
    } finally {
      // Also what was finished before a stop.
      disk.flush();
    }
  }

  const generate = (
    requests: readonly GenerationRequest[],
    settings: GenerationSettings,
    hooks: Hooks<GenerationResult>,
  ): Promise<void> => {
    const keyOf = generationKeys(context, settings);
    if (keyOf) return through(requests, keyOf, isGeneration, hooks, (rest, own) => model.generate(rest, settings, own));
    return model.generate(requests, settings, {
      ...hooks,
      onResult: (result) => {
        counts.computed++;
        return hooks.onResult(result);
      },
    });
  };
  const logLikelihood = (
    requests: readonly LogLikelihoodRequest[],
    settings: Parameters<LanguageModel['logLikelihood']>[1],
    hooks: Hooks<LogLikelihoodResult>,
  ): Promise<void> =>
    through(requests, logLikelihoodKeys(context, settings), isLogLikelihood, hooks, (rest, own) =>
      model.logLikelihood(rest, settings, own),
    );

  return {
    model: overlaid(model, { generate, logLikelihood }),
    counts: () => ({ ...counts }),
    get isDelivering() {
      return delivering;
    },
    problems: () => problems,
    close: () => disk.close(),
  };
}

function isFinitely(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isFinitely);
  return typeof value !== 'object' || value === null || Object.values(value).every(isFinitely);
}

const isNumbers = (value: unknown): boolean =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'number');
const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

function isGeneration(value: unknown): boolean {
  const { tokens, text, stop, logProbabilities } = fieldsOf(value);
  const { reason } = fieldsOf(stop);
  return isNumbers(tokens) && isNumbers(logProbabilities) && typeof text === 'string' && typeof reason === 'string';
}

function isLogLikelihood(value: unknown): boolean {
  const { tokens, sum, greedy } = fieldsOf(value);
  return isNumbers(tokens) && typeof sum === 'number' && typeof greedy === 'boolean';
}

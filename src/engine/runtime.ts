/** ONNX Runtime: loaded at its first use, execution provider chosen and reported, sessions over weights left in place. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import type * as OnnxRuntime from 'onnxruntime-node';
import { encodeOnnx, Graph, type OnnxModel } from '../onnx/index.ts';
import { asError, HumanError } from '../shared/errors.ts';
import type { EngineSettings } from '../shared/protocol.ts';
import type { ProviderReport } from '../shared/results.ts';

export type Ort = typeof OnnxRuntime;
export type Session = OnnxRuntime.InferenceSession;
export type OrtTensor = OnnxRuntime.Tensor;

let loading: Promise<Ort> | null = null;

/** The library, loaded once. Throws HumanError('engine') where this machine has no build of it. */
export function loadOnnxRuntime(): Promise<Ort> {
  loading ??= import('onnxruntime-node').then(
    // In a bundle the CommonJS module may stand under `default`.
    (module) => ((module as { default?: Ort }).default ?? module) as Ort,
    (error) => {
      loading = null;
      throw new HumanError('engine', `ONNX Runtime cannot be loaded here: ${asError(error).message}`, {
        todo: 'Install the build of Softbench that is made for this platform.',
        cause: error,
      });
    },
  );
  return loading;
}

/** The library's version, for run.json. */
export async function onnxRuntimeVersion(): Promise<string> {
  return (await loadOnnxRuntime()).env.versions.node ?? (await loadOnnxRuntime()).env.versions.common;
}

/** Cores that do arithmetic: hyper-threads share one, so they are counted once. */
export function physicalCores(): number {
  const usable = availableParallelism();
  try {
    const cores = new Set<string>();
    let socket = '0';
    for (const line of readFileSync('/proc/cpuinfo', 'utf8').split('\n')) {
      const [key, value] = line.split(':').map((part) => part.trim());
      if (key === 'physical id') socket = value ?? '0';
      if (key === 'core id') cores.add(`${socket}/${value}`);
    }
    if (cores.size) return Math.min(cores.size, usable);
  } catch {
    // Not Linux: below.
  }
  // Other systems do not say it without a native call. Apple's cores have no hyper-threads; elsewhere two are usual.
  return process.platform === 'darwin' ? usable : Math.max(1, Math.ceil(usable / 2));
}

type ProviderName = Exclude<EngineSettings['executionProvider'], 'auto'>;

/** What each provider needs, and what a person can do where it is missing. */
const providers: Record<ProviderName, { platforms: string[]; libraries: string[]; todo: string }> = {
  cpu: { platforms: [], libraries: [], todo: '' },
  cuda: {
    platforms: ['linux/x64'],
    libraries: ['libonnxruntime_providers_shared.so', 'libonnxruntime_providers_cuda.so'],
    todo: 'Put the CUDA provider libraries of ONNX Runtime beside libonnxruntime (with CUDA 12 and cuDNN 9 installed), or set softbench.executionProvider to auto or cpu.',
  },
  dml: { platforms: ['win32/x64', 'win32/arm64'], libraries: [], todo: 'DirectML runs on Windows only.' },
  coreml: { platforms: ['darwin/arm64', 'darwin/x64'], libraries: [], todo: 'CoreML runs on macOS only.' },
  webgpu: { platforms: [], libraries: [], todo: 'Set softbench.executionProvider to auto or cpu.' },
};

const platform = `${process.platform}/${process.arch}`;

/** Where the native library of this platform lies; null in surroundings without module resolution. */
function libraryFolder(): string | null {
  try {
    const require = createRequire(import.meta.url);
    return join(
      dirname(require.resolve('onnxruntime-node/package.json')),
      'bin',
      'napi-v6',
      process.platform,
      process.arch,
    );
  } catch {
    return null;
  }
}

/** Why a provider cannot work here, or null where nothing speaks against trying it. */
function obstacle(name: ProviderName): string | null {
  const { platforms, libraries } = providers[name];
  if (platforms.length && !platforms.includes(platform)) return `there is no ${name} provider for ${platform}`;
  const folder = libraryFolder();
  const missing = folder ? libraries.filter((file) => !existsSync(join(folder, file))) : [];
  return missing.length ? `its libraries are not installed (${missing.join(', ')})` : null;
}

/** A model of one node: tells whether a session can be made with a provider at all. */
function probe(): Uint8Array {
  const graph = new Graph();
  graph.name = 'probe';
  graph.inputs = [{ name: 'x', dtype: 'float32', dims: [1] }];
  graph.outputs = [{ name: 'y', dtype: 'float32', dims: [1] }];
  graph.add('Identity', ['x'], { outputs: ['y'] });
  return encodeOnnx({
    irVersion: 8,
    producer: 'softbench',
    producerVersion: '',
    opsets: new Map([['', 13]]),
    metadata: new Map(),
    graph,
    functions: [],
  });
}

async function canOpen(ort: Ort, name: ProviderName): Promise<string | null> {
  const reason = obstacle(name);
  if (reason) return reason;
  if (name === 'cpu') return null;
  try {
    const session = await ort.InferenceSession.create(probe(), { executionProviders: [name] });
    await session.release();
    return null;
  } catch (error) {
    return `ONNX Runtime could not open it (${asError(error).message.split('\n')[0]})`;
  }
}

/**
 * Which provider runs, and why. `auto` never fails; a provider asked for by name that cannot work is
 * HumanError('engine') with what to do.
 */
export async function chooseProvider(settings: EngineSettings): Promise<ProviderReport> {
  const ort = await loadOnnxRuntime();
  const asked = settings.executionProvider;
  const threads = settings.threads > 0 ? settings.threads : physicalCores();
  if (asked === 'auto') {
    const reason = await canOpen(ort, 'cuda');
    return reason === null
      ? { asked, running: 'cuda', reason: 'A CUDA device and its provider libraries are there.', threads }
      : { asked, running: 'cpu', reason: `CUDA is not used: ${reason}.`, threads };
  }
  if (!(asked in providers))
    throw new HumanError('bad-input', `"${asked}" is not an execution provider.`, {
      todo: `Choose auto, ${Object.keys(providers).join(', ')}.`,
    });
  const reason = await canOpen(ort, asked);
  if (reason !== null)
    throw new HumanError('engine', `The execution provider "${asked}" cannot run here: ${reason}.`, {
      todo: providers[asked].todo,
    });
  return { asked, running: asked, reason: 'As set.', threads };
}

export interface SessionSettings {
  provider: ProviderReport;
  /** Folder that the locations of external weights are relative to. */
  weightFolder: string;
  /** Re-order weights for faster products: a private copy of them all. See docs/architecture.md, "Engine". */
  prepack?: boolean;
  /** Session options on top of the usual ones. */
  options?: OnnxRuntime.InferenceSession.SessionOptions;
}

/** Makes a session of an edited graph whose weights stay in the user's files. */
export async function createSession(model: OnnxModel, settings: SessionSettings): Promise<Session> {
  const ort = await loadOnnxRuntime();
  const { provider, weightFolder, prepack = false, options } = settings;
  try {
    return await ort.InferenceSession.create(encodeOnnx(model), {
      executionProviders: [provider.running],
      intraOpNumThreads: provider.threads,
      interOpNumThreads: 1,
      logSeverityLevel: 3,
      ...options,
      extra: {
        session: {
          model_external_initializers_file_folder_path: weightFolder,
          ...(prepack ? {} : { disable_prepacking: '1' }),
        },
      },
    });
  } catch (error) {
    throw new HumanError('engine', `ONNX Runtime does not accept this model: ${asError(error).message}`, {
      todo: 'Export the model again with a current exporter, or report the message.',
      cause: error,
    });
  }
}

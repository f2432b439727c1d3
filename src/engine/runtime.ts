/** Sessions of edited graphs over weights left in place, with the options that the running provider needs. */
import type * as OnnxRuntime from 'onnxruntime-node';
import { encodeOnnx, type OnnxModel } from '../onnx/index.ts';
import { asError, HumanError } from '../shared/errors.ts';
import type { NodePlacement, ProviderReport } from '../shared/results.ts';
import { loadOnnxRuntime } from './binding.ts';
import { Profile } from './placement.ts';
import { providerOf } from './providers.ts';

export { loadOnnxRuntime, type Ort, onnxRuntimeVersion } from './binding.ts';
export { chooseProvider, providerStatuses } from './providers.ts';
export { physicalCores } from './threads.ts';

export type Session = OnnxRuntime.InferenceSession;
export type OrtTensor = OnnxRuntime.Tensor;
type SessionOptions = OnnxRuntime.InferenceSession.SessionOptions;

export interface SessionSettings {
  provider: ProviderReport;
  /** Folder that the locations of external weights are relative to. */
  weightFolder: string;
  /** Re-order weights for faster products: a private copy of them all. See docs/architecture.md, "Engine". */
  prepack?: boolean;
  /** Session options on top of the usual ones. */
  options?: SessionOptions;
  /**
   * Where given, the first run of the session is profiled and this is told which nodes ran on the CPU. Off on the CPU
   * itself, where all do.
   */
  placement?: PlacementSettings;
}

export interface PlacementSettings {
  graph: NodePlacement['graph'];
  report(placement: NodePlacement): void;
  /** On the CPU provider too. */
  always?: boolean;
}

/**
 * What ONNX Runtime says, for people: without the places in its source, on one line, ended by a full stop. The error
 * itself stays the cause.
 */
export function runtimeWords(error: unknown): string {
  const words = asError(error)
    // `/onnxruntime_src/…/model.cc:202 onnxruntime::Model::Model(…) Unsupported model IR version`
    .message.replace(/\/?(?:[\w.-]+\/)*[\w.-]+\.(?:cc|cpp|h|hpp|cu|cuh):\d+ (?:[^\n]*::[^\n]*?\) (?=[A-Z!]))?/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return /[.!?]$/.test(words) ? words : `${words}.`;
}

/** Makes a session of an edited graph whose weights stay in the user's files. */
export async function createSession(model: OnnxModel, settings: SessionSettings): Promise<Session> {
  const ort = await loadOnnxRuntime();
  const { provider, placement } = settings;
  const profile = placement && (placement.always || provider.running !== 'cpu') ? openProfile() : null;
  let session: Session;
  try {
    session = await ort.InferenceSession.create(encodeOnnx(model), {
      ...sessionOptions(settings),
      executionProviders: [providerFor(model, provider)],
      ...profile?.options,
    });
  } catch (error) {
    profile?.remove();
    throw new HumanError('engine', `ONNX Runtime does not accept this model: ${runtimeWords(error)}`, {
      todo: 'Export the model again with a current exporter, or report the message.',
      cause: error,
    });
  }
  if (profile && placement) reportFirstRun(session, profile, placement);
  return session;
}

/**
 * The provider with the nodes of the graph that it must leave to the CPU. Nodes without a name get one: that is how they
 * are told apart.
 */
function providerFor(model: OnnxModel, provider: ProviderReport): OnnxRuntime.InferenceSession.ExecutionProviderConfig {
  const { wrong } = providerOf(provider);
  const nodes = wrong ? model.graph.nodes.filter(wrong) : [];
  if (!nodes.length) return provider.running;
  for (const [at, node] of nodes.entries()) node.name ||= `softbench_on_cpu_${at}`;
  // WebGPU's options in the binding of Node are those of its native provider.
  const options = { name: provider.running, forceCpuNodeNames: nodes.map(({ name }) => name) };
  return options as OnnxRuntime.InferenceSession.ExecutionProviderConfig;
}

/** What a session is created with. */
export function sessionOptions({ provider, weightFolder, prepack = false, options }: SessionSettings): SessionOptions {
  const row = providerOf(provider);
  return {
    executionProviders: [provider.running],
    intraOpNumThreads: provider.threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
    ...options,
    ...row.options,
    extra: {
      ...row.configuration,
      ...options?.extra,
      session: {
        // Products with dequantised weights may be joined into one operator, which by default would quantise the
        // activations too; the file does not say so.
        qdq_matmulnbits_accuracy_level: '1',
        ...(options?.extra?.session as Record<string, unknown> | undefined),
        model_external_initializers_file_folder_path: weightFolder,
        ...(prepack ? {} : { disable_prepacking: '1' }),
      },
    },
  };
}

/** Null where no temporary file can be made: a run must not fail for a report. */
function openProfile(): Profile | null {
  try {
    return new Profile();
  } catch {
    return null;
  }
}

/** Ends profiling after the first run, and reports. */
function reportFirstRun(session: Session, profile: Profile, placement: PlacementSettings): void {
  let open = true;
  const end = (): void => {
    if (!open) return;
    open = false;
    session.endProfiling();
    const found = profile.read(placement.graph);
    if (found?.nodes) placement.report(found);
  };
  // Callers see one session, whatever stands in front of its calls.
  const put = (name: 'run' | 'release', value: unknown): void => {
    Object.defineProperty(session, name, { value, configurable: true });
  };
  const run = session.run.bind(session) as (...given: unknown[]) => Promise<unknown>;
  put('run', async (...given: unknown[]) => {
    try {
      return await run(...given);
    } finally {
      end();
    }
  });
  const release = session.release.bind(session);
  put('release', async () => {
    end();
    await release();
  });
}

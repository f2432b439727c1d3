/** Execution providers: what each needs, how graphs are cut for it, and which one runs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type * as OnnxRuntime from 'onnxruntime-node';
import type { GraphNode } from '../onnx/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { EngineSettings, ProviderStatus } from '../shared/protocol.ts';
import type { ProviderReport } from '../shared/results.ts';
import { loadOnnxRuntime, nativeFolder, platform, runtimePlace } from './binding.ts';
import { type Obstacle, probe } from './probe.ts';
import { physicalCores } from './threads.ts';

export type ProviderName = Exclude<EngineSettings['executionProvider'], 'auto'>;

export interface Provider {
  title: string;
  /** `process.platform/process.arch`; empty: everywhere. */
  platforms: string[];
  /** Files that must lie beside libonnxruntime. */
  libraries: string[];
  /** The package of src/libraries that has them. */
  package: string | null;
  /** Whether `auto` takes it where it works. Only what is known to be worth it: see docs/providers.md. */
  automatic: boolean;
  /**
   * `few`: batches, lengths and places of the cache come from few sizes. A device's arena keeps what every new shape has
   * asked for, and onnxruntime-node passes on neither the provider's arena options (of CUDA's, the device number alone)
   * nor the run option that would shrink it; and some providers compile kernels for each shape.
   */
  shapes: 'many' | 'few';
  /**
   * Training graphs held compiled at a time. On a device each has a copy of the weights of its own: three are one for
   * steps, one for the loss of held-out items, and one for another length.
   */
  mostTrainingSessions: number;
  /** Session options that the provider needs, and entries of ONNX Runtime's session configuration. */
  options: OnnxRuntime.InferenceSession.SessionOptions;
  configuration: Record<string, string>;
  /** Whether its kernels take tensors without entries. WebGPU's reductions refuse them, and its products crash (1.30.0). */
  emptyTensors: boolean;
  /** Nodes that its kernels compute wrongly: they are left to the CPU. */
  wrong?(node: GraphNode): boolean;
  /** Whether onnxruntime-node can leave outputs on the device and take them as inputs (location `gpu-buffer`). */
  keepsOutputs: boolean;
  /** Where it cannot run. */
  todo: string;
}

const choose = 'Set the execution provider (softbench.executionProvider, --provider) to auto or cpu.';

/** A device of which nothing is known: rows say what is. */
const unknownDevice: Omit<Provider, 'title'> = {
  platforms: [],
  libraries: [],
  package: null,
  automatic: false,
  shapes: 'few',
  mostTrainingSessions: 3,
  options: {},
  configuration: {},
  emptyTensors: false,
  keepsOutputs: false,
  todo: choose,
};

export const providers: Record<ProviderName, Provider> = {
  cuda: {
    ...unknownDevice,
    title: 'CUDA',
    platforms: ['linux/x64'],
    libraries: ['libonnxruntime_providers_shared.so', 'libonnxruntime_providers_cuda.so'],
    package: 'cuda',
    automatic: true,
    configuration: {
      // Weights get memory of exactly their size, outside of the arena, which grows by powers of two.
      'session.use_device_allocator_for_initializers': '1',
    },
    emptyTensors: true,
    // The binding recognises outputs on a device by the name of WebGPU's allocator alone: keepsOutputs stays false.
  },
  webgpu: {
    ...unknownDevice,
    title: 'WebGPU',
    // Its second output is the mean in place of the inverse deviation (1.30.0): a gradient would be wrong without a word.
    wrong: ({ operator, outputs }) =>
      (operator === 'SimplifiedLayerNormalization' && Boolean(outputs[1])) ||
      (operator === 'SkipSimplifiedLayerNormalization' && Boolean(outputs[1] || outputs[2])),
    keepsOutputs: true,
  },
  dml: {
    ...unknownDevice,
    title: 'DirectML',
    platforms: ['win32/x64', 'win32/arm64'],
    // DirectML takes neither: https://onnxruntime.ai/docs/execution-providers/DirectML-ExecutionProvider.html
    options: { enableMemPattern: false, executionMode: 'sequential' },
    todo: `DirectML runs on Windows only. ${choose}`,
  },
  coreml: {
    ...unknownDevice,
    title: 'Core ML',
    platforms: ['darwin/arm64', 'darwin/x64'],
    todo: `Core ML runs on macOS only. ${choose}`,
  },
  cpu: {
    title: 'CPU',
    platforms: [],
    libraries: [],
    package: null,
    automatic: true,
    shapes: 'many',
    // Making one anew costs about a fifth of a step; keeping one costs some 30 MB (135M parameters), the mapped weights
    // being the same pages in all of them.
    mostTrainingSessions: 8,
    options: {},
    configuration: {},
    emptyTensors: true,
    keepsOutputs: false,
    todo: '',
  },
};

const names = Object.keys(providers) as ProviderName[];

/** The row of the provider that a report says is running. */
export function providerOf({ running }: ProviderReport): Provider {
  return providers[running as ProviderName] ?? providers.cpu;
}

/** What can be told without trying. */
function knownObstacle(name: ProviderName): Obstacle | null {
  const { platforms, libraries, todo, package: from } = providers[name];
  if (platforms.length && !platforms.includes(platform)) return { reason: `there is none for ${platform}`, todo };
  const { module, problem } = runtimePlace();
  const missing = module ? libraries.filter((file) => !existsSync(join(nativeFolder(module), file))) : [];
  if (!missing.length) return null;
  const install = from
    ? `Run "softbench providers install ${from}" (in VS Code: Softbench: Install GPU Libraries), or ${choose[0]?.toLowerCase()}${choose.slice(1)}`
    : todo;
  if (problem) return { reason: problem.replace(/\.$/, ''), todo: install };
  return { reason: `its libraries are not installed (${missing.join(', ')})`, todo: install };
}

/** Trying costs a process that loads a GPU's driver: once a process is enough. */
const tried = new Map<ProviderName, Promise<Obstacle | null>>();

/** Why a provider cannot work here, or null where a session was opened with it and computed right. */
async function obstacleOf(name: ProviderName): Promise<Obstacle | null> {
  if (name === 'cpu') return null;
  const known = knownObstacle(name);
  const { module } = runtimePlace();
  if (known || !module) return known;
  const attempt = tried.get(name) ?? probe(module, name);
  tried.set(name, attempt);
  return attempt;
}

/**
 * Which provider runs, and why. `auto` never fails; a provider asked for by name that cannot work is
 * HumanError('engine') with what to do.
 */
export async function chooseProvider(settings: EngineSettings): Promise<ProviderReport> {
  await loadOnnxRuntime();
  const asked = settings.executionProvider;
  const threads = settings.threads > 0 ? settings.threads : physicalCores();
  if (asked === 'auto') {
    const others: NonNullable<ProviderReport['others']> = [];
    for (const name of names.filter((one) => providers[one].automatic)) {
      const obstacle = await obstacleOf(name);
      if (!obstacle) {
        const reason = others.length
          ? `${others.map((other) => `${providers[other.name as ProviderName].title} is not used: ${other.reason}`).join('; ')}.`
          : `${providers[name].title} works here.`;
        return { asked, running: name, reason, threads, others };
      }
      others.push({ name, reason: obstacle.reason });
    }
  }
  if (!names.includes(asked as ProviderName))
    throw new HumanError('bad-input', `"${asked}" is not an execution provider.`, {
      todo: `Choose auto, ${names.join(', ')}.`,
    });
  const name = asked as ProviderName;
  const obstacle = await obstacleOf(name);
  if (obstacle)
    throw new HumanError('engine', `The execution provider "${asked}" cannot run here: ${obstacle.reason}.`, {
      todo: obstacle.todo || providers[name].todo,
    });
  return { asked, running: name, reason: 'As set.', threads };
}

/** All providers, each tried: what runs here, and why the others do not. */
export async function providerStatuses(): Promise<ProviderStatus[]> {
  await loadOnnxRuntime();
  const statuses: ProviderStatus[] = [];
  // One after the other: two drivers that begin at once tell less when one fails.
  for (const name of names) {
    const obstacle = await obstacleOf(name);
    const { title, automatic } = providers[name];
    statuses.push({
      name,
      title,
      runs: obstacle === null,
      automatic,
      reason: obstacle?.reason ?? null,
      todo: obstacle ? obstacle.todo || providers[name].todo : null,
    });
  }
  return statuses;
}

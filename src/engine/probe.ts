/**
 * Whether ONNX Runtime can open a session with a provider, tried in a process of its own: a driver that crashes takes
 * only that one with it, and what the library writes to its error output can be read. That is where it says what is
 * missing; the error that reaches JavaScript is "Failed to load shared library".
 */
import { execFile } from 'node:child_process';
import { encodeOnnx, Graph, modelOf } from '../onnx/index.ts';

export interface Obstacle {
  /** A clause: `there is no NVIDIA driver`. */
  reason: string;
  /** A sentence; empty where there is nothing to do. */
  todo: string;
}

/** The first use of a GPU may compile kernels for it. */
const patience = 180_000;

/** Arguments: the package's folder, the provider, the model in base64. Prints one line of JSON. */
const script = `
const [folder, provider, model] = process.argv.slice(1);
(async () => {
  const { InferenceSession, Tensor } = require(folder);
  const session = await InferenceSession.create(Buffer.from(model, 'base64'), { executionProviders: [provider] });
  const { y } = await session.run({ x: new Tensor('float32', [1, 2], [2]) });
  if (y.data[1] !== 4) throw new Error('it computes 2 + 2 = ' + y.data[1]);
})().then(
  () => console.log(JSON.stringify({ ok: true })),
  (error) => console.log(JSON.stringify({ ok: false, message: String(error.message ?? error) })),
);`;

/** y = x + x: one product of the provider's own arithmetic. */
function probeModel(): Uint8Array {
  const graph = new Graph();
  graph.name = 'probe';
  graph.inputs = [{ name: 'x', dtype: 'float32', dims: [2] }];
  graph.outputs = [{ name: 'y', dtype: 'float32', dims: [2] }];
  graph.add('Add', ['x', 'x'], { outputs: ['y'] });
  return encodeOnnx(modelOf(graph, 13));
}

/** Null where the provider works. `module`: folder of the package onnxruntime-node. */
export function probe(module: string, provider: string): Promise<Obstacle | null> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['-e', script, module, provider, Buffer.from(probeModel()).toString('base64')],
      { env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' }, timeout: patience, killSignal: 'SIGKILL' },
      (error, stdout, stderr) => {
        const answer = lastJson(stdout);
        if (answer?.ok) resolve(null);
        else if (answer) resolve(explain(provider, answer.message ?? '', stderr));
        else
          resolve({
            reason: error?.killed
              ? `it did not answer within ${patience / 60_000} minutes`
              : `the process that tried it ended with ${error?.signal ?? `code ${error?.code}`}${lastLine(stderr)}`,
            todo: "Update the GPU's driver.",
          });
      },
    );
  });
}

function lastJson(text: string): { ok: boolean; message?: string } | null {
  try {
    return JSON.parse(text.trim().split('\n').at(-1) ?? '') as { ok: boolean; message?: string };
  } catch {
    return null;
  }
}

const lastLine = (text: string): string => {
  const line = text.trim().split('\n').at(-1)?.trim();
  return line ? ` (${line})` : '';
};

const driver580 = "Install NVIDIA's driver of series 580 or newer (CUDA 13 needs it).";
const installRuntime =
  'Run "softbench providers install cuda-runtime" (in VS Code: Softbench: Install GPU Libraries), or install CUDA 13 and cuDNN 9 of NVIDIA.';

/** Numbers of `cudaError`, from NVIDIA's CUDA Runtime API reference. */
const cudaErrors: Record<string, Obstacle> = {
  2: { reason: 'the GPU has no memory left', todo: 'Close other programs that use it.' },
  35: { reason: "NVIDIA's driver is older than CUDA 13 needs", todo: driver580 },
  36: { reason: "NVIDIA's driver is older than CUDA 13 needs", todo: driver580 },
  100: {
    reason: 'no NVIDIA GPU is visible here',
    todo: 'Look whether nvidia-smi lists it, and at CUDA_VISIBLE_DEVICES; a container needs --gpus all.',
  },
  101: { reason: 'there is no GPU of that number', todo: 'Look at CUDA_VISIBLE_DEVICES.' },
  803: {
    reason: "NVIDIA's driver and its libraries are of different versions",
    todo: 'Restart the machine after an update of the driver.',
  },
  804: { reason: "this GPU is not supported by the driver's compatibility mode", todo: driver580 },
};

/** What is known to be said, and what it means. The first that matches counts. */
const meanings: { pattern: RegExp; means(match: RegExpExecArray): Obstacle }[] = [
  {
    pattern: /Failed to load library \S+ with error: (?:\S+: )?(lib[\w.+-]+): cannot open shared object file/,
    means: ([, library = '']) =>
      /^libcuda\.so/.test(library)
        ? {
            reason: `there is no NVIDIA driver (${library})`,
            todo: `${driver580} A container needs --gpus all.`,
          }
        : /^lib(cublas|cublasLt|cudart|curand|cufft|nvrtc|cudnn)/.test(library)
          ? {
              reason: `CUDA 13 is not installed, or the system's loader does not find it (${library})`,
              todo: installRuntime,
            }
          : {
              reason: `a library is missing (${library})`,
              todo: `Install the package of your system that has ${library}.`,
            },
  },
  {
    pattern: /Failed to load library (\S+) with error: .*cannot open shared object file/,
    means: ([, library = '']) => ({
      reason: `its library is not there (${library})`,
      todo: 'Install it again: "softbench providers install cuda".',
    }),
  },
  {
    pattern: /version `(GLIBC\w*_[\d.]+)' not found/,
    means: ([, version]) => ({
      reason: `this system is too old for the library (it has no ${version})`,
      todo: 'Use a newer system, or the CPU.',
    }),
  },
  {
    pattern: /Failed to load library (\S+) with error: \S+: (invalid ELF header|file too short|.*wrong ELF class\S*)/,
    means: ([, library = '', how]) => ({
      reason: `its library is damaged (${library}: ${how})`,
      todo: 'Install it again: "softbench providers remove cuda", then "softbench providers install cuda".',
    }),
  },
  {
    pattern: /Failed to load library (\S+) with error: ([^\n]+)/,
    means: ([, library = '', how]) => ({ reason: `its library cannot be loaded (${library}: ${how})`, todo: '' }),
  },
  {
    pattern: /CUDA failure (\d+): ([^;]+?) ;/,
    means: ([, number = '', words]) =>
      cudaErrors[number] ?? { reason: `CUDA says: ${words} (error ${number})`, todo: "Update NVIDIA's driver." },
  },
  {
    pattern: /Couldn't load Vulkan: (\S+?):/,
    means: ([, library]) => ({
      reason: `there is no Vulkan on this system (${library})`,
      todo: "Install Vulkan's loader (libvulkan1, vulkan-loader) and your GPU's Vulkan driver.",
    }),
  },
  {
    pattern: /Failed to get a WebGPU adapter: ([^\n]+)/,
    means: ([, words]) => ({
      reason: `WebGPU found no GPU that it can use (${words})`,
      todo: "Install your GPU's current driver (on Linux: its Vulkan driver).",
    }),
  },
  {
    pattern: /backend not found/,
    means: () => ({ reason: 'this build of ONNX Runtime does not have it', todo: '' }),
  },
];

/** The library's words as a reason and an advice. */
export function explain(provider: string, message: string, errorOutput: string): Obstacle {
  // Terminal colours and C++ signatures say nothing to a person.
  const colour = String.fromCharCode(27);
  const text = `${errorOutput}\n${message}`.replaceAll(new RegExp(`${colour}\\[[\\d;]*m`, 'g'), '');
  for (const { pattern, means } of meanings) {
    const match = pattern.exec(text);
    if (match) return means(match);
  }
  const first = message.trim().split('\n')[0] || `no session could be opened with ${provider}`;
  return { reason: `ONNX Runtime says: ${first}`, todo: '' };
}

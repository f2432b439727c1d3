/**
 * Weights in the order that products with few rows want, kept on disk. ONNX Runtime re-orders ("packs") weights when a
 * session is created, into private memory: half a gigabyte and two seconds for a model of 135M parameters, each time.
 * It can also write the optimised graph with its packed weights to a file, and a session of that file maps them: no
 * private copy, and pages that every session and process shares. So they are written once for each model, graph edit,
 * version of ONNX Runtime and processor, into a folder of bounded size.
 */
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { cpus, homedir } from 'node:os';
import { join } from 'node:path';
import { bytesOf, encodeOnnx, type Graph, type OnnxModel } from '../onnx/index.ts';
import { sha256 } from '../system/index.ts';
import {
  createSession,
  loadOnnxRuntime,
  onnxRuntimeVersion,
  type Session,
  type SessionSettings,
  sessionOptions,
} from './runtime.ts';

/** Names the folder for people who keep it elsewhere; "off": weights are packed in memory. */
const cacheVariable = 'SOFTBENCH_CACHE';

export interface PackedWeightsLimits {
  /** Folder that packed weights are kept in; null: nowhere. */
  folder: string | null;
  /** Bytes of weights from which keeping them is worth a file. */
  smallest: number;
  /** Bytes that all of it may take up. */
  most: number;
}

/** The folder that packed weights are kept in: as the environment says, else where this system keeps caches. */
export function packedFolder(environment: NodeJS.ProcessEnv = process.env, platform = process.platform): string | null {
  const { [cacheVariable]: given, XDG_CACHE_HOME, LOCALAPPDATA } = environment;
  if (given === 'off') return null;
  const home = homedir();
  if (given) return join(given, 'packed');
  if (platform === 'win32') return join(LOCALAPPDATA || join(home, 'AppData', 'Local'), 'softbench', 'packed');
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'softbench', 'packed');
  return join(XDG_CACHE_HOME || join(home, '.cache'), 'softbench', 'packed');
}

const usualLimits = (): PackedWeightsLimits => ({ folder: packedFolder(), smallest: 64e6, most: 8e9 });

/** What the file has beside the packed weights: the others, and what ONNX Runtime pads. Measured: 2.21 of the weights. */
const sizeFactor = 2.3;
const [graphName, weightsName] = ['graph.onnx', 'weights.bin'];
/** Folders that are being written; older ones were left by a process that ended. */
const partSuffix = '.part';
const partMilliseconds = 3_600_000;

/** What cannot be removed (a file that another process has mapped, on Windows) stays for the next time. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {}
}

/** External data of a graph: file → bytes used. */
function externalBytes(graph: Graph, found = new Map<string, number>()): Map<string, number> {
  for (const { external, dtype, dims } of graph.initializers.values())
    if (external) found.set(external.location, (found.get(external.location) ?? 0) + bytesOf(dtype, dims));
  for (const node of graph.nodes) for (const inner of node.subgraphs()) externalBytes(inner, found);
  return found;
}

/** What decides how packed weights look: which kernels run. */
function processor(): string {
  let flags = '';
  try {
    flags = /^(?:flags|Features)\s*:.*$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[0] ?? '';
  } catch {
    // Not Linux.
  }
  return [process.platform, process.arch, cpus()[0]?.model ?? '', flags].join('/');
}

/** A model whose weights are, or can be, packed on disk. */
export class PackedWeights {
  private constructor(
    private readonly settings: SessionSettings,
    private readonly limits: PackedWeightsLimits,
    private readonly root: string,
    private readonly folder: string,
    private readonly weightBytes: number,
  ) {}

  /**
   * Null where the weights are few, too many or quantised, or the provider does not pack them. `form`: what is done to
   * the model before it is written; another one makes another file.
   */
  static async of(
    model: OnnxModel,
    form: string,
    settings: SessionSettings,
    limits: PackedWeightsLimits = usualLimits(),
  ): Promise<PackedWeights | null> {
    if (settings.provider.running !== 'cpu' || limits.folder === null) return null;
    // ONNX Runtime multiplies by weights of few bits only where a session packs them, and from their packed form alone.
    if (model.graph.nodes.some(({ operator }) => operator === 'MatMulNBits')) return null;
    const files = externalBytes(model.graph);
    const total = [...files.values()].reduce((sum, bytes) => sum + bytes, 0);
    if (total < limits.smallest || total * sizeFactor > limits.most) return null;
    const stamps = [...files.keys()].sort().map((location) => {
      const { size, mtimeMs } = statSync(join(settings.weightFolder, location));
      return [join(settings.weightFolder, location), size, mtimeMs];
    });
    const made = [sha256(encodeOnnx(model)), form, stamps, await onnxRuntimeVersion(), processor()];
    const folder = join(limits.folder, sha256(JSON.stringify(made)).slice(0, 32));
    return new PackedWeights(settings, limits, limits.folder, folder, total);
  }

  /** A session over the packed weights on disk; null where they are not there. */
  async open(): Promise<Session | null> {
    const graph = join(this.folder, graphName);
    if (!existsSync(graph)) return null;
    const ort = await loadOnnxRuntime();
    try {
      const session = await ort.InferenceSession.create(graph, {
        ...sessionOptions({ ...this.settings, weightFolder: this.folder, prepack: true }),
        // It was optimised when it was written.
        graphOptimizationLevel: 'disabled',
      });
      const now = new Date();
      utimesSync(this.folder, now, now);
      return session;
    } catch {
      // Damaged, or not this process's to read: made again.
      remove(this.folder);
      return null;
    }
  }

  /** A session of the formed model over packed weights: on disk where that is possible, else in memory. */
  async session(model: OnnxModel): Promise<Session> {
    const kept = (await this.open()) ?? (await this.#make(model));
    return kept ?? createSession(model, { ...this.settings, prepack: true });
  }

  /** Writes the packed weights, and gives a session over them; null where they cannot be written. */
  async #make(model: OnnxModel): Promise<Session | null> {
    const part = `${this.folder}.${randomUUID().slice(0, 8)}${partSuffix}`;
    try {
      mkdirSync(part, { recursive: true });
      this.#makeRoom();
      const { bavail, bsize } = statfsSync(part);
      if (this.weightBytes * sizeFactor * 1.5 > bavail * bsize) return null;
      await this.#write(model, part);
      renameSync(part, this.folder);
    } catch {
      // No place, or another process was faster: then its files serve.
    } finally {
      remove(part);
    }
    return this.open();
  }

  async #write(model: OnnxModel, part: string): Promise<void> {
    const ort = await loadOnnxRuntime();
    const options = sessionOptions({ ...this.settings, prepack: true });
    const session = await ort.InferenceSession.create(encodeOnnx(model), {
      ...options,
      optimizedModelFilePath: join(part, graphName),
      extra: {
        ...options.extra,
        session: {
          ...(options.extra?.session as Record<string, unknown> | undefined),
          optimized_model_external_initializers_file_name: weightsName,
          optimized_model_external_initializers_min_size_in_bytes: '1024',
          save_external_prepacked_constant_initializers: '1',
        },
      },
    });
    await session.release();
  }

  /** Removes what was longest unused, until this model fits in. */
  #makeRoom(): void {
    const entries = readdirSync(this.root).map((name) => {
      const folder = join(this.root, name);
      const { mtimeMs } = statSync(folder);
      const bytes = readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
      return { folder, mtimeMs, bytes, part: name.endsWith(partSuffix) };
    });
    let left = this.limits.most - this.weightBytes * sizeFactor;
    for (const { folder, mtimeMs, bytes, part } of entries.sort((a, b) => b.mtimeMs - a.mtimeMs)) {
      if (part && Date.now() - mtimeMs < partMilliseconds) continue;
      left -= bytes;
      if (part || left < 0) remove(folder);
    }
  }
}

/**
 * Which ONNX Runtime is loaded, and from where. It looks for the libraries of its providers only in the folder that
 * libonnxruntime itself lies in (LD_LIBRARY_PATH does not count for them), and the folder of the product may be
 * read-only or gone with the next update. So where provider libraries have been installed, a copy of onnxruntime-node
 * (about 46 MB) is put together beside them, and that one is loaded.
 */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, sep } from 'node:path';
import type * as OnnxRuntime from 'onnxruntime-node';
import { findPackage, librariesFolder, packageState } from '../libraries/index.ts';
import { asError, HumanError } from '../shared/errors.ts';

export type Ort = typeof OnnxRuntime;

export const platform = `${process.platform}/${process.arch}`;

export interface RuntimePlace {
  /** Folder of the package onnxruntime-node that is loaded; null in surroundings without module resolution. */
  module: string | null;
  /** A sentence where installed provider libraries are not used. */
  problem: string | null;
}

/** Folder of the native library of this platform within the package. */
export const nativeFolder = (module: string): string => join(module, 'bin', 'napi-v6', process.platform, process.arch);

/** The onnxruntime-node that came with Softbench. */
function bundledModule(): string | null {
  try {
    return dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json'));
  } catch {
    return null;
  }
}

const versionOf = (module: string): string =>
  (JSON.parse(readFileSync(join(module, 'package.json'), 'utf8')) as { version: string }).version;

let place: RuntimePlace | null = null;

/** Decided once: a process can hold one ONNX Runtime only. */
export function runtimePlace(): RuntimePlace {
  place ??= findRuntime(bundledModule(), librariesFolder());
  return place;
}

/** The runtime to load, given the bundled one and the folder of installed libraries. Makes the copy where it is missing. */
export function findRuntime(bundled: string | null, folder: string): RuntimePlace {
  const cuda = findPackage('cuda');
  if (!bundled || !cuda || cuda.platform !== platform) return { module: bundled, problem: null };
  const { lib, problem } = packageState(folder, cuda);
  if (!lib) return { module: bundled, problem };
  const version = versionOf(bundled);
  if (cuda.onnxruntime !== version)
    return {
      module: bundled,
      problem: `The CUDA provider in ${lib} belongs to ONNX Runtime ${cuda.onnxruntime}; this is ${version}.`,
    };
  try {
    return { module: assemble(bundled, lib, join(dirname(lib), `runtime-${version}`)), problem: null };
  } catch (error) {
    return {
      module: bundled,
      problem: `The CUDA provider in ${lib} is not used: ONNX Runtime could not be copied beside it (${asError(error).message}).`,
    };
  }
}

/** Copies the runtime's packages to `folder` and links the libraries in `lib` beside its native library. */
function assemble(bundled: string, lib: string, folder: string): string {
  const module = join('node_modules', 'onnxruntime-node');
  if (existsSync(folder)) return join(folder, module);
  // Another process may do the same at the same time: each makes its own, one rename wins.
  const making = `${folder}.${process.pid}`;
  rmSync(making, { recursive: true, force: true });
  try {
    const common = packageOf(createRequire(join(bundled, 'package.json')).resolve('onnxruntime-common'));
    for (const [from, name] of [
      [bundled, 'onnxruntime-node'],
      [common, 'onnxruntime-common'],
    ] as const) {
      const to = join(making, 'node_modules', name);
      mkdirSync(to, { recursive: true });
      copyFileSync(join(from, 'package.json'), join(to, 'package.json'));
      cpSync(join(from, 'dist'), join(to, 'dist'), { recursive: true });
    }
    const native = nativeFolder(join(making, module));
    cpSync(nativeFolder(bundled), native, { recursive: true });
    for (const name of readdirSync(lib)) {
      rmSync(join(native, name), { force: true });
      symlinkSync(join(lib, name), join(native, name));
    }
    if (!existsSync(folder)) renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return join(folder, module);
}

/** The package's folder, from a file in it. */
function packageOf(file: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder))
    if (basename(dirname(folder)) === 'node_modules') return folder;
  throw new Error(`${file.split(sep).pop()} lies in no package`);
}

let loading: Promise<Ort> | null = null;

/** The library, loaded once. Throws HumanError('engine') where this machine has no build of it. */
export function loadOnnxRuntime(): Promise<Ort> {
  loading ??= load().catch((error) => {
    loading = null;
    throw new HumanError('engine', `ONNX Runtime cannot be loaded here: ${asError(error).message}`, {
      todo: 'Install the build of Softbench that is made for this platform.',
      cause: error,
    });
  });
  return loading;
}

async function load(): Promise<Ort> {
  const { module } = runtimePlace();
  if (module && module !== bundledModule())
    try {
      return createRequire(join(module, 'package.json'))(module) as Ort;
    } catch (error) {
      place = {
        module: bundledModule(),
        problem: `ONNX Runtime could not be loaded from ${module} (${asError(error).message}).`,
      };
    }
  const loaded = (await import('onnxruntime-node')) as Ort & { default?: Ort };
  // In a bundle the CommonJS module may stand under `default`.
  return loaded.default ?? loaded;
}

/** The library's version, for run.json. */
export async function onnxRuntimeVersion(): Promise<string> {
  const { versions } = (await loadOnnxRuntime()).env;
  return versions.node ?? versions.common;
}

/** Where provider libraries are kept, and what of them is there. */
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type LibraryPackage, libraryPackages } from './packages.ts';

/** Names the folder for the worker, and for people who keep it elsewhere. */
export const folderVariable = 'SOFTBENCH_LIBRARIES';

/** The folder that provider libraries are kept in: as the environment says, else where this system keeps such data. */
export function librariesFolder(environment: NodeJS.ProcessEnv = process.env, platform = process.platform): string {
  const { [folderVariable]: given, XDG_DATA_HOME, LOCALAPPDATA } = environment;
  if (given) return given;
  const home = homedir();
  if (platform === 'win32') return join(LOCALAPPDATA || join(home, 'AppData', 'Local'), 'softbench', 'libraries');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'softbench', 'libraries');
  return join(XDG_DATA_HOME || join(home, '.local', 'share'), 'softbench', 'libraries');
}

/** `installed.json`, written last: a folder without it is not a complete installation. */
export interface Installed {
  name: string;
  version: string;
  onnxruntime: string | null;
  files: { path: string; bytes: number; sha256: string }[];
}
export const installedFile = 'installed.json';

/** Folder of one package's version. */
export const packageFolder = (folder: string, { name, version }: LibraryPackage): string =>
  join(folder, `${name}-${version}`);

export interface PackageState {
  package: LibraryPackage;
  /** Where its libraries lie; null where it is not installed, or not as it was installed. */
  lib: string | null;
  /** A sentence where something is there that cannot be used; null else. */
  problem: string | null;
}

/** Whether a package is installed and its files are as long as they were. */
export function packageState(folder: string, wanted: LibraryPackage): PackageState {
  const place = packageFolder(folder, wanted);
  let installed: Installed;
  try {
    installed = JSON.parse(readFileSync(join(place, installedFile), 'utf8')) as Installed;
  } catch (error) {
    const absent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return {
      package: wanted,
      lib: null,
      problem: absent ? null : `${join(place, installedFile)} cannot be read. Install the package again.`,
    };
  }
  const wrong = installed.files.find(
    ({ path, bytes }) => statSync(join(place, path), { throwIfNoEntry: false })?.size !== bytes,
  );
  if (wrong)
    return {
      package: wanted,
      lib: null,
      problem: `${join(place, wrong.path)} is missing or has another size than when it was installed. Install the package again.`,
    };
  return { package: wanted, lib: join(place, 'lib'), problem: null };
}

/** The package of that name, or undefined. */
export const findPackage = (name: string): LibraryPackage | undefined =>
  libraryPackages.find((one) => one.name === name);

/**
 * What the environment of a process must say so that it finds the libraries in `folder`. The system's loader reads
 * LD_LIBRARY_PATH when a process begins, so the process that loads ONNX Runtime must be started with it.
 */
export function libraryEnvironment(folder: string, environment: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const result: NodeJS.ProcessEnv = { [folderVariable]: folder };
  const runtime = findPackage('cuda-runtime');
  const lib = runtime && process.platform === 'linux' ? packageState(folder, runtime).lib : null;
  // Behind what is set already: the user's own choice goes first.
  if (lib) result.LD_LIBRARY_PATH = [environment.LD_LIBRARY_PATH, lib].filter(Boolean).join(':');
  return result;
}

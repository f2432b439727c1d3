/** `softbench providers …` and the worker's environment. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli/run.ts';
import { findPackage, librariesFolder, libraryEnvironment, libraryPackages } from '../../src/libraries/index.ts';
import { installPackage, packageFor } from '../../src/libraries/install.ts';
import { installedFile, packageFolder } from '../../src/libraries/place.ts';
import { CancelledError } from '../../src/shared/errors.ts';
import type { WorkerClient } from '../../src/worker/index.ts';

let folder: string;
let before: string | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-providers-'));
  before = process.env.SOFTBENCH_LIBRARIES;
  process.env.SOFTBENCH_LIBRARIES = folder;
});
afterEach(() => {
  if (before === undefined) delete process.env.SOFTBENCH_LIBRARIES;
  else process.env.SOFTBENCH_LIBRARIES = before;
  rmSync(folder, { recursive: true, force: true });
});

const onLinux = process.platform === 'linux' && process.arch === 'x64';

async function softbench(args: string[], answer?: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const written = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const providers = [
    { name: 'cuda', title: 'CUDA', runs: false, automatic: true, reason: 'there is no driver', todo: 'Install it.' },
    { name: 'webgpu', title: 'WebGPU', runs: true, automatic: false, reason: null, todo: null },
  ];
  const code = await runCommandLine(args, {
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    ...(answer !== undefined && { ask: async () => answer }),
    worker: { call: { providers: async () => providers } } as unknown as WorkerClient,
    signal: new AbortController().signal,
    version: '0',
    pages: '',
  });
  return { code, ...written };
}

/** An installation with stand-ins for the libraries, as `installPackage` leaves it. */
function pretendInstalled(name: string): string {
  const wanted = findPackage(name);
  if (!wanted) throw new Error(`there is a package ${name}`);
  const place = packageFolder(folder, wanted);
  mkdirSync(join(place, 'lib'), { recursive: true });
  writeFileSync(join(place, 'lib', 'x.so'), 'stand-in');
  const sha256 = createHash('sha256').update('stand-in').digest('hex');
  const installed = { ...wanted, files: [{ path: 'lib/x.so', bytes: 8, sha256 }] };
  writeFileSync(join(place, installedFile), JSON.stringify(installed));
  return join(place, 'lib');
}

describe('providers list', () => {
  it('says which run, why others do not, and which libraries are there', async () => {
    const lib = pretendInstalled('cuda');
    const { code, stdout } = await softbench(['providers', 'list']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^cuda +no +there is no driver$/m);
    expect(stdout).toMatch(/^webgpu +yes +by name only$/m);
    expect(stdout).toContain('cuda: Install it.');
    expect(stdout).toContain(`installed in ${lib}`);
    expect(stdout).toMatch(/^cuda-runtime .* 1099 MB +not installed$/m);
  });

  it('has addresses and digests for a machine without a network', async () => {
    const { stdout } = await softbench(['providers', 'list', '--json']);
    const { packages } = JSON.parse(stdout) as { packages: { files: { url: string; sha256: string }[] }[] };
    expect(packages).toHaveLength(libraryPackages.length);
    for (const { url, sha256 } of packages.flatMap(({ files }) => files)) {
      expect(url).toMatch(/^https:\/\//);
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    }
  });
});

describe.runIf(onLinux)('providers install', () => {
  it('fetches nothing without consent', async () => {
    const nobody = await softbench(['providers', 'install', 'cuda']);
    expect(nobody.code).toBe(2);
    expect(nobody.stderr).toContain('Agree with --yes.');
    const no = await softbench(['providers', 'install', 'cuda'], 'n');
    expect(no.code).toBe(130);
    for (const fact of [
      'Download: 247 MB, 272 MB on disk',
      'Licence: MIT (https://',
      `Goes to: ${folder}`,
      'Source: Microsoft',
      'SHA-256',
      'Needs: An NVIDIA driver',
    ])
      expect(no.stderr).toContain(fact);
    expect(existsSync(join(folder, 'downloads'))).toBe(false);
  });

  it('refuses a folder whose archive is another one', async () => {
    const from = join(folder, 'mine');
    mkdirSync(from);
    const missing = await softbench(['providers', 'install', 'cuda', '--yes', '--from', from]);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('There is no onnxruntime_gpu-1.30.0');
    const [archive] = findPackage('cuda')?.archives ?? [];
    writeFileSync(join(from, archive?.file ?? ''), 'something else');
    const wrong = await softbench(['providers', 'install', 'cuda', '--yes', '--from', from]);
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain('it has 14 bytes, not 246685715');
  });

  it('leaves an installation that is there as it is', async () => {
    const lib = pretendInstalled('cuda');
    const { code, stdout } = await softbench(['providers', 'install', 'cuda']);
    expect([code, stdout]).toEqual([0, `Installed already: ${lib}\n`]);
  });

  it('does nothing while another process installs, and takes over from one that has gone', async () => {
    const wanted = packageFor('cuda');
    writeFileSync(join(folder, 'cuda.lock'), String(process.pid));
    await expect(installPackage(wanted, { folder })).rejects.toThrow(/being installed already/);
    writeFileSync(join(folder, 'cuda.lock'), '999999999');
    await expect(installPackage(wanted, { folder, from: folder })).rejects.toThrow(/There is no onnxruntime_gpu/);
    expect(existsSync(join(folder, 'cuda.lock'))).toBe(false);
  });

  it('stops where it is told to', async () => {
    const stop = new AbortController();
    stop.abort();
    const stopped = installPackage(packageFor('cuda'), { folder, signal: stop.signal, environment: {} });
    await expect(stopped).rejects.toBeInstanceOf(CancelledError);
    expect(existsSync(join(folder, 'cuda-1.30.0'))).toBe(false);
    expect(existsSync(join(folder, 'cuda.lock'))).toBe(false);
  });
});

it('names the packages where one is unknown, and the platform where one is for another', () => {
  expect(() => packageFor('rocm')).toThrow('There are no provider libraries "rocm".');
  expect(() => packageFor('cuda', 'win32/x64')).toThrow(/are published for linux\/x64, not for win32\/x64/);
});

it('removes what is installed', async () => {
  pretendInstalled('cuda');
  pretendInstalled('cuda-runtime');
  expect((await softbench(['providers', 'remove', 'cuda'])).stdout).toBe('Removed cuda.\n');
  expect(existsSync(join(folder, 'cuda-1.30.0'))).toBe(false);
  expect(existsSync(join(folder, 'cuda-runtime-13.5.37'))).toBe(true);
  expect((await softbench(['providers', 'remove', 'cuda'])).stdout).toBe('cuda is not installed.\n');
});

describe('the worker', () => {
  it.runIf(process.platform === 'linux')('is started with the libraries on its path, behind the user’s own', () => {
    expect(libraryEnvironment(folder, { LD_LIBRARY_PATH: '/mine' })).toEqual({ SOFTBENCH_LIBRARIES: folder });
    const lib = pretendInstalled('cuda-runtime');
    expect(libraryEnvironment(folder, { LD_LIBRARY_PATH: '/mine' }).LD_LIBRARY_PATH).toBe(`/mine:${lib}`);
    expect(libraryEnvironment(folder, {}).LD_LIBRARY_PATH).toBe(lib);
  });

  it('keeps libraries where the system keeps such data', () => {
    expect(librariesFolder({ SOFTBENCH_LIBRARIES: '/elsewhere' })).toBe('/elsewhere');
    expect(librariesFolder({ XDG_DATA_HOME: '/data' }, 'linux')).toBe(join('/data', 'softbench', 'libraries'));
    expect(librariesFolder({}, 'linux')).toMatch(/\.local.share.softbench.libraries$/);
    expect(librariesFolder({}, 'darwin')).toMatch(/Application Support.softbench.libraries$/);
    expect(librariesFolder({ LOCALAPPDATA: '/local' }, 'win32')).toBe(join('/local', 'softbench', 'libraries'));
  });
});

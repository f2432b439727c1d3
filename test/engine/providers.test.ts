/** Which provider runs and why, where ONNX Runtime is loaded from, and which nodes run where. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findRuntime, nativeFolder, platform } from '../../src/engine/binding.ts';
import { explain, probe } from '../../src/engine/probe.ts';
import { chooseProvider, providerStatuses, providers } from '../../src/engine/providers.ts';
import { findPackage, type LibraryPackage, packageState } from '../../src/libraries/index.ts';
import { installPackage } from '../../src/libraries/install.ts';
import { packageFolder } from '../../src/libraries/place.ts';
import { HumanError } from '../../src/shared/errors.ts';

const folder = mkdtempSync(join(tmpdir(), 'softbench-libraries-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const bundled = dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json'));
const onLinux = platform === 'linux/x64';

/** The CUDA package with the stand-in archive in place of the wheel of 247 MB. */
const standIn = join(import.meta.dirname, '../fixtures/libraries');
const cuda = findPackage('cuda');
const small = (change: Partial<LibraryPackage> = {}): LibraryPackage => {
  if (!cuda?.archives[0]) throw new Error('there is a package cuda');
  return {
    ...cuda,
    unpackedBytes: 120_000,
    archives: [
      {
        ...cuda.archives[0],
        file: 'stand-in.whl',
        bytes: 1080,
        sha256: '61c97b62ff54138057da0945d8ef65d74dd54fbbc2b6e4364e0c802b530b000f',
      },
    ],
    ...change,
  };
};

describe('the choice', () => {
  it('is the CPU by name, without trying anything', async () => {
    expect(await chooseProvider({ executionProvider: 'cpu', threads: 3 })).toEqual({
      asked: 'cpu',
      running: 'cpu',
      reason: 'As set.',
      threads: 3,
    });
  });

  it('says for auto why a faster one does not run', async () => {
    const report = await chooseProvider({ executionProvider: 'auto', threads: 0 });
    expect(report.asked).toBe('auto');
    if (report.running === 'cuda') return;
    expect(report.running).toBe('cpu');
    expect(report.others).toHaveLength(1);
    expect(report.others?.[0]?.name).toBe('cuda');
    expect(report.reason).toBe(`CUDA is not used: ${report.others?.[0]?.reason}.`);
  });

  it('names what there is where a provider is unknown', async () => {
    const wrong = chooseProvider({ executionProvider: 'tpu' as 'cpu', threads: 0 });
    await expect(wrong).rejects.toThrow('"tpu" is not an execution provider.');
  });

  it('says of every provider whether it runs, and where not, why and what to do', async () => {
    const statuses = await providerStatuses();
    expect(statuses.map(({ name }) => name).sort()).toEqual(Object.keys(providers).sort());
    for (const { name, runs, reason, todo } of statuses) {
      if (runs) expect([reason, todo]).toEqual([null, null]);
      else {
        expect(reason).toMatch(/^\S.*[^.]$/);
        expect(todo).toMatch(/^[A-Z].*\.$/);
        const error: unknown = await chooseProvider({ executionProvider: name as 'cpu', threads: 0 }).catch(
          (thrown: unknown) => thrown,
        );
        expect(error).toBeInstanceOf(HumanError);
        expect((error as HumanError).message).toContain(reason);
      }
    }
    expect(statuses.find(({ name }) => name === 'cpu')?.runs).toBe(true);
  }, 60_000);
});

// The words are ONNX Runtime's own, as recorded on a machine without a GPU: onnxruntime-node 1.30.0 with the CUDA provider
// of onnxruntime-gpu 1.30.0 (its error output and its JavaScript error), step by step as more of CUDA was there.
describe('what ONNX Runtime says', () => {
  const failed = (library: string, error: string): string =>
    `\u001b[1;31m2026-11-30 09:21:32.7 [E:onnxruntime:onnxruntime-node, provider_bridge_ort.cc:2146 Create] /onnxruntime_src/onnxruntime/core/session/provider_bridge_ort.cc:1988 onnxruntime::Provider& onnxruntime::ProviderLibrary::Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load library /x/${library} with error: ${error}\n\u001b[m`;
  const vague = 'OrtSessionOptionsAppendExecutionProvider_Cuda: Failed to load shared library';

  it('is a sentence where CUDA is missing', () => {
    const found = explain(
      'cuda',
      vague,
      failed(
        'libonnxruntime_providers_cuda.so',
        'libcublasLt.so.13: cannot open shared object file: No such file or directory',
      ),
    );
    expect(found.reason).toBe("CUDA 13 is not installed, or the system's loader does not find it (libcublasLt.so.13)");
    expect(found.todo).toContain('softbench providers install cuda-runtime');
  });

  it('is a sentence where the driver is missing', () => {
    const found = explain(
      'cuda',
      vague,
      failed(
        'libonnxruntime_providers_cuda.so',
        'libcuda.so.1: cannot open shared object file: No such file or directory',
      ),
    );
    expect(found.reason).toBe('there is no NVIDIA driver (libcuda.so.1)');
  });

  it('is a sentence where the provider library itself is missing', () => {
    const path = '/x/libonnxruntime_providers_shared.so';
    const found = explain(
      'cuda',
      vague,
      failed(
        'libonnxruntime_providers_shared.so',
        `${path}: cannot open shared object file: No such file or directory`,
      ),
    );
    expect(found.reason).toContain('libonnxruntime_providers_shared.so');
  });

  it('is a sentence where CUDA refuses the device', () => {
    const found = explain(
      'cuda',
      '/onnxruntime_src/onnxruntime/core/providers/cuda/cuda_call.cc:154 std::conditional_t<THRW, void, onnxruntime::common::Status> onnxruntime::CudaCall(ERRTYPE) CUDA failure 36: API call is not supported in the installed CUDA driver ; GPU=-1 ; hostname=vm ; file=cuda_execution_provider.cc ; line=352 ; expr=cudaSetDevice(info_.device_id);',
      '',
    );
    expect(found.reason).toBe("NVIDIA's driver is older than CUDA 13 needs");
  });

  it('is a sentence where there is no Vulkan, or none that will do', () => {
    const message =
      '/onnxruntime_src/onnxruntime/core/providers/webgpu/webgpu_context.cc:136 was false. Failed to get a WebGPU adapter: No supported adapters\n';
    expect(
      explain(
        'webgpu',
        message,
        "Warning: Couldn't load Vulkan: libvulkan.so.1: cannot open shared object file: No such file or directory\n",
      ).reason,
    ).toBe('there is no Vulkan on this system (libvulkan.so.1)');
    expect(explain('webgpu', message, '').reason).toBe('WebGPU found no GPU that it can use (No supported adapters)');
  });

  it('is passed on where it is unknown', () => {
    expect(explain('cuda', 'something new\nat line 3', '').reason).toBe('ONNX Runtime says: something new');
  });
});

describe('trying a provider', () => {
  it('finds the CPU right', async () => {
    expect(await probe(bundled, 'cpu')).toBeNull();
  });

  it('says that a build has no such provider', async () => {
    const name = process.platform === 'win32' ? 'coreml' : 'dml';
    expect((await probe(bundled, name))?.reason).toBe('this build of ONNX Runtime does not have it');
  });

  it('survives a process that dies', async () => {
    const dying = join(folder, 'dying');
    execFileSync(process.execPath, ['-e', `require('fs').mkdirSync(${JSON.stringify(dying)}, {recursive:true})`]);
    writeFileSync(join(dying, 'index.js'), "console.error('driver fault'); process.kill(process.pid, 'SIGSEGV');");
    const found = await probe(dying, 'cuda');
    expect(found?.reason).toMatch(/^the process that tried it ended with (SIGSEGV|code \d+) \(driver fault\)$/);
  });
});

describe.runIf(onLinux)('installed provider libraries', () => {
  it('are looked for in the folder, and missed', () => {
    expect(findRuntime(bundled, join(folder, 'empty'))).toEqual({ module: bundled, problem: null });
  });

  it('are installed from an archive, and ONNX Runtime is loaded from beside them', async () => {
    const lib = await installPackage(small(), { folder, from: standIn });
    expect(lib).toBe(join(folder, 'cuda-1.30.0', 'lib'));
    expect(readFileSync(join(lib, 'libonnxruntime_providers_cuda.so'), 'utf8')).toMatch(/^stand-in for the CUDA/);
    expect(existsSync(join(lib, 'libonnxruntime_providers_tensorrt.so'))).toBe(false);
    // The digests that Python gives for the entries.
    const installed = JSON.parse(readFileSync(join(folder, 'cuda-1.30.0', 'installed.json'), 'utf8')) as {
      files: { sha256: string }[];
    };
    expect(installed.files.map(({ sha256 }) => sha256)).toEqual([
      '26923f7a034291d5ff417e8d8ac94551143944e6e1afb05d2f24ba8fa36db53a',
      '2815923e3c8f358c4bef054e3386ee1d7c022f818342b3fa2b0827582d271427',
    ]);

    const { module, problem } = findRuntime(bundled, folder);
    expect(problem).toBeNull();
    if (!module) throw new Error('a runtime is found');
    expect(module.startsWith(folder)).toBe(true);
    const native = nativeFolder(module);
    expect(statSync(join(native, 'onnxruntime_binding.node')).size).toBe(
      statSync(join(nativeFolder(bundled), 'onnxruntime_binding.node')).size,
    );
    expect(realpathSync(join(native, 'libonnxruntime_providers_cuda.so'))).toBe(
      realpathSync(join(lib, 'libonnxruntime_providers_cuda.so')),
    );
    // It opens and runs a session on the CPU …
    expect(await probe(module, 'cpu')).toBeNull();
    // … and the system's loader has looked at the library that lies there.
    const found = await probe(module, 'cuda');
    expect(found?.reason).toMatch(
      /^its library is damaged \(\S+\/libonnxruntime_providers_shared\.so: (invalid ELF header|file too short)\)$/,
    );
    expect(found?.todo).toContain('softbench providers install cuda');
    // The copy is made once.
    const made = statSync(native).ctimeMs;
    expect(findRuntime(bundled, folder).module).toBe(module);
    expect(statSync(native).ctimeMs).toBe(made);
  }, 60_000);

  it('are not used by another version of ONNX Runtime', () => {
    const old = mkdtempSync(join(tmpdir(), 'softbench-old-'));
    writeFileSync(join(old, 'package.json'), JSON.stringify({ version: '1.29.0' }));
    const { module, problem } = findRuntime(old, folder);
    rmSync(old, { recursive: true });
    expect(module).toBe(old);
    expect(problem).toMatch(/belongs to ONNX Runtime 1\.30\.0; this is 1\.29\.0\.$/);
  });

  it('are refused where one has another size than it had', () => {
    const wanted = small();
    writeFileSync(join(packageFolder(folder, wanted), 'lib', 'libonnxruntime_providers_cuda.so'), 'cut off');
    expect(packageState(folder, wanted).problem).toMatch(/is missing or has another size/);
    expect(findRuntime(bundled, folder).module).toBe(bundled);
  });
});

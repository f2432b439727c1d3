/** Where the nodes of a session run, and what is done around runs on a device. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadOnnxRuntime } from '../../src/engine/binding.ts';
import { readPlacement } from '../../src/engine/placement.ts';
import { providerOf } from '../../src/engine/providers.ts';
import { createSession, sessionOptions } from '../../src/engine/runtime.ts';
import { paddedAnswers, paddedLength } from '../../src/engine/shapes.ts';
import { OnnxTraining, stepDifference } from '../../src/engine/training.ts';
import { trainingBatch } from '../../src/engine/training-batch.ts';
import { openModelFiles } from '../../src/model/index.ts';
import { Graph, modelOf, type OnnxModel } from '../../src/onnx/index.ts';
import type { NodePlacement, ProviderReport } from '../../src/shared/results.ts';

const cpu: ProviderReport = { asked: 'cpu', running: 'cpu', reason: 'As set.', threads: 1 };

/** softmax(relu(relu(x) + x)): two nodes of one kind. */
function smallModel(): OnnxModel {
  const graph = new Graph();
  graph.name = 'small';
  graph.inputs = [{ name: 'x', dtype: 'float32', dims: ['n', 4] }];
  graph.outputs = [{ name: 'y', dtype: 'float32', dims: ['n', 4] }];
  graph.add('Relu', ['x'], { outputs: ['a'] });
  graph.add('Add', ['a', 'x'], { outputs: ['b'] });
  graph.add('Relu', ['b'], { outputs: ['c'] });
  graph.add('Softmax', ['c'], { outputs: ['y'] });
  return modelOf(graph, 13);
}

describe('the profile of a run', () => {
  let before: string | undefined;
  let folder: string;
  beforeEach(() => {
    before = process.env.TMPDIR;
    folder = mkdtempSync(join(tmpdir(), 'softbench-placement-'));
    process.env.TMPDIR = folder;
  });
  // ONNX Runtime itself may leave files of its own there.
  const left = (): string[] => readdirSync(folder).filter((name) => name.startsWith('softbench'));
  afterEach(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(folder, { recursive: true, force: true });
  });

  it('counts the nodes that ONNX Runtime runs, once each, and leaves nothing behind', async () => {
    const found: NodePlacement[] = [];
    const session = await createSession(smallModel(), {
      provider: cpu,
      weightFolder: '.',
      placement: { graph: 'inference', report: (placement) => found.push(placement), always: true },
    });
    const { Tensor } = await loadOnnxRuntime();
    const x = (): { x: InstanceType<typeof Tensor> } => ({
      x: new Tensor('float32', new Float32Array(8).fill(1), [2, 4]),
    });
    const first = await session.run(x());
    expect(found).toEqual([
      { graph: 'inference', nodes: 4, cpuNodes: 4, cpuOperators: { Relu: 2, Add: 1, Softmax: 1 }, copies: 0 },
    ]);
    // The session goes on without profiling, and gives the same.
    const second = await session.run(x(), ['y']);
    expect(second.y?.data).toEqual(first.y?.data);
    expect(found).toHaveLength(1);
    await session.release();
    expect(left()).toEqual([]);
  });

  it('is not taken on the CPU where nobody insists, nor left by a session that never runs', async () => {
    const found: NodePlacement[] = [];
    const report = (placement: NodePlacement): void => void found.push(placement);
    const plain = await createSession(smallModel(), {
      provider: cpu,
      weightFolder: '.',
      placement: { graph: 'training', report },
    });
    const idle = await createSession(smallModel(), {
      provider: cpu,
      weightFolder: '.',
      placement: { graph: 'training', report, always: true },
    });
    await plain.release();
    await idle.release();
    expect(found).toEqual([]);
    expect(left()).toEqual([]);
  });
});

// Events as onnxruntime-node 1.30.0 wrote them, shortened to the fields that are read: the WebGPU provider on a software
// Vulkan device, and one CPU node of the same kind of file.
it('tells providers, copies and repeated nodes apart', () => {
  const event = (name: string, index: string, operator: string, provider: string): object => ({
    cat: 'Node',
    pid: 1,
    tid: 1,
    dur: 45,
    ts: 48250,
    ph: 'X',
    name,
    args: { provider, node_index: index, op_name: operator },
  });
  const gpu = 'WebGpuExecutionProvider';
  const host = 'CPUExecutionProvider';
  const profile = [
    { cat: 'Session', pid: 1, tid: 1, dur: 446, ts: 3, ph: 'X', name: 'model_loading_array', args: {} },
    event('MatMul_0_kernel_time', '0', 'MatMul', gpu),
    event('MatMul_0_kernel_time', '0', 'MatMul', gpu),
    event('Memcpy_token_1_kernel_time', '9', 'MemcpyToHost', gpu),
    event('Shape_1_kernel_time', '1', 'Shape', host),
    event('Gather_2_kernel_time', '2', 'Gather', host),
    event('Gather_3_kernel_time', '3', 'Gather', host),
    // The first node of a loop's body has the index of the outer graph's first node.
    event('body/Add_kernel_time', '0', 'Add', gpu),
    event('body/Add_kernel_time', '0', 'Add', gpu),
    { cat: 'Session', pid: 1, tid: 1, dur: 74, ts: 48229, ph: 'X', name: 'SequentialExecutor::Execute', args: {} },
  ];
  expect(readPlacement(JSON.stringify(profile), 'training')).toEqual({
    graph: 'training',
    nodes: 5,
    cpuNodes: 3,
    cpuOperators: { Gather: 2, Shape: 1 },
    copies: 1,
  });
});

describe('shapes for a device', () => {
  it('are powers of two', () => {
    const lengths = new Set(Array.from({ length: 512 }, (_, index) => paddedLength(index + 1, 'few')));
    expect([...lengths]).toEqual([64, 128, 256, 512]);
    expect(paddedLength(513, 'few')).toBe(1024);
    expect([1, 32, 33, 65].map((count) => paddedAnswers(count, 'few'))).toEqual([32, 32, 64, 128]);
  });

  it('change neither loss nor gradient', async () => {
    const { file } = openModelFiles(join(import.meta.dirname, '../fixtures/models/llama-optimum'));
    const examples = [
      { prompt: [3, 4, 5, 6, 7], answer: [8, 9] },
      { prompt: [10, 11, 12], answer: [13] },
      { prompt: [14, 15, 16, 17], answer: [18, 19, 20] },
    ];
    const many = new OnnxTraining(file, { vectors: 2, batchSize: 4, provider: cpu, padTokenId: 0 });
    const hiddenSize = 64;
    const softPrompt = {
      vectors: 2,
      hiddenSize,
      data: Float32Array.from({ length: 2 * hiddenSize }, (_, index) => Math.sin(index) / 10),
    };
    const expected = await many.step(examples, softPrompt);
    await many.close();
    // The same layout as for a device, on the CPU.
    const { trainingForward } = await import('../../src/gradient/index.ts');
    const { weightsInPlace } = await import('../../src/onnx/index.ts');
    const forward = trainingForward(weightsInPlace(file));
    const few = new OnnxTraining(file, {
      vectors: 2,
      batchSize: 4,
      provider: cpu,
      padTokenId: 0,
      layout: {
        batch: async (rows, vectors) => ({
          forward,
          batch: trainingBatch(rows, vectors, 0, null, { shapes: 'few', rows: 4 }),
        }),
        notes: [],
      },
    });
    const found = await few.step(examples, softPrompt);
    await few.close();
    expect(found.batch).toEqual([4, 64]);
    expect(found.loss).toBeCloseTo(expected.loss, 5);
    const difference = Math.hypot(...found.gradient.map((value, index) => value - (expected.gradient[index] ?? 0)));
    expect(difference / Math.hypot(...expected.gradient)).toBeLessThan(1e-5);
  });
});

describe('the first step on a device', () => {
  const step = (loss: number, ...gradient: number[]) => ({ loss, gradient: Float32Array.from(gradient) });

  it('may differ by what half precision explains', () => {
    expect(stepDifference(step(3.01, 1, 2), step(3, 1.01, 2))).toBeNull();
    expect(stepDifference(step(0.011, 0, 0), step(0.01, 0, 0))).toBeNull();
  });

  it('is refused where it is another one', () => {
    // Made up, of the kind that WebGPU gave for a Llama: a norm's mean in place of its inverse deviation.
    expect(stepDifference(step(13.1, 0, 0), step(7.43, 3, 4))).toBe(
      "its loss is 13.100, the CPU's 7.4300, and the gradients differ by 1.0 of their length",
    );
    expect(stepDifference(step(Number.NaN, 1), step(3, 1))).toContain('its loss is NaN');
    expect(stepDifference(step(3, Number.NaN), step(3, 1))).toContain('differ by NaN');
    expect(stepDifference({ loss: 3, gradient: undefined }, step(3, 1))).not.toBeNull();
  });
});

describe('memory of a device', () => {
  it('of weights is exactly theirs, on CUDA', () => {
    const report: ProviderReport = { ...cpu, running: 'cuda' };
    expect(sessionOptions({ provider: report, weightFolder: '/models/x' })).toMatchObject({
      executionProviders: ['cuda'],
      extra: {
        'session.use_device_allocator_for_initializers': '1',
        session: { model_external_initializers_file_folder_path: '/models/x', disable_prepacking: '1' },
      },
    });
    expect(providerOf(report).shapes).toBe('few');
    expect(sessionOptions({ provider: { ...cpu, running: 'dml' }, weightFolder: '.' }).enableMemPattern).toBe(false);
  });
});

/** Runs and items to put into stores. */
import type { PromptMode } from '../../src/shared/modes.ts';
import type { ItemRecord, RunFile, RunSummary, Share } from '../../src/shared/results.ts';

export type NewRun = Omit<RunFile, 'id' | 'created' | 'updated' | 'status'>;

export function sampleRun(change: Partial<NewRun> = {}): NewRun {
  return {
    schema: 1,
    softbench: '0.1.0',
    onnxruntime: '1.30.0',
    group: 'group-1',
    mode: 'zero-shot',
    model: {
      name: 'tiny/llama',
      folder: '/models/tiny',
      graphFile: 'model.onnx',
      digests: { graph: 'g', weights: 'w', tokenizer: 't', config: 'c' },
    },
    benchmark: {
      task: 'who had it?',
      file: '/bench/who.yaml',
      digests: { config: 'bc', data: 'bd' },
      items: 10,
      split: 'test',
    },
    settings: {
      limit: null,
      shots: 0,
      fewShotSeed: 1234,
      batchSize: 8,
      generation: { until: ['\n'], maxNewTokens: 16, temperature: 0, topP: 1, seed: 0 },
      softPrompt: null,
      softPromptFrom: null,
    },
    provider: { asked: 'auto', running: 'cpu', reason: 'no GPU', threads: 2 },
    notes: [],
    ...change,
  };
}

export function sampleItem(
  index: number,
  output = `output ${index}\nwith a second line, “quotes” and 日本`,
): ItemRecord {
  return {
    schema: 1,
    index,
    prompt: { hash: `hash-${index}`, tokens: 12 },
    output,
    outputTokens: 5,
    stop: { reason: 'stop-string', marker: '\n' },
    gold: 'cat',
    strict: { answer: null, span: null },
    lenient: { answer: 'cat', span: [0, 3] },
    inFormat: false,
    right: false,
    lenientRight: true,
    cause: 'ran on',
  };
}

export const share = (count: number, n: number): Share => ({ value: n ? count / n : null, low: 0, high: 1, count, n });

/** `right` of the `inFormat` outputs in the required format are right; the lenient reading finds the same. */
export const sampleSummary = (
  run: string,
  mode: PromptMode,
  { right, inFormat, n }: { right: number; inFormat: number; n: number },
): RunSummary => ({
  schema: 1,
  run,
  mode,
  scores: {
    n,
    F: share(inFormat, n),
    S: share(right, n),
    K: { ...share(right, inFormat), unreliable: false },
    L: share(right, n),
    LL: null,
    constant: null,
    commonest: null,
    chance: null,
    causes: {},
  },
  seconds: 1,
  tuningSeconds: 0,
  promptTokens: 1,
  outputTokens: 1,
  peakMemoryBytes: null,
  bestStep: null,
});

/**
 * Doubles of the two rooms that the loops see through interfaces, so that the loops' own promises (resume, stop, best
 * kept, order) can be tested by themselves. The model's loss is the distance of the soft prompt from a target; it answers
 * in the format once it is near.
 */
import type { Benchmark, Item } from '../../src/benchmark/types.ts';
import type { JobRooms } from '../../src/evaluate/index.ts';
import type { LanguageModel, SoftPrompt, TrainingEngine } from '../../src/evaluate/language-model.ts';
import { openRunStore } from '../../src/runs/index.ts';
import { throwIfCancelled } from '../../src/shared/errors.ts';
import type { JobRequest } from '../../src/shared/protocol.ts';

const hiddenSize = 4;

export interface ScriptedModel extends LanguageModel {
  /** Every call that reached it, for tests about what was not asked twice. */
  readonly asked: { generated: number[]; steps: number };
}

/** What a job on the scripted model asks for. */
export const scriptedRequest = (storeFolder: string, change: Partial<JobRequest> = {}): JobRequest => ({
  benchmarkFile: '/benchmarks/sums.yaml',
  modelFolder: '/models/scripted',
  modes: ['zero-shot', 'few-shot', 'soft-prompt'],
  storeFolder,
  group: 'g1',
  reuseFinished: false,
  engine: { executionProvider: 'auto', threads: 0 },
  overrides: {},
  ...change,
});

/** The rooms that a job works with: the model and benchmark given, and the real run store. */
export const scriptedRooms = (
  model: LanguageModel,
  benchmark: Benchmark,
  softPrompt: SoftPrompt = { vectors: 1, hiddenSize: 3, data: new Float32Array(3) },
): JobRooms => ({
  openModel: async () => model,
  openBenchmark: async () => benchmark,
  openStore: openRunStore,
  readSoftPromptFile: async () => softPrompt,
  versions: { softbench: '0', onnxruntime: '0' },
});

export function scriptedModel(
  hooks: { onGenerate?(index: number): void; onStep?(step: number): void } = {},
): ScriptedModel {
  const asked = { generated: [] as number[], steps: 0 };
  const distance = ({ data }: SoftPrompt): number => data.reduce((sum, x) => sum + (x - 1) ** 2, 0) / data.length;
  const tokenizer = {
    encode: (text: string, options?: { special?: boolean }) => [
      ...(options?.special ? [1] : []),
      ...[...text].map((c) => c.charCodeAt(0) + 3),
    ],
    decode: (ids: readonly number[]) =>
      ids
        .filter((id) => id > 2)
        .map((id) => String.fromCharCode(id - 3))
        .join(''),
    vocabularySize: 300,
    eosTokenIds: [2],
    bosTokenId: 1,
    padTokenId: 0,
  };
  return {
    asked,
    identity: {
      name: 'scripted',
      folder: '/models/scripted',
      graphFile: 'model.onnx',
      digests: { graph: 'g', weights: 'w', tokenizer: 't', config: 'c' },
    },
    tokenizer,
    provider: { asked: 'auto', running: 'cpu', reason: 'scripted', threads: 1 },
    hiddenSize,
    contextLength: 400,
    embeddingScale: 0.1,
    notes: [],
    embeddingRows: async (ids) => Float32Array.from(ids.flatMap((id) => Array(hiddenSize).fill((id % 7) / 100))),
    async generate(requests, settings, { signal, onResult }) {
      for (const { index, tokens } of requests) {
        throwIfCancelled(signal);
        asked.generated.push(index);
        hooks.onGenerate?.(index);
        const near = settings.softPrompt && distance(settings.softPrompt) < 0.2;
        const answer = tokenizer.decode(tokens).match(/sum of (\d+) and (\d+)/);
        const sum = answer ? Number(answer[1]) + Number(answer[2]) : 0;
        const text = near ? ` #${index % 4 === 3 ? sum + 1 : sum}` : ` I think it is ${sum}, or so`;
        await onResult({
          index,
          tokens: tokenizer.encode(text),
          text,
          stop: { reason: near ? 'stop-string' : 'length' },
          logProbabilities: [],
        });
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    async logLikelihood(requests, _settings, { onResult }) {
      for (const { index, continuation } of requests)
        await onResult({ index, tokens: [], sum: -continuation.length, greedy: false });
    },
    async openTraining({ vectors }) {
      return {
        step: async (examples, softPrompt) => {
          asked.steps++;
          hooks.onStep?.(asked.steps);
          // The batch shifts the target a little, so that the order of batches shows in the numbers.
          const shift = examples.reduce((sum, { prompt }) => sum + prompt.length, 0) / 10000;
          const gradient = softPrompt.data.map((x) => (2 * (x - 1 - shift)) / softPrompt.data.length);
          return {
            loss: distance(softPrompt),
            answerTokens: examples.length,
            gradient,
            batch: [examples.length, vectors],
          };
        },
        loss: async (examples, softPrompt) => ({ loss: distance(softPrompt), answerTokens: examples.length }),
        close: async () => undefined,
      };
    },
    peakMemoryBytes: () => null,
    close: async () => undefined,
  };
}

/** Sums of two numbers; the required form is `#7`. */
/** Makes the model's trainings take their steps as `change` says. */
export function changeSteps(model: ScriptedModel, change: (engine: TrainingEngine) => TrainingEngine['step']): void {
  const { openTraining } = model;
  model.openTraining = async (settings) => {
    const engine = await openTraining(settings);
    return { ...engine, step: change(engine) };
  };
}

export function sumsBenchmark(change: Partial<Benchmark> = {}): Benchmark {
  const item = (index: number): Item => ({
    index,
    fields: { a: index, b: index * 2 },
    place: { file: 'sums.jsonl', line: index + 1 },
  });
  const splits = {
    evaluation: Array.from({ length: 12 }, (_, i) => item(i)),
    training: Array.from({ length: 60 }, (_, i) => item(i + 100)),
  };
  const gold = ({ fields }: Item): string => String(Number(fields.a) + Number(fields.b));
  return {
    file: '/benchmarks/sums.yaml',
    task: 'sums',
    outputType: 'generate_until',
    answerKind: 'number',
    configDigest: 'config',
    sources: { configuration: [], data: [] },
    generation: { until: ['\n'], maxNewTokens: 16, temperature: 0, topP: 1, seed: 0 },
    shots: 2,
    fewShotSeed: 1234,
    modes: ['zero-shot', 'few-shot', 'soft-prompt'],
    softPrompt: {
      vectors: 2,
      steps: 20,
      batchSize: 4,
      learningRate: 0.15,
      init: 'vocabulary',
      seed: 5,
      validateEvery: 5,
      validationItems: 8,
    },
    limit: null,
    readers: { strict: 'hash', lenient: 'any number' },
    evaluationSplit: 'test',
    trainingSplit: 'train',
    notes: [],
    items: async (split) => (split === 'evaluation' ? splits.evaluation : splits.training),
    dataDigest: async (split) => split,
    prompt: async ({ fields }, shots) => {
      const text = `${'The sum of 1 and 2 is #3. '.repeat(shots)}The sum of ${fields.a} and ${fields.b} is`;
      return { text, parts: [{ kind: 'question', text }] };
    },
    withChat: () => sumsBenchmark(change),
    target: (it) => ({ delimiter: ' ', text: `#${gold(it)}` }),
    trainingAnswer: (it) => ({ text: ` #${gold(it)}\n`, endsWithEos: false }),
    choices: () => null,
    judge: (it, output) => {
      const strict = /^ #(\d+)$/.exec(output);
      const lenient = /\d+/.exec(output);
      return {
        strict: { answer: strict?.[1] ?? null, span: strict ? [2, output.length] : null },
        lenient: {
          answer: lenient?.[0] ?? null,
          span: lenient ? [lenient.index, lenient.index + lenient[0].length] : null,
        },
        inFormat: strict !== null,
        right: strict?.[1] === gold(it),
        lenientRight: lenient?.[0] === gold(it),
        cause: strict ? null : 'answer not in the required form',
      };
    },
    isRight: (it, answer) => answer === gold(it),
    ...change,
  };
}

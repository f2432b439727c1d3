// The product's evaluation as a program to be measured: node bench/evaluator.mjs BUNDLE MODEL_FOLDER THREADS
import { pathToFileURL } from 'node:url';
import { answerRequests } from './answer.mjs';

const [bundle, folder, threads] = process.argv.slice(2);
const { evaluate, openBenchmark, openLanguageModel } = await import(pathToFileURL(bundle).href);
let model = null;

/** A run that is kept in memory. */
const unwritten = () => ({
  run: { notes: [], settings: {} },
  finishedItems: [],
  async appendItem() {},
  async update() {},
});

const requests = {
  /** Opens the model, and the session that generates and scores. */
  async open() {
    model = await openLanguageModel(folder, { executionProvider: 'cpu', threads: Number(threads) });
    await model.decoder();
    return {};
  },
  /** A benchmark file's first items, as a run evaluates them: prompts, tokens, the model, readings. */
  async evaluate({ file, shots, items, batchSize }) {
    const benchmark = await openBenchmark(file);
    await benchmark.items('evaluation');
    const mode = shots ? 'few-shot' : 'zero-shot';
    const settings = { mode, softPrompt: null, shots, limit: items, batchSize };
    const processor = process.cpuUsage();
    const started = performance.now();
    const { records } = await evaluate(model, benchmark, settings, unwritten());
    const seconds = (performance.now() - started) / 1000;
    const { user, system } = process.cpuUsage(processor);
    return {
      seconds,
      cpuSeconds: (user + system) / 1e6,
      items: records.length,
      outputs: records.map(({ choices, output }) => choices?.logLikelihoods ?? output),
    };
  },
};

await answerRequests({ ready: true }, ({ do: name, ...request }) => requests[name](request));

// One side of the GPU check: a model on one provider. node bench/gpu-child.mjs BUNDLE MODEL_FOLDER THREADS PROVIDER
import { pathToFileURL } from 'node:url';
import { answerRequests } from './answer.mjs';
import { randomIds } from './texts.mjs';

const [bundle, folder, threads, executionProvider] = process.argv.slice(2);
const { openLanguageModel } = await import(pathToFileURL(bundle).href);
const started = performance.now();
const model = await openLanguageModel(folder, { executionProvider, threads: Number(threads) });
const openSeconds = (performance.now() - started) / 1000;
// Both sides make the same numbers of outputs, whatever they are.
model.tokenizer.eosTokenIds = [];
let training = null;
const seconds = (since) => (performance.now() - since) / 1000;

const requests = {
  async open({ vectors, batch, seed }) {
    training = await model.openTraining({ vectors, batchSize: batch });
    const data = await model.embeddingRows(randomIds(vectors, model.tokenizer.vocabularySize, seed));
    training.prompt = { vectors, hiddenSize: model.hiddenSize, data };
    return {};
  },
  /** `gradient`: also gives it, to be compared with the other side's. */
  async step({ batch, length, answer, seed, gradient }) {
    const ids = randomIds(batch * length, model.tokenizer.vocabularySize, seed);
    const rows = Array.from({ length: batch }, (_, row) => ({
      prompt: ids.slice(row * length, (row + 1) * length - answer),
      answer: ids.slice((row + 1) * length - answer, (row + 1) * length),
    }));
    const since = performance.now();
    const result = await training.step(rows, training.prompt);
    return { seconds: seconds(since), loss: result.loss, ...(gradient && { gradient: Array.from(result.gradient) }) };
  },
  async generate({ batch, length, maxNewTokens, seed }) {
    const ids = randomIds(batch * length, model.tokenizer.vocabularySize, seed);
    const outputs = new Array(batch);
    const since = performance.now();
    await model.generate(
      Array.from({ length: batch }, (_, index) => ({
        index,
        tokens: ids.slice(index * length, (index + 1) * length),
      })),
      { until: [], maxNewTokens, temperature: 0, topP: 1, seed: 0, batchSize: batch, softPrompt: null },
      {
        onResult: ({ index, tokens }) => {
          outputs[index] = tokens;
        },
      },
    );
    return { seconds: seconds(since), outputs };
  },
  async provider() {
    return { ...model.provider, notes: model.notes };
  },
};

await answerRequests(
  { ready: true, provider: model.provider, openSeconds, contextLength: model.contextLength },
  ({ do: name, ...request }) => requests[name](request),
);

// The product's engine as a program to be measured: node bench/engine.mjs BUNDLE MODEL_FOLDER THREADS
import { pathToFileURL } from 'node:url';
import { answerRequests } from './answer.mjs';
import { randomIds } from './texts.mjs';

const [bundle, folder, threads] = process.argv.slice(2);
const { openLanguageModel } = await import(pathToFileURL(bundle).href);
const model = await openLanguageModel(folder, { executionProvider: 'cpu', threads: Number(threads) });
const vectors = 10;
let training = null;

/** A batch of `batch` rows of `length` tokens, of which the last `answer` count in the loss; a new one each time. */
function examples({ batch, length, answer, seed }) {
  const ids = randomIds(batch * length, model.tokenizer.vocabularySize, seed);
  return Array.from({ length: batch }, (_, row) => ({
    prompt: ids.slice(row * length, (row + 1) * length - answer),
    answer: ids.slice((row + 1) * length - answer, (row + 1) * length),
  }));
}

const requests = {
  async open({ batch, seed, position = 'prefix', passes, recompute, microBatchSize }) {
    const started = performance.now();
    training = await model.openTraining({ vectors, batchSize: batch, position, passes, recompute, microBatchSize });
    const data = await model.embeddingRows(randomIds(vectors, model.tokenizer.vocabularySize, seed));
    training.prompt = { vectors, hiddenSize: model.hiddenSize, data, position };
    return { seconds: (performance.now() - started) / 1000 };
  },
  async step(request) {
    const rows = examples(request);
    const started = performance.now();
    const { loss } = await training.step(rows, training.prompt);
    return { seconds: (performance.now() - started) / 1000, loss };
  },
  async generate({ texts, prefix, batchSize, maxNewTokens }) {
    const prompts = texts.map((text) => model.tokenizer.encode(prefix + text, { special: true }));
    const started = performance.now();
    let outputTokens = 0;
    await model.generate(
      prompts.map((tokens, index) => ({ index, tokens })),
      { until: [], maxNewTokens, temperature: 0, topP: 1, seed: 0, batchSize, softPrompt: null },
      {
        onResult: ({ tokens }) => {
          outputTokens += tokens.length;
        },
      },
    );
    return {
      seconds: (performance.now() - started) / 1000,
      items: texts.length,
      outputTokens,
      promptTokens: prompts.reduce((sum, { length }) => sum + length, 0),
    };
  },
};

await answerRequests(
  { ready: true, provider: model.provider, contextLength: model.contextLength, notes: model.notes },
  ({ do: name, ...request }) => requests[name](request),
);

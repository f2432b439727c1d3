// The product's generation as a program to be measured: node bench/decoder.mjs BUNDLE MODEL_FOLDER THREADS [one-by-one]
// one-by-one: each run produces one token a row, as without drafts.
import { pathToFileURL } from 'node:url';
import { answerRequests } from './answer.mjs';

const [bundle, folder, threads, variant] = process.argv.slice(2);
const { openLanguageModel } = await import(pathToFileURL(bundle).href);
let model = null;

const requests = {
  /** Opens the model, and the session that generates. */
  async open() {
    const started = performance.now();
    model = await openLanguageModel(folder, { executionProvider: 'cpu', threads: Number(threads) });
    const decoder = await model.decoder();
    const seconds = (performance.now() - started) / 1000;
    if (variant === 'one-by-one') decoder.drafts = async () => false;
    // Outputs of one length, whatever the model says: nothing ends them.
    model.tokenizer.eosTokenIds.length = 0;
    return { seconds };
  },
  /** Exactly `newTokens` for each text, greedily. */
  async decode({ texts, newTokens }) {
    const prompts = texts.map((text) => model.tokenizer.encode(text, { special: true }));
    const tokens = [];
    const started = performance.now();
    await model.generate(
      prompts.map((prompt, index) => ({ index, tokens: prompt })),
      {
        until: [],
        maxNewTokens: newTokens,
        temperature: 0,
        topP: 1,
        seed: 0,
        batchSize: texts.length,
        softPrompt: null,
      },
      {
        onResult: (result) => {
          tokens[result.index] = result.tokens;
        },
      },
    );
    const seconds = (performance.now() - started) / 1000;
    return { seconds, tokens, outputTokens: tokens.reduce((sum, row) => sum + row.length, 0) };
  },
};

await answerRequests({ ready: true }, ({ do: name, ...request }) => requests[name](request));

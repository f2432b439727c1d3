// transformers.js on the same model folder: node bench/transformers-js.mjs PACKAGE_FOLDER MODEL_FOLDER THREADS
// PACKAGE_FOLDER holds node_modules/@huggingface/transformers. Answers requests as bench/engine.mjs does.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { answerRequests } from './answer.mjs';

const [packageFolder, modelFolder, threads] = process.argv.slice(2);
const require = createRequire(join(resolve(packageFolder), 'index.js'));
const module = await import(pathToFileURL(require.resolve('@huggingface/transformers')).href);
const { env, AutoModelForCausalLM, AutoTokenizer } = module.default ?? module;

/** The folder in transformers.js' layout: its graph lies in onnx/. Other layouts get a folder of links. */
function inItsLayout(folder) {
  if (existsSync(join(folder, 'onnx', 'model.onnx'))) return folder;
  const copy = mkdtempSync(join(tmpdir(), 'softbench-transformers-js-'));
  process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
  mkdirSync(join(copy, 'onnx'));
  for (const name of readdirSync(folder))
    if (statSync(join(folder, name)).isFile())
      symlinkSync(join(folder, name), join(copy, /\.onnx/.test(name) ? 'onnx' : '', name));
  return copy;
}

const folder = inItsLayout(resolve(modelFolder));
env.allowRemoteModels = false;
env.localModelPath = join(folder, '..');
const name = basename(folder);
const tokenizer = await AutoTokenizer.from_pretrained(name);
tokenizer.padding_side = 'left';
let model = null;

const requests = {
  /** Makes the session: transformers.js does it once, with the graph optimisations that it has by default. */
  async open() {
    const started = performance.now();
    model = await AutoModelForCausalLM.from_pretrained(name, {
      dtype: 'fp32',
      device: 'cpu',
      session_options: { intraOpNumThreads: Number(threads), interOpNumThreads: 1 },
    });
    return { seconds: (performance.now() - started) / 1000 };
  },
  /** Exactly `newTokens` for each text, greedily. */
  async decode({ texts, newTokens }) {
    const inputs = tokenizer(texts, { padding: true });
    const started = performance.now();
    const outputs = await model.generate({
      ...inputs,
      max_new_tokens: newTokens,
      eos_token_id: null,
      do_sample: false,
    });
    const seconds = (performance.now() - started) / 1000;
    const rows = outputs.tolist().map((ids) => ids.slice(-newTokens).map(Number));
    return { seconds, tokens: rows, outputTokens: rows.reduce((sum, row) => sum + row.length, 0) };
  },
};

await answerRequests({ ready: true, version: env.version }, ({ do: what, ...request }) => requests[what](request));

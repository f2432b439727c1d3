// The training graph of a model from its file: node bench/build.mjs BUNDLE MODEL_FILE [BATCH LENGTH]
// One reply: seconds of each part, nodes, and the peak memory of the process. No weight is read.
import { pathToFileURL } from 'node:url';
import { answerRequests } from './answer.mjs';

const [bundle, file] = process.argv.slice(2);
const { buildTrainingGraph } = await import(pathToFileURL(bundle).href);

await answerRequests({ ready: true }, async ({ batch, length, vectors, answers }) => {
  const started = performance.now();
  const used = process.cpuUsage();
  const { nodes, bytes, needed } = buildTrainingGraph(file, { batch, length, vectors, answers });
  const { user, system } = process.cpuUsage(used);
  return { cpuSeconds: (user + system) / 1e6, seconds: (performance.now() - started) / 1000, nodes, bytes, needed };
});

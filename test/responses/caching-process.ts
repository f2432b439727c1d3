/**
 * A process of its own that asks a model behind a cache: `FOLDER FROM TO [SLEEP]`. Prints the number of each answer that it
 * computed, pausing SLEEP milliseconds after each, and at the end counts and problems as JSON.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { askedModel, generateRange, opened } from './asked.ts';

const [folder = '', from = '0', to = '0', pause = '0'] = process.argv.slice(2);
const asked = askedModel();
const { generate } = asked.model;
asked.model.generate = (requests, settings, hooks) =>
  generate(requests, settings, {
    ...hooks,
    onResult: async (result) => {
      await hooks.onResult(result);
      process.stdout.write(`${result.index}\n`);
      await sleep(Number(pause));
    },
  });
const cache = opened(asked, folder);
const results = await generateRange(cache.model, Number(from), Number(to));
cache.close();
process.stdout.write(`${JSON.stringify({ ...cache.counts(), problems: cache.problems(), answers: results.size })}\n`);

// position: suffix against prefix: a tuning step once the text's keys and values are at hand, and the whole step with them.
import { alternate, median, ratio } from './children.mjs';

/**
 * @param engine starts the product's engine with a number of threads
 * @returns figures of one length, with the time of a prefix step as 1
 */
export async function suffixStep(engine, threads, { batch, length, answer, rounds, onRound }) {
  const options = {
    prefix: { position: 'prefix' },
    whole: { position: 'suffix', passes: 1 },
    ready: { position: 'suffix', passes: 2 },
  };
  const children = {};
  for (const [name, settings] of Object.entries(options)) {
    children[name] = await engine(threads);
    await children[name].ask({ do: 'open', batch, seed: 0, ...settings });
  }
  let seed = 100;
  const step = (name, from) => children[name].ask({ do: 'step', batch, length, answer, seed: from });
  const answers = await alternate(
    {
      prefix: () => step('prefix', ++seed),
      whole: () => step('whole', ++seed),
      ready: async () => {
        // The first step on these texts reads them and keeps their keys and values; the second finds them.
        await step('ready', ++seed);
        return step('ready', seed);
      },
    },
    { rounds, warmUps: 2, onRound },
  );
  const memory = {};
  for (const [name, child] of Object.entries(children)) memory[name] = await child.stop();
  const taken = (name) => answers[name].map((entry) => entry.seconds);
  return {
    batch,
    length,
    answer,
    seconds: { prefix: taken('prefix'), whole: taken('whole'), ready: taken('ready') },
    median: median(taken('prefix')),
    ready: ratio(taken('ready'), taken('prefix')),
    whole: ratio(taken('whole'), taken('prefix')),
    memory,
  };
}

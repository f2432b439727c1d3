// How long the prediction process keeps its thread before messages have their turn: node bench/prediction-turns.mjs BUNDLE
//
// {"file":"records.csv","call":"fit","seconds":10} on standard input; answered with the longest turns in milliseconds, how many
// there were, and how long a cancel message took where the call was still at work after so many seconds.
// A turn is the time between two immediates in a row, by the clock or by processor time, whichever is less: other programs
// on the machine make the one long, the garbage collector's threads the other.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { predictionHandlers } = await import(pathToFileURL(process.argv[2]).href);

/** Answers of the product to what the predictor page asks, with the predictor that stands for all. */
const calls = {
  records: (handlers, places, hooks) => handlers.records(places, hooks),
  fit: (handlers, places, hooks) => handlers.fit({ places, predictor: 'combined', folds: 10, seed: 0 }, hooks),
  'task map': (handlers, places, hooks) =>
    handlers.taskMap({ places, predictor: 'combined', clusters: 0, seed: 0 }, hooks),
  'small bench': (handlers, places, hooks) =>
    handlers.smallBench(
      { places, search: 'greedy', budgets: [4, 8, 24], budgetIn: 'tasks', seconds: 600, seed: 0 },
      hooks,
    ),
  'next benchmark': (handlers, places, hooks) => handlers.nextBenchmark({ places, model: '' }, hooks),
};

async function measure({ file, call, seconds }) {
  const handlers = predictionHandlers();
  const places = { storeFolders: [], files: [file] };
  // Calls but the first find the records read.
  if (call !== 'records') await handlers.records(places, { signal: new AbortController().signal, progress() {} });
  const control = new AbortController();
  const turns = [];
  let [working, last, before] = [true, performance.now(), process.cpuUsage()];
  const tick = () => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(before);
    turns.push(Math.min(now - last, (user + system) / 1e3));
    [last, before] = [performance.now(), process.cpuUsage()];
    if (working) setImmediate(tick);
  };
  setImmediate(tick);
  let stopped = null;
  const timer = setTimeout(() => {
    stopped = performance.now();
    control.abort();
  }, seconds * 1000);
  let problem = null;
  try {
    await calls[call](handlers, places, { signal: control.signal, progress() {} });
  } catch (thrown) {
    if (!control.signal.aborted) problem = String(thrown);
  }
  clearTimeout(timer);
  working = false;
  turns.sort((a, b) => b - a);
  return {
    problem,
    longest: turns.slice(0, 5),
    turns: turns.length,
    above50: turns.filter((turn) => turn > 50).length,
    cancelled: stopped === null ? null : performance.now() - stopped,
  };
}

console.log('{}');
for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await measure(JSON.parse(line))));

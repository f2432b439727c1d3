// The study's MLP of Softbench, as a program to be measured: node bench/mlp-child.mjs BUNDLE
// {"do":"train","records":50000,"names":[…],"epochs":30} on standard input, {"seconds":…,"cpuSeconds":…} on standard output.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { mlpPredictor, studySettings } = await import(pathToFileURL(process.argv[2]).href);

/** Records whose task, subtask, family, model, metric and mode take the given numbers of values. */
function records(count, [tasks, subtasks, families, models, metrics]) {
  let state = 1;
  const below = (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  return Array.from({ length: count }, () => {
    const size = 1e8 * 2 ** below(12);
    const [model, subtask] = [below(models), below(subtasks)];
    return {
      family: `family ${below(families)}`,
      model: `model ${model}`,
      parameters: { total: size, nonEmbedding: 0.9 * size, flopMatched: 0.5 * size },
      trainingFlops: null,
      task: `task ${below(tasks)}`,
      subtask: `subtask ${subtask}`,
      shots: below(4),
      mode: null,
      metric: `metric ${below(metrics)}`,
      preferred: true,
      // Something to learn, as in real scores: levels of models and subtasks, and noise.
      score: 0.5 + 0.4 * Math.sin(model / 10 + subtask) + 0.05 * (below(1000) / 1000 - 0.5),
      n: null,
      source: 'csv',
    };
  });
}

console.log('{}');
for await (const line of createInterface({ input: process.stdin })) {
  const { records: count, names, epochs } = JSON.parse(line);
  const made = records(count + 10, names);
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await mlpPredictor({ ...studySettings, epochs }).fit(made.slice(10), { seed: 0, development: made.slice(0, 10) });
  const used = process.cpuUsage(cpu);
  console.log(
    JSON.stringify({ seconds: (performance.now() - begun) / 1000, cpuSeconds: (used.user + used.system) / 1e6 }),
  );
}

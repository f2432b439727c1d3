// Evaluation beside lm-evaluation-harness: what scripts/bench.mjs runs for --only evaluate.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, startChild } from './children.mjs';

const lines = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim())
    .map((line) => JSON.parse(line));

/** An ARC item of the LLM-Adapters data: question and choices out of its instruction. */
function arcItem({ instruction, answer }) {
  const [, question, listed] =
    /^Please choose the correct answer to the question: ([\s\S]*?)\n\n(Answer1: [\s\S]*?)\n\nAnswer format:/.exec(
      instruction,
    ) ?? [];
  if (!question || !listed) return null;
  const choices = listed.split(/\s*Answer\d+: /).slice(1);
  return { question, choices: choices.map((choice) => choice.trim()), gold: Number(answer.slice(6)) - 1 };
}

/**
 * Tasks, each by its data and its YAML. `items`: how many lm-eval evaluates with 0 and with 5 examples; Softbench
 * evaluates `more` times as many, so that reading the examples, which it does once, counts about as in a small run.
 */
const tasks = {
  gsm8k: {
    title: 'GSM8K, 64 new tokens',
    items: { 0: 16, 5: 8 },
    more: { 0: 2, 5: 4 },
    files: ['gsm8k/train.jsonl', 'gsm8k/test.jsonl'],
    read: lines,
    yaml: `output_type: generate_until
doc_to_text: "Question: {{question}}\\nAnswer:"
doc_to_target: "{{answer}}"
generation_kwargs: {until: ["Question:"], do_sample: false, max_gen_toks: 64}
metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]
`,
  },
  boolq: {
    title: 'BoolQ, two choices of one token',
    items: { 0: 64, 5: 16 },
    more: { 0: 2, 5: 8 },
    files: ['llm_adapters/boolq/train.json', 'llm_adapters/boolq/test.json'],
    read: (file) =>
      JSON.parse(readFileSync(file, 'utf8')).map(({ instruction, answer }) => ({
        question: instruction,
        choices: ['false', 'true'],
        gold: ['false', 'true'].indexOf(answer),
      })),
    yaml: `output_type: multiple_choice
doc_to_text: "{{question}}\\nAnswer:"
doc_to_target: gold
doc_to_choice: "{{choices}}"
metric_list: [{metric: acc, aggregation: mean, higher_is_better: true}]
`,
  },
  arc_easy: {
    title: 'ARC-Easy, answer texts',
    items: { 0: 24, 5: 8 },
    more: { 0: 2, 5: 8 },
    files: ['llm_adapters/ARC-Easy/train.json', 'llm_adapters/ARC-Easy/test.json'],
    read: (file) =>
      JSON.parse(readFileSync(file, 'utf8'))
        .map(arcItem)
        .filter((item) => item !== null && item.choices.length >= 4),
    yaml: `output_type: multiple_choice
doc_to_text: "Question: {{question}}\\nAnswer:"
doc_to_target: gold
doc_to_choice: "{{choices}}"
metric_list: [{metric: acc, aggregation: mean, higher_is_better: true}]
`,
  },
};

/** Writes a task and its data, for both programs. */
function writeTask(folder, name, { files, read, yaml }, data) {
  const paths = ['train', 'test'].map((split, at) => {
    const items = read(join(data, files[at])).slice(0, split === 'train' ? 50 : 512);
    const file = join(folder, `${name}_${split}.jsonl`);
    writeFileSync(file, items.map((item) => `${JSON.stringify(item)}\n`).join(''));
    return file;
  });
  const file = join(folder, `bench_${name}.yaml`);
  writeFileSync(
    file,
    `task: bench_${name}
dataset_path: json
dataset_kwargs:
  data_files: {train: ${JSON.stringify(paths[0])}, test: ${JSON.stringify(paths[1])}}
training_split: train
test_split: test
fewshot_split: train
fewshot_config: {sampler: first_n}
${yaml}metadata:
  version: 1
  softbench: {generate: false}
`,
  );
  return file;
}

const gigabytes = (bytes) => (bytes === null ? '?' : `${(bytes / 1e9).toFixed(2)} GB`);
const rate = ({ items, seconds }) => items / seconds;

/** How far the two programs' results are apart, over the items that both have. */
function agreement(ours, theirs) {
  const common = theirs.map((output, item) => [ours[item], output]);
  if (Array.isArray(theirs[0])) {
    const differences = common.flatMap(([a, b]) => b.map((value, choice) => Math.abs(value - a[choice])));
    return { largestDifference: Math.max(...differences) };
  }
  // lm-eval strips nothing; both end before the stop string.
  return { equalOutputs: common.filter(([a, b]) => a.trim() === b.trim()).length, of: common.length };
}

export async function evaluation(bench) {
  const { root, product, folder, threads, allocator, python, hf, data, batch, rounds, row, times, progress, results } =
    bench;
  if (!data || !existsSync(join(data, 'gsm8k')))
    throw new Error('--data: a folder with gsm8k/ and llm_adapters/ (train and test of GSM8K, BoolQ and ARC-Easy).');
  const temporary = mkdtempSync(join(tmpdir(), 'softbench-bench-'));
  const cache = join(root, 'dist', 'bench', 'cache');
  mkdirSync(cache, { recursive: true });
  const ours = () =>
    startChild(process.execPath, [join(root, 'bench', 'evaluator.mjs'), product, folder, threads], {
      env: { ...allocator, SOFTBENCH_CACHE: cache },
    });
  // A process for each measurement: nothing that one has read helps the next, and each has a peak of its own.
  const measure = async (start, request) => {
    const child = await start();
    await child.ask({ do: 'open' });
    const answer = await child.ask(request);
    return { ...answer, memory: await child.stop() };
  };
  const record = {};
  try {
    const files = {};
    for (const [name, task] of Object.entries(tasks)) files[name] = writeTask(temporary, name, task, data);
    // Packed weights are written where many runs are ahead: not in what is measured.
    await measure(ours, { do: 'evaluate', file: files.gsm8k, shots: 0, items: 8, batchSize: batch });
    for (const shots of [0, 5])
      for (const [name, { title, items, more }] of Object.entries(tasks)) {
        progress(`evaluation: ${title}, ${shots} examples`);
        const own = () =>
          measure(ours, {
            ...{ do: 'evaluate', file: files[name], shots, batchSize: batch },
            items: items[shots] * more[shots],
          });
        const taken = { softbench: [], 'lm-eval': [] };
        for (let round = 0; round < rounds; round++) {
          taken.softbench.push(await own());
          if (!python) continue;
          const start = () =>
            startChild(python, [join(root, 'bench', 'lm_eval_child.py'), hf, temporary, threads, batch].map(String));
          const task = `bench_${name}`;
          taken['lm-eval'].push(await measure(start, { do: 'evaluate', task, shots, items: items[shots] }));
          // Before and after the other program: what else the machine does is then in both.
          taken.softbench.push(await own());
        }
        progress('');
        const [first] = taken.softbench;
        const peak = (list) => Math.max(...list.map(({ memory }) => memory.resident));
        const anonymous = (list) => Math.max(...list.map(({ memory }) => memory.anonymous));
        const rates = taken.softbench.map(rate);
        const figures = {
          title,
          shots,
          batch,
          items: first.items,
          itemsPerSecond: rates,
          cpuSecondsPerItem: taken.softbench.map(({ cpuSeconds, items: of }) => cpuSeconds / of),
          memory: { resident: peak(taken.softbench), anonymous: anonymous(taken.softbench) },
        };
        row(
          `${title}, ${shots}-shot`,
          `${median(rates).toFixed(2)} items/s`,
          `${first.items} items, peak ${gigabytes(figures.memory.resident)} resident, ${gigabytes(figures.memory.anonymous)} of it not file pages`,
        );
        if (taken['lm-eval'].length) {
          const theirs = taken['lm-eval'];
          const ratios = theirs.flatMap((one, round) =>
            [0, 1].map((side) => rate(taken.softbench[2 * round + side]) / rate(one)),
          );
          figures.overLmEval = {
            median: median(ratios),
            smallest: Math.min(...ratios),
            largest: Math.max(...ratios),
          };
          figures.lmEval = {
            items: theirs[0].items,
            itemsPerSecond: theirs.map(rate),
            cpuSecondsPerItem: theirs.map(({ cpuSeconds, items: of }) => cpuSeconds / of),
            memory: { resident: peak(theirs), anonymous: anonymous(theirs) },
          };
          figures.memoryOverLmEval = figures.memory.resident / figures.lmEval.memory.resident;
          figures.agreement = agreement(first.outputs, theirs[0].outputs);
          row(
            '  items/s, of lm-eval',
            times(figures.overLmEval),
            `${median(theirs.map(rate)).toFixed(2)} items/s of ${theirs[0].items} items`,
          );
          row(
            '  peak memory, of lm-eval',
            `${figures.memoryOverLmEval.toFixed(2)} ×`,
            `${gigabytes(figures.lmEval.memory.resident)} resident, ${gigabytes(figures.lmEval.memory.anonymous)} of it not file pages`,
          );
          row(
            '  results',
            'equalOutputs' in figures.agreement
              ? `${figures.agreement.equalOutputs} of ${figures.agreement.of} equal`
              : `|difference| ≤ ${figures.agreement.largestDifference.toExponential(1)}`,
          );
        }
        record[`${name}_${shots}`] = figures;
      }
    results.evaluate = record;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

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
 * Tasks, each by its data and its YAML. `items`: how many Softbench evaluates, a small run (`--limit 40`, `--limit 100`);
 * `theirs`: how many of them lm-eval does with 0 and with 5 examples. Its batches share nothing, so that its items per
 * second hardly depend on how many there are, and with 5 examples all of them would take it minutes.
 */
const tasks = {
  gsm8k: {
    title: 'GSM8K, 64 new tokens',
    items: 40,
    theirs: { 0: 16, 5: 8 },
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
    items: 100,
    theirs: { 0: 100, 5: 16 },
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
    items: 100,
    theirs: { 0: 100, 5: 8 },
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

const peak = (list) => Math.max(...list.map(({ memory }) => memory.resident));

/** Softbench's figures, and their ratios over lm-eval's: each of those stands between two of Softbench's. */
function figuresOf({ title, shots, batch }, ours, theirs) {
  const [first] = ours;
  const figures = {
    ...{ title, shots, batch, items: first.items },
    itemsPerSecond: ours.map(rate),
    cpuSecondsPerItem: ours.map(({ cpuSeconds, items }) => cpuSeconds / items),
    memory: { resident: peak(ours), anonymous: Math.max(...ours.map(({ memory }) => memory.anonymous)) },
  };
  if (!theirs.length) return figures;
  const ratios = theirs.flatMap((one, round) => [0, 1].map((side) => rate(ours[2 * round + side]) / rate(one)));
  return {
    ...figures,
    overLmEval: { median: median(ratios), smallest: Math.min(...ratios), largest: Math.max(...ratios) },
    memoryOverLmEval: peak(ours) / peak(theirs),
    agreement: agreement(first.outputs, theirs[0].outputs),
    lmEval: {
      items: theirs[0].items,
      itemsPerSecond: theirs.map(rate),
      cpuSecondsPerItem: theirs.map(({ cpuSeconds, items }) => cpuSeconds / items),
      memory: { resident: peak(theirs) },
    },
  };
}

function print({ row, times }, { title, shots, items, itemsPerSecond, memory, overLmEval, ...figures }) {
  row(
    `${title}, ${shots}-shot`,
    `${median(itemsPerSecond).toFixed(2)} items/s`,
    `${items} items, peak ${gigabytes(memory.resident)} resident, ${gigabytes(memory.anonymous)} of it not file pages`,
  );
  if (!overLmEval) return;
  const { lmEval, memoryOverLmEval, agreement: found } = figures;
  row(
    '  items/s, of lm-eval',
    times(overLmEval),
    `${median(lmEval.itemsPerSecond).toFixed(2)} items/s of ${lmEval.items} items`,
  );
  row('  peak memory, of lm-eval', `${memoryOverLmEval.toFixed(2)} ×`, `${gigabytes(lmEval.memory.resident)} resident`);
  row(
    '  results',
    'equalOutputs' in found
      ? `${found.equalOutputs} of ${found.of} equal`
      : `|difference| ≤ ${found.largestDifference.toExponential(1)}`,
  );
}

export async function evaluation(bench) {
  const { root, product, folder, threads, allocator, python, hf, data, batch, rounds, progress, results, some, most } =
    bench;
  if (!data || !existsSync(join(data, 'gsm8k')))
    throw new Error('--data: a folder with gsm8k/ and llm_adapters/ (train and test of GSM8K, BoolQ and ARC-Easy).');
  const temporary = mkdtempSync(join(tmpdir(), 'softbench-bench-'));
  const cache = join(root, 'dist', 'bench', 'cache');
  mkdirSync(cache, { recursive: true });
  // A process for each measurement: nothing that one has read helps the next, and each has a peak of its own.
  const own = async (request) => {
    const child = await startChild(process.execPath, [join(root, 'bench', 'evaluator.mjs'), product, folder, threads], {
      env: { ...allocator, SOFTBENCH_CACHE: cache },
    });
    await child.ask({ do: 'open' });
    // Sessions are made at the first items: that is opening the model, which the other program's figure leaves out too.
    await child.ask({ do: 'evaluate', batchSize: batch, ...request, shots: 0, items: 4 });
    const answer = await child.ask({ do: 'evaluate', batchSize: batch, ...request });
    return { ...answer, memory: await child.stop() };
  };
  let other = null;
  const theirs = async (request) => {
    const answer = await other.ask({ do: 'evaluate', ...request });
    return { ...answer, memory: { resident: answer.peak ?? other.memory().resident } };
  };
  const record = {};
  try {
    const files = {};
    for (const [name, task] of Object.entries(tasks)) files[name] = writeTask(temporary, name, task, data);
    if (python) {
      const script = join(root, 'bench', 'lm_eval_child.py');
      other = await startChild(python, [script, hf, temporary, threads, batch].map(String));
      await other.ask({ do: 'open' });
    }
    // Packed weights are written where many runs are ahead: not in what is measured.
    await own({ file: files.gsm8k, shots: 0, items: 8 });
    for (const shots of [0, 5])
      for (const [name, { title, items, theirs: counts }] of Object.entries(tasks)) {
        if (some && !some.includes(`${name}_${shots}`)) continue;
        progress(`evaluation: ${title}, ${shots} examples`);
        const request = { file: files[name], shots, items: Math.min(items, most) };
        const taken = { ours: [], theirs: [] };
        for (let round = 0; round < rounds; round++) {
          taken.ours.push(await own(request));
          if (!other) continue;
          taken.theirs.push(await theirs({ task: `bench_${name}`, shots, items: Math.min(counts[shots], most) }));
          // Before and after the other program: what else the machine does is then in both.
          taken.ours.push(await own(request));
        }
        progress('');
        record[`${name}_${shots}`] = figuresOf({ title, shots, batch }, taken.ours, taken.theirs);
        print(bench, record[`${name}_${shots}`]);
      }
    results.evaluate = record;
  } finally {
    await other?.stop();
    rmSync(temporary, { recursive: true, force: true });
  }
}

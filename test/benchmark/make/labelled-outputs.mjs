// Generates the outputs that were then labelled by reading. See test/fixtures/labelled-outputs/README.md.
//
//   node test/benchmark/make/labelled-outputs.mjs --model SMOLLM2_FOLDER --data FOLDER [--only NAME,…] [--missing]
//   node test/benchmark/make/labelled-outputs.mjs --which stories260k
//   node test/benchmark/make/labelled-outputs.mjs --runs RUN_STORE --data FOLDER    collect what runs have written
//
// FOLDER holds gsm8k/test.jsonl, aqua/test.json and bbh/*.json as their repositories give them. `--missing` leaves what is
// there with the same prompt. Labels stay where prompt and output are unchanged. Ends after --seconds; call it again.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleProduct } from '../../../scripts/build.mjs';
import { collected, itemsOf, optionsOf, prompts, render, runTurns } from './labelled-prompts.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '..', '..', '..');
const { values: options } = parseArgs({
  options: {
    model: { type: 'string' },
    data: { type: 'string' },
    only: { type: 'string' },
    batch: { type: 'string', default: '8' },
    runs: { type: 'string' },
    which: { type: 'string', default: 'SmolLM2-135M-Instruct' },
    missing: { type: 'boolean', default: false },
    threads: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '100' },
  },
});
const examples = join(root, 'examples');
const own = options.which === 'stories260k';
const modelFolder = options.model ?? (own ? join(examples, 'models', 'stories260k') : null);
const dataFolder = options.data ?? (own ? join(examples, 'benchmarks', 'data') : null);
if (!(modelFolder || options.runs) || !dataFolder) throw new Error('--model and --data are needed.');

const kept = new Map();
const fileOf = (kind) => join(root, 'test', 'fixtures', 'labelled-outputs', `${kind}.jsonl`);
for (const kind of new Set(prompts.map((prompt) => prompt.kind)))
  if (existsSync(fileOf(kind)))
    for (const line of readFileSync(fileOf(kind), 'utf8').split('\n').filter(Boolean)) {
      const entry = JSON.parse(line);
      kept.set(entry.id, entry);
    }

function read(name) {
  const text = readFileSync(join(dataFolder, name), 'utf8');
  return name.endsWith('.jsonl')
    ? text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : parse(text);
}

/** AQuA's test.json is one object a line. */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }
}

/** Only lines that the prompts still name are kept, in their order. */
function write() {
  const ids = [
    ...prompts.flatMap((prompt) => Array.from({ length: prompt.n }, (_, i) => `${prompt.name}/${prompt.from + i}`)),
    ...collected.flatMap(({ name }) => [...kept.keys()].filter((id) => id.startsWith(`${name}/`))),
  ];
  for (const kind of new Set(prompts.map((prompt) => prompt.kind)))
    writeFileSync(
      fileOf(kind),
      ids.flatMap((id) => (kept.get(id)?.kind === kind ? [`${JSON.stringify(kept.get(id))}\n`] : [])).join(''),
    );
}

function keep(entry) {
  const old = kept.get(entry.id);
  kept.set(entry.id, { ...entry, ...(old?.output === entry.output && old.label && { label: old.label }) });
}

/** The first outputs, by item, of the runs of a store that `collected` names. */
function collectRuns(store) {
  for (const folder of readdirSync(store).sort()) {
    const file = join(store, folder, 'items.jsonl');
    if (!existsSync(file)) continue;
    const run = JSON.parse(readFileSync(join(store, folder, 'run.json'), 'utf8'));
    const row = collected.find(({ task, mode }) => task === run.benchmark.task && mode === run.mode);
    if (!row) continue;
    const { data, turn } = runTurns[row.task];
    const lines = (path) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    const source =
      row.task === 'gsm8k_local' ? read('gsm8k/test.jsonl') : lines(join(root, 'examples', 'benchmarks', 'data', data));
    for (const { index, prompt, output, stop } of lines(file)
      .sort((a, b) => a.index - b.index)
      .slice(0, row.n))
      keep({
        id: `${row.name}/${index}`,
        kind: row.kind,
        model: 'SmolLM2-135M-Instruct',
        data: row.task,
        prompt: prompt.hash.slice(0, 16),
        question: turn(source[index]),
        options: [],
        output,
        stop: stop.reason,
      });
  }
}

/** Four models' solutions to each problem: OpenAI's 6B and 175B models of the GSM8K paper, finetuned and with a verifier. */
function collectSolutions({ name, kind, file, from, n }) {
  const models = ['6b_finetuning', '6b_verification', '175b_finetuning', '175b_verification'];
  read(file)
    .slice(from, from + n / models.length)
    .forEach((row, i) => {
      for (const model of models)
        keep({
          id: `${name}/${from + i}-${model}`,
          kind,
          model,
          data: 'gsm8k',
          prompt: '',
          question: `Question: ${row.question}\nAnswer:`,
          options: [],
          output: row[model].solution,
          stop: 'eos',
        });
    });
}

if (options.runs) {
  collectRuns(options.runs);
  for (const row of collected.filter(({ file }) => file)) collectSolutions(row);
  write();
  process.exit(0);
}

mkdirSync(join(root, 'dist', 'bench'), { recursive: true });
const product = join(root, 'dist', 'bench', 'labelled-outputs.mjs');
await bundleProduct(product);
const { openLanguageModel } = await import(pathToFileURL(product).href);
const model = await openLanguageModel(resolve(modelFolder), {
  executionProvider: 'cpu',
  threads: Number(options.threads),
});
const end = Date.now() + 1000 * Number(options.seconds);

for (const prompt of prompts) {
  if (prompt.model !== options.which) continue;
  if (options.only && !options.only.split(',').includes(prompt.name)) continue;
  if (Date.now() > end) break;
  const data = itemsOf(prompt.data, read);
  const wanted = data.slice(prompt.from, prompt.from + prompt.n).map((item, i) => {
    const at = prompt.from + i;
    const examples = Array.from({ length: prompt.shots }, (_, k) => data[(prompt.from + prompt.n + k) % data.length]);
    return { at, item, id: `${prompt.name}/${at}`, text: render(prompt, item, examples) };
  });
  const hash = (text) => createHash('sha256').update(text).digest('hex').slice(0, 16);
  const pending = wanted.filter(({ id, text }) => !options.missing || kept.get(id)?.prompt !== hash(text));
  if (pending.length === 0) continue;
  const started = Date.now();
  await model.generate(
    pending.map(({ at, text }) => ({ index: at, tokens: model.tokenizer.encode(text, { special: true }) })),
    {
      until: prompt.until,
      maxNewTokens: prompt.tokens,
      temperature: 0,
      topP: 1,
      seed: 0,
      batchSize: Number(options.batch),
      softPrompt: null,
    },
    {
      onResult: ({ index, text, stop }) => {
        const asked = pending.find(({ at }) => at === index);
        const old = kept.get(asked.id);
        const same = old?.output === text && old?.prompt === hash(asked.text);
        kept.set(asked.id, {
          id: asked.id,
          kind: prompt.kind,
          model: options.which,
          data: prompt.data,
          prompt: hash(asked.text),
          question: prompt.turn(asked.item),
          options: optionsOf(prompt, asked.item),
          output: text,
          stop: stop.reason,
          ...(same && old.label ? { label: old.label } : {}),
        });
      },
    },
  );
  write();
  console.log(`${prompt.name}: ${pending.length} outputs, ${((Date.now() - started) / 1000).toFixed(1)} s`);
}
write();
await model.close?.();

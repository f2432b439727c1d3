// Decoding and opening beside transformers.js: what scripts/bench.mjs runs for --only decode,open.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { alternate, median, ratio, startChild } from './children.mjs';
import { questionText, randomSource, wordProblem } from './texts.mjs';

const seconds = (answers) => answers.map((answer) => answer.seconds);
const gigabytes = (bytes) => (bytes === null ? '?' : `${(bytes / 1e9).toFixed(2)} GB`);
const memory = ({ resident, anonymous }) =>
  `peak ${gigabytes(resident)} resident, ${gigabytes(anonymous)} of it not file pages`;

/**
 * Programs by name. `kept`: packed weights lie in a folder of the bench, so that a person's cache is left alone.
 * The last argument is the environment.
 */
function programs({ root, product, folder, threads, transformersJs, allocator }) {
  const cache = join(root, 'dist', 'bench', 'cache');
  mkdirSync(cache, { recursive: true });
  const node = (script, args, environment) => () =>
    startChild(process.execPath, [join(root, 'bench', script), ...args, folder, threads].flat(), { env: environment });
  const own = (environment, variant) => () =>
    startChild(process.execPath, [join(root, 'bench', 'decoder.mjs'), product, folder, threads, variant], {
      env: { ...allocator, ...environment },
    });
  return {
    softbench: own({ SOFTBENCH_CACHE: cache }, 'usual'),
    'one by one': own({ SOFTBENCH_CACHE: cache }, 'one-by-one'),
    unkept: (empty) => own({ SOFTBENCH_CACHE: empty }, 'usual')(),
    plain: node('plain-session.mjs', [product], {}),
    ...(transformersJs ? { 'transformers.js': node('transformers-js.mjs', [transformersJs], {}) } : {}),
  };
}

/** Packed weights are written where text is generated for the first time: not in what is measured. */
async function keep(start) {
  const first = await start.softbench();
  await first.ask({ do: 'open' });
  await first.ask({ do: 'decode', texts: ['A'], newTokens: 48 });
  await first.stop();
}

/** Greedy generation, tokens a second: the same prompts, the same number of tokens, the outputs compared. */
export async function decode(bench) {
  const { rounds, row, times, progress, results, contextLength } = bench;
  const start = programs(bench);
  const small = contextLength !== null && contextLength < 2048;
  const newTokens = small ? 32 : 64;
  await keep(start);
  const random = randomSource(21);
  const cut = (text) => (small ? text.split(' ').slice(0, 20).join(' ') : text);
  const prompts = Array.from({ length: 8 }, () => cut(questionText(wordProblem(random))));
  for (const batch of [1, 8]) {
    const children = {};
    for (const name of ['softbench', 'one by one', 'transformers.js'])
      if (start[name]) children[name] = await start[name]();
    for (const child of Object.values(children)) await child.ask({ do: 'open' });
    const texts = prompts.slice(0, batch);
    const answers = await alternate(
      Object.fromEntries(
        Object.entries(children).map(([name, child]) => [name, () => child.ask({ do: 'decode', texts, newTokens })]),
      ),
      { rounds, onRound: (done, of) => progress(`decoding, batch ${batch}: ${done} of ${of}`) },
    );
    const peak = {};
    for (const [name, child] of Object.entries(children)) peak[name] = await child.stop();
    progress('');
    const rate = (name) => `${((batch * newTokens) / median(seconds(answers[name]))).toFixed(1)} tokens/s`;
    const record = { batch, newTokens, seconds: {}, memory: peak };
    for (const name of Object.keys(answers)) record.seconds[name] = seconds(answers[name]);
    row(`decoding, batch ${batch}, ${newTokens} tokens`, rate('softbench'), memory(peak.softbench));
    record.drafts = ratio(seconds(answers['one by one']), seconds(answers.softbench));
    row('  tokens/s, of one token a run', times(record.drafts), rate('one by one'));
    const other = answers['transformers.js'];
    if (other) {
      record.overTransformersJs = ratio(seconds(other), seconds(answers.softbench));
      record.oneByOneOverTransformersJs = ratio(seconds(other), seconds(answers['one by one']));
      row('  tokens/s, of transformers.js', times(record.overTransformersJs), rate('transformers.js'));
      row('  one token a run, of transformers.js', times(record.oneByOneOverTransformersJs));
      const { softbench: ours, 'transformers.js': theirs } = peak;
      record.memoryOverTransformersJs = {
        resident: ours.resident / theirs.resident,
        anonymous: ours.anonymous / theirs.anonymous,
      };
      row(
        '  peak memory, of transformers.js',
        `${record.memoryOverTransformersJs.anonymous.toFixed(2)} × without file pages, ${record.memoryOverTransformersJs.resident.toFixed(2)} × with`,
        memory(theirs),
      );
      const [first] = other;
      record.sameRows = answers.softbench[0].tokens.filter(
        (tokens, index) => tokens.join() === first.tokens[index].join(),
      ).length;
      row('  outputs that are the same, token by token', `${record.sameRows} of ${batch}`);
    }
    results[`decode_${batch}`] = record;
  }
}

/** From nothing to a session that generates, each time in a new process. */
export async function opening(bench) {
  const { rounds, row, times, progress, results } = bench;
  const start = programs(bench);
  const open = async (begin) => {
    const child = await begin();
    const { seconds: taken } = await child.ask({ do: 'open' });
    // The watch reads 50 times a second.
    await new Promise((resolve) => setTimeout(resolve, 60));
    return { seconds: taken, ...(await child.stop()) };
  };
  await keep(start);
  const empty = mkdtempSync(join(tmpdir(), 'softbench-bench-'));
  try {
    const answers = await alternate(
      Object.fromEntries(
        Object.entries({ ...start, 'one by one': undefined }).flatMap(([name, begin]) =>
          begin ? [[name, () => open(() => begin(empty))]] : [],
        ),
      ),
      { rounds, warmUps: 1, onRound: (done, of) => progress(`opening: ${done} of ${of}`) },
    );
    progress('');
    const labels = {
      softbench: 'opening the model, weights packed before',
      unkept: 'opening the model, for the first time',
      plain: 'a plain session of ONNX Runtime',
      'transformers.js': 'transformers.js, model alone',
    };
    const record = {};
    for (const [name, list] of Object.entries(answers)) {
      record[name] = list;
      const peak = {
        resident: Math.max(...list.map(({ resident }) => resident)),
        anonymous: Math.max(...list.map(({ anonymous }) => anonymous)),
      };
      row(labels[name], `${median(seconds(list)).toFixed(2)} s`, memory(peak));
      if (name !== 'softbench' && name !== 'unkept')
        for (const own of ['softbench', 'unkept'])
          row(
            `  ${own === 'softbench' ? 'packed before' : 'first time'}, of it`,
            times(ratio(seconds(answers[own]), seconds(list))),
          );
    }
    results.open = record;
  } finally {
    rmSync(empty, { recursive: true, force: true });
  }
}

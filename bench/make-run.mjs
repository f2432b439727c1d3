// Writes runs of many items to disk, as a store has them: node bench/make-run.mjs FOLDER ITEMS [MODE,MODE]
// Items look like those of GSM8K: outputs of some 500 characters that reason, answer, and in part run on.
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const words =
  'so she has bought then three dozen apples and each of them costs half as much which makes the total for every week the number of sheep in Seattle divided by what is left after lunch we multiply twenty per cent'.split(
    ' ',
  );

/** Uniform numbers in [0, 1) by seed (mulberry32). */
function uniform(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Text of about `length` characters. */
function prose(random, length) {
  let text = '';
  while (text.length < length) text += ` ${words[Math.floor(random() * words.length)]}`;
  return text;
}

/** @returns the test data's run, item and summary makers: the shapes are those that the product's own types demand */
async function shapes() {
  const { outputFiles } = await build({
    absWorkingDir: root,
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    entryPoints: ['test/webview/data.ts'],
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`);
}

/** @returns ids of the runs */
export async function makeRuns(folder, items, modes = ['zero-shot']) {
  const { modeResult } = await shapes();
  const ids = [];
  for (const mode of modes) {
    const { result, records } = modeResult(mode, items);
    const place = join(folder, 'runs', result.run.id);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'run.json'), JSON.stringify(result.run));
    if (result.summary) writeFileSync(join(place, 'summary.json'), JSON.stringify(result.summary));
    writeFileSync(join(place, 'tuning.jsonl'), result.tuning.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const random = uniform(mode.length);
    const file = createWriteStream(join(place, 'items.jsonl'));
    let pending = '';
    for (const record of records) {
      // The hostile texts of the page tests have their own length.
      const shift = record.output.length > 5000 ? 0 : 300 + Math.floor(random() * 400);
      const before = shift ? prose(random, shift) : '';
      const move = (span) => span?.map((at) => at + before.length);
      pending += `${JSON.stringify({
        ...record,
        output: record.output === '' ? '' : before + record.output,
        outputTokens: record.outputTokens + Math.round(before.length / 4.5),
        strict: { ...record.strict, span: move(record.strict.span) },
        lenient: { ...record.lenient, span: move(record.lenient.span) },
        metrics: [{ filter: 'strict-match', values: { exact_match: record.right ? 1 : 0 } }],
      })}\n`;
      if (pending.length > 1 << 20) {
        if (!file.write(pending)) await new Promise((done) => file.once('drain', done));
        pending = '';
      }
    }
    await new Promise((done) => file.end(pending, done));
    ids.push(result.run.id);
  }
  return ids;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [folder, items, modes] = process.argv.slice(2);
  if (!folder) {
    console.error('node bench/make-run.mjs FOLDER ITEMS [MODE,MODE]');
    process.exit(2);
  }
  console.log((await makeRuns(folder, Number(items ?? 100_000), modes?.split(','))).join('\n'));
}

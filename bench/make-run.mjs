// Writes runs of many items to disk, as a store has them: node bench/make-run.mjs FOLDER ITEMS [MODE,MODE]
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');

async function maker() {
  const { outputFiles } = await build({
    ...{ absWorkingDir: root, bundle: true, write: false, format: 'esm', platform: 'node' },
    entryPoints: ['bench/large-run.ts'],
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`);
}

/** @returns ids of the runs, and how many bytes their items take */
export async function makeRuns(folder, items, modes = ['zero-shot']) {
  const { largeRun } = await maker();
  const made = [];
  for (const mode of modes) {
    const { result, records } = largeRun(mode, items);
    const place = join(folder, 'runs', result.run.id);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'run.json'), JSON.stringify(result.run));
    if (result.summary) writeFileSync(join(place, 'summary.json'), JSON.stringify(result.summary));
    writeFileSync(join(place, 'tuning.jsonl'), result.tuning.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const file = createWriteStream(join(place, 'items.jsonl'));
    let bytes = 0;
    for (let from = 0; from < records.length; from += 1000) {
      const lines = Buffer.from(
        records
          .slice(from, from + 1000)
          .map((record) => `${JSON.stringify(record)}\n`)
          .join(''),
      );
      bytes += lines.length;
      if (!file.write(lines)) await new Promise((done) => file.once('drain', done));
    }
    await new Promise((done) => file.end(done));
    made.push({ run: result.run.id, bytes });
  }
  return made;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [folder, items, modes] = process.argv.slice(2);
  if (!folder) {
    console.error('node bench/make-run.mjs FOLDER ITEMS [MODE,MODE]');
    process.exit(2);
  }
  for (const { run, bytes } of await makeRuns(folder, Number(items ?? 100_000), modes?.split(',')))
    console.log(`${run}  ${(bytes / 1e6).toFixed(0)} MB`);
}

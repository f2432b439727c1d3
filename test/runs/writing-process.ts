/**
 * A process of its own that writes to a store: `create FOLDER` makes a run, `reopen FOLDER ID` goes on with one. Prints the
 * run's id, then appends items without end and prints the number of each that was acknowledged.
 */
import { openRunStore } from '../../src/runs/index.ts';
import { sentenceOf } from '../../src/shared/errors.ts';
import { sampleItem, sampleRun } from './sample.ts';

// A worker without its host ends, here after a while, as one that is in the middle of a long computation.
process.on('disconnect', () => setTimeout(() => process.exit(), 300));

process.stdout.on('error', () => {});

const [what, folder = '', id = ''] = process.argv.slice(2);
try {
  const store = openRunStore(folder);
  const writer = await (what === 'create' ? store.create(sampleRun()) : store.reopen(id));
  process.stdout.write(`${writer.run.id}\n`);
  for (let index = writer.finishedItems.length; ; index += 4) {
    await Promise.all(
      [0, 1, 2, 3].map((offset) => writer.appendItem(sampleItem(index + offset, 'x'.repeat(20_000 + offset)))),
    );
    process.stdout.write(`${index + 3}\n`);
  }
} catch (thrown) {
  process.stdout.write(`failed: ${sentenceOf(thrown)}\n`);
  process.exitCode = 1;
}

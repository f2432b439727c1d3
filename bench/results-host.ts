/**
 * The host's side of a results page, in a process of its own: node --expose-gc results-host.mjs STORE. It reads the runs,
 * hands all items over in parts and answers details, by the code that the extension runs, and says what memory that took.
 */
import { openRunStore } from '../src/runs/index.ts';
import { packRows } from '../src/shared/item-rows.ts';
import { LiveResults } from '../src/views/live-results.ts';

declare const gc: () => void;
const [, , folder = ''] = process.argv;
const details = 200;

const memory = (): { resident: number; heap: number } => {
  gc();
  const { rss, heapUsed } = process.memoryUsage();
  return { resident: rss, heap: heapUsed };
};
const store = openRunStore(folder);
const { runs } = await store.list();
const [first] = runs;
if (!first) throw new Error(`There are no runs in ${folder}.`);
const { benchmark, model } = first.run;
const live = new LiveResults({
  ...{ task: benchmark.task, benchmarkFile: benchmark.file },
  ...{ modelName: model.name, modelFolder: model.folder },
});
const before = memory();
let highest = before.resident;
const look = (): void => {
  highest = Math.max(highest, process.memoryUsage().rss);
};
const clock = performance.now();
await live.load(runs, () => store);
const { columns } = live.view(null, null);
let [items, characters] = [0, 0];
for (const { run } of columns)
  for (let from = 0, limit = 200; ; limit = 3700) {
    // As the editor does with a message, which keeps the bytes of typed arrays as they are.
    const rows = packRows(await store.readItems(run.id, from, { limit, bytes: 8 << 20 }));
    characters += JSON.stringify(rows, (_, value) => (ArrayBuffer.isView(value) ? value.byteLength : value)).length;
    look();
    if (rows.index.length === 0) break;
    from += rows.index.length;
    items += rows.index.length;
  }
const read = performance.now() - clock;
const each: number[] = [];
for (let at = 0; at < details; at++) {
  const started = performance.now();
  for (const { run } of columns) await store.readItem(run.id, (at * 7919) % Math.max(1, benchmark.items));
  each.push(performance.now() - started);
  look();
}
const after = memory();
each.sort((a, b) => a - b);
console.log(
  JSON.stringify({
    ...{ items, characters, readMilliseconds: read, detailMilliseconds: each[each.length >> 1] },
    // What stays, and the most that was held at a time, above what the process took with the list of runs alone.
    keptBytes: after.heap - before.heap,
    growthBytes: highest - before.resident,
  }),
);

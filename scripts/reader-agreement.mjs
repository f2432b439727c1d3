// How often the built-in readers take what a person takes out of an output, on the labelled outputs in
// test/fixtures/labelled-outputs. What the figures mean: docs/answer-reading.md.
//
//   node scripts/reader-agreement.mjs            tables
//   node scripts/reader-agreement.mjs --show     and every output that they read differently, but for those held out
//   node scripts/reader-agreement.mjs --kind letter --causes --show    of one kind; causes that differ too
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { nodeModule } from './build.mjs';
import { root } from './setup.mjs';

const { values: options } = parseArgs({
  options: {
    show: { type: 'boolean', default: false },
    causes: { type: 'boolean', default: false },
    kind: { type: 'string' },
    folder: { type: 'string', default: join(root, 'test', 'fixtures', 'labelled-outputs') },
  },
});

const bundle = join(root, 'dist', 'bench', 'agreement.mjs');
mkdirSync(join(root, 'dist', 'bench'), { recursive: true });
await build({ ...nodeModule, entryPoints: ['test/benchmark/agreement.ts'], outfile: bundle });
const { agreement, compare, isHeldOut, labelledOutputs } = await import(pathToFileURL(bundle).href);

const percent = (count, n) => (n === 0 ? '–' : `${((100 * count) / n).toFixed(1)} %`);

function table(header, rows) {
  const widths = header.map((cell, i) => Math.max(cell.length, ...rows.map((row) => String(row[i]).length)));
  const line = (cells) =>
    `| ${cells.map((cell, i) => (i === 0 ? String(cell).padEnd(widths[i]) : String(cell).padStart(widths[i]))).join(' | ')} |`;
  console.log([line(header), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n'), '\n');
}

const all = labelledOutputs(options.folder).filter(({ kind }) => !options.kind || kind === options.kind);
const comparisons = all.flatMap((entry) => compare(entry) ?? []);
console.log(`${comparisons.length} of ${all.length} outputs have labels.\n`);

for (const [name, part] of [
  ['used while the readers were made', comparisons.filter(({ entry }) => !isHeldOut(entry))],
  ['held out', comparisons.filter(({ entry }) => isHeldOut(entry))],
]) {
  console.log(`Labels ${name}:`);
  table(
    [
      'kind',
      'n',
      'lenient agrees',
      'another answer',
      'missed',
      'invented',
      'strict agrees',
      'too strict',
      'too lenient',
      'same cause',
    ],
    [...agreement(part)].map(([kind, { n, lenient, strict, causes }]) => [
      kind,
      n,
      percent(lenient.agrees, n),
      lenient['another answer'],
      lenient.missed,
      lenient.invented,
      percent(strict.agrees, n),
      strict['too strict'],
      strict['too lenient'],
      percent(causes, n),
    ]),
  );
}

const causes = new Map();
for (const { entry, cause } of comparisons) {
  const count = (name, by) => {
    const row = causes.get(name) ?? { label: 0, program: 0, both: 0 };
    row[by]++;
    causes.set(name, row);
  };
  count(entry.label.cause ?? 'in the form', 'label');
  count(cause ?? 'in the form', 'program');
  if (cause === entry.label.cause) count(cause ?? 'in the form', 'both');
}
console.log('Causes:');
table(
  ['cause', 'by label', 'by the table', 'both'],
  [...causes]
    .sort((a, b) => b[1].label - a[1].label)
    .map(([name, { label, program, both }]) => [name, label, program, both]),
);

if (options.show)
  for (const { entry, taken, lenient, strict, cause } of comparisons) {
    const same = lenient === 'agrees' && strict === 'agrees' && (!options.causes || cause === entry.label.cause);
    if (same || isHeldOut(entry)) continue;
    console.log(
      `--- ${entry.id} (${entry.kind}, ${entry.stop}) lenient ${lenient}, strict ${strict}\n${JSON.stringify(entry.output)}\n    options ${JSON.stringify(entry.options)}\n    label ${JSON.stringify(entry.label)}\n    taken ${JSON.stringify(taken)}, cause ${cause}`,
    );
  }

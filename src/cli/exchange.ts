/** `softbench import` and `softbench export`: results of other tools in, runs out. */
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { exportRuns, importResults } from '../exchange/index.ts';
import { formatBytes, formatShare, type ShareName, shareNames } from '../metrics/index.ts';
import { openRunStore } from '../runs/index.ts';
import { HumanError } from '../shared/errors.ts';
import { exportFormats } from '../shared/protocol.ts';
import { type Command, commonOptions, exitCodes, operands, storeFolder, storeOption } from './command.ts';
import { largeWords, pageContent, pageOptions } from './report.ts';
import { checkNames, isNamed } from './runs.ts';
import { table } from './terminal.ts';

export const importCommand: Command = {
  name: 'import',
  operands: 'FILE|DIR…',
  summary: 'import results of lm-evaluation-harness or of Every Eval Ever into a store',
  details:
    'Give results_*.json files, samples_*.jsonl files, or folders that hold them. Samples are found beside their results.\n' +
    'All of it is checked first: where a file is broken, nothing is imported.',
  options: {
    ...storeOption,
    tasks: { type: 'text', value: 'A,B', help: 'import these tasks only' },
    ...commonOptions,
  },
  async run(given, terminal) {
    if (given.positionals.length === 0) operands(given, ['FILE|DIR'] as const);
    const store = openRunStore(storeFolder(given));
    const tasks = given
      .text('tasks')
      ?.split(',')
      .map((task) => task.trim());
    const { signal, version } = terminal.surroundings;
    const report = await importResults(given.positionals, store, {
      softbench: version,
      ...(tasks && { tasks }),
      signal,
    });
    if (terminal.json) {
      terminal.printJson({ store: store.folder, ...report });
      return exitCodes.done;
    }
    if (report.imported.length > 0) {
      const rows = await Promise.all(
        report.imported.map(async ({ run, task, model, items, group }) => {
          const { run: file, summary } = await store.read(run);
          const share = (name: ShareName): string => {
            const value = summary?.scores[name];
            return value ? formatShare(value) : '–';
          };
          return [
            group ? `${task} (group)` : task,
            model,
            file.mode,
            items === 0 ? 'means only' : String(items),
            ...shareNames.map(share),
            run,
          ];
        }),
      );
      for (const line of table([['task', 'model', 'mode', 'items', ...shareNames, 'run'], ...rows]))
        terminal.print(line);
    }
    for (const { file, task, run } of report.known)
      terminal.note(`${task} of ${file} is in the store already, as ${run}: not imported again.`);
    for (const { file, reason } of report.skipped) terminal.note(`Left out: ${file}: ${reason}`);
    if (report.imported.length === 0) terminal.note('Nothing was imported.');
    return exitCodes.done;
  },
};

const formatNames = exportFormats.map(({ name }) => name);

export const exportCommand: Command = {
  name: 'export',
  operands: 'RUN|JOB…',
  summary:
    'write runs as files of other tools (lm-eval, every-eval-ever), as tables (csv, markdown) or as pages (html)',
  details: exportFormats.map(({ name, description }) => `  ${name.padEnd(16)} ${description}`).join('\n'),
  options: {
    ...storeOption,
    format: { type: 'text', value: 'NAME', help: `one of ${formatNames.join(', ')}` },
    out: { type: 'text', value: 'DIR', help: 'folder to write to; made where it is not there' },
    ...pageOptions,
    ...commonOptions,
  },
  async run(given, terminal) {
    if (given.positionals.length === 0) operands(given, ['RUN|JOB'] as const);
    const format = given.text('format');
    const out = given.text('out');
    if (format === undefined)
      throw new HumanError('bad-input', 'The format is missing: give it with --format NAME.', {
        todo: `Use one of: ${formatNames.join(', ')}.`,
      });
    if (out === undefined) throw new HumanError('bad-input', 'The folder is missing: give it with --out DIR.');
    const store = openRunStore(storeFolder(given));
    const { runs } = await store.list();
    checkNames(given.positionals, runs, store.folder);
    // In the order in which they are named.
    const named = given.positionals.flatMap((name) => runs.filter((folder) => isNamed(name, folder)));
    const ids = [...new Set(named.map(({ run }) => run.id))];
    const { signal, version, pages } = terminal.surroundings;
    const folder = resolve(out);
    const content = pageContent(given);
    const files = await exportRuns(store, ids, { format, folder }, { softbench: version, signal, pages, content });
    if (terminal.json) terminal.printJson({ format, folder, runs: ids, files });
    else for (const file of files) terminal.print(file);
    if (format === 'html')
      for (const file of files) {
        const { size } = await stat(file);
        terminal.note(`${basename(file)}: ${formatBytes(size)}.${largeWords(size)}`);
      }
    return exitCodes.done;
  },
};

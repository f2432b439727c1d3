/** `softbench check`: the problems of a benchmark file, as the editor shows them. */
import { resolve } from 'node:path';
import { checkBenchmark } from '../benchmark/index.ts';
import { type Command, commonOptions, exitCodes, operands } from './command.ts';
import { datasetOptions, mapDatasetFolders } from './datasets.ts';

export const checkCommand: Command = {
  name: 'check',
  operands: 'BENCHMARK',
  summary: 'check a benchmark file and its data, without a model',
  options: { dataset_folder: datasetOptions.dataset_folder, ...commonOptions },
  async run(given, terminal) {
    const [file] = operands(given, ['BENCHMARK'] as const);
    mapDatasetFolders(given);
    const { problems } = await checkBenchmark(resolve(file));
    const errors = problems.filter(({ severity }) => severity === 'error').length;
    if (terminal.json) terminal.printJson({ file: resolve(file), ok: errors === 0, problems });
    else {
      for (const { place, severity, message, code } of problems)
        terminal.print(
          `${[place.file, place.line, place.column].filter((part) => part !== undefined).join(':')}: ${severity}: ${message} [${code}]`,
        );
      if (problems.length === 0) terminal.print('No problems found.');
    }
    return errors ? exitCodes.badInput : exitCodes.done;
  },
};

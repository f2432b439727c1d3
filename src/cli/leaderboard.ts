/** `softbench leaderboard`: the newest finished run of each model × benchmark × mode. */
import { resolve } from 'node:path';
import { figureOf, figureWords, metricRows, shareNames } from '../metrics/index.ts';
import { openRunStore } from '../runs/index.ts';
import { HumanError } from '../shared/errors.ts';
import { isPromptMode, type PromptMode, promptModes } from '../shared/modes.ts';
import { leaderboard, leaderboardCsv, leaderboardMarkdown, rankModels } from '../study/index.ts';
import { makeFolder, writeWhole } from '../system/index.ts';
import { type Command, commonOptions, exitCodes, operands, storeFolder, storeOption } from './command.ts';
import { table } from './terminal.ts';

export const leaderboardCommand: Command = {
  name: 'leaderboard',
  operands: '',
  summary: 'rank the models of a store, per benchmark',
  details: 'Ranks in brackets are those that the 95 % intervals allow.',
  options: {
    ...storeOption,
    mode: {
      type: 'text',
      value: 'MODE',
      help: `rank by this prompt mode: ${promptModes.join(', ')} (default: soft-prompt)`,
    },
    metric: {
      type: 'text',
      value: 'METRIC',
      help: `rank by ${shareNames.join(', ')}, or a metric of the benchmark files: acc, "exact_match,strict" (default: S)`,
    },
    export: { type: 'text', value: 'FILE', help: 'write all modes and metrics as a table: .csv or .md' },
    ...commonOptions,
  },
  async run(given, terminal) {
    operands(given, [] as const);
    const mode = given.text('mode') ?? 'soft-prompt';
    const metric = given.text('metric') ?? 'S';
    if (!isPromptMode(mode))
      throw new HumanError('bad-input', `"${mode}" is not a prompt mode.`, {
        todo: `Use one of: ${promptModes.join(', ')}.`,
      });
    const { runs, unreadable } = await openRunStore(storeFolder(given)).list();
    const view = leaderboard(runs);
    const known = [...shareNames, ...metricRows(view.cells.map(({ cell }) => cell.summary)).map(({ key }) => key)];
    if (!known.some((key) => key === metric || key.split(',')[0] === metric))
      throw new HumanError('bad-input', `"${metric}" is not a metric of the runs in this store.`, {
        todo: `Use one of: ${known.join(' ')}.`,
      });
    const file = given.text('export');
    if (file !== undefined) await exportTable(resolve(file), view);
    const rankings = view.benchmarks.map(({ task }) => ({ task, models: rankModels(view, { task, mode, metric }) }));
    if (terminal.json) terminal.printJson({ mode, metric, rankings, cells: view.cells, unreadable });
    else {
      if (view.cells.length === 0) terminal.note(`There are no finished runs in ${storeFolder(given)}.`);
      else if (rankings.every(({ models }) => models.length === 0))
        terminal.note(
          `No finished run is to be ranked by ${metric} in the mode ${mode}. ${elsewhere(view, mode, known)}`,
        );
      for (const { task, models } of rankings) {
        if (models.length === 0) continue;
        terminal.print(`${task} · ${metric} · ${mode}`);
        for (const line of table(
          models.map(({ model, rank, bestRank, worstRank, share, softPromptPosition, imported }) => [
            `${rank}${bestRank === worstRank ? '' : ` (${bestRank}–${worstRank})`}`,
            softPromptPosition ? `${model} (${softPromptPosition})` : model,
            figureWords(share),
            imported ? imported.words : '',
          ]),
        ))
          terminal.print(`  ${line}`);
        for (const { model, imported } of models)
          if (imported && imported.differences.length > 0)
            terminal.note(`  ${model} was run otherwise: ${imported.differences.join('; ')}.`);
      }
      for (const { folder, reason } of unreadable) terminal.note(`Cannot be read: ${folder}: ${reason}`);
    }
    return exitCodes.done;
  },
};

/** What there is to rank by: other metrics of this mode, else other modes. */
function elsewhere({ cells }: ReturnType<typeof leaderboard>, mode: PromptMode, metrics: readonly string[]): string {
  const ofMode = cells.filter((cell) => cell.mode === mode);
  if (ofMode.length === 0)
    return `There are runs with --mode ${[...new Set(cells.map((one) => one.mode))].join(', ')}.`;
  const measured = metrics.filter((key) => ofMode.some(({ cell }) => figureOf(cell.summary, key)));
  return measured.length > 0 ? `Runs of this mode have --metric ${measured.join(' ')}.` : 'Its runs have no scores.';
}

async function exportTable(file: string, view: ReturnType<typeof leaderboard>): Promise<void> {
  const write = file.endsWith('.csv') ? leaderboardCsv : file.endsWith('.md') ? leaderboardMarkdown : null;
  if (!write)
    throw new HumanError('bad-input', `The kind of table is not known from the name ${file}.`, {
      todo: 'End it with .csv or .md.',
    });
  await makeFolder(resolve(file, '..'));
  await writeWhole(file, write(view));
}

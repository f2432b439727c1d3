/** `softbench leaderboard`: the newest finished run of each model × benchmark × mode, ranked. */
import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { drawnWords, figureOf, figureWords, metricRows, rankWords, shareNames, tasksWith } from '../metrics/index.ts';
import { openRunStore } from '../runs/index.ts';
import { asError, HumanError } from '../shared/errors.ts';
import { type PromptMode, promptModes } from '../shared/modes.ts';
import type { LeaderboardView } from '../shared/protocol.ts';
import {
  declaredBases,
  ItemEvidence,
  leaderboard,
  leaderboardCsv,
  leaderboardFile,
  leaderboardMarkdown,
  parseLinks,
  type RankedModels,
  rankedModels,
  readLinks,
  type SaidLinks,
} from '../study/index.ts';
import { makeFolder, writeWhole } from '../system/index.ts';
import type { Given } from './arguments.ts';
import { type Command, commonOptions, exitCodes, modeOption, operands, storeFolder, storeOption } from './command.ts';
import { correlationLines, correlationsOf } from './correlations.ts';
import { type Terminal, table } from './terminal.ts';

export const leaderboardCommand: Command = {
  name: 'leaderboard',
  operands: '',
  summary: 'rank the models of a store, per benchmark and over all',
  details:
    'Ranks in brackets are 95 % of the ranks that models get when the items (on five benchmarks or more, the benchmarks)\n' +
    'are drawn again. Over several benchmarks the mean of their scores ranks; models that lack one of them have no rank.',
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
    correlations: {
      type: 'flag',
      help: 'how well base scores in each mode foretell the ranking of the post-trained models (τ-b, Spearman ρ)',
    },
    target: {
      type: 'text',
      value: 'MODE',
      help: 'the mode of the post-trained models in --correlations (default: zero-shot)',
    },
    links: {
      type: 'text',
      value: 'FILE',
      help: 'JSON of post-trained and base models, by name (default: links.json of the store, model cards, names)',
    },
    export: {
      type: 'text',
      value: 'FILE',
      help: 'write all modes and metrics: as a table (.csv, .md) or as a page for any browser, without personal paths (.html)',
    },
    ...commonOptions,
  },
  async run(given, terminal) {
    operands(given, [] as const);
    const mode = modeOption(given, 'mode') ?? 'soft-prompt';
    const target = modeOption(given, 'target') ?? 'zero-shot';
    const metric = given.text('metric') ?? 'S';
    const store = openRunStore(storeFolder(given));
    const { runs, unreadable } = await store.list();
    const folders = [...new Set(runs.map(({ run }) => run.model.folder))];
    const view = leaderboard(runs, {
      links: await saidLinks(given),
      declaredBases: new Map(
        await Promise.all(folders.map(async (folder) => [folder, await declaredBases(folder)] as const)),
      ),
    });
    const known = [...shareNames, ...metricRows(view.cells.map(({ cell }) => cell.summary)).map(({ key }) => key)];
    if (!known.some((key) => key === metric || key.split(',')[0] === metric))
      throw new HumanError('bad-input', `"${metric}" is not a metric of the runs in this store.`, {
        todo: `Use one of: ${known.join(' ')}.`,
      });
    const file = given.text('export');
    if (file !== undefined)
      await exportAs(resolve(file), view, { state: { mode, metric }, pages: terminal.surroundings.pages });
    const evidence = new ItemEvidence({
      run: (id) => runs.find(({ run }) => run.id === id)?.run ?? null,
      items: (id) => store.readItems(id),
    });
    const tasks = tasksWith(view, mode, metric);
    const rankings: (RankedModels & { task: string })[] = [];
    for (const task of tasks)
      rankings.push({ task, ...(await rankedModels(view, { tasks: [task], mode, metric }, evidence)) });
    const overAll = tasks.length > 1 ? await rankedModels(view, { tasks, mode, metric }, evidence) : null;
    const correlations = given.flag('correlations') ? correlationsOf(view, { metric, target }) : null;
    if (terminal.json)
      terminal.printJson({
        mode,
        metric,
        rankings: rankings.map(({ task, models, drawn }) => ({ task, drawn, models: models.flatMap(modelJson) })),
        ...(overAll && { overAll: { drawn: overAll.drawn, models: overAll.models.flatMap(modelJson) } }),
        ...(correlations && { target, links: view.links, correlations }),
        cells: view.cells,
        unreadable,
      });
    else {
      if (view.cells.length === 0) terminal.note(`There are no finished runs in ${storeFolder(given)}.`);
      else if (rankings.length === 0)
        terminal.note(
          `No finished run is to be ranked by ${metric} in the mode ${mode}. ${elsewhere(view, mode, known)}`,
        );
      for (const { task, ...ranking } of rankings) printRanking(terminal, `${task} · ${metric} · ${mode}`, ranking);
      if (overAll)
        printRanking(terminal, `mean of ${tasks.length} benchmarks · ${metric} · ${mode}`, {
          ...overAll,
          models: overAll.models.filter(({ score }) => score !== null),
        });
      for (const words of new Set([...rankings, ...(overAll ? [overAll] : [])].map(({ drawn }) => drawnWords[drawn])))
        terminal.note(words);
      if (correlations)
        for (const line of correlationLines(view, correlations, { metric, target })) terminal.print(line);
      for (const { folder, reason } of unreadable) terminal.note(`Cannot be read: ${folder}: ${reason}`);
    }
    return exitCodes.done;
  },
};

async function saidLinks(given: Given): Promise<SaidLinks> {
  const file = given.text('links');
  if (file === undefined) return readLinks(storeFolder(given));
  const text = await readFile(resolve(file), 'utf8').catch((thrown) => {
    throw new HumanError('missing', `The links ${file} cannot be read: ${asError(thrown).message}.`, {
      todo: 'Give a JSON file of { "post-trained model": "base model" }.',
      cause: thrown,
    });
  });
  return parseLinks(text, file);
}

function printRanking(terminal: Terminal, title: string, { models }: RankedModels): void {
  if (models.every(({ score }) => score === null)) return;
  terminal.print(title);
  const shown = models.filter(({ score }) => score !== null);
  const lines = table(
    shown.map(({ model, rank, tied, likely, score, parts: [part, ...others], missing }) => {
      const only = others.length === 0 && missing.length === 0 ? part?.cell : undefined;
      return [
        rank === null
          ? '–'
          : `${rank}${tied ? '=' : ''}${likely && likely.low < likely.high ? ` (${rankWords(likely)})` : ''}`,
        only?.softPromptPosition ? `${model} (${only.softPromptPosition})` : model,
        score ? figureWords(score) : '–',
        missing.length > 0 ? `without ${missing.join(', ')}` : (only?.imported?.words ?? ''),
      ];
    }),
  );
  for (const line of lines) terminal.print(`  ${line}`);
  for (const { model, parts, missing } of shown)
    for (const { cell } of parts.length === 1 && missing.length === 0 ? parts : [])
      if (cell.imported && cell.imported.differences.length > 0)
        terminal.note(`  ${model} was run otherwise: ${cell.imported.differences.join('; ')}.`);
}

/** A model as the JSON of the command line has it; what has no score is left out. */
const modelJson = ({ model, rank, tied, likely, score, parts, missing }: RankedModels['models'][number]): unknown[] =>
  score === null
    ? []
    : [{ model, rank, tied, likely, score, missing, runs: parts.map(({ task, cell }) => ({ task, run: cell.run })) }];

/** What there is to rank by: other metrics of this mode, else other modes. */
function elsewhere({ cells }: LeaderboardView, mode: PromptMode, metrics: readonly string[]): string {
  const ofMode = cells.filter((cell) => cell.mode === mode);
  if (ofMode.length === 0)
    return `There are runs with --mode ${[...new Set(cells.map((one) => one.mode))].join(', ')}.`;
  const measured = metrics.filter((key) => ofMode.some(({ cell }) => figureOf(cell.summary, key)));
  return measured.length > 0 ? `Runs of this mode have --metric ${measured.join(' ')}.` : 'Its runs have no scores.';
}

/** By the ending of the file's name. */
const writers: Record<
  string,
  (view: LeaderboardView, page: { state: unknown; pages: string }) => string | Promise<string>
> = {
  '.csv': leaderboardCsv,
  '.md': leaderboardMarkdown,
  '.html': (view, { state, pages }) => leaderboardFile(view, state, pages),
};

async function exportAs(file: string, view: LeaderboardView, page: { state: unknown; pages: string }): Promise<void> {
  const write = writers[extname(file).toLowerCase()];
  if (!write)
    throw new HumanError('bad-input', `The kind of table is not known from the name ${file}.`, {
      todo: `End it with ${Object.keys(writers).join(', ')}.`,
    });
  await makeFolder(resolve(file, '..'));
  await writeWhole(file, await write(view, page));
}

/** `softbench small-bench`: a few benchmarks that stand for all. */
import { resolve } from 'node:path';
import type { NamedBudget, ScoreTable, SmallBenchComparison, SmallBenchPoint, SubsetSearch } from '../predict/index.ts';
import { HumanError } from '../shared/errors.ts';
import { makeFolder, writeWhole } from '../system/index.ts';
import type { Given } from './arguments.ts';
import { type Command, commonOptions, exitCodes, operands } from './command.ts';
import {
  filterOptions,
  filtersOf,
  namesIn,
  predictorOf,
  recordLines,
  recordOptions,
  recordsOf,
  shareProgress,
  unknownName,
} from './records.ts';
import { benchLines, listLines } from './small-bench-tables.ts';
import type { Terminal } from './terminal.ts';

/** As in the study. */
const studyBudgets = [4, 8, 16, 24, 32, 42];

export const smallBenchCommand: Command = {
  name: 'small-bench',
  operands: '',
  summary: 'find a few benchmarks from which the scores on all others can be foretold',
  details: [
    'Subsets are chosen so that models of a family that was held out are foretold best: R² on the subtasks outside of the',
    'subset. The figures are of families that the search has not seen (nested folds), beside random subsets of the same size.',
    'Ctrl-C ends the search and prints the best so far.',
  ].join('\n'),
  options: {
    ...recordOptions,
    runs: { ...recordOptions.runs, help: 'folder that holds runs/: their scores, and the time that they took' },
    budgets: { type: 'text', value: 'N,N', help: `numbers of subtasks (default: ${studyBudgets.join(',')})` },
    minutes: {
      type: 'whole',
      least: 1,
      help: 'in place of --budgets: what may be run in so long, by the time of --runs',
    },
    search: { type: 'text', value: 'NAME,NAME', help: 'searches (default: greedy,kmeans); "all" for all of them' },
    vectors: {
      type: 'text',
      value: 'NAME',
      help: 'predictor whose task vectors are clustered (default: svd of the table)',
    },
    predictor: { type: 'text', value: 'NAME', help: 'measure the lists with this predictor too' },
    evaluations: { type: 'whole', least: 1, help: 'subsets that searches by chance look at (default: 1000)' },
    'random-subsets': { type: 'whole', least: 20, help: 'random subsets to compare with (default: 100)' },
    seconds: { type: 'whole', least: 1, help: 'stop after so long, with the best so far' },
    seed: { type: 'whole', least: 0, help: 'seed of what is random (default: 0)' },
    'export-group': {
      type: 'text',
      value: 'FILE',
      help: 'write the best list of the largest budget as a group file (.yaml) for this program and lm-evaluation-harness',
    },
    ...filterOptions,
    ...commonOptions,
  },
  run: smallBench,
};

async function smallBench(given: Given, terminal: Terminal): Promise<number> {
  operands(given, [] as const);
  const predict = await import('../predict/index.ts');
  const chosen = searchesOf(given, predict.searches);
  const predictor = predictorOf(given, 'predictor', predict.predictors);
  const vectors = predictorOf(given, 'vectors', predict.predictors, 'svd');
  const exportFile = given.text('export-group');
  if (exportFile !== undefined && !/\.ya?ml$/i.test(exportFile))
    throw new HumanError('bad-input', `A group file ends with .yaml, unlike ${exportFile}.`);
  const read = await recordsOf(given, await filtersOf(given));
  if (!terminal.json) for (const line of recordLines(read)) terminal.note(line);
  const table = predict.scoreTable(read.records);
  const costs = predict.subtaskCosts(table, read.runs);
  const budgets = budgetsOf(given, table, costs, predict.countBudgets);
  if (!terminal.json) {
    for (const { reason, count, examples } of table.leftOut)
      terminal.note(`Left out: ${count} ${reason} (${examples[0] ?? ''}${count > 1 ? '; …' : ''}).`);
    terminal.note(`${table.rows.length} models and settings × ${table.subtasks.length} subtasks`);
  }
  if (given.number('minutes') !== undefined && costs.measured < table.subtasks.length)
    terminal.note(
      `Note: ${costs.measured} of ${table.subtasks.length} subtasks have been run; the time of the others is estimated by their items.`,
    );

  const { signal } = terminal.surroundings;
  const seed = given.number('seed') ?? 0;
  const progress = shareProgress(terminal);
  const found = await predict.findSmallBenches(table, chosen, budgets, {
    seed,
    evaluations: given.number('evaluations') ?? 1000,
    randomSubsets: given.number('random-subsets') ?? 100,
    signal,
    seconds: given.number('seconds') ?? Number.POSITIVE_INFINITY,
    ...(vectors && {
      vectors: (rows: readonly number[]) =>
        predict.learnedVectors(table, read.records, vectors, rows, { seed, signal }),
    }),
    progress: ({ message, fraction }) => progress.show(message, fraction),
  });
  const full = new Map<SmallBenchPoint, Awaited<ReturnType<typeof predict.predictorRecovery>>>();
  if (predictor && found.ended === 'done') {
    const { groups } = predict.foldGroups(table, 6);
    for (const { title, points } of found.curves)
      for (const point of points) {
        const message = `${predictor.title}: ${title}, ${point.budget}`;
        const measured = await predict
          .predictorRecovery(table, read.records, predictor, groups, (group) => point.nested?.[group] ?? [], {
            seed,
            signal,
            progress: (done) => progress.show(message, done),
          })
          .catch((thrown) => {
            if (!signal.aborted) throw thrown;
            found.ended = 'stopped';
            return null;
          });
        if (measured) full.set(point, measured);
      }
  }
  progress.clear();
  const best = bestOf(found);
  if (exportFile !== undefined && best)
    await exportGroup(resolve(exportFile), predict.groupYaml, best.point, best.title, table);
  if (terminal.json)
    terminal.printJson({
      ...found,
      costUnit: budgetUnit(given, costs.unit),
      ...(predictor && {
        predictor: predictor.name,
        curves: found.curves.map((curve) => ({
          ...curve,
          points: curve.points.map((point) => ({ ...point, predictorRecovery: full.get(point) ?? null })),
        })),
      }),
      leftOut: [...read.leftOut, ...table.leftOut],
      exported: exportFile !== undefined && best ? { file: exportFile, subtasks: best.point.subtasks } : null,
    });
  else {
    const unit = budgetUnit(given, costs.unit);
    for (const line of benchLines(found, unit, predictor ? { title: predictor.title, full } : null))
      terminal.print(line);
    terminal.print();
    for (const line of listLines(found)) terminal.print(line);
    if (exportFile !== undefined && best) terminal.note(`Written: ${exportFile} (${best.title}, ${best.point.budget})`);
  }
  if (found.ended === 'time') terminal.note('The time was over: the lists are the best so far.');
  if (found.ended === 'stopped')
    terminal.note('Stopped: the lists are the best so far; figures that are missing were not measured.');
  return found.ended === 'stopped' ? exitCodes.stopped : exitCodes.done;
}

const budgetUnit = (given: Given, unit: 'seconds' | 'items'): 'subtasks' | 'seconds' | 'items' =>
  given.number('minutes') === undefined ? 'subtasks' : unit;

function searchesOf(given: Given, all: readonly SubsetSearch[]): SubsetSearch[] {
  const asked = namesIn(given.text('search') ?? 'greedy,kmeans');
  if (asked.includes('all')) return [...all];
  return asked.map((name) => {
    const found = all.find((one) => one.name === name);
    if (!found)
      throw unknownName(
        'search',
        name,
        all.map((one) => one.name),
        true,
      );
    return found;
  });
}

function budgetsOf(
  given: Given,
  { subtasks }: ScoreTable,
  { costs, unit, measured }: { costs: Float64Array; unit: string; measured: number },
  countBudgets: (subtasks: number, counts: readonly number[]) => NamedBudget[],
): NamedBudget[] {
  const minutes = given.number('minutes');
  const text = given.text('budgets');
  if (minutes !== undefined) {
    if (text !== undefined)
      throw new HumanError('bad-input', '--minutes and --budgets are two ways to say how much may be run.', {
        todo: 'Give one of them.',
      });
    if (unit !== 'seconds' || measured === 0)
      throw new HumanError('bad-input', 'No run says how long a benchmark takes on this machine.', {
        todo: 'Give the folder of finished runs with --runs DIR, or a number of subtasks with --budgets.',
      });
    return [{ costs, limit: minutes * 60, title: `${minutes} min` }];
  }
  if (text === undefined) {
    // Those of the study that leave something to foretell; in a small table a few of its size.
    const fitting = studyBudgets.filter((count) => count <= subtasks.length / 2);
    return countBudgets(subtasks.length, fitting.length > 0 ? fitting : [Math.max(1, Math.floor(subtasks.length / 4))]);
  }
  const counts = text.split(',').map((part) => {
    const count = part.trim() === '' ? Number.NaN : Number(part);
    if (!Number.isSafeInteger(count) || count < 1)
      throw new HumanError('bad-input', `--budgets needs numbers of subtasks, such as 4,8,16; "${part}" is none.`);
    return count;
  });
  return countBudgets(
    subtasks.length,
    [...new Set(counts)].sort((a, b) => a - b),
  );
}

/** Of the largest budget, the list that recovers most; where that was not measured, most of what it was searched with. */
function bestOf({ curves }: SmallBenchComparison): { point: SmallBenchPoint; title: string } | null {
  const longest = Math.max(0, ...curves.map(({ points }) => points.length));
  const last = curves.flatMap(({ title, points }) => {
    const point = points[longest - 1];
    return point && point.subtasks.length > 0 ? [{ point, title }] : [];
  });
  const worth = ({ recovery, inSample }: SmallBenchPoint): number => recovery?.mean ?? inSample - 1e3;
  return last.length === 0 ? null : last.reduce((a, b) => (worth(b.point) > worth(a.point) ? b : a));
}

async function exportGroup(
  file: string,
  groupYaml: (group: { name: string; tasks: readonly string[]; comment: readonly string[] }) => string,
  { subtasks, recovery, budget }: SmallBenchPoint,
  search: string,
  table: ScoreTable,
): Promise<void> {
  await makeFolder(resolve(file, '..'));
  const measured =
    recovery?.mean == null ? '' : ` R² ${recovery.mean.toFixed(3)} on the other subtasks of model families not seen.`;
  await writeWhole(
    file,
    groupYaml({
      name: (file.split(/[\\/]/).at(-1) ?? '').replace(/\.ya?ml$/i, ''),
      tasks: subtasks,
      comment: [
        `A small bench of softbench: ${subtasks.length} of ${table.subtasks.length} subtasks, budget ${budget}, found by ${search}.${measured}`,
      ],
    }),
  );
}

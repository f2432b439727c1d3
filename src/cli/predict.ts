/** `softbench predict`: how well scores that nobody ran can be predicted, and what one of them would be. */
import type {
  Coverage,
  Evaluation,
  Fit,
  Predictor,
  PredictorEvaluation,
  RecordTable,
  SplitName,
} from '../predict/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { Given } from './arguments.ts';
import { type Command, commonOptions, exitCodes, operands } from './command.ts';
import { predictCells } from './predict-cell.ts';
import { proposeNext } from './predict-next.ts';
import {
  figure,
  filterOptions,
  filtersOf,
  namesIn,
  recordLines,
  recordOptions,
  recordsOf,
  shareProgress,
  unknownName,
  withSd,
} from './records.ts';
import { type Terminal, table } from './terminal.ts';

export const predictCommand: Command = {
  name: 'predict',
  operands: '',
  summary: 'predict scores that nobody ran from records of past evaluations',
  details: [
    'Without --model and --task: how well predictors do on records that they have not seen, beside the additive baseline',
    '(model + task). With them: the scores of that model on that task, with 90 % intervals. With --next: which benchmark of',
    'the model to run next, so that its scores on all others become surest for the cost.',
  ].join('\n'),
  options: {
    ...recordOptions,
    split: {
      type: 'text',
      value: 'NAME,NAME',
      help: 'what is held out: L1 (random), L2.1, L2.2, L3, L4, family, task; "all" (default: L1,L4)',
    },
    predictors: { type: 'text', value: 'NAME,NAME', help: 'predictors to measure (default: all)' },
    folds: { type: 'whole', least: 2, help: 'parts that records are held out in (default: 10)' },
    seed: { type: 'whole', least: 0, help: 'seed of folds and predictors (default: 42, as in the study)' },
    'per-task': { type: 'flag', help: 'errors on each subtask too, the hardest first' },
    'per-family': { type: 'flag', help: 'errors on each model family too' },
    model: { type: 'text', value: 'NAME', help: 'predict scores of this model' },
    task: { type: 'text', value: 'NAME', help: 'on this task or subtask' },
    next: { type: 'flag', help: 'what to run of --model next: by the time of --runs, else by items' },
    family: { type: 'text', value: 'NAME', help: 'family of a model without records (default: by its name)' },
    params: { type: 'text', value: 'N', help: 'its parameters, such as 7e9 or 7B (default: by its name)' },
    'training-flops': { type: 'text', value: 'N', help: 'floating-point operations of its training' },
    shots: { type: 'whole', least: 0, help: 'number of examples (default: those of the records)' },
    mode: { type: 'text', value: 'MODE', help: 'prompt mode (default: those of the records)' },
    predictor: {
      type: 'text',
      value: 'NAME',
      help: 'predictor of --model and --task (default: the best that there is)',
    },
    ...filterOptions,
    ...commonOptions,
  },
  async run(given, terminal) {
    operands(given, [] as const);
    if (given.flag('next')) return await proposeNext(given, terminal);
    const wantsCell = given.text('model') !== undefined || given.text('task') !== undefined;
    return wantsCell ? await predictCells(given, terminal) : await measure(given, terminal);
  },
};

interface Measured extends Evaluation {
  /** Of the predictors' 90 % intervals, in their order; null where too few are held out. */
  coverages: (Coverage | null)[];
}

async function measure(given: Given, terminal: Terminal): Promise<number> {
  const predict = await import('../predict/index.ts');
  const splits = splitsOf(given, predict.splitNames);
  const predictors = predictorsOf(given, predict.predictors, predict.baseline);
  const records = await recordsOf(given, await filtersOf(given));
  if (!terminal.json) for (const line of recordLines(records)) terminal.note(line);
  const seed = given.number('seed') ?? 42;
  const progress = shareProgress(terminal);
  const { signal } = terminal.surroundings;
  const evaluations: Measured[] = [];
  const failed: { split: SplitName; reason: string }[] = [];
  for (const [at, split] of splits.entries()) {
    try {
      const evaluation = await predict.evaluatePredictors(records.records, predictors, split, {
        folds: given.number('folds') ?? 10,
        seed,
        fitSeed: seed,
        signal,
        progress: (share) => progress.show(`split ${split}`, (at + share) / splits.length),
      });
      const coverages: (Coverage | null)[] = [];
      for (const { heldOut } of evaluation.predictors)
        coverages.push(await predict.inTurns(predict.coverageSteps(records.records, heldOut), predict.turns(signal)));
      evaluations.push({ ...evaluation, coverages });
    } catch (thrown) {
      // A split that the records are too few for does not keep the others from being measured.
      if (!(thrown instanceof HumanError) || thrown.kind !== 'bad-input') throw thrown;
      failed.push({ split, reason: thrown.sentence });
      if (failed.length === splits.length) throw thrown;
    }
  }
  progress.clear();
  if (terminal.json) {
    terminal.printJson(asJson(records, evaluations, failed, given));
    return exitCodes.done;
  }
  for (const [at, evaluation] of evaluations.entries()) {
    if (at > 0) terminal.print();
    for (const line of splitLines(evaluation, records, given)) terminal.print(line);
  }
  for (const { reason } of failed) terminal.note(reason);
  return exitCodes.done;
}

function splitsOf(given: Given, all: readonly SplitName[]): SplitName[] {
  const asked = namesIn(given.text('split') ?? 'L1,L4');
  if (asked.includes('all')) return [...all];
  return asked.map((name) => {
    const found = all.find(
      (one) => one.toLowerCase() === (name.toLowerCase() === 'random' ? 'l1' : name.toLowerCase()),
    );
    if (!found) throw unknownName('split', name, all, true);
    return found;
  });
}

/** The baseline is always among them. */
function predictorsOf(given: Given, all: readonly Predictor[], baseline: Predictor): Predictor[] {
  const asked = given.text('predictors');
  if (asked === undefined || asked === 'all') return [...all];
  const names = namesIn(asked);
  const unknown = names.find((name) => !all.some((one) => one.name === name));
  if (unknown !== undefined)
    throw unknownName(
      'predictor',
      unknown,
      all.map(({ name }) => name),
      true,
    );
  return all.filter((one) => one === baseline || names.includes(one.name));
}

function splitLines({ split, ceiling, predictors, coverages }: Measured, records: RecordTable, given: Given): string[] {
  const rows = predictors.map(({ title, r2, rmse, pooled, seconds }, at) => [
    title,
    withSd(r2),
    withSd(rmse),
    figure(pooled.r2),
    coverageText(coverages[at]),
    `${seconds.toFixed(1)} s`,
  ]);
  if (ceiling.mean !== null) rows.push(['noise ceiling', withSd(ceiling), '', '', '', '']);
  return [
    `${split.name} · ${split.title} · ${split.groups} groups, ${split.folds.length} folds`,
    split.question,
    ...table([['predictor', 'R²', 'RMSE', 'R² of all', 'in 90 % interval', 'learning'], ...rows], [5]).map(
      (line) => `  ${line}`,
    ),
    ...split.notes,
    ...(given.flag('per-task') ? groupLines('subtask', predictors, ({ perTask }) => perTask) : []),
    ...(given.flag('per-family') ? groupLines('family', predictors, ({ perFamily }) => perFamily) : []),
  ].concat(
    records.records.every(({ n }) => n === null)
      ? ['How many items are behind the scores is not known: no noise ceiling.']
      : [],
  );
}

/** `89.9 % in ± 0.101`: held-out scores within their intervals, and how far these reach either way. */
const coverageText = (coverage: Coverage | null | undefined): string =>
  coverage ? `${(100 * coverage.share).toFixed(1)} % in ± ${figure(coverage.halfWidth)}` : '–';

/** RMSE by group, those that the last predictor is worst on first. */
function groupLines(
  what: string,
  predictors: readonly PredictorEvaluation[],
  groupsOf: (evaluation: PredictorEvaluation) => ReadonlyMap<string, Fit>,
): string[] {
  const last = predictors.at(-1);
  if (!last) return [];
  const names = [...groupsOf(last)].sort(([, a], [, b]) => (b.rmse ?? 0) - (a.rmse ?? 0));
  return [
    '',
    ...table(
      [
        [`${what} (RMSE)`, 'n', ...predictors.map(({ predictor }) => predictor)],
        ...names.map(([name, { n }]) => [
          name,
          String(n),
          ...predictors.map((one) => figure(groupsOf(one).get(name)?.rmse)),
        ]),
      ],
      [1],
    ).map((line) => `  ${line}`),
  ];
}

function asJson(
  { records, leftOut, notes = [] }: RecordTable,
  evaluations: readonly Measured[],
  failed: readonly { split: SplitName; reason: string }[],
  given: Given,
): Record<string, unknown> {
  const object = (fits: ReadonlyMap<string, Fit>): Record<string, Fit> => Object.fromEntries(fits);
  return {
    records: records.length,
    leftOut,
    notes,
    splits: evaluations.map(({ split, ceiling, predictors, coverages }) => ({
      split: split.name,
      title: split.title,
      groups: split.groups,
      folds: split.folds.length,
      notes: split.notes,
      ceiling,
      predictors: predictors.map(({ predictor, title, r2, rmse, pooled, folds, perTask, perFamily, seconds }, at) => ({
        predictor,
        title,
        r2,
        rmse,
        pooled,
        coverage: coverages[at] ?? null,
        folds,
        ...(given.flag('per-task') && { perTask: object(perTask) }),
        ...(given.flag('per-family') && { perFamily: object(perFamily) }),
        seconds,
      })),
    })),
    failed,
  };
}

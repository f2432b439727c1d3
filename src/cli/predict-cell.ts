/** `softbench predict --model M --task T`: the scores of one model on one task, with intervals. */
import type { CellRequest, Configuration, Prediction, Predictor, ScoreRecord, WantedCell } from '../predict/index.ts';
import { HumanError } from '../shared/errors.ts';
import { subtaskName } from '../shared/predictions.ts';
import type { Given } from './arguments.ts';
import { exitCodes, modeOption } from './command.ts';
import { figure, filtersOf, predictorOf, recordLines, recordsOf, shareProgress } from './records.ts';
import { type Terminal, table } from './terminal.ts';

export async function predictCells(given: Given, terminal: Terminal): Promise<number> {
  const predict = await import('../predict/index.ts');
  const predictor = predictorOf(given, 'predictor', predict.predictors) ?? predict.bestPredictor;
  const { metrics, ...filters } = await filtersOf(given);
  const table = await recordsOf(given, filters);
  const { records } = table;
  const cells = predict.wantedCells(records, { ...requestOf(given), ...(metrics && { metrics }) });
  const missing = cells.filter(({ measured }) => !measured);
  const progress = shareProgress(terminal);
  const predicted = await predict.predictWithIntervals(
    records,
    missing.map(({ configuration }) => configuration),
    predictor,
    {
      seed: given.number('seed') ?? 42,
      folds: given.number('folds') ?? 5,
      signal: terminal.surroundings.signal,
      progress: (share) => progress.show(`${predictor.title}: learning and intervals`, share),
    },
  );
  progress.clear();
  const predictions = new Map(missing.map((cell, at) => [cell, predicted[at] as Prediction]));
  if (terminal.json) {
    terminal.printJson({
      predictor: predictor.name,
      records: records.length,
      leftOut: table.leftOut,
      notes: table.notes ?? [],
      cells: cells.map((cell) => ({
        ...cell.configuration,
        measured: cell.measured?.score ?? null,
        prediction: predictions.get(cell) ?? null,
      })),
    });
    return exitCodes.done;
  }
  for (const line of recordLines(table)) terminal.note(line);
  for (const line of cellLines(cells, predictions, records, predictor)) terminal.print(line);
  return exitCodes.done;
}

/** What options say of the model, the task and the setting that are asked for. */
export function requestOf(given: Given): CellRequest {
  const model = given.text('model');
  const task = given.text('task');
  const shots = given.number('shots');
  const mode = modeOption(given, 'mode');
  const family = given.text('family');
  const totalParameters = amountOf(given, 'params');
  const trainingFlops = amountOf(given, 'training-flops');
  return {
    ...(model !== undefined && { model }),
    ...(task !== undefined && { task }),
    ...(shots !== undefined && { shots }),
    ...(mode !== undefined && { mode }),
    ...(family !== undefined && { family }),
    ...(totalParameters !== undefined && { totalParameters }),
    ...(trainingFlops !== undefined && { trainingFlops }),
  };
}

/** By what a model is placed that the records do not have; null where they have it. */
export function placedBy(
  { model, family, parameters: { total } }: Configuration,
  records: readonly ScoreRecord[],
): string | null {
  if (records.some((record) => record.model === model)) return null;
  const size =
    total === null
      ? 'its size is not known (--params)'
      : `${(total / 1e9).toLocaleString('en-US', { maximumSignificantDigits: 3 })} B parameters`;
  return `${model} is not among the records. Taken for it: family ${family}, ${size}.`;
}

/** `7e9` and `7B` are 7 000 000 000. */
function amountOf(given: Given, option: string): number | undefined {
  const text = given.text(option);
  if (text === undefined) return undefined;
  const [, number = '', unit = ''] = /^\s*([\d.]+(?:e\+?\d+)?)\s*([KMBT]?)\s*$/i.exec(text) ?? [];
  const value = Number(number || Number.NaN) * ({ '': 1, K: 1e3, M: 1e6, B: 1e9, T: 1e12 }[unit.toUpperCase()] ?? 1);
  if (!(value > 0) || !Number.isFinite(value))
    throw new HumanError('bad-input', `--${option} needs a number such as 7e9 or 7B, not "${text}".`);
  return value;
}

function cellLines(
  cells: readonly WantedCell[],
  predictions: ReadonlyMap<WantedCell, Prediction>,
  records: readonly ScoreRecord[],
  predictor: Predictor,
): string[] {
  const reasons = new Map<string, string>();
  const rows = cells.map((cell) => {
    const { model, task, subtask, shots, mode, metric } = cell.configuration;
    const prediction = predictions.get(cell);
    const reason = prediction?.extrapolates;
    if (reason && !reasons.has(reason)) reasons.set(reason, '*'.repeat(reasons.size + 1));
    return [
      model,
      subtaskName({ task, subtask }),
      mode ?? `${shots}-shot`,
      metric,
      prediction ? `${figure(prediction.value)}${reason ? reasons.get(reason) : ''}` : '',
      prediction ? `[${figure(prediction.low)}, ${figure(prediction.high)}]` : '',
      cell.measured ? figure(cell.measured.score) : '',
    ];
  });
  const [first] = cells;
  const placed = first ? placedBy(first.configuration, records) : null;
  return [
    ...table([['model', 'task', 'setting', 'metric', 'predicted', '90 % interval', 'measured'], ...rows]),
    ...(predictions.size > 0
      ? [
          `Predicted by ${predictor.title} from ${records.length.toLocaleString('en-US')} records; all scores from 0 to 1.`,
        ]
      : []),
    ...(placed ? [placed] : []),
    ...[...reasons].map(([reason, mark]) => `${mark} ${reason} The interval need not hold.`),
  ];
}

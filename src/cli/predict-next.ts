/** `softbench predict --next --model M`: which benchmark of a model to run next. */
import type { BenchmarkProposal } from '../predict/index.ts';
import { HumanError } from '../shared/errors.ts';
import { subtaskName } from '../shared/predictions.ts';
import type { Given } from './arguments.ts';
import { exitCodes } from './command.ts';
import { placedBy, requestOf } from './predict-cell.ts';
import { figure, filtersOf, recordLines, recordsOf } from './records.ts';
import { type Terminal, table } from './terminal.ts';

/** More rows than these are no proposal any more. */
const mostRows = 15;

export async function proposeNext(given: Given, terminal: Terminal): Promise<number> {
  const { model, task, ...request } = requestOf(given);
  if (model === undefined || task !== undefined)
    throw new HumanError('bad-input', 'Which benchmark comes next is asked of a model.', {
      todo: 'Give --model NAME with --next, and no --task.',
    });
  const predict = await import('../predict/index.ts');
  const filters = await filtersOf(given);
  // One column a benchmark: further metrics of its outputs come with a run.
  const read = await recordsOf(given, { ...filters, ...(!filters.metrics && { preferredOnly: true }) });
  const { records, runs } = read;
  const [cell] = predict.wantedCells(records, { ...request, model });
  if (!cell) throw new HumanError('bad-input', 'The records are of no benchmark.');
  const { signal } = terminal.surroundings;
  const { costOf, unit } = await predict.inTurns(predict.benchmarkCostSteps(records, runs), predict.turns(signal));
  const name = cell.configuration.model;
  const placed = placedBy(cell.configuration, records);
  const { known, open, proposals, caution } = await predict.nextBenchmarks(
    records,
    placed ? cell.configuration : name,
    {
      cost: costOf,
      signal,
    },
  );
  if (terminal.json) {
    terminal.printJson({
      model: name,
      records: records.length,
      leftOut: read.leftOut,
      notes: read.notes ?? [],
      known,
      open,
      costUnit: unit,
      caution,
      proposals: proposals.map((one) => ({
        ...one.configuration,
        varianceRemoved: removed(one),
        errorBefore: Math.sqrt(one.before),
        errorAfter: Math.sqrt(one.after),
        cost: one.cost,
      })),
    });
    return exitCodes.done;
  }
  for (const line of recordLines(read)) terminal.note(line);
  if (placed) terminal.print(placed);
  terminal.print(`${name}: ${known} benchmarks with a score, ${open} without.`);
  if (open === 0) return exitCodes.done;
  // Where all cost the same, or nobody knows what they cost, the cost says nothing.
  const hasCosts = proposals.some(({ cost }) => cost !== proposals[0]?.cost);
  const rows = proposals.slice(0, mostRows).map((one) => {
    const { task: of, subtask, shots, mode } = one.configuration;
    return [
      subtaskName({ task: of, subtask }),
      mode ?? `${shots}-shot`,
      `${(100 * removed(one)).toFixed(1)} %`,
      `${figure(Math.sqrt(one.before))} → ${figure(Math.sqrt(one.after))}`,
      ...(hasCosts ? [one.cost.toLocaleString('en-US', { maximumSignificantDigits: 3, useGrouping: false })] : []),
    ];
  });
  for (const line of table(
    [['run next', 'setting', 'variance removed', 'usual error of the others', ...(hasCosts ? [unit] : [])], ...rows],
    [2, 3, 4],
  ))
    terminal.print(line);
  if (proposals.length > rows.length) terminal.print(`The first ${rows.length} of ${proposals.length}.`);
  terminal.print(
    `Best first: variance of the model's other scores that knowing this one removes${hasCosts ? `, per cost (${unit})` : ''}; scores from 0 to 1.`,
  );
  if (caution) terminal.print(caution);
  return exitCodes.done;
}

const removed = ({ before, after }: BenchmarkProposal): number =>
  before > 0 ? Math.max(0, (before - after) / before) : 0;

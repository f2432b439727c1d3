/** The next benchmark of a model, as the predictor page shows it. */
import {
  benchmarkCostSteps,
  inTurns,
  nextBenchmarks,
  type ScoreRecord,
  type Steps,
  stepwise,
  turns,
} from '../predict/index.ts';
import type { RunFolder } from '../runs/index.ts';
import type { NextBenchmark, RecordsReport } from '../shared/predictions.ts';

/** More rows than these are no proposal any more. */
const mostRows = 100;

/** @param model empty: the one with the fewest scores */
export async function nextBenchmark(
  records: readonly ScoreRecord[],
  { model, runs, report }: { model: string; runs: readonly RunFolder[]; report: RecordsReport },
  hooks: { signal: AbortSignal; progress(progress: { message: string; fraction: number | null }): void },
): Promise<NextBenchmark> {
  const name = model || (fewest(report.models)?.model ?? '');
  hooks.progress({ message: `How scores hang together, for ${name}`, fraction: null });
  await new Promise((resolve) => setImmediate(resolve));
  const turn = turns(hooks.signal);
  const { costOf, unit } = await inTurns(benchmarkCostSteps(records, runs), turn);
  const settingOf = await inTurns(settings(records), turn);
  const { known, open, proposals, caution } = await nextBenchmarks(records, name, {
    cost: costOf,
    signal: hooks.signal,
  });
  return {
    model: name,
    known,
    open,
    costUnit: unit,
    caution,
    rows: proposals
      .slice(0, mostRows)
      .map(({ configuration: { task, subtask, shots, mode }, before, after, cost }) => ({
        task,
        subtask,
        setting: settingOf(shots, mode),
        before,
        after,
        cost,
      })),
    digest: report.digest,
  };
}

const fewest = (models: RecordsReport['models']): RecordsReport['models'][number] | undefined =>
  models.reduce<RecordsReport['models'][number] | undefined>(
    (least, one) => (!least || one.records < least.records ? one : least),
    undefined,
  );

/** What tells the settings of a task apart, where the records have several. */
function* settings(records: readonly ScoreRecord[]): Steps<(shots: number, mode: string | null) => string> {
  const [modes, numbers] = [new Set<string | null>(), new Set<number>()];
  yield* stepwise(records, ({ mode, shots }) => {
    modes.add(mode);
    numbers.add(shots);
  });
  return (shots, mode) => [modes.size > 1 && mode, numbers.size > 1 && `${shots}-shot`].filter(Boolean).join(', ');
}

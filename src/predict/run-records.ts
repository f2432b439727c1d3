/** Records of a store's runs, measured and imported: F, S, K, L, LL and the metrics of the benchmark file. */
import { metricKey, shareNames } from '../metrics/index.ts';
import type { RunFolder } from '../runs/index.ts';
import { familyOf, sizeInName } from '../shared/model-names.ts';
import { leaderboard } from '../study/index.ts';
import { LeftOutCounter } from './left-out.ts';
import { scaledRecords, type UnscaledRecord } from './scores.ts';
import type { RecordTable, ScoreRecord } from './types.ts';

/**
 * Models and tasks have the names that the leaderboard gives them. Runs do not say families and sizes: they are taken from the
 * names of models.
 * @param runs newest first, as the store lists them
 */
export function runRecords(runs: readonly RunFolder[]): RecordTable {
  const leftOut = new LeftOutCounter();
  const view = leaderboard(runs);
  const models = new Map(view.models.map(({ folder, name }) => [folder, name]));
  const tasks = new Map(view.benchmarks.map(({ file, task }) => [file, task]));
  const unscaled: UnscaledRecord[] = [];
  for (const { run, summary } of runs) {
    if (run.status !== 'finished' || !summary) {
      leftOut.add('runs that are not finished', run.id);
      continue;
    }
    if (run.predictOnly) {
      leftOut.add('runs whose outputs nobody has scored', run.id);
      continue;
    }
    if (run.source?.group) {
      leftOut.add('aggregates of other records', run.id);
      continue;
    }
    const model = models.get(run.model.folder) ?? run.model.name;
    const task = tasks.get(run.benchmark.file) ?? run.benchmark.task;
    const add = (metric: string, score: number, n: number, preferred: boolean): void => {
      const record: ScoreRecord = {
        family: familyOf(run.model.name),
        model,
        parameters: { total: sizeInName(run.model.name), nonEmbedding: null, flopMatched: null },
        trainingFlops: null,
        task,
        subtask: task,
        shots: run.settings.shots,
        mode: run.mode,
        metric,
        preferred,
        score,
        n,
        source: run.source ? 'imported' : 'run',
      };
      unscaled.push({ record, range: null, line: 0 });
    };
    const likelihoodsOnly = run.settings.generates === false;
    const before = unscaled.length;
    for (const name of shareNames) {
      const share = summary.scores[name];
      // Where nothing was generated, nothing was read; where nothing is in the format, K is of nothing.
      if (share?.value != null && share.n > 0 && !(likelihoodsOnly && name !== 'LL'))
        add(name, share.value, share.n, name === (likelihoodsOnly ? 'LL' : 'S'));
    }
    for (const measure of summary.measures ?? [])
      if (measure.value !== null) add(metricKey(measure), measure.value, measure.n, false);
    if (unscaled.length === before) leftOut.add('runs without a score', run.id);
  }
  return { records: scaledRecords(unscaled, 'runs', leftOut), leftOut: leftOut.list() };
}

/** What the prediction process does for each call of the host. */

import type { Predictor } from '../predict/index.ts';
import { bestPredictor, predictorOf, predictors, searches, searchOf } from '../predict/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { RecordPlaces } from '../shared/predictions.ts';
import type { PredictionApi } from '../shared/protocol.ts';
import type { Handlers } from '../shared/rpc.ts';
import { emptyCells, predictCells } from './prediction-cells.ts';
import { measureFit } from './prediction-fit.ts';
import { taskMap } from './prediction-map.ts';
import { nextBenchmark } from './prediction-next.ts';
import { type GatheredRecords, RecordReader } from './prediction-records.ts';
import { searchSmallBench } from './prediction-small-bench.ts';

export function predictionHandlers(): Handlers<PredictionApi> {
  const reader = new RecordReader();
  /** @throws HumanError where there are no records */
  const some = async (places: RecordPlaces): Promise<GatheredRecords> => {
    const gathered = await reader.read(places);
    if (gathered.preferred.length === 0)
      throw new HumanError('bad-input', 'There are no records to predict from.', {
        todo: 'Run or import benchmarks, or add a file with scores.',
      });
    return gathered;
  };
  return {
    choices: () => ({
      // The first is taken where nobody has chosen.
      predictors: [...predictors]
        .sort((a, b) => Number(b === bestPredictor) - Number(a === bestPredictor))
        .map(({ name, title }) => ({ name, title })),
      searches: searches.map(({ name, title }) => ({ name, title })),
    }),
    records: async (places) => (await reader.read(places)).report,
    fit: async ({ places, predictor, folds, seed }, { signal, progress }) => {
      const begun = performance.now();
      const { preferred, report } = await some(places);
      const chosen = named(predictor);
      const splits = await measureFit(preferred, chosen, { folds, seed }, { signal, progress });
      return {
        predictor: chosen.name,
        title: chosen.title,
        splits,
        records: preferred.length,
        digest: report.digest,
        seconds: (performance.now() - begun) / 1000,
      };
    },
    taskMap: async ({ places, predictor, clusters, seed }, hooks) => {
      const { preferred, report } = await some(places);
      return taskMap(preferred, named(predictor), { clusters, seed, digest: report.digest }, hooks);
    },
    smallBench: async ({ places, search, budgets, budgetIn, seconds, seed }, hooks) => {
      const { preferred, report, runs } = await some(places);
      const chosen = searchOf(search);
      if (!chosen) throw unknown('search', search, searches);
      return searchSmallBench(
        preferred,
        { search: chosen, budgets, budgetIn, seconds, seed, runs, digest: report.digest },
        hooks,
      );
    },
    nextBenchmark: async ({ places, model }, hooks) => {
      const { preferred, report, runs } = await some(places);
      return nextBenchmark(preferred, { model, runs, report }, hooks);
    },
    predictCells: async ({ places, predictor, metric, seed, view }, hooks) => {
      const { all } = await some(places);
      const empty = emptyCells(view, all, metric);
      if (empty.length === 0)
        return {
          cells: [],
          reason: `No empty cell can be predicted: ${metric} has no scores of its benchmark, or all cells are measured.`,
        };
      return { cells: await predictCells(empty, all, named(predictor), { metric, seed }, hooks), reason: null };
    },
  };
}

function named(name: string): Predictor {
  const predictor = predictorOf(name);
  if (!predictor) throw unknown('predictor', name, predictors);
  return predictor;
}

const unknown = (what: string, name: string, known: readonly { name: string }[]): HumanError =>
  new HumanError('bad-input', `There is no ${what} "${name}".`, {
    todo: `There are ${known.map((one) => one.name).join(', ')}.`,
  });

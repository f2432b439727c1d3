// One measurement of scripts/prediction-figures.mjs at a time, as a worker thread: a table of records, a split, a predictor.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';

const { bundle, root, seed } = workerData;
const predict = await import(pathToFileURL(bundle).href);
const tables = new Map();

async function read(name) {
  if (!tables.has(name)) {
    const { records } = await predict.readRecords({ files: [join(root, 'examples', 'predictions', `${name}.yaml`)] });
    tables.set(name, records);
  }
  return tables.get(name);
}

/** What parts of a table are told apart, by the name that a section gives. */
const partsOf = {
  readings: ({ task, metric }) => `${task === 'gsm8k' ? 'GSM8K' : 'BIG-bench Hard'}, ${metric}`,
  metrics: ({ metric }) => metric,
};

/** The predictor, learning from further columns of the same models too; of families that are held out as a whole none are seen. */
function withColumns(predictor, others) {
  return {
    ...predictor,
    fit: (records, settings) => {
      const families = new Set(records.map(({ family }) => family));
      return predictor.fit([...records, ...others.filter(({ family }) => families.has(family))], settings);
    },
  };
}

async function measure({ table, split, predictor: name, folds, columns, parts }) {
  const records = await read(table);
  const models = new Set(records.map(({ model }) => model));
  const plain = predict.predictorOf(name);
  if (!plain) throw new Error(`There is no predictor ${name}.`);
  const predictor = columns
    ? withColumns(
        plain,
        (await read(columns)).filter(({ model }) => models.has(model)),
      )
    : plain;
  const { predictors, split: made } = await predict.evaluatePredictors(records, [predictor], split, { folds, seed });
  const [of] = predictors;
  const coverage = predict.measuredCoverage(records, of.heldOut);
  return {
    title: of.title,
    records: records.length,
    models: models.size,
    families: new Set(records.map(({ family }) => family)).size,
    folds: made.folds.length,
    ceiling: predict.noiseCeiling(records),
    r2: of.r2,
    rmse: of.rmse,
    pooled: of.pooled.r2,
    coverage: coverage && { share: coverage.share, halfWidth: coverage.halfWidth },
    ...(parts && { parts: partFits(records, of.heldOut, made.folds.length, partsOf[parts]) }),
    ...(name === 'combined' && split === 'L1' && { left: whatIsLeft(records, of.heldOut) }),
  };
}

/** R² of the held-out records of each part, fold by fold. */
function partFits(records, heldOut, folds, partOf) {
  return [...new Set(records.map(partOf))].sort().map((part) => {
    const own = heldOut.filter(({ record }) => partOf(records[record]) === part);
    const r2Of = (some) =>
      predict.fitOf(
        some.map(({ record }) => records[record].score),
        some.map(({ predicted }) => predicted),
      ).r2;
    const ofFolds = Array.from({ length: folds }, (_, fold) => own.filter((one) => one.fold === fold));
    return {
      part,
      records: own.length,
      fewest: Math.min(...ofFolds.map(({ length }) => length)),
      r2: predict.meanAndSd(ofFolds.map(r2Of)),
      pooled: r2Of(own),
      ceiling: predict.noiseCeiling(records.filter((record) => partOf(record) === part)),
    };
  });
}

/** Of the variance of the scores: what is predicted, what is noise of the items; and which columns hold the errors. */
function whatIsLeft(records, heldOut) {
  const mean = records.reduce((sum, { score }) => sum + score, 0) / records.length;
  const variance = records.reduce((sum, { score }) => sum + (score - mean) ** 2, 0);
  const errors = new Map();
  let item = 0;
  let left = 0;
  for (const { record, predicted } of heldOut) {
    const { subtask, score, n } = records[record];
    const error = (score - predicted) ** 2;
    left += error;
    if (n !== null) item += (score * (1 - score)) / (n - 1);
    errors.set(subtask, (errors.get(subtask) ?? 0) + error);
  }
  const hardest = [...errors].sort((a, b) => b[1] - a[1]);
  return {
    predicted: 1 - left / variance,
    items: item / variance,
    columns: hardest.length,
    hardest: hardest.slice(0, 10).map(([name]) => name),
    share: hardest.slice(0, 10).reduce((sum, [, error]) => sum + error, 0) / left,
  };
}

parentPort.on('message', async (task) => {
  const before = process.cpuUsage();
  const begun = performance.now();
  try {
    const figures = await measure(task);
    const { user, system } = process.cpuUsage(before);
    parentPort.postMessage({
      key: task.key,
      figures,
      seconds: (performance.now() - begun) / 1000,
      cpu: (user + system) / 1e6,
    });
  } catch (thrown) {
    parentPort.postMessage({ key: task.key, problem: thrown.stack ?? String(thrown) });
  }
});

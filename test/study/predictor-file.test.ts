/** The predictor page as one file says nothing of the machine that it was made on. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PredictorView } from '../../src/shared/predictions.ts';
import { predictorFile, shareablePredictor } from '../../src/study/index.ts';

const view: PredictorView = {
  records: {
    sources: [
      { path: '/home/ann/my tables/scores.csv', kind: 'file', used: 9, problem: null },
      {
        path: '/home/ann/old/broken.csv',
        kind: 'file',
        used: 0,
        problem: '/home/ann/old/broken.csv has no column "score".',
      },
    ],
    used: 9,
    models: [
      { model: 'org/model-7b', family: 'model', records: 5 },
      { model: '/home/ann/models/own', family: 'own', records: 4 },
    ],
    families: [{ family: 'model', records: 5 }],
    tasks: 2,
    subtasks: 2,
    metrics: ['exact_match'],
    leftOut: [{ reason: 'rows without a score', count: 1, examples: ['/home/ann/my tables/scores.csv:7'] }],
    notes: ['Families of /home/ann/my tables/scores.csv were told by the names of models.'],
    digest: 'd',
  },
  predictors: [],
  searches: [],
  settings: {
    predictor: 'additive',
    folds: 5,
    seed: 0,
    clusters: 0,
    search: 'greedy',
    budgets: [4],
    budgetIn: 'tasks',
    seconds: 60,
    model: '',
  },
  fit: null,
  map: null,
  smallBench: null,
  next: null,
  work: { task: 'fit', message: 'under way', fraction: null, smallBench: null },
  problem: '/home/ann/my tables/scores.csv is gone.',
};

describe('the predictor page as one file', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'softbench-predictor-file-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('names files without their places, in texts too', () => {
    const { records, work, problem } = shareablePredictor(view, { home: '/home/ann', user: 'ann' });
    expect([work, problem]).toEqual([null, null]);
    expect(records?.sources.map((source) => [source.path, source.problem])).toEqual([
      ['scores.csv', null],
      ['broken.csv', 'broken.csv has no column "score".'],
    ]);
    expect(records?.models.map(({ model }) => model)).toEqual(['org/model-7b', 'own']);
    expect(records?.notes).toEqual(['Families of scores.csv were told by the names of models.']);
    expect(JSON.stringify(records)).not.toMatch(/ann|my tables/);
  });

  it('holds the page and its data', async () => {
    await writeFile(join(folder, 'predictor.js'), 'let page;\n//# sourceMappingURL=predictor.js.map\n');
    await writeFile(join(folder, 'predictor.css'), 'a{}');
    const html = await predictorFile(view, folder);
    expect(html).not.toMatch(/\/home|my tables|under way|sourceMappingURL/);
    const data = JSON.parse(/id="softbench-data">(.*?)<\/script>/.exec(html)?.[1] ?? '');
    expect(data).toMatchObject({ page: 'predictor', view: { records: { used: 9 } } });
    await expect(predictorFile(view, join(folder, 'none'))).rejects.toThrow(/A part of Softbench is missing/);
  });
});

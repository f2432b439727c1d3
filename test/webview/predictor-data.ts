/** A predictor page's data, made from a seed: the shape of real records, figures of nobody's. */
import type {
  GroupError,
  PredictedRecord,
  PredictorView,
  SmallBenchResult,
  SplitFit,
  TaskMap,
} from '../../src/shared/predictions.ts';
import { uniform } from './data.ts';

const families = ['Llama-2', 'Pythia', 'OPT', 'Qwen 1.5', 'Falcon', 'BLOOM', 'GPT-Neo/J', 'Gemma'];
const sizes = ['160m', '1b', '7b', '13b'];
/** The last one is hostile: it must be shown as text. */
const tasks = [
  'boolean_expressions',
  'causal_judgement',
  'date_understanding',
  'disambiguation_qa',
  'dyck_languages',
  'formal_fallacies',
  'geometric_shapes',
  'hyperbaton',
  'movie_recommendation',
  'navigate',
  'object_counting',
  'penguins_in_a_table',
  'ruin_names',
  'snarks',
  'sports_understanding',
  'web_of_lies',
  'word_sorting',
  '<img src=x onerror="window.hacked=1">\u202e',
];

function split(name: string, title: string, error: number, seed: number, ceiling: number | null): SplitFit {
  const random = uniform(seed);
  const points: PredictedRecord[] = families.flatMap((family) =>
    sizes.flatMap((size, at) =>
      tasks.map((task, index) => {
        const actual = Math.min(1, Math.max(0, 0.15 + 0.03 * index + 0.14 * at + 0.2 * (random() - 0.5)));
        const predicted = Math.min(1, Math.max(0, actual + error * (random() + random() - 1)));
        return { model: `${family}-${size}`, family, task, subtask: task, setting: '', actual, predicted };
      }),
    ),
  );
  const by = (key: 'family' | 'subtask'): GroupError[] =>
    [...new Set(points.map((point) => point[key]))]
      .map((group) => {
        const members = points.filter((point) => point[key] === group);
        const off = members.map(({ actual, predicted }) => predicted - actual);
        const worst = members.reduce((a, b) =>
          Math.abs(a.predicted - a.actual) > Math.abs(b.predicted - b.actual) ? a : b,
        );
        const mean = (values: number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;
        return {
          name: group,
          n: members.length,
          rmse: Math.sqrt(mean(off.map((each) => each ** 2))),
          bias: mean(off),
          mean: mean(members.map(({ actual }) => actual)),
          worst: { model: worst.model, actual: worst.actual, predicted: worst.predicted },
        };
      })
      .sort((a, b) => b.rmse - a.rmse);
  return {
    split: name,
    title,
    words: `Held out: ${title}.`,
    folds: 10,
    notes: name === 'family' ? ['There are 8 groups only: the mean over them says little about another one.'] : [],
    fits: [
      {
        predictor: 'combination',
        title: 'best combination',
        rmse: { mean: error / 2.4, sd: error / 20 },
        r2: { mean: 1 - error, sd: error / 14 },
        coverage: { share: name === 'family' ? 0.71 : 0.905, n: points.length, reach: 1.6 * error },
      },
      {
        predictor: 'additive',
        title: 'model + task',
        rmse: { mean: error / 1.6, sd: error / 18 },
        r2: { mean: name === 'family' ? 1 - 0.9 * error : 1 - 2.2 * error, sd: error / 8 },
        coverage: null,
      },
    ],
    ceiling,
    problem: null,
    points,
    total: points.length,
    tasks: by('subtask'),
    families: by('family'),
  };
}

const smallBench = (ended: SmallBenchResult['ended'] = 'done'): SmallBenchResult => ({
  search: 'greedy',
  title: 'greedy',
  unit: 'tasks',
  curve: [2, 4, 8, 12].map((budget) => ({
    budget,
    subtasks: tasks.slice(tasks.length - budget),
    inSample: 0.96 - 0.45 / budget,
    recovery: { mean: 0.94 - 0.5 / budget, sd: 0.03 },
    tau: 0.9 - 0.3 / budget,
    randomSize: budget < 8 ? 2.2 * budget : null,
  })),
  random: [2, 4, 8, 12].map((budget) => ({
    budget,
    low: 0.8 - 0.9 / budget,
    median: 0.88 - 0.7 / budget,
    high: 0.93 - 0.55 / budget,
    subsets: 200,
  })),
  fixed: [
    { title: 'BIG-bench Lite', size: 42, known: 6, cost: 6, recovery: { mean: 0.79, sd: 0.04 }, tau: 0.71 },
    { title: 'BIG-bench Hard', size: 24, known: 10, cost: 10, recovery: { mean: 0.83, sd: 0.03 }, tau: 0.77 },
  ],
  evaluations: 4128,
  seconds: 41,
  ended,
  digest: 'a1',
  rows: 32,
  subtasks: tasks.length,
  heldOut: 'families',
  groups: 6,
  leftOut: [{ reason: 'further metrics of a subtask', count: 12, examples: ['acc of navigate'] }],
});

function taskMap(): TaskMap {
  const random = uniform(11);
  const middle = [
    [-1.4, 0.9],
    [1.2, 1.1],
    [0.1, -1.3],
    [1.5, -0.8],
  ];
  return {
    title: 'best combination',
    dimensions: 32,
    explained: [0.41, 0.22],
    points: tasks.map((task, index) => ({
      task,
      subtask: task,
      x: (middle[index % 4]?.[0] ?? 0) + random() - 0.5,
      y: (middle[index % 4]?.[1] ?? 0) + random() - 0.5,
      cluster: index % 4,
      records: 32,
      mean: 0.2 + 0.04 * index,
    })),
    clusters: [0, 1, 2, 3].map((index) => ({ centre: tasks[index + 4] ?? '', size: index < 2 ? 5 : 4 })),
    digest: 'a1',
  };
}

export function predictorView(): PredictorView {
  return {
    records: {
      sources: [
        { path: '/home/somebody/project/.softbench', kind: 'runs', used: 12, problem: null },
        { path: '/home/somebody/records/bbh.csv', kind: 'file', used: 564, problem: null },
        { path: '/home/somebody/records/old.csv', kind: 'file', used: 0, problem: 'There is no column "score".' },
      ],
      used: 576,
      models: families.flatMap((family) =>
        sizes.map((size) => ({ model: `${family}-${size}`, family, records: tasks.length })),
      ),
      families: families.map((family) => ({ family, records: sizes.length * tasks.length })),
      tasks: tasks.length,
      subtasks: tasks.length,
      metrics: ['exact_match'],
      leftOut: [
        { reason: 'aggregates of other records', count: 32, examples: ['bbh', 'average'] },
        { reason: 'scores that are no numbers', count: 3, examples: ['bbh.csv:17', 'bbh.csv:201'] },
      ],
      notes: ['Families of models were taken from their names.'],
      digest: 'a1',
    },
    predictors: [
      { name: 'combination', title: 'best combination' },
      { name: 'additive', title: 'model + task' },
    ],
    searches: [
      { name: 'greedy', title: 'greedy' },
      { name: 'annealing', title: 'simulated annealing' },
    ],
    settings: {
      predictor: 'combination',
      folds: 10,
      seed: 42,
      clusters: 0,
      search: 'greedy',
      budgets: [2, 4, 8, 12],
      budgetIn: 'tasks',
      seconds: 120,
      model: '',
    },
    fit: {
      predictor: 'combination',
      title: 'best combination',
      splits: [
        split('L1', 'random', 0.06, 1, 0.955),
        split('L2.1', 'held-out (subtask, model)', 0.08, 2, 0.955),
        split('L4', 'held-out (task, family)', 0.11, 3, 0.95),
        split('family', 'leave one family out', 0.4, 4, null),
        {
          split: 'task',
          title: 'leave one task out',
          words: 'Nobody has run the task.',
          folds: 0,
          notes: [],
          fits: [],
          ceiling: null,
          problem: 'It needs at least two groups; the 576 records have 1.',
          points: [],
          total: 0,
          tasks: [],
          families: [],
        },
      ],
      records: 576,
      digest: 'a1',
      seconds: 12,
    },
    map: taskMap(),
    smallBench: smallBench(),
    next: {
      model: 'Gemma-160m',
      known: 3,
      open: 15,
      caution: null,
      costUnit: 'items',
      rows: tasks.slice(0, 15).map((task, index) => ({
        task,
        subtask: task,
        setting: index === 3 ? 'few-shot' : '',
        before: 0.0144,
        after: 0.0049 + 0.0005 * index,
        cost: 100 + 25 * index,
      })),
      digest: 'a1',
    },
    work: null,
    problem: null,
  };
}

/** With nothing but runs that are too few to count. */
export function emptyPredictorView(): PredictorView {
  const view = predictorView();
  return {
    ...view,
    records: {
      sources: [{ path: '/home/somebody/project/.softbench', kind: 'runs', used: 0, problem: null }],
      used: 0,
      models: [],
      families: [],
      tasks: 0,
      subtasks: 0,
      metrics: [],
      leftOut: [],
      notes: [],
      digest: '',
    },
    fit: null,
    map: null,
    smallBench: null,
    next: null,
  };
}

export const partialSmallBench = (): SmallBenchResult => {
  const found = smallBench();
  const curve = found.curve.slice(0, 2).map((point) => ({ ...point, recovery: null, tau: null, randomSize: null }));
  return { ...found, curve, random: [], fixed: [] };
};

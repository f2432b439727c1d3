/** The task map of a predictor's task vectors, or of the score table's where it learns none. */
import {
  inTurns,
  mapVectors,
  type Predictor,
  type ScoreRecord,
  type Steps,
  scoreTableSteps,
  spectralSteps,
  stepwise,
  turns,
} from '../predict/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { TaskMap } from '../shared/predictions.ts';
import { yielding } from './prediction-fit.ts';

export async function taskMap(
  records: readonly ScoreRecord[],
  predictor: Predictor,
  options: { clusters: number; seed: number; digest: string },
  hooks: { signal: AbortSignal; progress(progress: { message: string; fraction: number | null }): void },
): Promise<TaskMap> {
  const { clusters, seed, digest } = options;
  hooks.progress({ message: `Task vectors: ${predictor.title}`, fraction: null });
  const fitted = await yielding(predictor).fit(records, {
    seed,
    signal: hooks.signal,
    progress: (fraction) => hooks.progress({ message: `Task vectors: ${predictor.title}`, fraction }),
  });
  const learned = fitted.taskVectors?.() ?? null;
  const turn = turns(hooks.signal);
  await turn();
  const { names, vectors, title } = learned
    ? ofPredictor(learned, predictor)
    : await inTurns(ofScores(records, predictor), turn);
  if (vectors.length < 3)
    throw new HumanError('bad-input', `There are vectors of ${vectors.length} tasks; a map takes at least 3.`, {
      todo: 'Add records of more tasks.',
    });
  const map = mapVectors(vectors, { clusters, seed });
  await turn();
  const known = await inTurns(statistics(records), turn);
  return {
    title,
    dimensions: vectors[0]?.length ?? 0,
    explained: map.explained,
    points: names.map((name, at) => ({
      task: known.get(name)?.task ?? name,
      subtask: name,
      x: map.x[at] ?? 0,
      y: map.y[at] ?? 0,
      cluster: map.cluster[at] ?? 0,
      records: known.get(name)?.n ?? 0,
      mean: known.get(name)?.mean ?? 0,
    })),
    clusters: map.clusters.map((members) => ({ centre: names[members[0] ?? 0] ?? '', size: members.length })),
    digest,
  };
}

interface NamedVectors {
  names: string[];
  vectors: Float64Array[];
  title: string;
}

const ofPredictor = (learned: Map<string, Float64Array>, { title }: Predictor): NamedVectors => ({
  names: [...learned.keys()],
  vectors: [...learned.values()],
  title,
});

/** Principal components of the table of models × subtasks. */
function* ofScores(records: readonly ScoreRecord[], { title }: Predictor): Steps<NamedVectors> {
  const table = yield* scoreTableSteps(records);
  return {
    names: table.subtasks.map(({ name }) => name),
    vectors: yield* spectralSteps(table, [...table.rows.keys()]),
    title: `Components of the score table (${title} learns no task vectors)`,
  };
}

function* statistics(records: readonly ScoreRecord[]): Steps<Map<string, { task: string; n: number; mean: number }>> {
  const sums = new Map<string, { task: string; n: number; sum: number }>();
  // A table names a subtask after its task too where several tasks have one of that name.
  yield* stepwise(records, ({ task, subtask, score }) => {
    for (const name of new Set([subtask, `${task}:${subtask}`])) {
      const entry = sums.get(name) ?? { task, n: 0, sum: 0 };
      entry.n++;
      entry.sum += score;
      sums.set(name, entry);
    }
  });
  return new Map([...sums].map(([name, { task, n, sum }]) => [name, { task, n, mean: sum / n }]));
}

/**
 * A model's level plus a task's level: the plain baseline that everything else is measured against. Effects of family and
 * model, of subtask and metric, and of the setting within them are learned together by least squares with shrinkage (ridge),
 * so that an unknown model stands at its family's level, or at that of all models, and an unknown task at the mean.
 */
import { throwIfCancelled } from '../shared/errors.ts';
import type { Configuration, Predictor } from './types.ts';

/** What has an effect of its own, the general in front of the particular. */
const levels: readonly ((of: Configuration) => string)[] = [
  ({ family }) => family,
  ({ family, model }) => JSON.stringify([family, model]),
  ({ metric }) => metric,
  ({ task, metric }) => JSON.stringify([task, metric]),
  ({ task, subtask, metric }) => JSON.stringify([task, subtask, metric]),
  ({ task, subtask, metric, shots, mode }) => JSON.stringify([task, subtask, metric, shots, mode]),
];

/** How strongly effects are drawn to 0, in records. */
export const additiveShrinkage = 0.5;

export const additivePredictor: Predictor = {
  name: 'additive',
  title: 'model + task',
  async fit(training, { signal, development = [] }) {
    throwIfCancelled(signal);
    // There is nothing to stop early and nothing to choose: it learns from both.
    const records = [...training, ...development];
    const names = levels.map(() => new Map<string, number>());
    let effects = 0;
    const columns = levels.map((level, at) =>
      Int32Array.from(records, (record) => {
        const key = level(record);
        const known = names[at]?.get(key);
        if (known !== undefined) return known;
        names[at]?.set(key, effects);
        return effects++;
      }),
    );
    const mean = records.reduce((sum, { score }) => sum + score, 0) / Math.max(1, records.length);
    const target = Float64Array.from(records, ({ score }) => score - mean);
    const solved = solveIndicators(columns, target, effects, additiveShrinkage);
    return {
      predict: (configurations) =>
        Float64Array.from(configurations, (configuration) => {
          let value = mean;
          for (const [at, level] of levels.entries()) {
            const effect = names[at]?.get(level(configuration));
            if (effect !== undefined) value += solved[effect] ?? 0;
          }
          return Math.min(1, Math.max(0, value));
        }),
    };
  },
};

/**
 * Minimises Σ (target − Σ effects)² + shrinkage · Σ effect² by conjugate gradients on the normal equations (Hestenes and
 * Stiefel 1952).
 * @param columns one list a level: which effect each record has
 */
function solveIndicators(
  columns: readonly Int32Array[],
  target: Float64Array,
  effects: number,
  shrinkage: number,
): Float64Array {
  const n = target.length;
  const fitted = new Float64Array(n);
  /** (XᵀX + λ) v */
  const product = (v: Float64Array): Float64Array => {
    fitted.fill(0);
    for (const column of columns) for (let i = 0; i < n; i++) fitted[i] = at(fitted, i) + at(v, at(column, i));
    const out = new Float64Array(effects);
    for (const column of columns)
      for (let i = 0; i < n; i++) out[at(column, i)] = at(out, at(column, i)) + at(fitted, i);
    for (let e = 0; e < effects; e++) out[e] = at(out, e) + shrinkage * at(v, e);
    return out;
  };
  const residual = new Float64Array(effects);
  for (const column of columns)
    for (let i = 0; i < n; i++) residual[at(column, i)] = at(residual, at(column, i)) + at(target, i);
  const solution = new Float64Array(effects);
  const direction = residual.slice();
  let norm = dot(residual, residual);
  const enough = norm * 1e-20;
  for (let step = 0; step < 10 * effects + 50 && norm > enough; step++) {
    const moved = product(direction);
    const length = norm / dot(direction, moved);
    for (let e = 0; e < effects; e++) {
      solution[e] = at(solution, e) + length * at(direction, e);
      residual[e] = at(residual, e) - length * at(moved, e);
    }
    const next = dot(residual, residual);
    for (let e = 0; e < effects; e++) direction[e] = at(residual, e) + (next / norm) * at(direction, e);
    norm = next;
  }
  return solution;
}

const at = (values: Float64Array | Int32Array, index: number): number => values[index] as number;

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += at(a, i) * at(b, i);
  return sum;
}

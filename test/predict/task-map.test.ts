import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mapVectors, usualClusters } from '../../src/predict/index.ts';

const fixture = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', 'fixtures', 'predict', 'task-map.json'), 'utf8'),
) as { vectors: number[][]; explained: number[]; places: number[][] };
const vectors = fixture.vectors.map((vector) => Float64Array.from(vector));

describe('the task map', () => {
  it('projects as scikit-learn does (the fixture’s vectors are rounded to 1e-6)', () => {
    const { x, y, explained } = mapVectors(vectors);
    for (const [at, [first = 0, second = 0]] of fixture.places.entries()) {
      expect(x[at]).toBeCloseTo(first, 4);
      expect(y[at]).toBeCloseTo(second, 4);
    }
    expect(explained[0]).toBeCloseTo(fixture.explained[0] ?? 0, 6);
    expect(explained[1]).toBeCloseTo(fixture.explained[1] ?? 0, 6);
  });

  it('puts together what was made alike, largest cluster first, and names its middle', () => {
    const group = (middle: number[], n: number): Float64Array[] =>
      Array.from({ length: n }, (_, at) =>
        Float64Array.from(middle, (value, k) => value + 0.1 * Math.sin(at * (k + 1)) * (at === 0 ? 0 : 1)),
      );
    const made = [...group([5, 0, 0], 4), ...group([0, 5, 0], 7), ...group([0, 0, 5], 5)];
    const { cluster, clusters } = mapVectors(made, { clusters: 3 });
    expect(clusters.map((members) => members.length)).toEqual([7, 5, 4]);
    expect(new Set(cluster.slice(0, 4))).toEqual(new Set([2]));
    expect(new Set(cluster.slice(4, 11))).toEqual(new Set([0]));
    expect(new Set(cluster.slice(11))).toEqual(new Set([1]));
  });

  it('takes vectors that do not vary, and fewer vectors than clusters', () => {
    const same = Array.from({ length: 3 }, () => Float64Array.of(1, 2));
    const { x, explained, clusters } = mapVectors(same, { clusters: 8 });
    expect([...x]).toEqual([0, 0, 0]);
    expect(explained).toEqual([0, 0]);
    expect(clusters).toHaveLength(1);
    expect(usualClusters(54)).toBe(5);
    expect(usualClusters(3)).toBe(2);
  });
});

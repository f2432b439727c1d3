import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { kMeans, lloyd, nearestToCentres } from '../../src/predict/k-means.ts';

/** Made with scikit-learn: test/fixtures/small-bench/make.py. */
const { clusters } = JSON.parse(readFileSync('test/fixtures/small-bench/oracle.json', 'utf8')) as {
  clusters: {
    points: number[][];
    start: number[];
    assigned: number[];
    centres: number[][];
    inertia: number;
    best: number;
  };
};
const points = clusters.points.map((point) => Float64Array.from(point));

describe('k-means', () => {
  it("ends where scikit-learn's ends from the same centres", () => {
    const found = lloyd(
      points,
      clusters.start.map((at) => points[at] as Float64Array),
    );
    expect([...found.assigned]).toEqual(clusters.assigned);
    expect(found.spread).toBeCloseTo(clusters.inertia, 8);
    for (const [at, centre] of found.centres.entries())
      for (const [i, value] of centre.entries()) expect(value).toBeCloseTo(clusters.centres[at]?.[i] ?? Number.NaN, 8);
  });

  it("finds as small a spread as the best of scikit-learn's 50 starts", () => {
    expect(kMeans(points, 4, { seed: 1 }).spread).toBeCloseTo(clusters.best, 8);
  });

  it('gives the same clusters for the same seed', () => {
    expect(kMeans(points, 5, { seed: 3, restarts: 1 })).toEqual(kMeans(points, 5, { seed: 3, restarts: 1 }));
  });

  it('orders the members of a cluster by their distance to its centre', () => {
    const found = kMeans(points, 4, { seed: 1 });
    const orders = nearestToCentres(points, found);
    expect(orders.flat().sort((a, b) => a - b)).toEqual([...points.keys()]);
    for (const [at, order] of orders.entries()) {
      const distances = order.map((member) =>
        Math.hypot(...[...(points[member] ?? [])].map((value, i) => value - (found.centres[at]?.[i] ?? 0))),
      );
      expect(distances).toEqual([...distances].sort((a, b) => a - b));
    }
  });

  it('has as many centres as points differ', () => {
    const same = [0, 0, 1, 1].map((value) => Float64Array.of(value));
    const found = kMeans(same, 3, { seed: 0 });
    expect(found.centres).toHaveLength(2);
    expect(found.spread).toBe(0);
  });

  it('refuses no points and no clusters', () => {
    expect(() => kMeans([], 2)).toThrow(RangeError);
    expect(() => kMeans(points, 0)).toThrow(RangeError);
  });
});

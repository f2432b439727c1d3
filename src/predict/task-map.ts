/** The task map: vectors of subtasks in the plane of their two largest principal components, in clusters. */
import { kMeans, nearestToCentres } from './k-means.ts';
import { dot } from './linear-algebra.ts';
import { leadingDirections } from './small-bench/task-covariance.ts';

export interface MappedVectors {
  /** [vectors] along the first and the second component; 0 where there is none. */
  x: Float64Array;
  y: Float64Array;
  /** Shares of the variance of all vectors along each. */
  explained: [number, number];
  /** [vectors] */
  cluster: Int32Array;
  /** Of each cluster, largest first: its members, nearest to its centre first. */
  clusters: number[][];
}

/** Rounds of subspace iteration: many, because the second and the third component may be about as large. */
const rounds = 200;

/** By a rule of thumb, √(n / 2), between 2 and 12. */
export const usualClusters = (vectors: number): number =>
  Math.max(1, Math.min(vectors, 12, Math.max(2, Math.round(Math.sqrt(vectors / 2)))));

/**
 * Projects and clusters vectors of one length. Clusters are found among the whole vectors, not in the plane. The sign of a
 * component is that which makes its largest part positive.
 * @param clusters 0: {@link usualClusters}
 */
export function mapVectors(
  vectors: readonly Float64Array[],
  { clusters = 0, seed = 0 }: { clusters?: number; seed?: number } = {},
): MappedVectors {
  const n = vectors.length;
  const width = vectors[0]?.length ?? 0;
  const centred = new Float64Array(n * width);
  for (let k = 0; k < width; k++) {
    let mean = 0;
    for (const vector of vectors) mean += (vector[k] as number) / n;
    for (const [at, vector] of vectors.entries()) centred[at * width + k] = (vector[k] as number) - mean;
  }
  const total = dot(centred, centred);
  // Two more than are shown: the iteration finds the leading ones of them sooner.
  const directions = leadingDirections(centred, n, width, Math.min(4, width, n), rounds);
  const along = directions
    .map((direction) => {
      const places = Float64Array.from({ length: n }, (_, at) =>
        dot(centred.subarray(at * width, (at + 1) * width), direction),
      );
      const largest = direction.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
      return {
        places: largest < 0 ? places.map((value) => -value) : places,
        variance: dot(places, places),
      };
    })
    .sort((a, b) => b.variance - a.variance);
  const found = kMeans(vectors, clusters > 0 ? Math.min(clusters, n) : usualClusters(n), { seed });
  const members = nearestToCentres(vectors, found)
    .filter((group) => group.length > 0)
    .sort((a, b) => b.length - a.length || (a[0] ?? 0) - (b[0] ?? 0));
  const cluster = new Int32Array(n);
  for (const [index, group] of members.entries()) for (const at of group) cluster[at] = index;
  const part = (at: number): number => (total > 0 ? (along[at]?.variance ?? 0) / total : 0);
  return {
    x: along[0]?.places ?? new Float64Array(n),
    y: along[1]?.places ?? new Float64Array(n),
    explained: [part(0), part(1)],
    cluster,
    clusters: members,
  };
}

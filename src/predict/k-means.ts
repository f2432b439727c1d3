/** k-means: Lloyd's algorithm (1982) from k-means++ starts (Arthur and Vassilvitskii 2007), the best of several. */
import { Random } from '../shared/random.ts';
import { atOnce, type Steps } from './turn.ts';

export interface Clusters {
  /** [k] centres. */
  centres: Float64Array[];
  /** Of each point, the position of its centre. */
  assigned: Int32Array;
  /** Sum of squared distances of the points to their centres (scikit-learn: inertia). */
  spread: number;
}

export interface KMeansOptions {
  seed?: number;
  /** Starts; the one that ends with the smallest spread is kept. Default: 10. */
  restarts?: number;
  rounds?: number;
}

/**
 * Clusters points of one length. Where there are fewer different points than k, there are as many centres as points differ.
 * @throws RangeError where there are no points, or k is below 1
 */
export const kMeans = (points: readonly Float64Array[], k: number, options: KMeansOptions = {}): Clusters =>
  atOnce(kMeansSteps(points, k, options));

/** The same in steps. */
export function* kMeansSteps(
  points: readonly Float64Array[],
  k: number,
  { seed = 0, restarts = 10, rounds = 300 }: KMeansOptions = {},
): Steps<Clusters> {
  if (points.length === 0 || k < 1) throw new RangeError(`k-means needs points and at least one cluster, not ${k}.`);
  const random = new Random(seed);
  let best: Clusters | null = null;
  for (let start = 0; start < restarts; start++) {
    const found = yield* lloydSteps(points, plusPlus(points, k, random), rounds);
    if (!best || found.spread < best.spread) best = found;
  }
  return best as Clusters;
}

/** Lloyd's algorithm from given centres, until no point changes its centre. */
export const lloyd = (
  points: readonly Float64Array[],
  centresAtFirst: readonly Float64Array[],
  rounds = 300,
): Clusters => atOnce(lloydSteps(points, centresAtFirst, rounds));

function* lloydSteps(
  points: readonly Float64Array[],
  centresAtFirst: readonly Float64Array[],
  rounds: number,
): Steps<Clusters> {
  const centres = centresAtFirst.map((centre) => centre.slice());
  const assigned = new Int32Array(points.length).fill(-1);
  let spread = 0;
  for (let round = 0; round < rounds; round++) {
    let changed = false;
    spread = 0;
    yield;
    for (const [at, point] of points.entries()) {
      const { index, distance } = nearestOf(point, centres);
      spread += distance;
      if (assigned[at] === index) continue;
      assigned[at] = index;
      changed = true;
    }
    if (!changed) break;
    for (const [cluster, centre] of centres.entries()) {
      const members = points.filter((_, at) => assigned[at] === cluster);
      // An empty cluster keeps its centre.
      if (members.length === 0) continue;
      centre.fill(0);
      for (const member of members)
        for (let i = 0; i < centre.length; i++)
          centre[i] = (centre[i] as number) + (member[i] as number) / members.length;
    }
  }
  return { centres, assigned, spread };
}

/** Of each centre, the points in order of their distance to it, as positions; only points that are assigned to it. */
export function nearestToCentres(points: readonly Float64Array[], { centres, assigned }: Clusters): number[][] {
  return centres.map((centre, cluster) =>
    [...points.keys()]
      .filter((at) => assigned[at] === cluster)
      .map((at) => ({ at, distance: squaredDistance(points[at] as Float64Array, centre) }))
      .sort((a, b) => a.distance - b.distance || a.at - b.at)
      .map(({ at }) => at),
  );
}

/** The first centre by chance; each further one by chance in proportion to its squared distance from those there are. */
function plusPlus(points: readonly Float64Array[], k: number, random: Random): Float64Array[] {
  const centres = [points[random.below(points.length)] as Float64Array];
  const distances = points.map((point) => squaredDistance(point, centres[0] as Float64Array));
  while (centres.length < k) {
    const total = distances.reduce((sum, distance) => sum + distance, 0);
    if (total <= 0) break;
    let left = random.uniform() * total;
    // Rounding may leave a little at the end: then the farthest point is taken.
    let chosen = distances.indexOf(Math.max(...distances));
    for (const [at, distance] of distances.entries()) {
      left -= distance;
      if (left >= 0 || distance === 0) continue;
      chosen = at;
      break;
    }
    const centre = points[chosen] as Float64Array;
    centres.push(centre);
    for (const [at, point] of points.entries())
      distances[at] = Math.min(distances[at] as number, squaredDistance(point, centre));
  }
  return centres;
}

function nearestOf(point: Float64Array, centres: readonly Float64Array[]): { index: number; distance: number } {
  let nearest = { index: 0, distance: Number.POSITIVE_INFINITY };
  for (const [index, centre] of centres.entries()) {
    const distance = squaredDistance(point, centre);
    if (distance < nearest.distance) nearest = { index, distance };
  }
  return nearest;
}

function squaredDistance(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += ((a[i] as number) - (b[i] as number)) ** 2;
  return sum;
}

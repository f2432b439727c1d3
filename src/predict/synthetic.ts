/**
 * Score records that were never measured, of the shape of the study's (Ye, Fu, Ren and Jia 2023, arXiv 2305.14947): 313
 * subtasks of 200 tasks, 6 families of several sizes, 0 to 5 shots, three metrics. What they hold is known exactly, so that a
 * predictor can be measured against the best that any could reach. Each score is made thus:
 *
 *  1. A model has one level in each of `skills` skills: growing with the logarithm of its parameters, at a rate of the skill's,
 *     from a start that is the family's.
 *  2. A subtask asks for a mixture of the skills (most of it its task's), is difficult to some degree, and gains from shots.
 *     A family is better or worse at a task than its skills say (training data).
 *  3. ability · mixture − difficulty + shots + family × task = z; the expected score is floor + (ceiling − floor) / (1 + e^−slope·z).
 *     Two tasks in five are emergent: with a steep slope, and so difficult that only the largest models are above the floor.
 *  4. The score is the mean of n draws with that expectation, n from 100 to 1000: yes or no for `exact_str_match` and
 *     `multiple_choice_grade`; five values from 0 to 1 (mean of four draws) for `rougeLsum`.
 */
import { Random } from '../shared/random.ts';
import type { ScoreRecord } from './types.ts';

export interface SyntheticOptions {
  seed?: number;
  subtasks?: number;
  tasks?: number;
  skills?: number;
  /** Share of the cells that have no record. Default: 0.02. */
  missing?: number;
  /** Names of the families to make. Default: all six. */
  families?: readonly string[];
}

export interface SyntheticRecords {
  records: ScoreRecord[];
  /** Of each record, the score without noise. */
  expected: Float64Array;
  /** Of each record, the variance of its noise: s (1 − s) / n for shares, a quarter of it for `rougeLsum`. */
  noise: Float64Array;
}

/** Non-embedding parameters of the models and shots of each family: about those of the study. */
const familyTable: readonly { family: string; parameters: readonly number[]; shots: readonly number[] }[] = [
  { family: 'BIG-G T=0', parameters: sizes(2e6, 1.28e11, 12), shots: [0, 1, 2, 3] },
  { family: 'BIG-G T=1', parameters: sizes(2e6, 1.28e11, 12), shots: [0, 1, 2, 3] },
  { family: 'BIG-G sparse', parameters: sizes(2e6, 5e10, 11), shots: [0, 1, 2, 3] },
  { family: 'PaLM', parameters: [8e9, 6.2e10, 5.35e11], shots: [0, 1, 2, 3, 5] },
  { family: 'GPT', parameters: sizes(1.2e8, 1.75e11, 8), shots: [0, 1, 2, 3] },
  { family: 'Gopher', parameters: [4.4e7, 1.17e8, 4.17e8, 1.4e9, 7.1e9, 2.8e11], shots: [0, 1, 5] },
];

/** The metrics, how many draws an item's score is the mean of, and the range of expected scores. */
const metricTable = [
  { metric: 'exact_str_match', share: 0.35, draws: 1, floor: () => 0, ceiling: 0.98 },
  {
    metric: 'multiple_choice_grade',
    share: 0.5,
    draws: 1,
    floor: (random: Random) => 1 / (2 + random.below(4)),
    ceiling: 0.97,
  },
  { metric: 'rougeLsum', share: 0.15, draws: 4, floor: (random: Random) => 0.2 * random.uniform(), ceiling: 0.6 },
] as const;

const emergentShare = 0.4;

function sizes(from: number, to: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => Math.round(from * (to / from) ** (i / (count - 1))));
}

interface Subtask {
  task: number;
  name: string;
  taskName: string;
  metric: (typeof metricTable)[number];
  mixture: Float64Array;
  floor: number;
  difficulty: number;
  slope: number;
  shotGain: number;
  items: number;
}

/** Makes the records. The same options give the same records. */
export function syntheticRecords({
  seed = 0,
  subtasks = 313,
  tasks = Math.min(subtasks, Math.round((200 / 313) * subtasks)),
  skills = 5,
  missing = 0.02,
  families = familyTable.map(({ family }) => family),
}: SyntheticOptions = {}): SyntheticRecords {
  const random = new Random(seed);
  const list = makeSubtasks(random, subtasks, tasks, skills);
  const growth = Float64Array.from({ length: skills }, () => 0.6 + 0.8 * random.uniform());
  const records: ScoreRecord[] = [];
  const expected: number[] = [];
  const noise: number[] = [];
  for (const { family, parameters, shots } of familyTable) {
    const start = Float64Array.from({ length: skills }, () => 0.5 * random.normal());
    const affinity = Float64Array.from({ length: tasks }, () => 0.3 * random.normal());
    for (const [at, nonEmbedding] of parameters.entries()) {
      // Above and below a billion parameters, in powers of ten.
      const scale = Math.log10(nonEmbedding) - 9;
      const ability = Float64Array.from(
        growth,
        (rate, skill) => rate * scale + (start[skill] ?? 0) + 0.1 * random.normal(),
      );
      for (const shot of shots)
        for (const subtask of list) {
          const s = expectedScore(subtask, ability, shot, affinity[subtask.task] ?? 0);
          const draws = subtask.items * subtask.metric.draws;
          const score = binomial(random, draws, s) / draws;
          if (random.uniform() < missing || !families.includes(family)) continue;
          const total = Math.round(nonEmbedding * 1.05);
          records.push({
            family,
            model: `${family} ${at + 1}`,
            parameters: {
              total,
              nonEmbedding,
              flopMatched: family === 'BIG-G sparse' ? nonEmbedding / 2 : nonEmbedding,
            },
            trainingFlops: null,
            task: subtask.taskName,
            subtask: subtask.name,
            shots: shot,
            mode: null,
            metric: subtask.metric.metric,
            preferred: true,
            score,
            n: subtask.items,
            source: 'csv',
          });
          expected.push(s);
          noise.push((s * (1 - s)) / draws);
        }
    }
  }
  return { records, expected: Float64Array.from(expected), noise: Float64Array.from(noise) };
}

/**
 * The R² that the noise leaves to a predictor that knows every expected score: 1 − Σ variance of noise ÷ Σ (score − mean)².
 * @param at positions of the records that are predicted
 */
export function noiseCeiling({ records, noise }: SyntheticRecords, at: Iterable<number>): number {
  let [n, sum, squares, variance] = [0, 0, 0, 0];
  for (const i of at) {
    const score = records[i]?.score ?? 0;
    n++;
    sum += score;
    squares += score * score;
    variance += noise[i] ?? 0;
  }
  return 1 - variance / (squares - (sum * sum) / n);
}

function makeSubtasks(random: Random, subtasks: number, tasks: number, skills: number): Subtask[] {
  // A third of the tasks have several parts: parts beyond the first of each task go to one of those.
  const parts = new Array<number>(tasks).fill(1);
  const several = Math.max(1, Math.round(tasks / 3));
  for (let extra = subtasks - tasks; extra > 0; extra--) {
    const task = random.below(several);
    parts[task] = (parts[task] ?? 0) + 1;
  }
  return parts.flatMap((count, task) => {
    const metric = pickMetric(random.uniform());
    const emergent = random.uniform() < emergentShare;
    const mixture = mixtureOf(random, skills);
    const difficulty = emergent ? 0.8 + 0.6 * random.uniform() : 0.9 * random.normal() - 0.2;
    const slope = emergent ? 4 + 3 * random.uniform() : 0.6 + 0.8 * random.uniform();
    const shotGain = Math.max(0, 0.15 + 0.15 * random.normal());
    const taskName = `task_${`${task + 1}`.padStart(3, '0')}`;
    return Array.from({ length: count }, (_, part) => {
      const own = mixtureOf(random, skills);
      return {
        task,
        taskName,
        name: count === 1 ? taskName : `${taskName}:part_${part + 1}`,
        metric,
        mixture: mixture.map((weight, skill) => 0.8 * weight + 0.2 * (own[skill] ?? 0)),
        floor: metric.floor(random),
        difficulty: difficulty + 0.25 * random.normal(),
        slope,
        shotGain,
        items: 100 + random.below(901),
      };
    });
  });
}

/** Shares of the skills: few of them large. */
function mixtureOf(random: Random, skills: number): Float64Array {
  const weights = Float64Array.from({ length: skills }, () => (-Math.log(1 - random.uniform())) ** 2);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

function pickMetric(uniform: number): (typeof metricTable)[number] {
  let sum = 0;
  for (const row of metricTable) {
    sum += row.share;
    if (uniform < sum) return row;
  }
  return metricTable[0];
}

function expectedScore(subtask: Subtask, ability: Float64Array, shots: number, affinity: number): number {
  const { metric, mixture, floor, difficulty, slope, shotGain } = subtask;
  let z = affinity - difficulty + shotGain * Math.log1p(shots);
  for (let skill = 0; skill < mixture.length; skill++) z += (mixture[skill] ?? 0) * (ability[skill] ?? 0);
  return floor + (metric.ceiling - floor) / (1 + Math.exp(-slope * z));
}

/** How many of n draws are true: the draws themselves, so that the noise is exactly what it is said to be. */
function binomial(random: Random, n: number, share: number): number {
  let count = 0;
  for (let i = 0; i < n; i++) if (random.uniform() < share) count++;
  return count;
}

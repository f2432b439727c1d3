/**
 * Which columns ask for the same, as far as names tell: the two prompts of a task, or `tracking_shuffled_objects_three` and
 * `…_five`. What a model can do beyond what its other scores let one expect, it can do on both. How much of that there is
 * follows from the scores (structure.ts); names only say where to look.
 */
import type { Configuration } from '../types.ts';

type NamedColumn = Pick<Configuration, 'task' | 'subtask' | 'shots' | 'mode' | 'metric'>;

const wordsOf = (name: string): string[] => name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/**
 * Correlation matrices of columns [n, n], each positive semidefinite with ones on its diagonal (the second and third are
 * products, entry by entry, of the first with that of groups):
 * 1. the cosine of the words of tasks, a word counting as the logarithm of n over the columns that have it (Spärck Jones 1972);
 * 2. the same within one setting (number of examples, prompt mode, words of the subtask that are not of the task), 0 across;
 * 3. the same within one metric, 0 across.
 */
export function columnLikenesses(columns: readonly NamedColumn[]): Float64Array[] {
  const n = columns.length;
  const words = columns.map(({ task }) => new Set(wordsOf(task)));
  const counts = new Map<string, number>();
  for (const of of words) for (const word of of) counts.set(word, (counts.get(word) ?? 0) + 1);
  const weight = (word: string): number => Math.log(n / (counts.get(word) ?? n));
  const squares = words.map((of) => [...of].reduce((sum, word) => sum + weight(word), 0));
  const settings = columns.map(({ task, subtask, shots, mode }) => {
    const ofTask = new Set(wordsOf(task));
    return [...wordsOf(subtask).filter((word) => !ofTask.has(word)), shots, mode].join('\n');
  });
  const cosine = (i: number, j: number): number => {
    if ((columns[i] as NamedColumn).task === (columns[j] as NamedColumn).task) return 1;
    const scale = Math.sqrt((squares[i] as number) * (squares[j] as number));
    if (scale === 0) return 0;
    let sum = 0;
    for (const word of words[i] as Set<string>) if ((words[j] as Set<string>).has(word)) sum += weight(word);
    return sum / scale;
  };
  const likenesses = [0, 1, 2].map(() => new Float64Array(n * n));
  const [byTask, bySetting, byMetric] = likenesses as [Float64Array, Float64Array, Float64Array];
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      const value = cosine(i, j);
      const isOneSetting = settings[i] === settings[j];
      const isOneMetric = (columns[i] as NamedColumn).metric === (columns[j] as NamedColumn).metric;
      for (const at of [i * n + j, j * n + i]) {
        byTask[at] = value;
        if (isOneSetting) bySetting[at] = value;
        if (isOneMetric) byMetric[at] = value;
      }
    }
  return likenesses;
}

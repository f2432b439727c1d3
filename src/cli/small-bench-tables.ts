/** Small benches as tables on a terminal. */
import type { MeanAndSd, SmallBenchComparison, SmallBenchPoint } from '../predict/index.ts';
import { figure, withSd } from './records.ts';
import { table } from './terminal.ts';

type Unit = 'subtasks' | 'seconds' | 'items';
interface Full {
  title: string;
  full: ReadonlyMap<SmallBenchPoint, MeanAndSd>;
}

const costWords = (cost: number, unit: Unit): string =>
  unit === 'seconds' ? `${(cost / 60).toFixed(1)} min` : `${Math.round(cost)}`;

/** One row a budget and search, with random subsets and lists of others beside them. */
export function benchLines(found: SmallBenchComparison, unit: Unit, full: Full | null): string[] {
  const byCost = unit !== 'subtasks';
  const largest = found.random.at(-1);
  const rows = found.curves.flatMap(({ title, points }) =>
    points.map((point) => {
      const { budget, recovery, ranking, randomSize, subtasks, cost, ended } = point;
      const asRandom =
        recovery === null || !largest
          ? '–'
          : randomSize === null
            ? `> ${Math.round(largest.size)}`
            : `${Math.round(randomSize)}`;
      return [
        budget,
        `${title}${ended === 'done' ? '' : ' (not finished)'}`,
        `${subtasks.length}`,
        ...(byCost ? [costWords(cost, unit)] : []),
        withSd(recovery),
        ...(full ? [withSd(full.full.get(point))] : []),
        asRandom,
        figure(ranking?.tau),
        figure(ranking?.rho),
      ];
    }),
  );
  const random = found.random.map(({ budget, median, low, high, tau, subsets, size }) => [
    budget,
    `random (${subsets} subsets)`,
    `${Math.round(size)}`,
    ...(byCost ? [''] : []),
    `${figure(median)} [${figure(low)}, ${figure(high)}]`,
    ...(full ? [''] : []),
    '',
    figure(tau),
    '',
  ]);
  const fixed = found.fixed.map(({ title, size, known, cost, recovery, ranking }) => [
    '',
    known === size ? title : `${title} (${known} of ${size} known)`,
    `${known}`,
    ...(byCost ? [costWords(cost, unit)] : []),
    withSd(recovery),
    ...(full ? [''] : []),
    '',
    figure(ranking?.tau),
    figure(ranking?.rho),
  ]);
  const titles = [
    'budget',
    'search',
    'subtasks',
    ...(byCost ? ['cost'] : []),
    'R² of the rest',
    ...(full ? [`R² (${full.title})`] : []),
    'as random of',
    'τ',
    'ρ',
  ];
  const held = `${found.groups.length} groups of ${found.heldOut} held out in turn (± sd over them)`;
  const without = found.nothing?.mean ?? null;
  return [
    ...table([titles, ...rows, ...random, ...fixed]),
    '',
    `R² on the subtasks outside of the list, ${held}; with no score known of them: ${figure(without)}. Random: median and 5–95 %.`,
    'τ and ρ (Kendall, Spearman): models ranked by what is foretold of all subtasks, against what was measured.',
    ...(found.heldOut === 'models'
      ? ['There are too few families to hold them out: models of new families may be foretold worse.']
      : []),
  ];
}

/** The chosen lists, one paragraph each. */
export const listLines = ({ curves }: SmallBenchComparison): string[] =>
  curves.flatMap(({ title, points }) =>
    points.map(
      ({ budget, subtasks }) => `${title}, ${budget}: ${subtasks.length > 0 ? subtasks.join(', ') : 'nothing yet'}`,
    ),
  );

/** `--without-marked`: scores and paired tests without the items that people have marked, beside those of all. */
import {
  compareWithout,
  formatShareAndInterval,
  pairedInWords,
  scoresWithout,
  together,
  verdictCodes,
} from '../metrics/index.ts';
import { type DiskRunStore, readMarks } from '../runs/index.ts';
import { isLikelihoodsOnly } from '../shared/likelihood-words.ts';
import { joinedMarks, type MarkedItem, markKinds } from '../shared/marks.ts';
import type { ItemRecord, RunFile, Scores, Share } from '../shared/results.ts';
import { modeTitle } from '../shared/soft-prompt-words.ts';
import type { Options } from './arguments.ts';
import { table } from './terminal.ts';

export const withoutMarkedOption = {
  'without-marked': { type: 'flag', help: 'scores without the items that are marked as bad too, beside those of all' },
} as const satisfies Options;

interface Outcome {
  label?: string;
  run: RunFile;
  items: readonly ItemRecord[];
}

/** Marks of the runs together, and why those of a run cannot be read. */
export async function marksOf(
  store: DiskRunStore,
  runs: readonly string[],
): Promise<{ marks: MarkedItem[]; problems: string[] }> {
  const read = await Promise.all(runs.map((id) => readMarks(store.folderOf(id))));
  return { marks: joinedMarks(read.map(({ marks }) => marks)), problems: read.flatMap(({ problem }) => problem ?? []) };
}

const columns: { title: string; of(scores: Scores): Share | null }[] = [
  { title: 'F in format', of: ({ F }) => F },
  { title: 'S score', of: ({ S }) => S },
  { title: 'K given format', of: ({ K }) => K },
  { title: 'L lenient', of: ({ L }) => L },
  { title: 'LL likelihood', of: ({ LL }) => LL },
];

const nameOf = ({ label, run }: Outcome): string => label ?? modeTitle(run);
const indexesOf = (marks: readonly MarkedItem[]): Set<number> => new Set(marks.map(({ index }) => index));

/** A table of all runs both ways, and the paired tests against the first run both ways. */
export function withoutMarkedLines(outcomes: readonly Outcome[], marks: readonly MarkedItem[]): string[] {
  if (marks.length === 0) return ['No item of these runs is marked.', ''];
  const left = indexesOf(marks);
  const kinds = markKinds.flatMap(({ kind }) => {
    const n = marks.filter((mark) => mark.kind === kind).length;
    return n > 0 ? [`${n} ${kind}`] : [];
  });
  const scored = outcomes.map((outcome) => ({ outcome, both: scoresWithout(outcome.items, left) }));
  const shown = columns.filter(({ of }) => scored.some(({ both }) => (of(both.all)?.n ?? 0) > 0));
  const rows = scored.flatMap(({ outcome, both }) =>
    (['all', 'without'] as const).map((which) => [
      which === 'all' ? nameOf(outcome) : '',
      which === 'all' ? 'all' : 'without marked',
      String(both[which].n),
      ...shown.map(({ of }) => formatShareAndInterval(of(both[which]))),
    ]),
  );
  return [
    `${marks.length === 1 ? '1 item is' : `${marks.length} items are`} marked (${kinds.join(', ')}):`,
    '',
    ...table([['', 'items', 'n', ...shown.map(({ title }) => title)], ...rows]),
    '',
    ...pairLines(outcomes, left),
  ];
}

function pairLines(outcomes: readonly Outcome[], left: ReadonlySet<number>): string[] {
  const [base, ...others] = outcomes;
  if (!base || others.length === 0) return [];
  const by = outcomes.some(({ run }) => isLikelihoodsOnly(run)) ? 'LL' : 'S';
  const mine = verdictCodes(base.items);
  const both = others.map((other) => ({ other, ...compareWithout(mine, verdictCodes(other.items), left, by) }));
  return together(both.map(({ other, without }) => ({ other, comparison: without }))).flatMap(
    ({ other, comparison, among }) =>
      comparison
        ? [`Without marked items. ${pairedInWords(nameOf(base), nameOf(other), comparison.paired, among)}`, '']
        : [],
  );
}

/** For JSON: the marks, and each run's scores without them. */
export const withoutMarkedJson = (
  outcomes: readonly Outcome[],
  marks: readonly MarkedItem[],
): { marks: readonly MarkedItem[]; scores: { run: string; scores: Scores }[] } => ({
  marks,
  scores: outcomes.map(({ run, items }) => ({ run: run.id, scores: scoresWithout(items, indexesOf(marks)).without })),
});

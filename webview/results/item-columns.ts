/** Columns of the item table: one row each, with its width, what it shows, and which are shown. */
import { type Child, h } from '../dom.ts';
import { count } from '../format.ts';
import { verdictIcon } from '../icons.ts';
import { type Popover, popover } from '../popover.ts';
import { verdicts } from '../terms.ts';
import { oneLine } from '../text.ts';
import { columnName } from './columns.ts';
import { likelihoodText } from './likelihood-text.ts';
import { likelihoodMargin } from './margins.ts';
import { markGlyph } from './mark-glyph.ts';
import type { Row, Sibling } from './rows.ts';
import type { SortKey } from './sorting.ts';

interface ItemColumn {
  label: string;
  title: string;
  /** As CSS has it, and the least in pixels. */
  width: string;
  least: number;
  /** Shown unless somebody chose otherwise. */
  usual: boolean;
  /** In a narrow table columns with a low number stay the longest. */
  importance: number;
  cell(row: Row, siblings: readonly Sibling[]): Child[];
  /** Where the cell is more than text: what it shows, so that it stays as it is for another row that shows the same. */
  shows?(row: Row, siblings: readonly Sibling[]): string;
}

const none = (): HTMLElement => h('span', { class: 'muted' }, '–');
/** What only a generated output has. */
const ofOutput =
  (show: (row: Row) => Child) =>
  (row: Row): Child[] => [row.record.generated === false ? none() : show(row)];

const stopWords = { 'stop-string': 'stop string', eos: 'end of text', length: 'length' } as const;

export const itemColumns = {
  item: {
    ...{ label: 'Item', title: 'Position in the benchmark’s split, from 0' },
    ...{ width: '68px', least: 68, usual: true, importance: 0 },
    cell: ({ record, marked }) => [
      String(record.index),
      marked &&
        h(
          'span',
          { class: 'mark-glyph', role: 'img', 'aria-label': `marked: ${marked.kind}`, title: `marked: ${marked.kind}` },
          markGlyph(marked.kind),
        ),
    ],
  },
  run: {
    ...{ label: 'Run', title: 'The run: its mode, or what tells it apart from the others' },
    ...{ width: 'minmax(124px, 0.4fr)', least: 124, usual: true, importance: 3 },
    cell: ({ mark }) => [columnName(mark)],
    shows: ({ run }) => run,
  },
  verdict: {
    ...{ label: 'Verdict', title: 'Format and answer together' },
    ...{ width: '166px', least: 166, usual: true, importance: 1 },
    shows: ({ verdict }) => verdict,
    cell: ({ verdict }) => [verdictIcon(verdict), h('span', { class: 'cell-text' }, verdicts[verdict].label)],
  },
  across: {
    ...{
      label: 'All runs',
      title: 'Verdict of this item in each run, in their order; sorted, those that differ come first',
    },
    ...{ width: '88px', least: 84, usual: true, importance: 5 },
    shows: (_, siblings) => siblings.map((each) => `${each.run} ${each.verdict}`).join(),
    cell: (_, siblings) => [
      h(
        'span',
        {
          class: 'strip',
          role: 'img',
          'aria-label': siblings.map((each) => `${each.mark.label}: ${verdicts[each.verdict].label}`).join('; '),
        },
        ...siblings.map((each) => verdictIcon(each.verdict)),
      ),
    ],
  },
  cause: {
    ...{ label: 'Cause', title: 'Why the strict reading rejected the output' },
    ...{ width: 'minmax(124px, 200px)', least: 124, usual: true, importance: 4 },
    cell: ({ record }) => [record.cause ?? ''],
  },
  gold: {
    ...{ label: 'Gold', title: 'The right answer' },
    ...{ width: 'minmax(60px, 0.5fr)', least: 60, usual: true, importance: 7 },
    cell: ({ record }) => [oneLine(record.gold, 60)],
  },
  read: {
    ...{ label: 'Read as', title: 'What the lenient reading took out of the output' },
    ...{ width: 'minmax(86px, 0.5fr)', least: 86, usual: true, importance: 6 },
    cell: ({ record }) => [record.lenient.answer === null ? none() : oneLine(record.lenient.answer, 60)],
  },
  output: {
    ...{ label: 'Output', title: 'Raw output of the model' },
    ...{ width: 'minmax(110px, 3fr)', least: 130, usual: true, importance: 2 },
    cell: ({ record }) => [
      record.output === ''
        ? h('span', { class: 'muted' }, record.generated === false ? likelihoodText(record) : '(empty)')
        : oneLine(record.output),
    ],
  },
  stop: {
    ...{ label: 'Stop', title: 'Why generation ended: a stop string, the end of the text, or the limit of its length' },
    ...{ width: '96px', least: 96, usual: false, importance: 9 },
    cell: ofOutput(({ record }) => stopWords[record.stop.reason]),
  },
  tokens: {
    ...{ label: 'Tokens', title: 'Length of the output in tokens' },
    ...{ width: '74px', least: 74, usual: true, importance: 8 },
    cell: ofOutput(({ record }) => count(record.outputTokens)),
  },
  length: {
    ...{ label: 'Characters', title: 'Length of the output in characters' },
    ...{ width: '94px', least: 94, usual: false, importance: 11 },
    cell: ofOutput(({ record }) => count(record.output.length)),
  },
  margin: {
    ...{
      label: 'Margin',
      title:
        'Log-likelihood (nats) of the right candidate less that of the best other one: above 0 where the right one wins',
    },
    ...{ width: '80px', least: 80, usual: false, importance: 10 },
    cell: ({ record }) => {
      const margin = likelihoodMargin(record);
      return [margin === null ? none() : `${margin < 0 ? '−' : '+'}${Math.abs(margin).toFixed(2)}`];
    },
  },
} satisfies Record<SortKey, ItemColumn>;
export type ItemColumnName = keyof typeof itemColumns;
export const columnOf: Readonly<Record<ItemColumnName, ItemColumn>> = itemColumns;

export const itemColumnNames = Object.keys(itemColumns) as ItemColumnName[];
export const usualColumns = itemColumnNames.filter((name) => columnOf[name].usual);

/** Below this width a verdict is its glyph alone. */
const narrow = 900;
const compactVerdict = 30;
const padding = 24;

export interface Layout {
  names: ItemColumnName[];
  /** For `grid-template-columns`. */
  template: string;
  compact: boolean;
}

/** The columns that fit into a table of this width (pixels), in their order. */
export function layoutOf(chosen: readonly ItemColumnName[], width: number): Layout {
  const compact = width < narrow;
  const least = (name: ItemColumnName): number =>
    compact && name === 'verdict' ? compactVerdict : columnOf[name].least;
  let left = width - padding;
  const fitting = new Set<ItemColumnName>();
  for (const name of [...chosen].sort((a, b) => columnOf[a].importance - columnOf[b].importance)) {
    if (left < least(name)) break;
    fitting.add(name);
    left -= least(name);
  }
  const names = itemColumnNames.filter((name) => fitting.has(name));
  return {
    names,
    template: names
      .map((name) => (compact && name === 'verdict' ? `${compactVerdict}px` : columnOf[name].width))
      .join(' '),
    compact,
  };
}

export const isColumnName = (value: unknown): value is ItemColumnName =>
  typeof value === 'string' && Object.hasOwn(itemColumns, value);

/** The panel where columns are chosen. The item's number and its output are always there. */
export function columnChooser(
  chosen: () => ReadonlySet<ItemColumnName>,
  choose: (names: ItemColumnName[]) => void,
): Popover {
  const fixed: ReadonlySet<ItemColumnName> = new Set(['item', 'output']);
  return popover('Columns', 'Columns of the table', () => [
    h(
      'ul',
      { class: 'choices-list' },
      ...itemColumnNames
        .filter((name) => !fixed.has(name))
        .map((name) => {
          const box = h('input', {
            type: 'checkbox',
            id: `column-${name}`,
            checked: chosen().has(name),
            onchange: () => {
              const now = new Set(chosen());
              if (box.checked) now.add(name);
              else now.delete(name);
              choose(itemColumnNames.filter((each) => now.has(each)));
            },
          });
          const { label, title } = columnOf[name];
          return h('li', {}, box, h('label', { for: `column-${name}`, title }, label));
        }),
    ),
    h('p', { class: 'muted small' }, 'A narrow table leaves out the less important ones.'),
  ]);
}

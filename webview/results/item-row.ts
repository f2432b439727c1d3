/** What the item table is made of: its columns, heads, rows, and the words that explain its filter and keys. */
import type { ItemRow } from '../../src/shared/protocol.ts';
import { h } from '../dom.ts';
import { count } from '../format.ts';
import { verdictIcon } from '../icons.ts';
import { verdicts } from '../terms.ts';
import { oneLine } from '../text.ts';
import { columnName } from './columns.ts';
import { filterKeys } from './filter.ts';
import type { Row, SortKey } from './rows.ts';

const columns: { key: SortKey | null; name: string; label: string; title: string }[] = [
  { key: 'item', name: 'item', label: 'Item', title: 'Position in the benchmark’s split, from 0' },
  { key: 'run', name: 'run', label: 'Run', title: 'The run: its mode, or what tells it apart from the others' },
  { key: 'verdict', name: 'verdict', label: 'Verdict', title: 'Format and answer together' },
  { key: null, name: 'across', label: 'All runs', title: 'Verdict of this item in each run, in their order' },
  { key: 'cause', name: 'cause', label: 'Cause', title: 'Why the strict reading rejected the output' },
  { key: 'gold', name: 'gold', label: 'Gold', title: 'The right answer' },
  { key: 'read', name: 'read', label: 'Read as', title: 'What the lenient reading took out of the output' },
  { key: null, name: 'output', label: 'Output', title: 'Raw output of the model' },
  { key: 'tokens', name: 'tokens', label: 'Tokens', title: 'Length of the output in tokens' },
];

/** Heads of the columns; a click on one that can sort calls back. */
export const headCells = (sortBy: (key: SortKey) => void): HTMLElement[] =>
  columns.map(({ key, name, label, title }) => {
    const cell = h('div', { role: 'columnheader', class: `cell cell-${name}`, title, 'data-sort': key });
    if (!key) {
      cell.append(h('span', { class: 'head-text' }, label));
      return cell;
    }
    cell.append(
      h(
        'button',
        { type: 'button', class: 'head-button', onclick: () => sortBy(key) },
        label,
        h('span', { class: 'sort-mark', 'aria-hidden': 'true' }),
      ),
    );
    return cell;
  });

/** Columns are named by mode, or by run: what the head of their column says. */
export function nameRunColumn(head: HTMLElement, word: 'Mode' | 'Run'): void {
  const text = head.querySelector('.cell-run .head-button')?.firstChild;
  if (text && text.textContent !== word) text.textContent = word;
}

/** The keys of the filter language and of the keyboard. */
export function filterHelp(): HTMLElement {
  return h(
    'details',
    { class: 'help', 'data-key': 'filter-help' },
    h('summary', {}, 'Filter language and keys'),
    h(
      'dl',
      { class: 'filter-keys' },
      ...Object.entries(filterKeys).flatMap(([key, { hint, values }]) => [
        h('dt', {}, h('code', {}, `${key}:`)),
        h('dd', {}, hint, values ? h('span', { class: 'muted' }, ` (${values.join(', ')})`) : null),
      ]),
      h('dt', {}, h('code', {}, '"text"')),
      h('dd', {}, 'text in output, gold answer or what was read'),
      h('dt', {}, h('code', {}, '-')),
      h('dd', {}, 'in front of a term negates it; commas between values mean “or”'),
      h('dt', {}, h('kbd', {}, 'j'), ' ', h('kbd', {}, 'k')),
      h('dd', {}, 'next and previous row (arrow keys, Page Up and Down, Home and End work too)'),
      h('dt', {}, h('kbd', {}, 'n'), ' ', h('kbd', {}, 'p')),
      h('dd', {}, 'next and previous item whose verdict is not the same in all runs'),
      h('dt', {}, h('kbd', {}, 'Enter'), ' ', h('kbd', {}, 'Escape')),
      h('dd', {}, 'into the details and back'),
      h('dt', {}, h('kbd', {}, '/')),
      h('dd', {}, 'to the filter'),
    ),
  );
}

/** What stands in place of an output where only likelihoods were measured. */
export function likelihoodText({ choices, likelihoods = [] }: ItemRow): string {
  if (choices) return `likeliest: ${oneLine(choices.texts[likeliest(choices.logLikelihoods)] ?? '', 60)}`;
  const [first] = likelihoods;
  return first ? `log p ${first.sum?.toFixed(2) ?? '−∞'}, ${count(first.tokens)} tokens` : 'nothing generated';
}

const likeliest = (values: readonly number[]): number => values.indexOf(Math.max(...values));

/**
 * A row of the table.
 * @param at its position among the rows shown
 * @param startsItem draws a line above: the row before is of another item
 * @param siblings the item's rows in all runs
 */
export function rowElement(
  row: Row,
  at: number,
  {
    selected,
    startsItem,
    siblings,
    onClick,
  }: { selected: boolean; startsItem: boolean; siblings: Row[]; onClick(): void },
): HTMLElement {
  const { record, verdict, mark } = row;
  const cell = (name: string, ...children: (Node | string | null)[]): HTMLElement =>
    h('div', { role: 'gridcell', class: `cell cell-${name}` }, ...children);
  return h(
    'div',
    {
      role: 'row',
      id: `row-${at}`,
      class: `grid-row${selected ? ' selected' : ''}${startsItem ? ' first-of-item' : ''}`,
      'aria-rowindex': at + 2,
      'aria-selected': selected ? 'true' : 'false',
      onclick: onClick,
    },
    cell('item', String(record.index)),
    cell('run', columnName(mark)),
    cell('verdict', verdictIcon(verdict), h('span', { class: 'cell-text' }, verdicts[verdict].label)),
    cell(
      'across',
      h(
        'span',
        {
          class: 'strip',
          role: 'img',
          'aria-label': siblings.map((each) => `${each.mark.label}: ${verdicts[each.verdict].label}`).join('; '),
        },
        ...siblings.map((each) => verdictIcon(each.verdict)),
      ),
    ),
    cell('cause', record.cause ?? ''),
    cell('gold', oneLine(record.gold, 60)),
    cell(
      'read',
      record.lenient.answer === null ? h('span', { class: 'muted' }, '–') : oneLine(record.lenient.answer, 60),
    ),
    cell(
      'output',
      record.output === ''
        ? h('span', { class: 'muted' }, record.generated === false ? likelihoodText(record) : '(empty)')
        : oneLine(record.output),
    ),
    cell('tokens', record.generated === false ? h('span', { class: 'muted' }, '–') : count(record.outputTokens)),
  );
}

/** Tables of figures, and the ones that stand behind a chart. */
import { type Child, h } from '../dom.ts';

export interface Column {
  title: string;
  /** What it means, as a tooltip. */
  words?: string;
  number?: boolean;
}

/** The first column names its row; where a row has fewer cells, its last one takes the rest of the width. */
export function table(
  label: string,
  columns: readonly Column[],
  rows: readonly Child[][],
  className = '',
): HTMLElement {
  return h(
    'div',
    { class: 'scroll-x', tabindex: 0, role: 'region', 'aria-label': `${label}, table` },
    h(
      'table',
      { class: className },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ...columns.map(({ title, words, number }) =>
            h('th', { scope: 'col', class: number ? 'number' : null, title: words }, title),
          ),
        ),
      ),
      h(
        'tbody',
        {},
        ...rows.map((cells) =>
          h(
            'tr',
            {},
            ...cells.map((cell, at) =>
              at === 0
                ? h('th', { scope: 'row', class: columns[at]?.number ? 'number' : null }, cell)
                : h(
                    'td',
                    at === cells.length - 1 && cells.length < columns.length
                      ? { colspan: columns.length - at }
                      : { class: columns[at]?.number ? 'number' : null },
                    cell,
                  ),
            ),
          ),
        ),
      ),
    ),
  );
}

/** A table that is opened by its summary; it keeps being open by its key. Its rows are made when it is opened first. */
export function tableBehind(
  key: string,
  label: string,
  columns: readonly Column[],
  rows: () => readonly Child[][],
  note = '',
): HTMLElement {
  const details = h('details', { 'data-key': key }, h('summary', {}, 'Data table'));
  details.addEventListener(
    'toggle',
    () => {
      if (details.childElementCount > 1) return;
      details.append(table(label, columns, rows()));
      if (note) details.append(h('p', { class: 'note' }, note));
    },
    { passive: true },
  );
  return details;
}

/** A figure, and a bar of its share of the largest one in the column. */
export function barCell(figure: string, share: number, className = ''): HTMLElement {
  const fill = h('span', { class: `error-bar ${className}` });
  fill.style.inlineSize = `${100 * share}%`;
  return h(
    'span',
    { class: 'error-cell' },
    h('span', { class: 'error-value' }, figure),
    h('span', { class: 'error-track', 'aria-hidden': 'true' }, fill),
  );
}

/** What each run cost: time, pace, tokens, memory. */
import { costWords, knownCosts } from '../../src/metrics/index.ts';
import type { ResultsView } from '../../src/shared/protocol.ts';
import { timeMark } from '../../src/shared/response-words.ts';
import type { RunSummary } from '../../src/shared/results.ts';
import { type Child, h, render } from '../dom.ts';
import { columnName, columnsOf, isByMode, type MarkedColumn } from './columns.ts';

type Costly = MarkedColumn & { summary: RunSummary };

export class CostsSection {
  readonly element: HTMLElement;
  readonly #table = h('div', { class: 'scroll-x', tabindex: 0, role: 'region', 'aria-label': 'Cost, table' });

  constructor() {
    this.element = h(
      'section',
      { 'aria-labelledby': 'costs-heading' },
      h('h2', { id: 'costs-heading' }, 'Cost'),
      this.#table,
    );
  }

  update(view: ResultsView): void {
    const columns = columnsOf(view).flatMap((column): Costly[] => {
      const { summary } = column;
      return summary ? [{ ...column, summary }] : [];
    });
    this.element.hidden = knownCosts(columns).length === 0;
    render(this.#table, [columns.map(({ mark, summary }) => [mark, summary])], () => content(columns));
  }
}

function content(columns: readonly Costly[]): Child[] {
  const shown = knownCosts(columns);
  return [
    h(
      'table',
      { class: 'costs' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, isByMode(columns.map(({ mark }) => mark)) ? 'Mode' : 'Run'),
          ...shown.map(({ label, title }) => h('th', { scope: 'col', class: 'number', title }, label)),
        ),
      ),
      h(
        'tbody',
        {},
        ...columns.map((column) => {
          const note = timeMark(column.run, column.summary);
          return h(
            'tr',
            {},
            h('th', { scope: 'row' }, columnName(column.mark), note && h('span', { class: 'sub' }, `time ${note}`)),
            ...shown.map((cost) => h('td', { class: 'number' }, costWords(cost, column))),
          );
        }),
      ),
    ),
  ];
}

/** The metrics of the benchmark file, run by run: what lm-evaluation-harness prints, with standard errors and filters. */
import { formatMetric, metricRows } from '../../src/metrics/index.ts';
import type { ResultsView } from '../../src/shared/protocol.ts';
import { type Child, h, render } from '../dom.ts';
import { count } from '../format.ts';
import { columnName, columnsOf, type MarkedColumn } from './columns.ts';

export class MeasuresSection {
  readonly element: HTMLElement;
  readonly #table = h('div', {
    class: 'scroll-x',
    tabindex: 0,
    role: 'region',
    'aria-label': 'Metrics of the benchmark file, table',
  });

  constructor() {
    this.element = h(
      'section',
      { 'aria-labelledby': 'measures-heading' },
      h('h2', { id: 'measures-heading' }, 'Metrics of the benchmark file'),
      this.#table,
    );
  }

  update(view: ResultsView): void {
    const columns = columnsOf(view).filter(({ summary }) => summary?.measures?.length);
    this.element.hidden = columns.length === 0;
    render(this.#table, [columns.map(({ mark, summary }) => [mark, summary?.measures])], () => this.#content(columns));
  }

  #content(columns: readonly MarkedColumn[]): Child[] {
    const rows = metricRows(columns.map(({ summary }) => summary));
    return [
      h(
        'table',
        { class: 'measures' },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { scope: 'col' }, 'Metric', h('span', { class: 'sub' }, 'filter')),
            ...columns.map(({ mark }) => h('th', { scope: 'col', class: 'number' }, columnName(mark))),
          ),
        ),
        h(
          'tbody',
          {},
          ...rows.map(({ key, title, higherIsBetter, scores }) =>
            h(
              'tr',
              {},
              h(
                'th',
                { scope: 'row', title: key },
                title,
                h(
                  'span',
                  { class: 'muted', title: higherIsBetter ? 'higher is better' : 'lower is better' },
                  h('span', { 'aria-hidden': 'true' }, higherIsBetter ? ' ↑' : ' ↓'),
                  h('span', { class: 'visually-hidden' }, higherIsBetter ? ' higher is better' : ' lower is better'),
                ),
              ),
              ...scores.map((score) =>
                score
                  ? h(
                      'td',
                      {
                        class: 'number',
                        title: `${key}: ${score.value ?? 'not defined'}${score.standardError === null ? '' : `, standard error ${score.standardError}`}; ${count(score.n)} items`,
                      },
                      formatMetric(score),
                    )
                  : h('td', { class: 'number muted' }, '–'),
              ),
            ),
          ),
        ),
      ),
      h('p', { class: 'note' }, 'As lm-evaluation-harness computes them, with one standard error.'),
    ];
  }
}

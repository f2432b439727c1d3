/** The runs side by side: a chart with intervals, and the table behind it. */
import { formatSeconds } from '../../src/metrics/index.ts';
import { isLikelihoodsOnly, likelihoodsOnlyNote } from '../../src/shared/likelihood-words.ts';
import type { ResultsView } from '../../src/shared/protocol.ts';
import { timeMark } from '../../src/shared/response-words.ts';
import type { Scores } from '../../src/shared/results.ts';
import { positionOf, suffixNote } from '../../src/shared/soft-prompt-words.ts';
import { Chart, lookFill, referenceLine, tooltipStyle, whiskers } from '../charts.ts';
import { type Child, h, render } from '../dom.ts';
import { bounds, count, percent, shareInWords } from '../format.ts';
import { type MetricName, metricNames, metrics, shareOf } from '../terms.ts';
import { visible } from '../text.ts';
import { onThemeChange, palette } from '../theme.ts';
import { columnName, columnsOf, isByMode, type MarkedColumn } from './columns.ts';

const quoted = (answer: string): string => {
  const text = visible(answer.replace(/\s+/g, ' ').trim());
  return `“${text.length > 24 ? `${text.slice(0, 24)}…` : text}”`;
};

export class ModesSection {
  readonly element: HTMLElement;
  readonly #heading = h('h2', { id: 'modes-heading' }, 'Modes compared');
  readonly #legend = h('ul', { class: 'legend' });
  readonly #canvas = h('canvas', { role: 'img' });
  readonly #figure = h('figure', {}, this.#legend, h('div', { class: 'chart chart-modes' }, this.#canvas));
  readonly #table = h('div', {
    class: 'scroll-x',
    tabindex: 0,
    role: 'region',
    'aria-label': 'Scores compared, table',
  });
  readonly #warnings = h('ul', { class: 'warnings' });
  #chart: Chart<'bar'> | null = null;
  #colours = palette();
  #columns: MarkedColumn[] = [];
  #constant: Scores['constant'] = null;
  #shown: readonly MetricName[] = [];

  constructor() {
    this.element = h(
      'section',
      { 'aria-labelledby': 'modes-heading' },
      this.#heading,
      h('div', { class: 'chart-and-table' }, this.#figure, h('div', { class: 'grow' }, this.#table, this.#warnings)),
    );
    onThemeChange(() => {
      this.#colours = palette();
      this.#draw(true);
    });
  }

  update(view: ResultsView): void {
    const columns = columnsOf(view);
    this.#columns = columns.filter(({ run, summary }) => summary !== null && !run.predictOnly);
    this.element.hidden = columns.length === 0;
    this.#heading.textContent = isByMode(columns.map(({ mark }) => mark)) ? 'Modes compared' : 'Runs compared';
    const scores = this.#columns.flatMap(({ summary }) => (summary ? [summary.scores] : []));
    // Shares of outputs are no columns where nothing was generated; LL is one where there are candidates.
    const generates = columns.some(({ run }) => !isLikelihoodsOnly(run));
    this.#shown = metricNames.filter((metric) =>
      metric === 'LL' ? scores.some(({ LL }) => LL !== null) : generates || scores.length === 0,
    );
    this.#figure.hidden = this.#shown.length === 0;
    // The constant answer depends on the items only: the run with the most items knows it best.
    this.#constant = [...scores].sort((a, b) => b.n - a.n).find(({ constant }) => constant)?.constant ?? null;
    render(
      this.#table,
      [columns.map(({ run, mark, summary, done, total }) => [mark, run.status, summary, done, total])],
      () => this.#tableContent(columns),
    );
    render(this.#warnings, [this.#columns.map(({ mark }) => mark), scores], () => this.#warningContent());
    this.#draw(false);
  }

  #tableContent(columns: readonly MarkedColumn[]): Child[] {
    const head = h(
      'tr',
      {},
      h('th', { scope: 'col' }, isByMode(columns.map(({ mark }) => mark)) ? 'Mode' : 'Run'),
      ...this.#shown.map((metric) =>
        h(
          'th',
          { scope: 'col', class: 'number', title: `${metric}, ${metrics[metric].name}: ${metrics[metric].definition}` },
          h('abbr', { title: `${metrics[metric].name}: ${metrics[metric].definition}` }, metric),
          h('span', { class: 'sub' }, metrics[metric].name),
        ),
      ),
      h('th', { scope: 'col' }, 'Commonest answer', h('span', { class: 'sub' }, 'share of the outputs')),
      h('th', { scope: 'col', class: 'number' }, 'Items'),
      h('th', { scope: 'col', class: 'number' }, 'Time'),
    );
    const rows = columns.map((column) => this.#row(column));
    if (this.#constant) {
      const { answer, share } = this.#constant;
      rows.push(
        h(
          'tr',
          { class: 'constant' },
          h(
            'th',
            { scope: 'row' },
            h('span', { class: 'mode-name' }, h('span', { class: 'swatch constant-line' }), `always ${quoted(answer)}`),
            h('span', { class: 'sub' }, 'best constant answer'),
          ),
          ...this.#shown.map((metric) =>
            metric === 'S' || metric === 'L'
              ? h('td', { class: 'number', title: shareInWords(share) }, percent(share))
              : h('td', { class: 'number' }),
          ),
          h('td', {}),
          h('td', { class: 'number' }, count(share.n)),
          h('td', {}),
        ),
      );
    }
    return [
      h('table', { class: 'scores' }, h('thead', {}, head), h('tbody', {}, ...rows)),
      h(
        'dl',
        { class: 'definitions' },
        ...this.#shown.flatMap((metric) => [h('dt', {}, metric), h('dd', {}, metrics[metric].definition)]),
      ),
      columns.some(({ run }) => isLikelihoodsOnly(run)) && h('p', { class: 'note' }, likelihoodsOnlyNote),
    ];
  }

  #row({ run, mark, summary, done, total }: MarkedColumn): HTMLElement {
    const name = h('th', { scope: 'row' }, columnName(mark));
    if (positionOf(run) === 'suffix')
      name.append(h('span', { class: 'sub', title: suffixNote }, 'position: suffix, behind the text'));
    if (run.status !== 'finished')
      name.append(
        h(
          'span',
          { class: 'sub' },
          run.status === 'running' ? `running: ${done} of ${total}` : `${run.status} at ${done} of ${total}`,
        ),
      );
    if (run.rescoredFrom)
      name.append(
        h(
          'span',
          { class: 'sub', title: 'The outputs are of that run; only the scores are new.' },
          `re-scored from ${run.rescoredFrom}`,
        ),
      );
    if (!summary || run.predictOnly)
      return h(
        'tr',
        {},
        name,
        h(
          'td',
          { class: 'muted', colspan: this.#shown.length + 1 },
          run.predictOnly ? 'not scored: outputs only' : 'no scores yet',
        ),
        h('td', { class: 'number' }, `${count(done)} / ${count(total)}`),
        h('td', {}),
      );
    const timeNote = timeMark(run, summary);
    const { scores } = summary;
    const tuned = summary.tuningSeconds > 0 ? `tuning ${formatSeconds(summary.tuningSeconds)}` : '';
    return h(
      'tr',
      {},
      name,
      ...this.#shown.map((metric) => {
        const share = shareOf(scores, metric);
        if (!share) return h('td', { class: 'number muted' }, '–');
        const unreliable = metric === 'K' && scores.K.unreliable;
        return h(
          'td',
          {
            class: `number${unreliable ? ' unreliable' : ''}`,
            title: `${shareInWords(share)}${unreliable ? '. Unreliable: few items are in the format, so the interval is wide and those items may be the easy ones.' : ''}`,
          },
          h('span', { class: 'value' }, percent(share)),
          h('span', { class: 'sub' }, bounds(share) || ' '),
          unreliable && h('span', { class: 'sub tag' }, 'unreliable'),
        );
      }),
      scores.commonest
        ? h(
            'td',
            { title: shareInWords(scores.commonest.share) },
            h('span', { class: 'value' }, percent(scores.commonest.share)),
            h('span', { class: 'sub' }, quoted(scores.commonest.answer)),
          )
        : h('td', { class: 'muted' }, '–'),
      h('td', { class: 'number' }, count(scores.n)),
      h(
        'td',
        { class: 'number' },
        formatSeconds(summary.seconds),
        tuned && h('span', { class: 'sub' }, tuned),
        timeNote && h('span', { class: 'sub time-note' }, timeNote),
      ),
    );
  }

  /** What a reader must not overlook: scores that a constant answer reaches too. */
  #warningContent(): Child[] {
    return this.#columns.flatMap(({ mark, summary }) => {
      if (!summary) return [];
      const { S, commonest, constant } = summary.scores;
      const lines: Child[] = [];
      if (commonest?.share.value != null && commonest.share.value >= 0.9 && (constant?.share.value ?? 0) < 0.9)
        lines.push(
          h(
            'li',
            {},
            h('strong', {}, mark.label),
            ` gives the same answer, ${quoted(commonest.answer)}, to ${percent(commonest.share)} of the items: its format gain is not knowledge.`,
          ),
        );
      else if (
        S.value !== null &&
        constant?.share.value != null &&
        S.low <= constant.share.value &&
        S.value > 0.05 &&
        S.high >= constant.share.value
      )
        lines.push(
          h(
            'li',
            {},
            h('strong', {}, mark.label),
            ` is not clearly better than always answering ${quoted(constant.answer)} (${percent(constant.share)}).`,
          ),
        );
      return lines;
    });
  }

  #draw(restyle: boolean): void {
    const colours = this.#colours;
    const constant = this.#constant?.share ?? null;
    const marks = this.#columns.map(({ mark }) => mark);
    render(this.#legend, [marks, this.#constant], () => [
      ...marks.map((mark) => h('li', {}, columnName(mark))),
      constant !== null &&
        h(
          'li',
          {},
          h(
            'span',
            { class: 'mode-name' },
            h('span', { class: 'swatch constant-line' }),
            `best constant answer ${percent(constant)}`,
          ),
        ),
    ]);
    this.#canvas.setAttribute(
      'aria-label',
      `Bars of ${this.#shown.join(', ')} for ${marks.map(({ label }) => label).join(', ') || 'no run yet'} with 95 % intervals; the table beside it has the figures.`,
    );
    const datasets = this.#columns.map(({ mark, summary }) => ({
      label: mark.label,
      data: this.#shown.map((metric) => {
        const value = summary && shareOf(summary.scores, metric)?.value;
        return typeof value === 'number' ? 100 * value : null;
      }),
      backgroundColor: lookFill(mark.look, colours),
      borderColor: colours.modes[mark.look.colour],
      borderWidth: 1.5,
      borderRadius: 2,
      categoryPercentage: 0.78,
      barPercentage: 0.86,
    }));
    if (this.#chart && !restyle) {
      this.#chart.data.labels = [...this.#shown];
      this.#chart.data.datasets = datasets;
      this.#chart.update('none');
      return;
    }
    this.#chart?.destroy();
    this.#chart = new Chart<'bar'>(this.#canvas, {
      type: 'bar',
      data: { labels: [...this.#shown], datasets },
      plugins: [
        referenceLine(
          () => {
            const value = this.#constant?.share.value ?? null;
            return value === null ? null : { axis: 'y', value: 100 * value };
          },
          () => this.#colours,
        ),
        whiskers(
          () => this.#intervals(),
          () => this.#colours,
        ),
      ],
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        scales: {
          x: {
            grid: { display: false },
            border: { color: colours.muted },
            ticks: { color: colours.foreground, font: { family: colours.font, size: 12, weight: 600 } },
          },
          y: {
            min: 0,
            max: 100,
            border: { display: false },
            grid: { color: colours.grid, drawTicks: false },
            ticks: {
              color: colours.muted,
              padding: 6,
              stepSize: 25,
              font: { family: colours.font, size: 11 },
              callback: (value) => `${value} %`,
            },
          },
        },
        plugins: {
          tooltip: {
            ...tooltipStyle(colours),
            callbacks: {
              title: ([first]) => {
                const metric = this.#shown[first?.dataIndex ?? 0];
                return metric ? `${metric}: ${metrics[metric].name}` : '';
              },
              label: ({ datasetIndex, dataIndex }) => {
                const column = this.#columns[datasetIndex];
                const metric = this.#shown[dataIndex];
                const share = metric && column?.summary ? shareOf(column.summary.scores, metric) : null;
                return ` ${column?.mark.label}: ${share ? shareInWords(share) : '–'}`;
              },
            },
          },
        },
      },
    });
  }

  #intervals(): ({ low: number; high: number } | null)[][] {
    return this.#columns.map(({ summary }) =>
      this.#shown.map((metric) => {
        const share = summary && shareOf(summary.scores, metric);
        return share && share.value !== null ? { low: 100 * share.low, high: 100 * share.high } : null;
      }),
    );
  }
}

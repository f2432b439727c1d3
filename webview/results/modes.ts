/** The modes side by side: a chart with intervals, and the table behind it. */
import { formatSeconds } from '../../src/metrics/index.ts';
import { isLikelihoodsOnly, likelihoodsOnlyNote } from '../../src/shared/likelihood-words.ts';
import type { PromptMode } from '../../src/shared/modes.ts';
import type { ModeResult, ResultsView } from '../../src/shared/protocol.ts';
import { timeMark } from '../../src/shared/response-words.ts';
import type { Scores } from '../../src/shared/results.ts';
import { positionOf, suffixNote } from '../../src/shared/soft-prompt-words.ts';
import { Chart, modeFill, referenceLine, tooltipStyle, whiskers } from '../charts.ts';
import { type Child, h, render } from '../dom.ts';
import { bounds, count, percent, shareInWords } from '../format.ts';
import { type MetricName, metricNames, metrics, modeHints, shareOf } from '../terms.ts';
import { visible } from '../text.ts';
import { onThemeChange, palette } from '../theme.ts';

const modeClass = (mode: PromptMode): string => `mode-${mode.replace('+', '-')}`;

export const modeName = (mode: PromptMode): HTMLElement =>
  h('span', { class: 'mode-name', title: modeHints[mode] }, h('span', { class: `swatch ${modeClass(mode)}` }), mode);

const quoted = (answer: string): string => {
  const text = visible(answer.replace(/\s+/g, ' ').trim());
  return `“${text.length > 24 ? `${text.slice(0, 24)}…` : text}”`;
};

export class ModesSection {
  readonly element: HTMLElement;
  readonly #legend = h('ul', { class: 'legend' });
  readonly #canvas = h('canvas', { role: 'img' });
  readonly #figure = h('figure', {}, this.#legend, h('div', { class: 'chart chart-modes' }, this.#canvas));
  readonly #table = h('div', { class: 'scroll-x', tabindex: 0, role: 'region', 'aria-label': 'Modes compared, table' });
  readonly #warnings = h('ul', { class: 'warnings' });
  #chart: Chart<'bar'> | null = null;
  #colours = palette();
  #modes: ModeResult[] = [];
  #constant: Scores['constant'] = null;
  #shown: readonly MetricName[] = [];

  constructor() {
    this.element = h(
      'section',
      { 'aria-labelledby': 'modes-heading' },
      h('h2', { id: 'modes-heading' }, 'Modes compared'),
      h('div', { class: 'chart-and-table' }, this.#figure, h('div', { class: 'grow' }, this.#table, this.#warnings)),
    );
    onThemeChange(() => {
      this.#colours = palette();
      this.#draw(true);
    });
  }

  update(view: ResultsView): void {
    this.#modes = view.modes.filter(({ run, summary }) => summary !== null && !run.predictOnly);
    this.element.hidden = view.modes.length === 0;
    const scores = this.#modes.flatMap(({ summary }) => (summary ? [summary.scores] : []));
    // Shares of outputs are no columns where nothing was generated; LL is one where there are candidates.
    const generates = view.modes.some(({ run }) => !isLikelihoodsOnly(run));
    this.#shown = metricNames.filter((metric) =>
      metric === 'LL' ? scores.some(({ LL }) => LL !== null) : generates || scores.length === 0,
    );
    this.#figure.hidden = this.#shown.length === 0;
    // The constant answer depends on the items only: the mode with the most items knows it best.
    this.#constant = [...scores].sort((a, b) => b.n - a.n).find(({ constant }) => constant)?.constant ?? null;
    render(
      this.#table,
      [view.modes.map(({ run, summary, done, total }) => [run.id, run.status, summary, done, total])],
      () => this.#tableContent(view.modes),
    );
    render(this.#warnings, scores, () => this.#warningContent());
    this.#draw(false);
  }

  #tableContent(modes: readonly ModeResult[]): Child[] {
    const head = h(
      'tr',
      {},
      h('th', { scope: 'col' }, 'Mode'),
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
    const rows = modes.map((mode) => this.#row(mode));
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
      modes.some(({ run }) => isLikelihoodsOnly(run)) && h('p', { class: 'note' }, likelihoodsOnlyNote),
    ];
  }

  #row({ run, summary, done, total }: ModeResult): HTMLElement {
    const name = h('th', { scope: 'row' }, modeName(run.mode));
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
    const mark = timeMark(run, summary);
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
        mark && h('span', { class: 'sub' }, mark),
      ),
    );
  }

  /** What a reader must not overlook: scores that a constant answer reaches too. */
  #warningContent(): Child[] {
    return this.#modes.flatMap(({ run, summary }) => {
      if (!summary) return [];
      const { S, commonest, constant } = summary.scores;
      const lines: Child[] = [];
      if (commonest?.share.value != null && commonest.share.value >= 0.9 && (constant?.share.value ?? 0) < 0.9)
        lines.push(
          h(
            'li',
            {},
            h('strong', {}, run.mode),
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
            h('strong', {}, run.mode),
            ` is not clearly better than always answering ${quoted(constant.answer)} (${percent(constant.share)}).`,
          ),
        );
      return lines;
    });
  }

  #draw(restyle: boolean): void {
    const colours = this.#colours;
    const constant = this.#constant?.share ?? null;
    const names = this.#modes.map(({ run }) => run.mode);
    render(this.#legend, [names, this.#constant], () => [
      ...names.map((mode) => h('li', {}, modeName(mode))),
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
      `Bars of ${this.#shown.join(', ')} for ${names.join(', ') || 'no mode yet'} with 95 % intervals; the table beside it has the figures.`,
    );
    const datasets = this.#modes.map(({ run, summary }) => ({
      label: run.mode,
      data: this.#shown.map((metric) => {
        const value = summary && shareOf(summary.scores, metric)?.value;
        return typeof value === 'number' ? 100 * value : null;
      }),
      backgroundColor: modeFill(run.mode, colours),
      borderColor: colours.modes[run.mode],
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
                const mode = this.#modes[datasetIndex];
                const metric = this.#shown[dataIndex];
                const share = metric && mode?.summary ? shareOf(mode.summary.scores, metric) : null;
                return ` ${mode?.run.mode}: ${share ? shareInWords(share) : '–'}`;
              },
            },
          },
        },
      },
    });
  }

  #intervals(): ({ low: number; high: number } | null)[][] {
    return this.#modes.map(({ summary }) =>
      this.#shown.map((metric) => {
        const share = summary && shareOf(summary.scores, metric);
        return share && share.value !== null ? { low: 100 * share.low, high: 100 * share.high } : null;
      }),
    );
  }
}

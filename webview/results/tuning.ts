/** The tuning curve: F, S and K on the held-out slice, and the loss of each step. */

import { learningRateInWords } from '../../src/shared/learning-rate-words.ts';
import type { ResultsView } from '../../src/shared/protocol.ts';
import type { TuningRecord } from '../../src/shared/results.ts';
import { Chart, referenceLine, tooltipStyle } from '../charts.ts';
import { type Child, h, render } from '../dom.ts';
import { percent } from '../format.ts';
import { metrics } from '../terms.ts';
import { onThemeChange, palette } from '../theme.ts';
import { dropdown } from '../ui.ts';
import { columnsOf, type MarkedColumn } from './columns.ts';
import {
  bestOf,
  type CurveName,
  curvesOf,
  shareAt,
  stepsOf,
  tuningInWords,
  type Validation,
  validationsOf,
} from './tuning-words.ts';

function legendOf(series: readonly CurveName[]): Child[] {
  const entry = (swatch: string, text: string, title = ''): HTMLElement =>
    h('li', { title }, h('span', { class: 'mode-name' }, h('span', { class: `line-swatch series-${swatch}` }), text));
  return [
    ...series.map((name) => entry(name, `${name} ${metrics[name].name}`, metrics[name].definition)),
    entry('loss', 'loss of the batch (right axis)'),
  ];
}

export class TuningSection {
  readonly element: HTMLElement;
  readonly #canvas = h('canvas', { role: 'img' });
  readonly #legend = h('ul', { class: 'legend' });
  readonly #words = h('p', { class: 'words' });
  readonly #rate = h('p', { class: 'muted' });
  readonly #table = h('div', {});
  readonly #choice = dropdown<string>('Tuned run', (run) => {
    this.#run = run;
    this.#refresh();
  });
  #chart: Chart<'line'> | null = null;
  #colours = palette();
  #tuned: MarkedColumn[] = [];
  #run = '';

  constructor() {
    this.element = h(
      'section',
      { 'aria-labelledby': 'tuning-heading' },
      h('div', { class: 'heading-row' }, h('h2', { id: 'tuning-heading' }, 'Tuning curve'), this.#choice.element),
      h('figure', {}, this.#legend, h('div', { class: 'chart chart-tuning' }, this.#canvas)),
      this.#words,
      this.#rate,
      this.#table,
    );
    onThemeChange(() => {
      this.#colours = palette();
      this.#chart?.destroy();
      this.#chart = null;
      this.#refresh();
    });
  }

  update(view: ResultsView): void {
    this.#tuned = columnsOf(view).filter(({ tuning }) => tuning.length > 0);
    this.element.hidden = this.#tuned.length === 0;
    if (!this.#tuned.some(({ run }) => run.id === this.#run)) this.#run = this.#tuned[0]?.run.id ?? '';
    this.#choice.element.hidden = this.#tuned.length < 2;
    this.#choice.set(
      this.#tuned.map(({ run, mark }) => ({ value: run.id, label: mark.label })),
      this.#run,
    );
    this.#refresh();
  }

  #refresh(): void {
    const shown = this.#tuned.find(({ run }) => run.id === this.#run);
    if (!shown) return;
    const { tuning, run } = shown;
    this.#words.textContent = tuningInWords(tuning);
    const { learningRate } = run;
    this.#rate.hidden = !learningRate;
    this.#rate.textContent = learningRate ? `Learning rate ${learningRateInWords(learningRate)}.` : '';
    const series = curvesOf(validationsOf(tuning));
    render(this.#legend, [series], () => legendOf(series));
    render(this.#table, [this.#run, tuning.length], () => this.#tableContent(tuning, series));
    this.#draw(tuning, run.settings.softPrompt?.steps ?? 0);
  }

  #tableContent(tuning: readonly TuningRecord[], series: readonly CurveName[]): Child[] {
    const losses = new Map(stepsOf(tuning).map(({ step, loss }) => [step, loss]));
    return [
      h(
        'details',
        { 'data-key': 'tuning-data' },
        h('summary', {}, 'Data table'),
        h(
          'div',
          { class: 'scroll-x', tabindex: 0, role: 'region', 'aria-label': 'Tuning curve, table' },
          h(
            'table',
            {},
            h(
              'thead',
              {},
              h(
                'tr',
                {},
                h('th', { scope: 'col', class: 'number' }, 'Step'),
                ...series.map((name) =>
                  h('th', { scope: 'col', class: 'number', title: metrics[name].definition }, name),
                ),
                h('th', { scope: 'col', class: 'number' }, 'Held-out loss'),
                h('th', { scope: 'col', class: 'number' }, 'Batch loss'),
                h('th', { scope: 'col' }, 'Kept'),
              ),
            ),
            h(
              'tbody',
              {},
              ...validationsOf(tuning).map((record) =>
                h(
                  'tr',
                  {},
                  h('th', { scope: 'row', class: 'number' }, String(record.step)),
                  ...series.map((name) => h('td', { class: 'number' }, percent(shareAt(record, name)))),
                  h('td', { class: 'number' }, record.loss.toFixed(3)),
                  h('td', { class: 'number' }, losses.get(record.step)?.toFixed(3) ?? '–'),
                  h('td', {}, record === bestOf(validationsOf(tuning)) ? 'best' : ''),
                ),
              ),
            ),
          ),
        ),
      ),
    ];
  }

  #draw(tuning: readonly TuningRecord[], steps: number): void {
    const colours = this.#colours;
    const validations = validationsOf(tuning);
    const best = bestOf(validations);
    const last = Math.max(steps, tuning.at(-1)?.step ?? 0, 1);
    this.#canvas.setAttribute(
      'aria-label',
      `Tuning curve. ${tuningInWords(tuning)} The data table below has the figures.`,
    );
    this.#validations = validations;
    const series = curvesOf(validations);
    const styles = {
      LL: { pointStyle: 'triangle', borderDash: [], borderColor: colours.S },
      F: { pointStyle: 'circle', borderDash: [], borderColor: colours.F },
      S: { pointStyle: 'triangle', borderDash: [], borderColor: colours.S },
      K: { pointStyle: 'rect', borderDash: [6, 3], borderColor: colours.K },
    } as const;
    const datasets = [
      ...series.map((name) => ({
        label: name,
        yAxisID: 'y',
        data: validations.flatMap((record) => {
          const value = record[name];
          return value === null || value === undefined ? [] : [{ x: record.step, y: 100 * value }];
        }),
        ...styles[name],
        borderDash: [...styles[name].borderDash],
        backgroundColor: styles[name].borderColor,
        borderWidth: 2,
        pointRadius: 3.5,
        pointHoverRadius: 5,
        order: 0,
      })),
      {
        label: 'loss',
        yAxisID: 'loss',
        data: stepsOf(tuning).map(({ step, loss }) => ({ x: step, y: loss })),
        borderColor: colours.loss,
        backgroundColor: colours.loss,
        borderWidth: 1,
        pointRadius: 0,
        pointHitRadius: 3,
        order: 1,
      },
    ];
    if (this.#chart) {
      this.#chart.data.datasets = datasets;
      const { x } = this.#chart.options.scales ?? {};
      if (x) x.max = last;
      this.#best = best?.step ?? null;
      this.#chart.update('none');
      return;
    }
    this.#best = best?.step ?? null;
    const axis = { ticks: { color: colours.muted, padding: 6, font: { family: colours.font, size: 11 } } };
    const title = (text: string) => ({
      display: true,
      text,
      color: colours.muted,
      font: { family: colours.font, size: 11 },
    });
    this.#chart = new Chart<'line', { x: number; y: number }[]>(this.#canvas, {
      type: 'line',
      data: { datasets },
      plugins: [
        referenceLine(
          () => (this.#best === null ? null : { axis: 'x', value: this.#best, label: `kept: step ${this.#best}` }),
          () => this.#colours,
        ),
      ],
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        layout: { padding: { top: 16 } },
        interaction: { mode: 'nearest', axis: 'x', intersect: false },
        scales: {
          x: {
            type: 'linear',
            min: 0,
            max: last,
            title: title('step'),
            border: { color: colours.muted },
            grid: { display: false },
            ...axis,
          },
          y: {
            min: 0,
            max: 100,
            border: { display: false },
            grid: { color: colours.grid, drawTicks: false },
            ticks: { ...axis.ticks, stepSize: 25, callback: (value) => `${value} %` },
          },
          loss: {
            position: 'right',
            beginAtZero: true,
            border: { display: false },
            grid: { display: false },
            title: title('loss'),
            ...axis,
          },
        },
        plugins: {
          tooltip: {
            ...tooltipStyle(colours),
            callbacks: {
              title: ([first]) => `step ${first?.parsed.x ?? ''}`,
              label: ({ dataset, parsed }) => {
                const name = curvesOf(this.#validations).find((one) => one === dataset.label);
                const record = this.#validations.find(({ step }) => step === parsed.x);
                return ` ${dataset.label}: ${name && record ? percent(shareAt(record, name)) : (parsed.y ?? 0).toFixed(3)}`;
              },
            },
          },
        },
      },
    }) as Chart<'line'>;
  }
  #best: number | null = null;
  #validations: readonly Validation[] = [];
}

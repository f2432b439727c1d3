/** The curve of recovery against budget, with the band of random subsets and fixed lists as points. */
import type { SmallBenchPoint, SmallBenchResult } from '../../src/shared/predictions.ts';
import { h, render } from '../dom.ts';
import { visible } from '../text.ts';
import { onThemeChange, palette } from '../theme.ts';
import { axis, band, Chart, markOf, plain, swatch, tooltipStyle } from './charts.ts';
import { estimateText, fixed } from './words.ts';

/** R² on groups that the search had not seen; while that is not measured, on those it was searched with. */
const heightOf = ({ recovery, inSample }: SmallBenchPoint): number => recovery?.mean ?? inSample;

const recoveryWords = ({ recovery, inSample }: SmallBenchPoint): string =>
  recovery ? `R² ${estimateText(recovery)}` : `R² ${fixed(inSample)} on what it was searched with, not measured yet`;

/** Marks of the found lists and of fixed ones. */
const foundMark = 0;
const firstFixed = 1;

export class SmallBenchCurve {
  readonly element: HTMLElement;
  readonly #canvas = h('canvas', { role: 'img' });
  readonly #legend = h('ul', { class: 'legend' });
  #chart: Chart<'scatter'> | null = null;
  #colours = palette();
  #result: SmallBenchResult | null = null;
  #chosen: number | null = null;

  constructor() {
    this.element = h('div', {}, this.#legend, h('div', { class: 'chart chart-curve' }, this.#canvas));
    onThemeChange(() => {
      this.#colours = palette();
      this.#draw();
    });
  }

  update(result: SmallBenchResult, chosen: number | null): void {
    if (this.#result === result && this.#chosen === chosen) return;
    this.#result = result;
    this.#chosen = chosen;
    this.#draw();
  }

  #draw(): void {
    const result = this.#result;
    if (!result) return;
    const colours = this.#colours;
    const found = markOf(foundMark, colours);
    const fixedMarks = result.fixed.map((_, index) => markOf(firstFixed + index, colours));
    render(this.#legend, [result.title, result.fixed.map(({ title }) => title), colours.foreground], () => [
      h('li', { class: 'mode-name' }, swatch(found), result.title),
      result.random.length > 0 &&
        h('li', { class: 'mode-name' }, h('span', { class: 'swatch band-swatch' }), 'random subsets'),
      ...result.fixed.map(({ title }, index) => {
        const mark = fixedMarks[index];
        return h('li', { class: 'mode-name' }, mark && swatch(mark), visible(title));
      }),
    ]);
    this.#canvas.setAttribute(
      'aria-label',
      `Recovery against budget. ${result.curve
        .map((point) => `${point.subtasks.length} tasks: ${recoveryWords(point)}`)
        .join('; ')}. The table beside it has the figures.`,
    );
    const values = [
      ...result.curve.map(heightOf),
      ...result.random.flatMap(({ low, high }) => [low, high]),
      ...result.fixed.flatMap(({ recovery }) => (recovery.mean === null ? [] : [recovery.mean])),
    ];
    const least = Math.min(1, ...values);
    const unit = result.unit === 'tasks' ? 'tasks in the bench' : `${result.unit} to run the bench`;
    const places = [
      ...result.curve.map(({ budget }) => budget),
      ...result.random.map(({ budget }) => budget),
      ...result.fixed.map(({ cost }) => cost),
    ];
    this.#chart?.destroy();
    this.#chart = new Chart<'scatter', { x: number; y: number; words: string }[]>(this.#canvas, {
      type: 'scatter',
      data: {
        datasets: [
          {
            label: result.title,
            showLine: true,
            data: result.curve.map((point) => ({
              x: point.budget,
              y: heightOf(point),
              words: `${point.subtasks.length} tasks: ${recoveryWords(point)}`,
            })),
            pointStyle: found.style,
            borderColor: found.colour,
            // Hollow: not measured on held-out groups yet.
            pointBackgroundColor: result.curve.map(({ recovery }) => (recovery ? found.colour : colours.background)),
            borderWidth: 2,
            pointRadius: result.curve.map(({ budget }) => (budget === this.#chosen ? 7 : 4)),
            pointHoverRadius: 7,
          },
          ...result.fixed.map(({ title, known, cost, recovery }, index) => ({
            label: title,
            data:
              recovery.mean === null
                ? []
                : [
                    {
                      x: cost,
                      y: recovery.mean,
                      words: `${visible(title)}, ${known} tasks: R² ${estimateText(recovery)}`,
                    },
                  ],
            pointStyle: fixedMarks[index]?.style ?? 'triangle',
            borderColor: fixedMarks[index]?.colour ?? colours.foreground,
            backgroundColor: fixedMarks[index]?.colour ?? colours.foreground,
            borderWidth: 1.5,
            pointRadius: 6,
            pointHoverRadius: 8,
          })),
        ],
      },
      plugins: [
        band(
          () =>
            (this.#result?.random ?? []).map(({ budget, low, median, high }) => ({
              x: budget,
              low,
              middle: median,
              high,
            })),
          () => this.#colours,
        ),
      ],
      options: {
        ...plain,
        interaction: { mode: 'nearest', intersect: false },
        scales: {
          x: {
            ...axis(colours, unit, { grid: false }),
            min: 0,
            max: Math.ceil(Math.max(1, ...places) * 1.05),
          },
          y: {
            ...axis(colours, 'recovery: R² on the other tasks'),
            min: Math.max(-1, Math.floor((least - 0.02) * 20) / 20),
            max: 1,
          },
        },
        plugins: {
          tooltip: {
            ...tooltipStyle(colours),
            callbacks: {
              title: ([first]) => first?.dataset.label ?? '',
              label: ({ raw }) => (raw as { words?: string }).words ?? '',
              footer: ([first]) => {
                const beside = result.random.find(({ budget }) => budget === first?.parsed.x);
                return beside
                  ? `random subsets: ${fixed(beside.median)} (${fixed(beside.low)}–${fixed(beside.high)})`
                  : '';
              },
            },
          },
        },
      },
    }) as Chart<'scatter'>;
  }
}

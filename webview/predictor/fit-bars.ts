/** Bars of R² by split: the chosen predictor solid, the baseline hollow, the noise ceiling as a line over both. */
import type { Plugin } from 'chart.js';
import type { PredictorFit, SplitFit } from '../../src/shared/predictions.ts';
import { whiskers } from '../charts.ts';
import { h, render } from '../dom.ts';
import { onThemeChange, type Palette, palette } from '../theme.ts';
import { axis, Chart, plain, tooltipStyle } from './charts.ts';
import { estimateText, fixed } from './words.ts';

/** Lower values are drawn as this, with their figure: a bar of −20 would leave nothing to see of the others. */
const lowest = -0.4;

export class FitBars {
  readonly element: HTMLElement;
  readonly #canvas = h('canvas', { role: 'img' });
  readonly #legend = h('ul', { class: 'legend' });
  #chart: Chart<'bar'> | null = null;
  #colours = palette();
  #splits: readonly SplitFit[] = [];

  constructor() {
    this.element = h('div', {}, this.#legend, h('div', { class: 'chart chart-fit' }, this.#canvas));
    onThemeChange(() => {
      this.#colours = palette();
      this.#chart?.destroy();
      this.#chart = null;
      this.#draw();
    });
  }

  update(splits: readonly SplitFit[]): void {
    this.#splits = splits.filter(({ fits }) => fits.length > 0);
    this.#draw();
  }

  #draw(): void {
    const colours = this.#colours;
    const splits = this.#splits;
    const chosen = splits[0]?.fits[0];
    if (!chosen) return;
    const baseline = splits[0]?.fits.find(({ predictor }) => predictor !== chosen.predictor) ?? null;
    const predictors = [chosen, ...(baseline ? [baseline] : [])];
    const hasCeiling = splits.some(({ ceiling }) => ceiling !== null);
    render(this.#legend, [predictors.map(({ title }) => title), hasCeiling], () => [
      ...predictors.map(({ title }, at) =>
        h('li', { class: 'mode-name' }, h('span', { class: `swatch predictor-${at}` }), title),
      ),
      hasCeiling && h('li', { class: 'mode-name' }, h('span', { class: 'swatch constant-line' }), 'noise ceiling'),
    ]);
    const fitOf = (split: SplitFit, predictor: string): PredictorFit | undefined =>
      split.fits.find((fit) => fit.predictor === predictor);
    this.#canvas.setAttribute(
      'aria-label',
      `R² by split. ${splits
        .map(
          (split) =>
            `${split.split}: ${predictors
              .map(
                ({ predictor, title }) =>
                  `${title} ${estimateText(fitOf(split, predictor)?.r2 ?? { mean: null, sd: null })}`,
              )
              .join(', ')}`,
        )
        .join('; ')}. The table beside it has the figures.`,
    );
    const least = Math.min(
      0,
      ...splits.flatMap(({ fits }) => fits.map(({ r2 }) => Math.max(lowest, (r2.mean ?? 0) - (r2.sd ?? 0)))),
    );
    const datasets = predictors.map(({ predictor, title }, at) => ({
      label: title,
      data: splits.map((split) => {
        const mean = fitOf(split, predictor)?.r2.mean ?? null;
        return mean === null ? null : Math.max(lowest, mean);
      }),
      backgroundColor: at === 0 ? colours.F : 'transparent',
      borderColor: at === 0 ? colours.F : colours.foreground,
      borderWidth: 1.5,
      borderRadius: 2,
      categoryPercentage: 0.76,
      barPercentage: 0.86,
    }));
    this.#chart?.destroy();
    const scale = axis(colours, 'R² on held-out scores');
    this.#chart = new Chart<'bar'>(this.#canvas, {
      type: 'bar',
      data: { labels: splits.map(({ split }) => split), datasets },
      plugins: [
        cutFigures(
          (dataset, index) => {
            const split = this.#splits[index];
            const mean = split && fitOf(split, predictors[dataset]?.predictor ?? '')?.r2.mean;
            return mean == null || mean >= lowest ? null : fixed(mean, 1);
          },
          () => this.#colours,
        ),
        ceilings(
          () => this.#splits.map(({ ceiling }) => ceiling),
          () => this.#colours,
        ),
        whiskers(
          () =>
            predictors.map(({ predictor }) =>
              this.#splits.map((split) => {
                const r2 = fitOf(split, predictor)?.r2;
                return r2?.mean == null || r2.sd === null || r2.mean < lowest
                  ? null
                  : { low: Math.max(lowest, r2.mean - r2.sd), high: Math.min(1, r2.mean + r2.sd) };
              }),
            ),
          () => this.#colours,
        ),
      ],
      options: {
        ...plain,
        scales: {
          x: {
            grid: { display: false },
            border: { color: colours.muted },
            ticks: { color: colours.foreground, font: { family: colours.font, size: 12 } },
          },
          y: { ...scale, min: Math.floor(least * 5) / 5, max: 1 },
        },
        plugins: {
          tooltip: {
            ...tooltipStyle(colours),
            callbacks: {
              title: ([first]) => {
                const split = this.#splits[first?.dataIndex ?? -1];
                return split ? `${split.split}: ${split.title}` : '';
              },
              label: ({ dataset, datasetIndex, dataIndex }) => {
                const split = this.#splits[dataIndex];
                const fit = split && fitOf(split, predictors[datasetIndex]?.predictor ?? '');
                return ` ${dataset.label}: ${fit ? estimateText(fit.r2) : '–'}`;
              },
              footer: ([first]) => {
                const ceiling = this.#splits[first?.dataIndex ?? -1]?.ceiling;
                return ceiling == null ? '' : `noise ceiling ${fixed(ceiling)}`;
              },
            },
          },
        },
      },
    });
  }
}

/** A dashed line over the bars of each category. */
const ceilings = (at: () => readonly (number | null)[], colours: () => Palette): Plugin<'bar'> => ({
  id: 'softbench-ceilings',
  afterDatasetsDraw(chart) {
    const { x, y } = chart.scales;
    if (!x || !y) return;
    const { ctx } = chart;
    const half = (x.width / Math.max(1, at().length)) * 0.42;
    ctx.save();
    ctx.strokeStyle = colours().foreground;
    ctx.lineWidth = 1.25;
    ctx.setLineDash([5, 3]);
    for (const [index, value] of at().entries()) {
      if (value === null) continue;
      const middle = x.getPixelForValue(index);
      const height = Math.round(y.getPixelForValue(value)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(middle - half, height);
      ctx.lineTo(middle + half, height);
      ctx.stroke();
    }
    ctx.restore();
  },
});

/** The figure of a bar that is cut, in its end. */
const cutFigures = (
  figure: (dataset: number, index: number) => string | null,
  colours: () => Palette,
): Plugin<'bar'> => ({
  id: 'softbench-cut-figures',
  afterDatasetsDraw(chart) {
    const { ctx, chartArea: area } = chart;
    ctx.save();
    ctx.font = `11px ${colours().font}`;
    ctx.textAlign = 'center';
    ctx.textBaseline = 'bottom';
    for (const dataset of chart.data.datasets.keys())
      for (const [index, element] of chart.getDatasetMeta(dataset).data.entries()) {
        const text = figure(dataset, index);
        if (text === null) continue;
        // On a plate: the bar's colour is no ground for text in every theme.
        const width = ctx.measureText(text).width + 6;
        ctx.fillStyle = colours().background;
        // Neighbours would cover each other: one stands above the other.
        const bottom = area.bottom - 3 - 16 * dataset;
        ctx.fillRect(element.x - width / 2, bottom - 15, width, 15);
        ctx.fillStyle = colours().foreground;
        ctx.fillText(text, element.x, bottom - 1);
      }
    ctx.restore();
  },
});

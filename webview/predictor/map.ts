/** The task map: subtasks in the plane of their vectors' two largest principal components, marked by cluster. */
import type { Plugin } from 'chart.js';
import { type PredictorView, subtaskName, type TaskMap, type TaskMapPoint } from '../../src/shared/predictions.ts';
import { h, render } from '../dom.ts';
import { visible } from '../text.ts';
import { onThemeChange, type Palette, palette } from '../theme.ts';
import { axis, Chart, type Mark, markOf, plain, swatch, tooltipStyle } from './charts.ts';
import { type SectionActions, SectionFrame } from './section.ts';
import { tableBehind } from './table.ts';
import { counted, fixed, scoreText } from './words.ts';

export class MapSection {
  readonly #frame: SectionFrame;
  readonly #canvas = h('canvas', { role: 'img' });
  readonly #legend = h('ul', { class: 'legend clusters' });
  readonly #words = h('p', { class: 'note' });
  readonly #table = h('div', {});
  #chart: Chart<'scatter'> | null = null;
  #colours = palette();
  #map: TaskMap | null = null;
  #drawn: TaskMap | null = null;

  constructor(actions: SectionActions) {
    this.#frame = new SectionFrame(
      {
        id: 'map',
        title: 'Task map',
        task: 'map',
        start: 'Draw the map',
        again: 'Draw again',
        empty:
          'Draws tasks near each other where models do alike on them. Tasks of one cluster tell about each other; a bench of one task from each cluster tells most.',
      },
      actions,
    );
    this.#frame.content.append(
      h(
        'div',
        { class: 'chart-and-table' },
        h('figure', { class: 'map-figure' }, h('div', { class: 'chart chart-map' }, this.#canvas)),
        h('div', { class: 'grow map-clusters' }, h('h3', {}, 'Clusters'), this.#legend, this.#words),
      ),
      this.#table,
    );
    onThemeChange(() => {
      this.#colours = palette();
      this.#drawn = null;
      if (this.#map) this.#show(this.#map);
    });
  }

  get element(): HTMLElement {
    return this.#frame.element;
  }

  update(view: PredictorView): void {
    this.#map = view.map;
    if (this.#frame.update(view, view.map) && view.map) this.#show(view.map);
  }

  #show(map: TaskMap): void {
    if (this.#drawn === map) return;
    this.#drawn = map;
    const marks = map.clusters.map((_, index) => markOf(index, this.#colours));
    this.#legend.replaceChildren(
      ...map.clusters.map(({ centre, size }, index) => {
        const mark = marks[index];
        return h(
          'li',
          { class: 'mode-name', title: membersOf(map, index) },
          mark && swatch(mark),
          h(
            'span',
            {},
            visible(centre),
            size > 1 && h('span', { class: 'muted' }, ` and ${counted(size - 1, 'other')}`),
          ),
        );
      }),
    );
    const [x, y] = map.explained;
    this.#words.textContent = `Clusters are named after the task nearest to their centre. ${map.title}: vectors of ${counted(map.dimensions, 'number')}; the plane shows ${scoreText(x + y, 0)} of their variance (${scoreText(x, 0)} across, ${scoreText(y, 0)} up), so distances in it are smaller than the true ones.`;
    render(this.#table, [map.digest, map.points.length, map.clusters, map.title], () => [
      tableBehind(
        'map-table',
        'Task map',
        [
          { title: 'Task' },
          { title: 'Cluster' },
          { title: 'x', number: true },
          { title: 'y', number: true },
          { title: 'Mean score', number: true },
          { title: 'Records', number: true },
        ],
        () =>
          [...map.points]
            .sort((a, b) => a.cluster - b.cluster || subtaskName(a).localeCompare(subtaskName(b)))
            .map((point) => [
              visible(subtaskName(point)),
              `${visible(map.clusters[point.cluster]?.centre ?? '')} (${marks[point.cluster]?.words ?? ''})`,
              fixed(point.x, 2),
              fixed(point.y, 2),
              scoreText(point.mean),
              point.records.toLocaleString('en-US'),
            ]),
      ),
    ]);
    this.#draw(map, marks);
  }

  #draw(map: TaskMap, marks: readonly Mark[]): void {
    const colours = this.#colours;
    this.#canvas.setAttribute(
      'aria-label',
      `Task map of ${counted(map.points.length, 'task')} in ${counted(map.clusters.length, 'cluster')}. The table below has all places.`,
    );
    this.#chart?.destroy();
    this.#chart = new Chart<'scatter', { x: number; y: number; point: TaskMapPoint }[]>(this.#canvas, {
      type: 'scatter',
      data: {
        datasets: map.clusters.map((cluster, index) => {
          const mark = marks[index];
          return {
            label: cluster.centre,
            data: map.points
              .filter((point) => point.cluster === index)
              .map((point) => ({ x: point.x, y: point.y, point })),
            pointStyle: mark?.style ?? 'circle',
            borderColor: mark?.colour ?? colours.foreground,
            backgroundColor: mark?.hollow ? 'transparent' : (mark?.colour ?? colours.foreground),
            borderWidth: 1.5,
            pointRadius: 5,
            pointHoverRadius: 7,
          };
        }),
      },
      plugins: [names(() => this.#colours)],
      options: {
        ...plain,
        layout: { padding: { right: 8, top: 8 } },
        interaction: { mode: 'nearest', intersect: true },
        scales: { x: axis(colours, 'first component'), y: axis(colours, 'second component') },
        plugins: {
          tooltip: {
            ...tooltipStyle(colours),
            callbacks: {
              title: ([first]) => {
                const point = (first?.raw as { point?: TaskMapPoint } | undefined)?.point;
                return point ? visible(subtaskName(point)) : '';
              },
              label: ({ raw, dataset }) => {
                const point = (raw as { point?: TaskMapPoint }).point;
                return point
                  ? [
                      `cluster of ${visible(dataset.label ?? '')}`,
                      `mean score ${scoreText(point.mean)} of ${counted(point.records, 'record')}`,
                    ]
                  : '';
              },
            },
          },
        },
      },
    }) as Chart<'scatter'>;
  }
}

const membersOf = (map: TaskMap, cluster: number): string =>
  map.points
    .filter((point) => point.cluster === cluster)
    .map((point) => visible(subtaskName(point)))
    .join(', ');

/** Names beside the points, as many as find room without covering each other. */
const names = (colours: () => Palette): Plugin<'scatter'> => ({
  id: 'softbench-names',
  afterDatasetsDraw(chart) {
    const { ctx, chartArea: area } = chart;
    const taken: { left: number; right: number; top: number; bottom: number }[] = [];
    const places = chart.data.datasets.flatMap((dataset, index) =>
      chart.getDatasetMeta(index).data.map((element, at) => ({
        x: element.x,
        y: element.y,
        name: visible(subtaskName((dataset.data[at] as unknown as { point: TaskMapPoint }).point)),
      })),
    );
    for (const { x, y } of places) taken.push({ left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 });
    ctx.save();
    ctx.font = `11px ${colours().font}`;
    ctx.fillStyle = colours().foreground;
    ctx.textBaseline = 'middle';
    for (const { x, y, name } of places) {
      // Names often begin alike (`bbh_cot_fewshot_`): the end tells more.
      const text = name.length > 30 ? `${name.slice(0, 9)}…${name.slice(-20)}` : name;
      const width = ctx.measureText(text).width;
      const box = [8, -8 - width]
        .map((shift) => ({ left: x + shift, right: x + shift + width, top: y - 6, bottom: y + 6 }))
        .find(
          (one) =>
            one.left >= area.left &&
            one.right <= area.right &&
            !taken.some(
              (other) =>
                one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top,
            ),
        );
      if (!box) continue;
      taken.push(box);
      ctx.fillText(text, box.left, y);
    }
    ctx.restore();
  },
});

/** Predicted against actual scores of held-out records: one point a record, named where the pointer is. */
import {
  type FitQuality,
  type PredictedRecord,
  type PredictorView,
  type SplitFit,
  subtaskName,
} from '../../src/shared/predictions.ts';
import { debounced, h, render } from '../dom.ts';
import { visible } from '../text.ts';
import { onThemeChange, palette } from '../theme.ts';
import { dropdown, textField } from '../ui.ts';
import { axis, Chart, diagonal, plain, tooltipStyle } from './charts.ts';
import { shownSplit } from './split-choice.ts';
import { tableBehind } from './table.ts';
import { counted, scoreText, signedPoints } from './words.ts';

export interface ScatterState {
  split: string;
  search: string;
}

/** Rows of the table behind the chart: those that are furthest off. */
const rowsShown = 200;

export class ScatterSection {
  readonly element: HTMLElement;
  readonly #split = dropdown<string>('Split', (split) => this.#choose({ split }));
  readonly #search = textField(
    'Mark models, families or tasks',
    'Mark by model, family or task',
    debounced(() => this.#choose({ search: this.#search.value }), 120),
  );
  readonly #canvas = h('canvas', { role: 'img' });
  readonly #words = h('p', { class: 'note', role: 'status' });
  readonly #table = h('div', {});
  readonly #changed: () => void;
  #state: ScatterState = { split: '', search: '' };
  #fit: FitQuality | null = null;
  #chart: Chart<'scatter'> | null = null;
  #colours = palette();
  #drawn: { split: SplitFit; search: string } | null = null;

  constructor(changed: () => void) {
    this.#changed = changed;
    this.element = h(
      'section',
      { id: 'scatter', 'aria-labelledby': 'scatter-heading' },
      h(
        'div',
        { class: 'heading-row' },
        h('h2', { id: 'scatter-heading' }, 'Predicted against actual'),
        this.#split.element,
        this.#search.element,
      ),
      h('figure', {}, h('div', { class: 'chart chart-scatter' }, this.#canvas)),
      this.#words,
      this.#table,
    );
    onThemeChange(() => {
      this.#colours = palette();
      this.#chart?.destroy();
      this.#chart = null;
      this.#drawn = null;
      this.#refresh();
    });
  }

  get state(): ScatterState {
    return this.#state;
  }

  restore(saved: Partial<ScatterState>): void {
    if (typeof saved.split === 'string') this.#state.split = saved.split;
    if (typeof saved.search === 'string') this.#state.search = saved.search;
    this.#search.value = this.#state.search;
  }

  update({ fit }: PredictorView): void {
    this.#fit = fit;
    this.#refresh();
  }

  #choose(change: Partial<ScatterState>): void {
    this.#state = { ...this.#state, ...change };
    this.#changed();
    this.#refresh();
  }

  #refresh(): void {
    const splits = this.#fit?.splits.filter(({ points }) => points.length > 0) ?? [];
    const shown = shownSplit(this.#split, splits, this.#state.split);
    this.element.hidden = !shown;
    if (!shown) return;
    const search = this.#state.search.trim().toLowerCase();
    if (this.#drawn?.split === shown && this.#drawn.search === search) return;
    this.#drawn = { split: shown, search };
    const matches = (record: PredictedRecord): boolean =>
      [record.model, record.family, record.task, record.subtask].some((text) => text.toLowerCase().includes(search));
    const marked = search === '' ? [] : shown.points.filter(matches);
    const listed = search === '' ? shown.points : marked;
    this.#words.textContent = wordsOf(shown, search, marked.length);
    render(this.#table, [shown.split, shown.points.length, search, shown.fits[0]?.r2], () => [tableOf(shown, listed)]);
    this.#draw(shown, marked, search !== '');
  }

  #draw(split: SplitFit, marked: readonly PredictedRecord[], isSearching: boolean): void {
    const colours = this.#colours;
    this.#canvas.setAttribute(
      'aria-label',
      `Predicted against actual scores, ${split.split}: ${counted(split.points.length, 'point')}. The table below has those that are furthest off.`,
    );
    const set = (records: readonly PredictedRecord[]) =>
      records.map((record) => ({ x: 100 * record.actual, y: 100 * record.predicted, record }));
    const isMarked = new Set(marked);
    const rest = split.points.filter((point) => !isMarked.has(point));
    this.#chart?.destroy();
    this.#chart = new Chart<'scatter', { x: number; y: number; record: PredictedRecord }[]>(this.#canvas, {
      type: 'scatter',
      data: {
        datasets: [
          {
            label: 'marked',
            data: set(marked),
            pointStyle: 'triangle',
            backgroundColor: colours.modes['soft-prompt'],
            borderColor: colours.modes['soft-prompt'],
            pointRadius: 5,
            pointHoverRadius: 7,
          },
          {
            label: 'held out',
            data: set(rest),
            pointStyle: 'circle',
            backgroundColor: 'transparent',
            borderColor: isSearching ? colours.muted : colours.F,
            borderWidth: 1,
            pointRadius: rest.length > 1500 ? 2 : 3,
            pointHoverRadius: 5,
          },
        ],
      },
      plugins: [diagonal(() => this.#colours)],
      options: {
        ...plain,
        interaction: { mode: 'nearest', intersect: true },
        scales: {
          x: { ...axis(colours, 'actual score, %'), min: 0, max: 100 },
          y: { ...axis(colours, 'predicted score, %'), min: 0, max: 100 },
        },
        plugins: {
          tooltip: {
            ...tooltipStyle(colours),
            callbacks: {
              title: ([first]) => {
                const record = (first?.raw as { record?: PredictedRecord } | undefined)?.record;
                return record ? `${visible(record.model)} × ${visible(subtaskName(record))}` : '';
              },
              label: ({ raw }) => {
                const record = (raw as { record?: PredictedRecord }).record;
                if (!record) return '';
                const { setting, actual, predicted } = record;
                return [
                  ...(setting ? [visible(setting)] : []),
                  `actual ${scoreText(actual)}, predicted ${scoreText(predicted)} (${signedPoints(predicted - actual)})`,
                ];
              },
            },
          },
        },
      },
    }) as Chart<'scatter'>;
  }
}

function wordsOf(split: SplitFit, search: string, marked: number): string {
  const words = [
    `Dashed: predicted as it is.`,
    split.points.length < split.total
      ? `${counted(split.points.length, 'random record')} of ${split.total.toLocaleString('en-US')} are drawn.`
      : '',
    search === '' ? '' : `${counted(marked, 'record')} marked by triangles.`,
  ];
  return words.filter(Boolean).join(' ');
}

/** The records that are furthest off, for those who do not see the chart. */
function tableOf(split: SplitFit, listed: readonly PredictedRecord[]): HTMLElement {
  const hasSettings = split.points.some(({ setting }) => setting);
  const distance = ({ predicted, actual }: PredictedRecord): number => Math.abs(predicted - actual);
  return tableBehind(
    'scatter-table',
    'Predicted against actual, furthest off first',
    [
      { title: 'Model' },
      { title: 'Task' },
      ...(hasSettings ? [{ title: 'Setting' }] : []),
      { title: 'Actual', number: true },
      { title: 'Predicted', number: true },
      { title: 'Difference, points', number: true },
    ],
    () =>
      [...listed]
        .sort((a, b) => distance(b) - distance(a))
        .slice(0, rowsShown)
        .map((record) => [
          visible(record.model),
          visible(subtaskName(record)),
          ...(hasSettings ? [visible(record.setting)] : []),
          scoreText(record.actual),
          scoreText(record.predicted),
          signedPoints(record.predicted - record.actual),
        ]),
    listed.length > rowsShown ? `The ${rowsShown} that are furthest off, of ${counted(listed.length, 'record')}.` : '',
  );
}

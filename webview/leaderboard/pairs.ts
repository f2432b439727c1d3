/**
 * Base and post-trained models: how well base scores in each prompt mode foretell the ranking of the post-trained models,
 * per benchmark and over all, with a scatter of the pairs and the table behind it.
 */
import {
  baseCorrelations,
  type CorrelationRow,
  comparableModes,
  correlationWords,
  fewestPairs,
  figureOf,
  formatFigure,
  type PairScores,
} from '../../src/metrics/index.ts';
import { type PromptMode, promptModes } from '../../src/shared/modes.ts';
import type { LeaderboardView, ModelLink } from '../../src/shared/protocol.ts';
import { type Child, h, svg } from '../dom.ts';
import { typeset } from '../format.ts';
import { visible } from '../text.ts';
import { button, dropdown } from '../ui.ts';
import { allTasks, type PageState } from './state.ts';
import type { Table } from './table.ts';
import { metricLabel } from './words.ts';

export interface PairsEvents {
  target(mode: PromptMode): void;
  pairsOf(task: string): void;
  opened(open: boolean): void;
  editLink(model: string | null): void;
}

interface Shown {
  view: LeaderboardView;
  table: Table;
  state: PageState;
  live: boolean;
}

const sayers: Record<ModelLink['by'], string> = { user: 'by you', card: 'by its card', name: 'by its name' };

export class PairsSection {
  readonly element = h('details', { class: 'pairs' });
  readonly #count = h('span', { class: 'muted' });
  readonly #content = h('div', { class: 'pairs-content' });
  readonly #target: ReturnType<typeof dropdown<PromptMode>>;
  readonly #of: ReturnType<typeof dropdown<string>>;
  readonly #on: PairsEvents;
  readonly #body = h('div', {});
  readonly #figure = h('div', {});
  #shown: Shown | null = null;
  #computed: {
    cells: LeaderboardView['cells'];
    key: string;
    byMode: { mode: PromptMode; rows: CorrelationRow[] }[];
    /** The scores that it was drawn with; null: it is not drawn yet. */
    drawnOf: string | null;
  } | null = null;

  constructor(on: PairsEvents) {
    this.#on = on;
    this.#target = dropdown<PromptMode>('Mode of the post-trained models', (mode) => on.target(mode));
    this.#of = dropdown<string>('Scores shown', (task) => on.pairsOf(task));
    this.element.append(
      h('summary', { 'data-key': 'pairs' }, h('h2', {}, 'Base and post-trained models'), ' ', this.#count),
      this.#content,
    );
    this.#content.append(this.#body, this.#figure);
    this.element.addEventListener('toggle', () => {
      if (this.#shown && this.element.open !== this.#isOpen(this.#shown)) on.opened(this.element.open);
      if (this.element.open) this.#draw();
    });
  }

  update(shown: Shown, wide: boolean): void {
    this.#shown = shown;
    this.#wide = wide;
    const { links = [] } = shown.view;
    this.#count.textContent =
      links.length === 0 ? 'no pairs known' : links.length === 1 ? '1 pair' : `${links.length} pairs`;
    this.element.hidden = shown.view.models.length < 2;
    this.element.open = this.#isOpen(shown);
    if (this.element.open) this.#draw();
  }
  #wide = false;

  #isOpen({ view, state }: Shown): boolean {
    return state.pairsOpen ?? (this.#wide && (view.links?.length ?? 0) >= fewestPairs);
  }

  #pairs({ view, table }: Shown): ModelLink[] {
    const shown = new Set(table.models);
    return (view.links ?? []).filter(({ base, postTrained }) => shown.has(base) && shown.has(postTrained));
  }

  #draw(): void {
    const shown = this.#shown;
    if (!shown) return;
    const { view, table, state } = shown;
    const pairs = this.#pairs(shown);
    const key = JSON.stringify([state.metric, state.target, table.tasks, pairs]);
    // Thousands of bootstrap samples: only where something has changed.
    if (this.#computed?.key !== key || this.#computed.cells !== view.cells)
      this.#computed = {
        cells: view.cells,
        key,
        byMode: comparableModes(view, pairs, { metric: state.metric, target: state.target }).map((mode) => ({
          mode,
          rows: baseCorrelations(view, pairs, { metric: state.metric, mode, target: state.target, tasks: table.tasks }),
        })),
        drawnOf: null,
      };
    // A run that gets on, and a model that is searched for, change nothing here.
    if (this.#computed.drawnOf === state.pairsOf) return;
    this.#computed.drawnOf = state.pairsOf;
    const { byMode } = this.#computed;
    this.#body.replaceChildren(
      ...this.#head(shown, pairs, byMode.length > 0),
      ...(byMode.length > 0 ? [this.#correlations(byMode)] : []),
    );
    this.#figure.replaceChildren(...(pairs.length > 0 ? this.#scatter(byMode, pairs, shown) : []));
    const targets = promptModes.filter((mode) => view.cells.some((cell) => cell.mode === mode));
    this.#target.set(
      (targets.length > 0 ? targets : [state.target]).map((mode) => ({ value: mode, label: `post-trained: ${mode}` })),
      targets.includes(state.target) ? state.target : (targets[0] ?? state.target),
    );
  }

  /** @param measured there are pairs with scores on both sides */
  #head({ state, live }: Shown, pairs: readonly ModelLink[], measured: boolean): HTMLElement[] {
    const edit = !live ? null : button({ label: 'Link models…', key: 'link', onClick: () => this.#on.editLink(null) });
    if (pairs.length === 0)
      return [
        h(
          'p',
          { class: 'muted' },
          'No model here is known to be a post-trained version of another one. Names such as ',
          h('code', {}, 'X'),
          ' and ',
          h('code', {}, 'X-Instruct'),
          ' are found by themselves, as is what model cards say.',
        ),
        ...(edit ? [edit] : []),
      ];
    return [
      h(
        'p',
        { class: 'note' },
        `Does a base model’s ${state.metric} foretell where its post-trained version ranks? Rank correlation of base scores, in each prompt mode, with post-trained scores. 1: the same order; 0: none. In brackets: 95 % of the correlations when the pairs are drawn again.`,
        !measured &&
          ` None of the pairs has ${metricLabel(state.metric)} on both sides with the post-trained model in ${state.target}.`,
      ),
      h('div', { class: 'pairs-controls' }, this.#target.element, ...(edit ? [edit] : [])),
    ];
  }

  #correlations(byMode: readonly { mode: PromptMode; rows: CorrelationRow[] }[]): HTMLElement {
    const keyOf = ({ of }: CorrelationRow): string => JSON.stringify(of);
    const all = new Map(byMode.flatMap(({ rows }) => rows.map((row) => [keyOf(row), row] as const)));
    const summed = (key: string): number => (key === '"averaged"' ? 2 : key === '"mean"' ? 1 : 0);
    const rows = [...all].sort(([a], [b]) => summed(a) - summed(b));
    return h(
      'div',
      { class: 'scroll-x', tabindex: 0, role: 'region', 'aria-label': 'Rank correlations, table' },
      h(
        'table',
        { class: 'correlations' },
        h('caption', { class: 'visually-hidden' }, 'Rank correlation of base with post-trained scores'),
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { scope: 'col', rowspan: 2 }, 'Benchmark'),
            h('th', { scope: 'col', rowspan: 2, class: 'number' }, 'Pairs'),
            ...byMode.map(({ mode }) => h('th', { scope: 'colgroup', colspan: 2, class: 'number' }, `base: ${mode}`)),
          ),
          h(
            'tr',
            {},
            ...byMode.flatMap(() => [
              h('th', { scope: 'col', class: 'number' }, 'Kendall τ-b'),
              h('th', { scope: 'col', class: 'number' }, 'Spearman ρ'),
            ]),
          ),
        ),
        h(
          'tbody',
          {},
          ...rows.map(([key, first]) => {
            const each = byMode.map(({ rows: own }) => own.find((row) => keyOf(row) === key));
            const counts = [...new Set(each.flatMap((row) => (row ? [row.n] : [])))];
            return h(
              'tr',
              { class: summed(key) > 0 ? 'summed' : '' },
              h('th', { scope: 'row' }, titleOf(first)),
              h('td', { class: 'number' }, counts.join(' / ')),
              ...each.flatMap((row) =>
                row
                  ? [
                      h('td', { class: 'number' }, correlationWords(row.tau, row.n)),
                      h('td', { class: 'number' }, correlationWords(row.rho, row.n)),
                    ]
                  : [h('td', { class: 'number muted' }, '–'), h('td', { class: 'number muted' }, '–')],
              ),
            );
          }),
        ),
      ),
    );
  }

  #scatter(
    byMode: readonly { mode: PromptMode; rows: CorrelationRow[] }[],
    links: readonly ModelLink[],
    { view, table, state, live }: Shown,
  ): HTMLElement[] {
    const rowsOf = (task: string): { mode: PromptMode; pairs: PairScores[] }[] =>
      byMode.flatMap(({ mode, rows }) => {
        const row = rows.find(({ of }) =>
          task === allTasks ? of === 'averaged' : typeof of !== 'string' && of.task === task,
        );
        return row && row.pairs.length > 0 ? [{ mode, pairs: row.pairs }] : [];
      });
    const choices = [allTasks, ...table.tasks].filter((task) => rowsOf(task).length > 0);
    const chosen = choices.includes(state.pairsOf) ? state.pairsOf : (choices[0] ?? allTasks);
    this.#of.set(
      choices.map((task) => ({ value: task, label: task === allTasks ? 'Averaged score' : visible(task) })),
      chosen,
    );
    const series = rowsOf(chosen);
    const figure = (value: number | undefined): string =>
      value === undefined ? '–' : scoreText(value, view, state.metric);
    const scoresOf = ({ postTrained }: ModelLink) =>
      series.map(({ pairs }) => pairs.find((pair) => pair.postTrained === postTrained));
    return [
      ...(series.length > 0
        ? [
            h(
              'figure',
              {},
              h('div', { class: 'pairs-controls' }, this.#of.element),
              legend(series.map(({ mode }) => mode)),
              plot(series, { view, metric: state.metric, target: state.target }),
            ),
          ]
        : []),
      h(
        'details',
        { 'data-key': 'pair-table', class: 'pair-table' },
        h('summary', {}, 'The pairs as a table'),
        h(
          'div',
          { class: 'scroll-x', tabindex: 0, role: 'region', 'aria-label': 'Pairs, table' },
          h(
            'table',
            {},
            h(
              'thead',
              {},
              h(
                'tr',
                {},
                h('th', { scope: 'col' }, 'Post-trained'),
                h('th', { scope: 'col' }, 'Base'),
                ...series.map(({ mode }) => h('th', { scope: 'col', class: 'number' }, `base: ${mode}`)),
                h('th', { scope: 'col', class: 'number' }, `post-trained: ${state.target}`),
                live && h('th', { scope: 'col' }, h('span', { class: 'visually-hidden' }, 'Change')),
              ),
            ),
            h(
              'tbody',
              {},
              ...links.map((link) => {
                const scores = scoresOf(link);
                return h(
                  'tr',
                  {},
                  h('th', { scope: 'row' }, visible(link.postTrained)),
                  h('td', {}, visible(link.base), h('span', { class: 'sub' }, `linked ${sayers[link.by]}`)),
                  ...scores.map((pair) => h('td', { class: 'number' }, figure(pair?.baseScore))),
                  h('td', { class: 'number' }, figure(scores.find(Boolean)?.postTrainedScore)),
                  live &&
                    h(
                      'td',
                      {},
                      button({
                        label: 'Change…',
                        key: `change ${link.postTrained}`,
                        onClick: () => this.#on.editLink(link.postTrained),
                      }),
                    ),
                );
              }),
            ),
          ),
        ),
      ),
    ];
  }
}

const titleOf = ({ of, benchmarks }: CorrelationRow): string =>
  of === 'mean'
    ? `Mean of ${benchmarks} benchmarks’ correlations`
    : of === 'averaged'
      ? `Score averaged over ${benchmarks} benchmarks`
      : visible(of.task);

const isShare = (view: LeaderboardView, metric: string): boolean =>
  view.cells.some(({ cell }) => figureOf(cell.summary, metric)?.isShare);

const scoreText = (value: number, view: LeaderboardView, metric: string): string =>
  isShare(view, metric) ? typeset(`${(100 * value).toFixed(1)} %`) : formatFigure(value);

// ---------------------------------------------------------------- the scatter

/** A shape a mode: told apart without colour. Paths around the origin, 5 px in radius. */
const markers: Record<PromptMode, string> = {
  'zero-shot': 'M-4.2 0a4.2 4.2 0 1 0 8.4 0a4.2 4.2 0 1 0 -8.4 0Z',
  'few-shot': 'M-4 -4h8v8h-8Z',
  'soft-prompt': 'M0 -5.2L5 4H-5Z',
  'few-shot+soft-prompt': 'M0 -5.5L5.5 0L0 5.5L-5.5 0Z',
};
const isFilled = (mode: PromptMode): boolean => mode === 'soft-prompt' || mode === 'few-shot+soft-prompt';
const modeClass = (mode: PromptMode): string => `mode-${mode.replace('+', '-')}`;

const marker = (mode: PromptMode, attributes: Record<string, string>, ...children: Child[]): SVGElement =>
  svg(
    'path',
    { d: markers[mode], class: `marker ${modeClass(mode)}${isFilled(mode) ? ' filled' : ''}`, ...attributes },
    ...children,
  );

const legend = (modes: readonly PromptMode[]): HTMLElement =>
  h(
    'ul',
    { class: 'legend' },
    ...modes.map((mode) =>
      h(
        'li',
        { class: 'mode-name' },
        svg('svg', { class: 'icon', viewBox: '-8 -8 16 16', 'aria-hidden': 'true' }, marker(mode, {})),
        `base: ${mode}`,
      ),
    ),
  );

/** Base score across, post-trained score upwards, one scale for both so that the diagonal is “no change”. */
function plot(
  series: readonly { mode: PromptMode; pairs: PairScores[] }[],
  { view, metric, target }: { view: LeaderboardView; metric: string; target: PromptMode },
): SVGElement {
  const values = series.flatMap(({ pairs }) => pairs.flatMap((pair) => [pair.baseScore, pair.postTrainedScore]));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = high > low ? (high - low) * 0.06 : 0.05;
  const share = isShare(view, metric);
  const from = share ? Math.max(0, low - room) : low - room;
  const to = share ? Math.min(1, high + room) : high + room;
  const [left, top, size] = [46, 8, 270];
  const x = (value: number): number => left + (size * (value - from)) / (to - from);
  const y = (value: number): number => top + size - (size * (value - from)) / (to - from);
  const ticks = ticksOf(from, to);
  const text = (value: number): string => (share ? String(Math.round(value * 100)) : formatTick(value));
  const n = series[0]?.pairs.length ?? 0;
  return svg(
    'svg',
    {
      class: 'scatter',
      viewBox: `0 0 ${left + size + 8} ${top + size + 40}`,
      role: 'img',
      'aria-label': `Scatter of base against post-trained scores of ${n} pairs; the table below has the figures.`,
    },
    ...ticks.flatMap((tick) => [
      svg('path', { class: 'grid-line', d: `M${x(tick)} ${top}V${top + size}M${left} ${y(tick)}H${left + size}` }),
      svg('text', { x: x(tick), y: top + size + 14, 'text-anchor': 'middle' }, text(tick)),
      svg('text', { x: left - 6, y: y(tick) + 4, 'text-anchor': 'end' }, text(tick)),
    ]),
    svg('path', { class: 'diagonal', d: `M${x(from)} ${y(from)}L${x(to)} ${y(to)}` }),
    svg('path', { class: 'axis', d: `M${left} ${top}V${top + size}H${left + size}` }),
    svg('text', { x: left + size / 2, y: top + size + 32, 'text-anchor': 'middle' }, `base model${share ? ', %' : ''}`),
    svg(
      'text',
      { x: 0, y: 0, 'text-anchor': 'middle', transform: `translate(11 ${top + size / 2}) rotate(-90)` },
      `post-trained, ${target}${share ? ', %' : ''}`,
    ),
    ...series.flatMap(({ mode, pairs }) =>
      pairs.map((pair) =>
        marker(
          mode,
          { transform: `translate(${x(pair.baseScore)} ${y(pair.postTrainedScore)})` },
          svg(
            'title',
            {},
            `${visible(pair.base)}, ${mode}: ${scoreText(pair.baseScore, view, metric)}; ${visible(pair.postTrained)}: ${scoreText(pair.postTrainedScore, view, metric)}`,
          ),
        ),
      ),
    ),
  );
}

function ticksOf(from: number, to: number): number[] {
  const raw = (to - from) / 5;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((times) => times * power).find((each) => each >= raw) ?? raw;
  const ticks: number[] = [];
  for (let tick = Math.ceil(from / step) * step; tick <= to + step * 1e-6; tick += step) ticks.push(tick);
  return ticks;
}

const formatTick = (value: number): string => String(Number(value.toPrecision(3)));

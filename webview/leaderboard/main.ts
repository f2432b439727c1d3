/**
 * The leaderboard, in the side panel and as an editor tab: models ranked by any mode and metric, on one benchmark or over
 * all. Narrow it is a list, wide a grid of models × benchmarks.
 */
import { drawnWords, fewestBenchmarks, type RankedModel } from '../../src/metrics/index.ts';
import { asError } from '../../src/shared/errors.ts';
import type { PromptMode } from '../../src/shared/modes.ts';
import type {
  LeaderboardFormat,
  LeaderboardPageApi,
  LeaderboardPageEvents,
  LeaderboardView,
} from '../../src/shared/protocol.ts';
import { type Child, h, onNextFrame, render } from '../dom.ts';
import { embeddedLeaderboard } from '../embedded.ts';
import { type Host, openHost } from '../host.ts';
import { openPage } from '../page.ts';
import { visible } from '../text.ts';
import { onThemeChange } from '../theme.ts';
import { button, dropdown, progressRing, textField } from '../ui.ts';
import { tableCsv, tableMarkdown, tablePicture } from './export.ts';
import { listContent } from './list.ts';
import { Matrix } from './matrix.ts';
import { action, menu } from './menu.ts';
import { PairsSection } from './pairs.ts';
import { LikelyRanks } from './ranks.ts';
import {
  allTasks,
  metricsOf,
  modesOf,
  type PageState,
  rankColumn,
  readState,
  resolved,
  type SavedState,
} from './state.ts';
import { type Table, tableOf } from './table.ts';
import { viewChoices } from './view-menu.ts';
import { definitionOf, metricLabel } from './words.ts';

/** From this width on the benchmarks stand side by side. */
const wideFrom = '(min-width: 620px)';

class LeaderboardPage {
  readonly #host: Host<LeaderboardPageApi>;
  readonly #state = h('div', { class: 'page-state' });
  readonly #controls = h('div', { class: 'controls', role: 'search', 'aria-label': 'What is ranked', hidden: true });
  readonly #definition = h('p', { class: 'note', hidden: true });
  readonly #list = h('div', {});
  readonly #hidden = h('p', { class: 'hidden-note', role: 'status' });
  readonly #problem = h('p', { class: 'error-text', role: 'alert' });
  readonly #task = dropdown<string>('Benchmark', (task) => this.#choose({ task }));
  readonly #mode = dropdown<PromptMode>('Prompt mode', (mode) => this.#chooseMode(mode));
  readonly #metric = dropdown<string>('Metric', (metric) => this.#choose({ metric }));
  readonly #search = textField('Search models', 'Search models', (search) => this.#searchSoon(search));
  readonly #viewMenu = menu('View', 'view-menu');
  readonly #exportMenu = menu('Export', 'export-menu');
  readonly #matrix: Matrix;
  readonly #pairs: PairsSection;
  readonly #likely: LikelyRanks;
  readonly #wide = matchMedia(wideFrom);
  readonly #refreshSoon = onNextFrame(() => this.#refresh());
  readonly #searchLater = onNextFrame(() => this.#choose({ search: this.#search.value }));
  readonly #opened = new Set<string>();
  #view: LeaderboardView | null = null;
  /** Of all that is shown, and of the runs under way alone. */
  #version = 0;
  #runningVersion = 0;
  #saved: SavedState = {};
  #table: Table | null = null;

  constructor(root: HTMLElement) {
    this.#host = openHost<LeaderboardPageApi, LeaderboardPageEvents>(
      'leaderboard',
      {
        viewChanged: (view) => this.#setView(view),
        runningChanged: (running) => {
          if (!this.#view) return;
          this.#view = { ...this.#view, running };
          this.#runningVersion++;
          this.#refresh();
        },
      },
      embeddedLeaderboard,
    );
    this.#likely = new LikelyRanks(this.#host, () => {
      this.#version++;
      this.#refreshSoon();
    });
    this.#matrix = new Matrix({
      open: (model, task, mode) => this.#do(this.#host.api.open({ model, task, mode })),
      sort: (column) => this.#sort(column),
      toggle: (group) => this.#toggle(group),
      hideModel: (model) => this.#choose({ hiddenModels: [...(this.#saved.hiddenModels ?? []), model] }),
      hideBenchmark: (task) => this.#choose({ hiddenBenchmarks: [...(this.#saved.hiddenBenchmarks ?? []), task] }),
    });
    this.#pairs = new PairsSection({
      target: (target) => this.#choose({ target }),
      pairsOf: (pairsOf) => this.#choose({ pairsOf }),
      opened: (pairsOpen) => this.#choose({ pairsOpen }),
      editLink: (model) => this.#do(this.#host.api.editLink({ model })),
    });
    this.#controls.append(
      this.#task.element,
      this.#mode.element,
      this.#metric.element,
      this.#search.element,
      h('div', { class: 'menus' }, this.#viewMenu.element, this.#exportMenu.element),
    );
    root.append(
      h('h1', { class: 'visually-hidden' }, 'Leaderboard'),
      this.#controls,
      this.#state,
      this.#problem,
      this.#hidden,
      this.#matrix.element,
      this.#list,
      this.#definition,
      this.#pairs.element,
    );
    this.#wide.addEventListener('change', this.#refreshSoon);
    onThemeChange(this.#refreshSoon);
  }

  async start(): Promise<void> {
    this.#state.replaceChildren(progressRing('Loading the leaderboard'));
    try {
      const [view, saved] = await Promise.all([this.#host.api.view(), this.#host.api.loadState().catch(() => null)]);
      this.#saved = readState(saved);
      this.#search.value = this.#saved.search ?? '';
      this.#setView(view);
    } catch (error) {
      this.#state.replaceChildren(
        h('p', { class: 'error-text', role: 'alert' }, `The leaderboard could not be read: ${asError(error).message}`),
        button({ label: 'Try again', onClick: () => void this.start() }),
      );
    }
  }

  /** The same object while nothing of it has changed. */
  #stateOf(view: LeaderboardView): PageState {
    const next = resolved(this.#saved, view);
    const text = JSON.stringify(next);
    if (text !== this.#shownState?.text) this.#shownState = { text, state: next };
    return this.#shownState.state;
  }
  #shownState: { text: string; state: PageState } | null = null;

  #choose(change: SavedState): void {
    this.#saved = { ...this.#saved, ...change };
    // Cells are predicted of one metric at a time.
    if (change.metric !== undefined && this.#view?.predictions?.shown)
      this.#do(this.#host.api.showPredictions({ shown: true, metric: change.metric }));
    this.#host.api.saveState({ state: this.#saved }).catch(() => {});
    this.#refresh();
  }

  /** The order by rank goes with the mode that ranks. */
  #chooseMode(mode: PromptMode): void {
    const { sort } = this.#saved;
    this.#choose({
      mode,
      ...(sort?.column.startsWith('rank ') && { sort: { column: rankColumn(mode), descending: false } }),
    });
  }

  #searchSoon(search: string): void {
    if (search === '') this.#choose({ search });
    else this.#searchLater();
  }

  #sort(column: string): void {
    const view = this.#view;
    if (!view) return;
    const { sort } = resolved(this.#saved, view);
    // Names and ranks from the first, values from the highest on.
    const first = column !== 'model' && !column.startsWith('rank ');
    this.#choose({ sort: { column, descending: sort.column === column ? !sort.descending : first } });
  }

  #toggle(group: string): void {
    const { collapsed = [] } = this.#saved;
    this.#choose({
      collapsed: collapsed.includes(group) ? collapsed.filter((each) => each !== group) : [...collapsed, group],
    });
  }

  #setView(view: LeaderboardView): void {
    this.#view = view;
    this.#version++;
    this.#refresh();
  }

  #refresh(): void {
    const view = this.#view;
    if (!view) return;
    const empty = view.cells.length === 0 && (view.running ?? []).length === 0;
    this.#state.hidden = !empty;
    for (const part of [
      this.#controls,
      this.#list,
      this.#definition,
      this.#hidden,
      this.#matrix.element,
      this.#pairs.element,
    ])
      part.hidden = empty;
    if (empty) {
      render(this.#state, view.models.length > 0, () => this.#emptyState(view.models.length > 0));
      return;
    }
    const state = this.#stateOf(view);
    const table = tableOf(view, state);
    this.#table = table;
    this.#likely.update(table, state.metric);
    this.#setControls(view, state);
    this.#setNotes(view, state, table);
    const wide = this.#wide.matches;
    this.#matrix.element.hidden = !wide;
    this.#list.hidden = wide;
    const { live } = this.#host;
    const { running = [] } = view;
    if (wide)
      this.#matrix.update({
        table,
        state,
        live,
        version: this.#version,
        likely: (mode, model) => this.#likely.of(mode, model),
        running: (model) => JSON.stringify(running.filter((each) => each.model === model)),
      });
    else
      render(this.#list, [this.#version, this.#runningVersion, state], () =>
        listContent({
          table,
          state,
          live,
          likely: (model) => this.#likely.of(state.mode, model),
          opened: this.#opened,
          made: this.#madeItems(),
          open: (model, task) => this.#do(this.#host.api.open({ model, task, mode: state.mode })),
          toggle: (group) => this.#toggle(group),
        }),
      );
    this.#pairs.update({ view, table, state, live }, wide);
    // For benches and tests: which search these models are of.
    this.#controls.dataset.search = state.search;
  }

  /** Of the scores and the runs under way as they are now; an entry that ranks otherwise is another. */
  #madeItems(): WeakMap<RankedModel, HTMLElement> {
    const of = `${this.#version} ${this.#runningVersion}`;
    if (this.#made.of !== of) this.#made = { of, items: new WeakMap() };
    return this.#made.items;
  }
  #made = { of: '', items: new WeakMap<RankedModel, HTMLElement>() };

  #setControls(view: LeaderboardView, state: PageState): void {
    this.#task.set(
      [
        { value: allTasks, label: 'All benchmarks' },
        ...view.benchmarks.map(({ task }) => ({ value: task, label: visible(task) })),
      ],
      state.task,
    );
    this.#mode.set(
      modesOf(view).map((mode) => ({ value: mode, label: mode })),
      state.mode,
    );
    this.#metric.set(
      metricsOf(view).map((metric) => ({ value: metric, label: metricLabel(metric) })),
      state.metric,
    );
    this.#viewMenu.set(() =>
      viewChoices({
        view,
        state,
        wide: this.#wide.matches,
        live: this.#host.live,
        choose: (change) => this.#choose(change),
        showPredictions: (shown) => this.#do(this.#host.api.showPredictions({ shown, metric: state.metric })),
        openTab: () => this.#do(this.#host.api.openTab()),
      }),
    );
    const save = (label: string, format: LeaderboardFormat): HTMLElement =>
      action(label, () => {
        this.#exportMenu.close();
        this.#do(this.#save(format));
      });
    this.#exportMenu.set(() => [
      save('CSV: full precision', 'csv'),
      save('Markdown table', 'md'),
      save('Picture (PNG)', 'png'),
      // A file is a web page already.
      this.#host.live && save('Web page (HTML), opens in any browser', 'html'),
    ]);
  }

  #setNotes(view: LeaderboardView, state: PageState, table: Table): void {
    const [ranked] = table.ranked;
    const several = (ranked?.tasks.length ?? 0) > 1;
    const drawn = this.#likely.drawn(state.mode);
    this.#definition.textContent = [
      definitionOf(view, state.metric),
      several ? 'Mean over the benchmarks; its interval takes them as independent.' : '',
      drawn && (ranked?.order.filter(({ rank }) => rank !== null).length ?? 0) > 1 ? this.#rankNote(drawn) : '',
      several && (ranked?.tasks.length ?? 0) < fewestBenchmarks && drawn !== null
        ? 'They say nothing of other benchmarks.'
        : '',
      view.predictions?.note ?? '',
    ]
      .filter(Boolean)
      .join(' ');
    const show = (change: SavedState): HTMLElement =>
      h('button', { type: 'button', class: 'link', onclick: () => this.#choose(change) }, 'show');
    const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
    const { models, benchmarks } = table.hidden;
    render(this.#hidden, [models.length, benchmarks.length, table.unmatched], () => [
      models.length > 0 && h('span', {}, `${counted(models.length, 'model')} hidden, `, show({ hiddenModels: [] })),
      benchmarks.length > 0 &&
        h('span', {}, `${counted(benchmarks.length, 'benchmark')} hidden, `, show({ hiddenBenchmarks: [] })),
      table.unmatched > 0 && h('span', {}, `${counted(table.unmatched, 'model')} not found by the search`),
    ]);
  }

  /** In a list the ranks stand below, in the grid below too: there are no brackets on the page. */
  #rankNote(drawn: keyof typeof drawnWords): string {
    return drawnWords[drawn].replace('Ranks in brackets', 'Small figures below a rank');
  }

  #emptyState(hasModels: boolean): Child[] {
    const { api, live } = this.#host;
    const run = (command: 'chooseModel' | 'openExamples' | 'compare') => (): void =>
      this.#do(api.runCommand({ command }));
    return [
      h('h2', {}, 'No results yet'),
      h(
        'p',
        { class: 'muted' },
        hasModels
          ? 'Open a benchmark file and compare its prompt modes, or try one of the examples with the bundled model.'
          : 'Choose a model folder, then compare the prompt modes of a benchmark. The examples bring a small model along.',
      ),
      live &&
        h(
          'div',
          { class: 'empty-actions' },
          button({ label: 'Compare prompt modes', appearance: 'primary', onClick: run('compare') }),
          button({ label: 'Open the examples', onClick: run('openExamples') }),
          button({ label: 'Choose a model…', onClick: run('chooseModel') }),
        ),
    ];
  }

  /** With the filter, the order and the hidden parts of the page. */
  async #save(format: LeaderboardFormat): Promise<void> {
    const [view, table] = [this.#view, this.#table];
    if (!view || !table) return;
    const state = resolved(this.#saved, view);
    const shown = { table, state, likely: (mode: PromptMode, model: string) => this.#likely.of(mode, model) };
    const name = `leaderboard-${state.metric.replace(/[^\w.-]+/g, '-')}-${state.mode}.${format}`;
    if (this.#host.live) {
      const content =
        format === 'csv'
          ? tableCsv(shown)
          : format === 'md'
            ? tableMarkdown(shown)
            : format === 'png'
              ? await base64(await tablePicture(shown))
              : JSON.stringify(this.#saved);
      await this.#host.api.save({ format, name, content });
      return;
    }
    const blob =
      format === 'png'
        ? await tablePicture(shown)
        : new Blob([format === 'csv' ? tableCsv(shown) : tableMarkdown(shown)], { type: 'text/plain' });
    const address = URL.createObjectURL(blob);
    const anchor = h('a', { href: address, download: name });
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }

  #do(call: Promise<unknown>): void {
    this.#problem.textContent = '';
    call.catch((error) => {
      this.#problem.textContent = asError(error).message;
    });
  }
}

async function base64(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let binary = '';
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}

openPage((root) => new LeaderboardPage(root).start());

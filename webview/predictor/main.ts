/** The predictor page: how well scores are predicted, what is hard to predict, and the few tasks worth running. */
import { asError } from '../../src/shared/errors.ts';
import type { PredictionTask, PredictionWork, PredictorView } from '../../src/shared/predictions.ts';
import type { PredictorPageApi, PredictorPageEvents } from '../../src/shared/protocol.ts';
import { type Child, debounced, h, render } from '../dom.ts';
import { embeddedPredictor } from '../embedded.ts';
import { type Host, openHost } from '../host.ts';
import { notRead, openPage, reading } from '../page.ts';
import { button } from '../ui.ts';
import { FitSection } from './fit.ts';
import { HardestSection } from './hardest.ts';
import { Header } from './header.ts';
import { MapSection } from './map.ts';
import { NextSection } from './next.ts';
import { RecordsSection } from './records.ts';
import { ScatterSection } from './scatter.ts';
import { SmallBenchSection } from './small-bench.ts';

class PredictorPage {
  readonly #host: Host<PredictorPageApi>;
  readonly #state = h('div', { class: 'page-state' });
  readonly #content = h('div', { class: 'page-content', hidden: true });
  readonly #toast = h('div', { class: 'toast', role: 'status' });
  readonly #header: Header;
  readonly #fit: FitSection;
  readonly #scatter: ScatterSection;
  readonly #hardest: HardestSection;
  readonly #map: MapSection;
  readonly #smallBench: SmallBenchSection;
  readonly #next: NextSection;
  readonly #records: RecordsSection;
  #view: PredictorView | null = null;
  #scroll = 0;
  readonly #saveSoon = debounced(() => this.#save(), 300);

  constructor(root: HTMLElement) {
    this.#host = openHost<PredictorPageApi, PredictorPageEvents>(
      'predictor',
      { viewChanged: (view) => this.#setView(view), workChanged: (work) => this.#setWork(work) },
      embeddedPredictor,
    );
    const { api, live } = this.#host;
    const actions = {
      live,
      start: (task: PredictionTask) => this.#do(api.start({ task })),
      stop: () => this.#do(api.stop()),
      set: (change: PredictorPageApi['set']['argument']) => {
        // The host does not tell a page what the page has told it.
        if (this.#view) this.#view = { ...this.#view, settings: { ...this.#view.settings, ...change } };
        this.#do(api.set(change));
      },
      run: (command: PredictorPageApi['runCommand']['argument']['command']) => this.#do(api.runCommand({ command })),
      removeFile: (path: string) => this.#do(api.removeFile({ path })),
      exportList: (budget: number) => this.#do(api.exportSmallBench({ budget })),
      copy: (text: string) =>
        this.#do(
          api.copy({ text }).then(() => {
            this.#toast.textContent = 'Copied.';
          }),
        ),
      changed: () => this.#saveSoon(),
    };
    this.#header = new Header(actions);
    this.#fit = new FitSection(actions);
    this.#scatter = new ScatterSection(actions.changed);
    this.#hardest = new HardestSection(actions.changed);
    this.#map = new MapSection(actions);
    this.#smallBench = new SmallBenchSection(actions);
    this.#next = new NextSection(actions);
    this.#records = new RecordsSection(actions);
    this.#content.append(
      this.#fit.element,
      h('div', { class: 'two-columns' }, this.#scatter.element, this.#hardest.element),
      this.#map.element,
      this.#smallBench.element,
      this.#next.element,
      this.#records.element,
    );
    root.append(this.#header.element, this.#state, this.#content, this.#toast);
    document.addEventListener('scroll', this.#saveSoon, { passive: true });
  }

  async start(): Promise<void> {
    this.#state.hidden = false;
    this.#state.replaceChildren(...reading('Reading records'));
    try {
      const [view, saved] = await Promise.all([this.#host.api.view(), this.#host.api.loadState().catch(() => null)]);
      if (saved && typeof saved === 'object') this.#restore(saved as Record<string, unknown>);
      this.#setView(view);
      if (this.#scroll > 0) window.scrollTo(0, this.#scroll);
    } catch (error) {
      this.#state.replaceChildren(notRead('The records', error, () => void this.start()));
    }
  }

  #restore(saved: Record<string, unknown>): void {
    const part = (name: string): Record<string, unknown> => {
      const value = saved[name];
      return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
    };
    this.#scatter.restore(part('scatter'));
    this.#hardest.restore(part('hardest'));
    this.#smallBench.restore(part('smallBench'));
    if (typeof saved.scroll === 'number') this.#scroll = saved.scroll;
  }

  #save(): void {
    const state = {
      scatter: this.#scatter.state,
      hardest: this.#hardest.state,
      smallBench: this.#smallBench.state,
      scroll: Math.round(window.scrollY),
    };
    this.#host.api.saveState({ state }).catch(() => {});
  }

  #setView(view: PredictorView): void {
    this.#view = view;
    const isEmpty = view.records === null || view.records.used === 0;
    this.#state.hidden = !isEmpty;
    this.#content.hidden = isEmpty;
    this.#header.update(view);
    if (isEmpty) {
      render(this.#state, [view.records, view.work === null], () => this.#emptyState(view));
      return;
    }
    this.#fit.update(view);
    this.#scatter.update(view);
    this.#hardest.update(view);
    this.#map.update(view);
    this.#smallBench.update(view);
    this.#next.update(view);
    this.#records.update(view);
  }

  #setWork(work: PredictionWork | null): void {
    if (!this.#view) return;
    const isSame = this.#view.work?.task === work?.task && !work?.smallBench;
    this.#view = { ...this.#view, work };
    // Most progress moves the bar only.
    if (isSame) this.#header.setWork(work);
    else this.#setView(this.#view);
  }

  #emptyState(view: PredictorView): Child[] {
    const { api, live } = this.#host;
    const run = (command: PredictorPageApi['runCommand']['argument']['command']) => (): void =>
      this.#do(api.runCommand({ command }));
    const problems = view.records?.sources.filter(({ problem }) => problem !== null) ?? [];
    return [
      h('h2', {}, 'No records yet'),
      h(
        'p',
        { class: 'muted words' },
        'A predictor learns from scores: several models on several benchmarks. Runs of this workspace and imported results count; more come from CSV files and BIG-bench result files. Scores of ten models on ten benchmarks are a beginning.',
      ),
      live &&
        h(
          'div',
          { class: 'empty-actions' },
          button({ label: 'Try the example records', appearance: 'primary', onClick: run('openExample') }),
          button({ label: 'Add records…', onClick: run('addRecords') }),
          button({ label: 'Import results…', onClick: run('importResults') }),
        ),
      ...problems.map(({ path, problem }) => h('p', { class: 'error-text' }, `${path}: ${problem}`)),
      ...(view.records?.leftOut ?? []).map(({ reason, count }) =>
        h('p', { class: 'muted' }, `${count.toLocaleString('en-US')} left out: ${reason}`),
      ),
    ];
  }

  #do(call: Promise<unknown>): void {
    this.#toast.textContent = '';
    call.catch((error) => {
      this.#toast.textContent = asError(error).message;
    });
  }
}

openPage((root) => new PredictorPage(root).start());

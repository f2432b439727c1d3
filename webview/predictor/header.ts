/** The page's head: how many records, which predictor, what is under way, what went wrong. */
import type { PredictionSettings, PredictionWork, PredictorView } from '../../src/shared/predictions.ts';
import type { PredictorCommand } from '../../src/shared/protocol.ts';
import { type Child, h, render } from '../dom.ts';
import { visible } from '../text.ts';
import { button, dropdown } from '../ui.ts';
import { recordsInWords } from './records.ts';

export interface HeaderActions {
  live: boolean;
  set(change: Partial<PredictionSettings>): void;
  stop(): void;
  run(command: PredictorCommand): void;
}

export class Header {
  readonly element: HTMLElement;
  readonly #actions: HeaderActions;
  readonly #records = h('p', { class: 'muted' });
  readonly #predictor = dropdown<string>('Predictor', (predictor) => this.#actions.set({ predictor }));
  readonly #controls = h('div', { class: 'form-row' });
  readonly #message = h('span', { class: 'grow job-text' });
  readonly #fraction = h('span', { class: 'muted' });
  readonly #bar = h('div', { class: 'progress-bar' });
  readonly #progress = h('div', { class: 'progress', role: 'progressbar', 'aria-label': 'Progress' }, this.#bar);
  readonly #work: HTMLElement;
  readonly #problem = h('div', {});

  constructor(actions: HeaderActions) {
    this.#actions = actions;
    this.#work = h(
      'div',
      { class: 'job', hidden: true },
      h(
        'div',
        { class: 'job-row' },
        this.#message,
        this.#fraction,
        actions.live && button({ label: 'Stop', key: 'stop', onClick: () => actions.stop() }),
      ),
      this.#progress,
    );
    this.#controls.append(
      h('span', { class: 'control' }, h('span', { class: 'muted' }, 'Predictor'), this.#predictor.element),
      button({ label: 'Share as HTML…', key: 'share', onClick: () => actions.run('share') }),
    );
    this.element = h(
      'header',
      {},
      h('div', { class: 'heading-row' }, h('h1', { class: 'grow' }, 'Predictor'), actions.live && this.#controls),
      this.#records,
      this.#work,
      this.#problem,
    );
  }

  update(view: PredictorView): void {
    const { records, predictors, settings, problem } = view;
    const has = records !== null && records.used > 0;
    this.#records.textContent = has
      ? `Predicts scores that nobody measured from ${recordsInWords(records)}`
      : 'Predicts scores that nobody measured from those that somebody did.';
    this.#controls.hidden = !has;
    this.#predictor.set(
      predictors.map(({ name, title }) => ({ value: name, label: title })),
      settings.predictor,
    );
    render(this.#problem, problem, () => problemContent(problem));
    this.setWork(view.work);
  }

  setWork(work: PredictionWork | null): void {
    this.#work.hidden = work === null;
    if (!work) return;
    this.#message.textContent = visible(work.message);
    const { fraction } = work;
    this.#fraction.textContent = fraction === null ? '' : `${Math.floor(100 * fraction)}\u202f%`;
    this.#progress.classList.toggle('indeterminate', fraction === null);
    if (fraction === null) this.#progress.removeAttribute('aria-valuenow');
    else this.#progress.setAttribute('aria-valuenow', String(Math.round(100 * fraction)));
    this.#bar.style.inlineSize = fraction === null ? '' : `${100 * fraction}%`;
  }
}

const problemContent = (problem: string | null): Child[] =>
  problem === null
    ? []
    : [h('div', { class: 'banner error', role: 'alert' }, h('p', { class: 'grow' }, visible(problem)))];

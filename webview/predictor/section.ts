/** A section of the page: a heading, its controls, what it shows, and words where there is nothing yet. */
import type { PredictionTask, PredictorView } from '../../src/shared/predictions.ts';
import { type Child, h, render } from '../dom.ts';
import { button } from '../ui.ts';

export interface SectionActions {
  /** False for a file opened in a browser: nothing can be computed. */
  live: boolean;
  start(task: PredictionTask): void;
  stop(): void;
}

export interface SectionWords {
  id: string;
  title: string;
  task: PredictionTask;
  /** What its button says, before there is a result and after. */
  start: string;
  again: string;
  /** What it would show, and for what. */
  empty: string;
}

/** The frame that all sections share; what is in it is the section's own. */
export class SectionFrame {
  readonly element: HTMLElement;
  readonly controls = h('div', { class: 'section-controls' });
  readonly content = h('div', { class: 'section-content', hidden: true });
  readonly #state = h('div', {});
  readonly #button = h('div', {});
  readonly #words: SectionWords;
  readonly #actions: SectionActions;

  constructor(words: SectionWords, actions: SectionActions) {
    this.#words = words;
    this.#actions = actions;
    const heading = `${words.id}-heading`;
    this.element = h(
      'section',
      { id: words.id, 'aria-labelledby': heading },
      h(
        'div',
        { class: 'heading-row' },
        h('h2', { id: heading }, words.title),
        actions.live && this.controls,
        actions.live && this.#button,
      ),
      this.#state,
      this.content,
    );
  }

  /**
   * @param result what the section shows, of the records with this digest; null: nothing yet
   * @returns whether there is something to show
   */
  update(view: PredictorView, result: { digest: string } | null): boolean {
    const { task, start, again, empty } = this.#words;
    const isWorking = view.work?.task === task;
    const isOld = result !== null && view.records !== null && result.digest !== view.records.digest;
    this.content.hidden = result === null;
    // In a shared file a section without a result says nothing.
    this.element.hidden = result === null && !this.#actions.live;
    render(this.#button, [result !== null, isWorking], () => [
      button({
        label: isWorking ? 'Stop' : result ? again : start,
        appearance: result || isWorking ? 'secondary' : 'primary',
        key: `${task} start`,
        onClick: () => (isWorking ? this.#actions.stop() : this.#actions.start(task)),
      }),
    ]);
    render(this.#state, [result !== null, isOld], () => this.#stateContent(result !== null, isOld, empty));
    return result !== null;
  }

  #stateContent(has: boolean, isOld: boolean, empty: string): Child[] {
    if (!has) return [h('p', { class: 'muted words' }, empty)];
    return isOld ? [h('p', { class: 'old-note' }, 'The records have changed since this was computed.')] : [];
  }
}

/** Small-bench: how much of all scores a few tasks recover, against random subsets and fixed lists; the list to export. */
import type {
  PredictionSettings,
  PredictorView,
  SmallBenchPoint,
  SmallBenchResult,
} from '../../src/shared/predictions.ts';
import type { SmallBenchFormat } from '../../src/shared/protocol.ts';
import { type Child, h, render } from '../dom.ts';
import { visible } from '../text.ts';
import { button, dropdown, textField } from '../ui.ts';
import { type SectionActions, SectionFrame } from './section.ts';
import { SmallBenchCurve } from './small-bench-curve.ts';
import { table } from './table.ts';
import { counted, estimateText, fixed } from './words.ts';

export interface SmallBenchActions extends SectionActions {
  set(change: Partial<PredictionSettings>): void;
  exportList(budget: number, format: SmallBenchFormat): void;
  copy(text: string): void;
  changed(): void;
}

export interface SmallBenchState {
  budget: number | null;
}

export class SmallBenchSection {
  readonly #frame: SectionFrame;
  readonly #actions: SmallBenchActions;
  readonly #search = dropdown<string>('Search', (search) => this.#actions.set({ search }));
  readonly #budgets = textField('Budgets: numbers of tasks', 'Budgets', (text) => this.#setBudgets(text));
  readonly #seconds = textField('Seconds that the search may take', 'Seconds', (text) => this.#setSeconds(text));
  readonly #wrong = h('p', { class: 'error-text', role: 'alert', id: 'small-bench-wrong' });
  readonly #form = h('div', { class: 'form-row' });
  readonly #curve = new SmallBenchCurve();
  readonly #table = h('div', { class: 'grow' });
  readonly #list = h('div', { class: 'chosen-list' });
  readonly #words = h('p', { class: 'note' });
  #state: SmallBenchState = { budget: null };
  #result: SmallBenchResult | null = null;
  #typed = '';

  constructor(actions: SmallBenchActions) {
    this.#actions = actions;
    this.#frame = new SectionFrame(
      {
        id: 'small-bench',
        title: 'Small bench',
        task: 'smallBench',
        start: 'Search a small bench',
        again: 'Search again',
        empty:
          'Looks for the few tasks from which the scores on all others can be predicted best for families that were held out, and compares them with random subsets and with fixed lists.',
      },
      actions,
    );
    const labelled = (text: string, control: HTMLElement): HTMLElement =>
      h('span', { class: 'control' }, h('span', { class: 'muted' }, text), control);
    this.#form.append(
      labelled('Search', this.#search.element),
      labelled('Budgets', this.#budgets.element),
      labelled('Time limit, s', this.#seconds.element),
    );
    this.#form.hidden = !actions.live;
    this.#frame.element.insertBefore(this.#form, this.#frame.element.children[1] ?? null);
    this.#form.after(this.#wrong);
    this.#frame.content.append(
      h('div', { class: 'chart-and-table' }, h('figure', {}, this.#curve.element), this.#table),
      this.#words,
      this.#list,
    );
  }

  get element(): HTMLElement {
    return this.#frame.element;
  }

  get state(): SmallBenchState {
    return this.#state;
  }

  restore(saved: Partial<SmallBenchState>): void {
    if (typeof saved.budget === 'number') this.#state.budget = saved.budget;
  }

  update(view: PredictorView): void {
    const { settings, searches } = view;
    this.#search.set(
      searches.map(({ name, title }) => ({ value: name, label: title })),
      settings.search,
    );
    const asked = JSON.stringify([settings.budgets, settings.seconds]);
    // What is being typed is not overwritten by what it was before.
    if (asked !== this.#typed) {
      this.#typed = asked;
      this.#budgets.value = settings.budgets.join(', ');
      this.#seconds.value = String(settings.seconds);
    }
    const result = (view.work?.task === 'smallBench' ? view.work.smallBench : null) ?? view.smallBench;
    this.#result = result;
    if (this.#frame.update(view, result) && result) this.#show(result);
  }

  #setBudgets(text: string): void {
    const budgets = text
      .split(/[\s,;]+/)
      .filter(Boolean)
      .map(Number);
    const isRight = budgets.length > 0 && budgets.every((each) => Number.isInteger(each) && each > 0);
    this.#say(isRight ? '' : 'Budgets are whole numbers of tasks, such as 4, 8, 16.', this.#budgets);
    if (!isRight) return;
    const sorted = [...new Set(budgets)].sort((a, b) => a - b);
    this.#set({ budgets: sorted });
  }

  #setSeconds(text: string): void {
    const seconds = Number(text);
    const isRight = text.trim() !== '' && Number.isFinite(seconds) && seconds > 0;
    this.#say(isRight ? '' : 'The time limit is a number of seconds, such as 120.', this.#seconds);
    if (isRight) this.#set({ seconds });
  }

  #set(change: Partial<PredictionSettings>): void {
    const [budgets, seconds] = JSON.parse(this.#typed || '[[],0]') as [number[], number];
    this.#typed = JSON.stringify([change.budgets ?? budgets, change.seconds ?? seconds]);
    this.#actions.set(change);
  }

  #say(text: string, field: { setInvalid(describedBy: string | null): void }): void {
    this.#wrong.textContent = text;
    field.setInvalid(text ? this.#wrong.id : null);
  }

  #show(result: SmallBenchResult): void {
    const chosen = this.#chosen(result);
    this.#curve.update(result, chosen?.budget ?? null);
    render(this.#table, [result.curve, result.random, result.fixed, chosen?.budget], () =>
      this.#tableContent(result, chosen),
    );
    this.#words.textContent = wordsOf(result);
    render(this.#list, chosen, () => (chosen ? this.#listContent(chosen) : []));
  }

  /** The budget that was chosen, else the largest that was found. */
  #chosen(result: SmallBenchResult): SmallBenchPoint | null {
    return result.curve.find(({ budget }) => budget === this.#state.budget) ?? result.curve.at(-1) ?? null;
  }

  #choose(budget: number): void {
    this.#state = { budget };
    this.#actions.changed();
    if (this.#result) this.#show(this.#result);
  }

  #tableContent(result: SmallBenchResult, chosen: SmallBenchPoint | null): Child[] {
    const random = new Map(result.random.map((each) => [each.budget, each]));
    return [
      table(
        'Recovery by budget',
        [
          { title: 'Tasks', number: true },
          {
            title: 'Recovery, R²',
            number: true,
            words:
              'On the tasks outside of the bench, of families that were held out; mean ± standard deviation over folds',
          },
          { title: 'Random subsets', number: true, words: 'Median and 5 to 95 % of random subsets of as many tasks' },
          { title: 'List' },
        ],
        [
          ...result.curve.map((point) => {
            const beside = random.get(point.budget);
            return [
              String(point.budget),
              h('span', { class: 'value' }, estimateText(point.recovery)),
              beside ? `${fixed(beside.median)} (${fixed(beside.low)}–${fixed(beside.high)})` : '–',
              h(
                'button',
                {
                  type: 'button',
                  class: 'list-button',
                  'data-key': `list ${point.budget}`,
                  'aria-pressed': point.budget === chosen?.budget ? 'true' : 'false',
                  onclick: () => this.#choose(point.budget),
                },
                point.budget === chosen?.budget ? 'shown below' : 'show',
                h('span', { class: 'visually-hidden' }, `: list of ${counted(point.budget, 'task')}`),
              ),
            ];
          }),
          ...result.fixed.map(({ title, size, known, recovery }) => [
            String(known),
            estimateText(recovery),
            '',
            `${visible(title)}${known < size ? `: ${known} of its ${size} tasks are among the records` : ''}`,
          ]),
        ],
        'small-bench-table',
      ),
    ];
  }

  #listContent(chosen: SmallBenchPoint): Child[] {
    const { live, copy, exportList } = this.#actions;
    return [
      h('h3', {}, `The small bench of ${counted(chosen.budget, 'task')}`),
      h('ol', { class: 'subtasks' }, ...chosen.subtasks.map((name) => h('li', {}, visible(name)))),
      h(
        'div',
        { class: 'actions' },
        live &&
          button({
            label: 'Export as lm-eval group…',
            key: 'export lm-eval',
            onClick: () => exportList(chosen.budget, 'lm-eval'),
          }),
        live &&
          button({
            label: 'Export as Softbench study…',
            key: 'export softbench',
            onClick: () => exportList(chosen.budget, 'softbench'),
          }),
        button({ label: 'Copy the list', key: 'copy list', onClick: () => copy(`${chosen.subtasks.join('\n')}\n`) }),
      ),
    ];
  }
}

function wordsOf(result: SmallBenchResult): string {
  const ends = {
    done: 'The search is finished.',
    stopped: 'The search was stopped: this is the best that it had found.',
    time: 'The time limit ended the search: this is the best that it had found.',
  } as const;
  return `${result.title} over ${counted(result.subtasks, 'task')}, ${counted(result.evaluations, 'subset')} measured. ${ends[result.ended]} Band: random subsets, 5 to 95 %, dashed their median. A small difference between lists can be chance; the standard deviation over folds says how much.`;
}

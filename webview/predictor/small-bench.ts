/** Small-bench: how much of all scores a few tasks recover, against random subsets and fixed lists; the list to export. */
import type {
  BudgetUnit,
  PredictionSettings,
  PredictorView,
  SmallBenchPoint,
  SmallBenchResult,
} from '../../src/shared/predictions.ts';
import { type Child, h, render } from '../dom.ts';
import { visible } from '../text.ts';
import { button, dropdown, textField } from '../ui.ts';
import { type SectionActions, SectionFrame } from './section.ts';
import { SmallBenchCurve } from './small-bench-curve.ts';
import { table } from './table.ts';
import { counted, estimateText, fixed } from './words.ts';

export interface SmallBenchActions extends SectionActions {
  set(change: Partial<PredictionSettings>): void;
  exportList(budget: number): void;
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
  readonly #in = dropdown<PredictionSettings['budgetIn']>('Budgets in', (budgetIn) => this.#actions.set({ budgetIn }));
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
      labelled('in', this.#in.element),
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
    this.#in.set(
      [
        { value: 'tasks', label: 'tasks' },
        { value: 'cost', label: 'minutes to run them' },
      ],
      settings.budgetIn,
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
    const isRight = budgets.length > 0 && budgets.every((each) => Number.isFinite(each) && each > 0);
    this.#say(isRight ? '' : 'Budgets are numbers above 0, such as 4, 8, 16.', this.#budgets);
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
    render(this.#list, [chosen, result.unit], () => (chosen ? this.#listContent(chosen, result.unit) : []));
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
    const inTasks = result.unit === 'tasks';
    const random = new Map(result.random.map((each) => [each.budget, each]));
    return [
      table(
        'Recovery by budget',
        [
          ...(inTasks ? [] : [{ title: capitalised(result.unit), number: true }]),
          { title: 'Tasks', number: true },
          {
            title: 'Recovery, R²',
            number: true,
            words:
              'On the tasks outside of the bench, of families that were held out; mean ± standard deviation over folds',
          },
          { title: 'Random subsets', number: true, words: 'Median and 5 to 95 % of random subsets of as many tasks' },
          { title: 'Worth', number: true, words: 'Tasks that random subsets need to recover as much, on average' },
          {
            title: 'Ranking, τ',
            number: true,
            words: 'Kendall’s τ-b of the models’ mean scores: foretold from the bench against measured',
          },
          { title: 'List' },
        ],
        [
          ...result.curve.map((point) => {
            const beside = random.get(point.budget);
            const isChosen = point.budget === chosen?.budget;
            return [
              ...(inTasks ? [] : [amount(point.budget)]),
              String(point.subtasks.length),
              point.recovery
                ? h('span', { class: 'value' }, estimateText(point.recovery))
                : h(
                    'span',
                    { class: 'muted', title: 'On the families that it was searched with' },
                    `(${fixed(point.inSample)})`,
                  ),
              beside ? `${fixed(beside.median)} (${fixed(beside.low)}–${fixed(beside.high)})` : '–',
              worthOf(point, result),
              point.tau === null ? '–' : fixed(point.tau, 2),
              h(
                'button',
                {
                  type: 'button',
                  class: 'list-button',
                  'data-key': `list ${point.budget}`,
                  'aria-pressed': isChosen ? 'true' : 'false',
                  onclick: () => this.#choose(point.budget),
                },
                isChosen ? 'shown below' : 'show',
                h('span', { class: 'visually-hidden' }, `: list of ${budgetWords(point.budget, result.unit)}`),
              ),
            ];
          }),
          ...result.fixed.map(({ title, size, known, cost, recovery, tau }) => [
            ...(inTasks ? [] : [amount(cost)]),
            String(known),
            estimateText(recovery),
            '',
            '',
            tau === null ? '–' : fixed(tau, 2),
            h(
              'span',
              { class: 'fixed-list' },
              `${visible(title)}${known < size ? `: ${known} of its ${size} tasks are among the records` : ''}`,
            ),
          ]),
        ],
        'small-bench-table',
      ),
    ];
  }

  #listContent(chosen: SmallBenchPoint, unit: BudgetUnit): Child[] {
    const { live, copy, exportList } = this.#actions;
    return [
      h(
        'h3',
        {},
        `The small bench of ${counted(chosen.subtasks.length, 'task')}${unit === 'tasks' ? '' : ` within ${budgetWords(chosen.budget, unit)}`}`,
      ),
      live &&
        h(
          'p',
          { class: 'note' },
          'A group file is what lm-evaluation-harness runs by its name, and what Softbench evaluates and compares as one study.',
        ),
      h('ol', { class: 'subtasks' }, ...chosen.subtasks.map((name) => h('li', {}, visible(name)))),
      h(
        'div',
        { class: 'actions' },
        live &&
          button({
            label: 'Export as group file…',
            appearance: 'primary',
            key: 'export',
            onClick: () => exportList(chosen.budget),
          }),
        button({ label: 'Copy the list', key: 'copy list', onClick: () => copy(`${chosen.subtasks.join('\n')}\n`) }),
      ),
    ];
  }
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const amount = (value: number): string => value.toLocaleString('en-US', { maximumSignificantDigits: 3 });
const budgetWords = (budget: number, unit: BudgetUnit): string => `${amount(budget)} ${unit}`;

/** `24 random`: what its recovery is worth in random tasks. */
function worthOf({ recovery, randomSize }: SmallBenchPoint, { random, unit }: SmallBenchResult): string {
  if (!recovery) return '–';
  if (randomSize !== null) return `${fixed(randomSize, 1)} random`;
  const most = random.at(-1)?.budget;
  if (most === undefined) return '–';
  return unit === 'tasks' ? `more than ${most} random` : 'more than the largest';
}

function wordsOf(result: SmallBenchResult): string {
  const ends = {
    done: 'The search is finished.',
    stopped: 'The search was stopped: this is the best that it had found.',
    time: 'The time limit ended the search: this is the best that it had found.',
  } as const;
  const isMeasured = result.curve.every(({ recovery }) => recovery);
  const left = result.leftOut.reduce((sum, { count }) => sum + count, 0);
  return [
    `${result.title} over a table of ${counted(result.rows, 'model')} × ${counted(result.subtasks, 'task')}; ${counted(result.evaluations, 'subset')} looked at.`,
    ends[result.ended],
    isMeasured
      ? `Measured on ${counted(result.groups, 'group')} of ${result.heldOut} in turn, of which the search had seen nothing.`
      : 'Figures in brackets are of the families that the search has seen; on new ones they are lower.',
    'Band: random subsets, 5 to 95 %, dashed their median. A difference between lists within the deviation over folds can be chance.',
    left > 0
      ? `${counted(left, 'score')} found no place in the table: ${result.leftOut.map(({ reason, count }) => `${count.toLocaleString('en-US')} ${reason}`).join('; ')}.`
      : '',
  ]
    .filter(Boolean)
    .join(' ');
}

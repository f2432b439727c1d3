/** The row above the item table: choices, the filter as text, saved filters. The text is the truth; the choices show it. */
import { failureCauses } from '../../src/shared/failure-causes.ts';
import { h } from '../dom.ts';
import { shownVerdicts, verdicts } from '../terms.ts';
import { button, type DropdownControl, dropdown } from '../ui.ts';
import { type ColumnMark, isByMode } from './columns.ts';
import { complete, countValues } from './completion.ts';
import { type FilterError, parseFilter, valueGiven, withValue } from './filter.ts';
import { FilterField } from './filter-field.ts';
import type { Matcher } from './matching.ts';
import type { RowTable } from './rows.ts';
import { SavedFilters } from './saved-filters.ts';

const anyValue = 'any';
/** Milliseconds that counting for the completion may take. */
const countingPatience = 20;

/** How an item may differ between two columns, as the language says it and in words. */
const changes = [
  { key: 'changed', words: 'verdict changed' },
  { key: 'gained', words: 'wrong → right' },
  { key: 'lost', words: 'right → wrong' },
] as const;

/** Pairs that the choice offers: all of few columns; of many, each with the first. */
function offeredPairs(marks: readonly ColumnMark[]): [ColumnMark, ColumnMark][] {
  const bases = marks.length <= 4 ? marks : marks.slice(0, 1);
  return bases.flatMap((base) =>
    marks.slice(marks.indexOf(base) + 1).map((other): [ColumnMark, ColumnMark] => [base, other]),
  );
}

export interface FilterBarActions {
  changed(): void;
  done(): void;
  memoryChanged(): void;
}

export class FilterBar {
  readonly element: HTMLElement;
  readonly errors = h('div', { class: 'filter-errors', id: 'filter-errors', role: 'alert' });
  readonly saved: SavedFilters;
  readonly #field: FilterField;
  readonly #runChoice = dropdown<string>('Run', (value) => this.#choose(this.#runKey, value));
  readonly #verdictChoice = dropdown<string>('Verdict', (value) => this.#choose('verdict', value));
  readonly #causeChoice = dropdown<string>('Cause', (value) => this.#choose('cause', value));
  readonly #changeChoice = dropdown<string>('Change between runs', (value) => this.#chooseChange(value));

  constructor(
    private readonly table: RowTable,
    private readonly matcher: Matcher,
    private readonly on: FilterBarActions,
    ...more: HTMLElement[]
  ) {
    this.#field = new FilterField({
      input: () => {
        this.sync();
        on.changed();
      },
      complete: (text, caret) => this.#complete(text, caret),
      done: () => {
        this.saved.used(this.text);
        on.done();
      },
    });
    this.saved = new SavedFilters({
      current: () => this.text,
      use: (text) => {
        this.text = text;
        on.changed();
        this.saved.used(text);
      },
      changed: () => on.memoryChanged(),
    });
    this.element = h(
      'div',
      { class: 'filter-bar', role: 'search', 'aria-label': 'Filter items' },
      this.#runChoice.element,
      this.#verdictChoice.element,
      this.#causeChoice.element,
      this.#changeChoice.element,
      this.saved.element,
      ...more,
      this.#field.element,
      button({
        label: 'Clear',
        onClick: () => {
          this.text = '';
          on.changed();
        },
      }),
    );
    this.sync();
  }

  get text(): string {
    return this.#field.value;
  }
  set text(text: string) {
    this.#field.value = text;
    this.sync();
  }

  focus(): void {
    this.#field.focus();
  }

  #choose(key: string, value: string): void {
    this.text = withValue(this.text, key, value === anyValue ? null : value);
    this.on.changed();
    this.saved.used(this.text);
  }

  #chooseChange(value: string): void {
    let { text } = this;
    for (const { key } of changes) text = withValue(text, key, null);
    if (value !== anyValue) {
      const [key = '', pair = ''] = JSON.parse(value) as string[];
      text = withValue(text, key, pair);
    }
    this.text = text;
    this.on.changed();
    this.saved.used(text);
  }

  get #marks(): ColumnMark[] {
    return this.table.marks.filter(Boolean);
  }

  /** The key of the filter language that columns are told apart by. */
  get #runKey(): 'mode' | 'run' {
    return isByMode(this.#marks) ? 'mode' : 'run';
  }

  /** What restricts to one run. */
  forRun(mark: ColumnMark): string {
    return withValue('', this.#runKey, mark.label);
  }

  /** The dropdowns show what the text says: one truth. */
  sync(): void {
    const text = this.text;
    const marks = this.#marks;
    const fill = (
      choice: DropdownControl<string>,
      all: string,
      value: string | null,
      options: { value: string; label: string }[],
    ): void => {
      choice.set(
        [{ value: anyValue, label: all }, ...options],
        options.some((option) => option.value === value) && value !== null ? value : anyValue,
      );
    };
    const runKey = this.#runKey;
    fill(
      this.#runChoice,
      runKey === 'mode' ? 'All modes' : 'All runs',
      valueGiven(text, runKey),
      marks.map(({ label }) => ({ value: label, label })),
    );
    this.#runChoice.name(runKey === 'mode' ? 'Mode' : 'Run');
    fill(
      this.#verdictChoice,
      'All verdicts',
      valueGiven(text, 'verdict'),
      shownVerdicts(this.table.verdicts).map((name) => ({ value: name, label: verdicts[name].label })),
    );
    const { causes } = this.table;
    fill(
      this.#causeChoice,
      'All causes',
      valueGiven(text, 'cause'),
      failureCauses.filter((cause) => causes.has(cause)).map((cause) => ({ value: cause, label: cause })),
    );
    this.#changeChoice.element.hidden = marks.length < 2;
    const given = changes.flatMap(({ key }) => {
      const pair = valueGiven(text, key);
      return pair === null ? [] : [JSON.stringify([key, pair])];
    });
    fill(this.#changeChoice, 'Changed or not', given.length === 1 ? (given[0] ?? null) : null, [
      ...(marks.length > 2 ? [{ value: JSON.stringify(['changed', 'yes']), label: 'changed between any two' }] : []),
      ...offeredPairs(marks).flatMap(([base, other]) =>
        changes.map(({ key, words }) => ({
          value: JSON.stringify([key, `${base.label}..${other.label}`]),
          label: `${base.label} → ${other.label}: ${words}`,
        })),
      ),
    ]);
  }

  showErrors(errors: readonly FilterError[]): void {
    this.#field.showErrors(errors);
    this.errors.replaceChildren(
      ...errors.map(({ start, message }) =>
        h('p', {}, h('span', { class: 'filter-place' }, `Column ${start + 1}`), h('span', {}, message)),
      ),
    );
  }

  #complete(text: string, caret: number) {
    return complete(text, caret, this.#marks, (key) => {
      // Counted among the rows that the rest of the filter leaves.
      const { terms } = parseFilter(text, this.table.marks);
      const term = terms.find(({ start, end }) => start < caret && caret <= end);
      const rest = term ? text.slice(0, term.start) + text.slice(term.end) : text;
      const { root } = parseFilter(rest, this.table.marks);
      const until = performance.now() + countingPatience;
      const { bits, known } = this.matcher.match(root, () => performance.now() > until);
      // Words without their counts are better than none for a while.
      return known < this.table.length ? new Map() : countValues(key, this.table, bits);
    });
  }
}

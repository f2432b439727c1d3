/** Filters that are kept by name, and those used last: a panel beside the filter. */
import { type Child, h } from '../dom.ts';
import { type Popover, popover } from '../popover.ts';
import { oneLine } from '../text.ts';
import { button, textField } from '../ui.ts';
import { type FilterMemory, type SavedFilter, withRecent, withSaved } from './filter-memory.ts';

const longestName = 60;

export interface SavedFiltersActions {
  current(): string;
  use(text: string): void;
  changed(): void;
}

export class SavedFilters {
  readonly element: HTMLElement;
  readonly #panel: Popover;
  #memory: FilterMemory = { saved: [], recent: [] };

  constructor(private readonly on: SavedFiltersActions) {
    this.#panel = popover('Saved filters', 'Saved and recent filters', () => this.#content());
    this.element = this.#panel.element;
  }

  get memory(): FilterMemory {
    return this.#memory;
  }
  set memory(memory: FilterMemory) {
    this.#memory = memory;
    this.#panel.refresh();
  }

  /** Remembers a filter that somebody has stayed with. */
  used(text: string): void {
    const filter = text.trim();
    if (filter === '' || this.#memory.recent[0] === filter) return;
    this.#memory = { ...this.#memory, recent: withRecent(this.#memory.recent, filter) };
    this.on.changed();
  }

  #set(saved: SavedFilter[]): void {
    this.#memory = { ...this.#memory, saved };
    this.#panel.refresh();
    this.on.changed();
  }

  #content(): Child[] {
    const current = this.on.current().trim();
    const { saved, recent } = this.#memory;
    const name = textField('Name of the filter', 'Name', () => {});
    const save = (): void => {
      const given = name.value.trim().slice(0, longestName);
      if (given) this.#set(withSaved(saved, { name: given, text: current }));
    };
    name.element.addEventListener('keydown', (event) => {
      if ((event as KeyboardEvent).key === 'Enter') save();
    });
    const pick = (text: string, label: string | null): HTMLElement =>
      h(
        'button',
        {
          type: 'button',
          class: 'pick',
          onclick: () => {
            this.#panel.close();
            this.on.use(text);
          },
        },
        label === null ? null : h('bdi', { class: 'pick-name' }, label),
        h('bdi', { class: 'mono' }, text === '' ? 'all items' : oneLine(text, 120)),
      );
    const isRecent = recent.filter((text) => text !== current);
    return [
      current === ''
        ? h('p', { class: 'muted' }, 'Write a filter first to save it.')
        : h(
            'div',
            { class: 'save-filter' },
            h('p', {}, 'Save ', h('bdi', { class: 'mono' }, oneLine(current, 120))),
            h(
              'div',
              { class: 'save-row' },
              name.element,
              button({ label: 'Save', appearance: 'primary', onClick: save }),
            ),
          ),
      saved.length > 0 && h('h3', {}, 'Saved'),
      saved.length > 0 &&
        h(
          'ul',
          { class: 'picks' },
          ...saved.map(({ name: each, text }) =>
            h(
              'li',
              {},
              pick(text, each),
              button({
                label: `Delete the filter ${each}`,
                icon: 'close',
                onClick: () => this.#set(saved.filter((other) => other.name !== each)),
              }),
            ),
          ),
        ),
      isRecent.length > 0 && h('h3', {}, 'Recent'),
      isRecent.length > 0 && h('ul', { class: 'picks' }, ...isRecent.map((text) => h('li', {}, pick(text, null)))),
    ];
  }
}

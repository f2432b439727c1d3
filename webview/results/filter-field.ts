/** The field of the filter: a combobox that completes keys and values, and underlines what is wrong where it stands. */
import { debounced, h } from '../dom.ts';
import type { Completion } from './completion.ts';
import { taken } from './completion.ts';
import type { FilterError } from './filter.ts';

export interface FilterFieldActions {
  /** The text has changed by the user. */
  input(): void;
  complete(text: string, caret: number): Completion | null;
  /** Enter: the text is as meant. */
  done(): void;
}

export class FilterField {
  readonly #input = h('input', {
    type: 'text',
    class: 'filter-input',
    role: 'combobox',
    'aria-label': 'Filter items',
    'aria-autocomplete': 'list',
    'aria-expanded': 'false',
    'aria-controls': 'filter-options',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    placeholder: 'Filter: mode:zero-shot cause:"ran on" lenient:right strict:wrong tokens>100 "text"',
  });
  /** Lies behind the field's own text, in the same place: the underlines alone are seen of it. */
  readonly #mirror = h('div', { class: 'filter-mirror-text' });
  readonly #list = h('ul', {
    id: 'filter-options',
    class: 'filter-options',
    role: 'listbox',
    'aria-label': 'Completions',
    hidden: true,
  });
  readonly element = h(
    'div',
    { class: 'filter-field' },
    h('div', { class: 'filter-mirror', 'aria-hidden': 'true' }, this.#mirror),
    this.#input,
    this.#list,
  );
  #completion: Completion | null = null;
  /** The option that Enter takes; -1 where none is chosen yet. */
  #active = -1;

  readonly #openSoon = debounced(() => {
    if (document.activeElement === this.#input) this.#open(false);
  }, 60);

  constructor(private readonly on: FilterFieldActions) {
    this.#input.addEventListener('input', () => {
      this.showErrors([]);
      on.input();
      // After the rows: counting values must not hold up what is typed.
      this.#openSoon();
    });
    this.#input.addEventListener('keydown', (event) => this.#key(event));
    this.#input.addEventListener('blur', () => this.#close());
    for (const event of ['scroll', 'keyup', 'click']) this.#input.addEventListener(event, () => this.#follow());
    this.#input.addEventListener('click', () => this.#close());
  }

  get value(): string {
    return this.#input.value;
  }
  set value(text: string) {
    if (this.#input.value === text) return;
    this.#input.value = text;
    this.#close();
  }

  focus(): void {
    this.#input.focus();
  }

  /** Underlines what is wrong. */
  showErrors(errors: readonly FilterError[]): void {
    const text = this.#input.value;
    this.#input.classList.toggle('invalid', errors.length > 0);
    if (errors.length > 0) {
      this.#input.setAttribute('aria-invalid', 'true');
      this.#input.setAttribute('aria-describedby', 'filter-errors');
    } else {
      this.#input.removeAttribute('aria-invalid');
      this.#input.removeAttribute('aria-describedby');
    }
    if (errors.length === 0) {
      this.#mirror.replaceChildren();
      return;
    }
    const parts: (Node | string)[] = [];
    let at = 0;
    for (const { start, end } of errors) {
      if (start < at) continue;
      parts.push(text.slice(at, start), h('mark', {}, text.slice(start, end) || ' '));
      at = end;
    }
    this.#mirror.replaceChildren(...parts, text.slice(at));
    this.#follow();
  }

  #follow(): void {
    if (!this.#mirror.hasChildNodes()) return;
    this.#mirror.style.transform = `translateX(${-this.#input.scrollLeft}px)`;
  }

  #open(asked: boolean): void {
    const { value, selectionStart, selectionEnd } = this.#input;
    const caret = selectionStart ?? value.length;
    this.#completion = caret === selectionEnd ? this.on.complete(value, caret) : null;
    const found = this.#completion;
    const written = found ? value.slice(found.start, found.end) : '';
    const [only] = found?.options ?? [];
    // Nothing is offered where nothing is begun, unless asked for, nor what is written already.
    if (
      !found ||
      (!asked && written === '' && found.key === null) ||
      (found.options.length === 1 && only?.insert === written)
    ) {
      this.#close();
      return;
    }
    this.#active = -1;
    this.#list.replaceChildren(
      ...found.options.map(({ label, detail }, at) =>
        h(
          'li',
          {
            id: `filter-option-${at}`,
            role: 'option',
            'aria-selected': 'false',
            // Before the field loses the focus.
            onmousedown: (event) => {
              event.preventDefault();
              this.#take(at);
            },
          },
          h('bdi', { class: 'option-label' }, label),
          h('span', { class: 'option-detail' }, detail),
        ),
      ),
    );
    this.#list.hidden = false;
    this.#list.scrollTop = 0;
    this.#input.setAttribute('aria-expanded', 'true');
    this.#input.removeAttribute('aria-activedescendant');
  }

  #close(): void {
    this.#list.hidden = true;
    this.#completion = null;
    this.#active = -1;
    this.#input.setAttribute('aria-expanded', 'false');
    this.#input.removeAttribute('aria-activedescendant');
  }

  #choose(at: number): void {
    const options = this.#list.children;
    options[this.#active]?.setAttribute('aria-selected', 'false');
    this.#active = (at + options.length) % options.length;
    const option = options[this.#active];
    option?.setAttribute('aria-selected', 'true');
    option?.scrollIntoView({ block: 'nearest' });
    this.#input.setAttribute('aria-activedescendant', `filter-option-${this.#active}`);
  }

  #take(at: number): void {
    const option = this.#completion?.options[at];
    if (!this.#completion || !option) return;
    const { text, caret } = taken(this.#input.value, this.#completion, option);
    this.#input.value = text;
    this.#input.setSelectionRange(caret, caret);
    this.#close();
    this.showErrors([]);
    this.on.input();
    // A key is followed by its values.
    this.#openSoon();
  }

  #key(event: KeyboardEvent): void {
    const isOpen = !this.#list.hidden;
    const handled = (): void => {
      event.preventDefault();
      event.stopPropagation();
    };
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp': {
        handled();
        const by = event.key === 'ArrowDown' ? 1 : -1;
        if (isOpen) this.#choose(this.#active < 0 && by < 0 ? -1 : this.#active + by);
        else {
          this.#open(true);
          if (this.#list.hidden && by > 0) this.on.done();
        }
        return;
      }
      case ' ':
        if (!event.ctrlKey) return;
        handled();
        this.#open(true);
        return;
      case 'Tab':
      case 'Enter':
        if (isOpen && this.#active >= 0) {
          handled();
          this.#take(this.#active);
        } else if (event.key === 'Enter') {
          handled();
          this.#close();
          this.on.done();
        }
        return;
      case 'Escape':
        if (!isOpen) return;
        handled();
        this.#close();
    }
  }
}

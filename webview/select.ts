/** A choice of one among several: a combobox without a text field that opens a list below itself. */
import { h } from './dom.ts';

export interface DropdownControl<Value extends string> {
  element: HTMLElement;
  /** Names it anew. */
  name(label: string): void;
  /** Replaces the options where they differ, and shows `value` as chosen without calling back. */
  set(options: readonly { value: Value; label: string }[], value: Value): void;
}

let made = 0;

export function dropdown<Value extends string>(
  label: string,
  onChange: (value: Value) => void,
): DropdownControl<Value> {
  const id = `dropdown-${made++}`;
  const shown = h('span', { class: 'dropdown-shown' });
  const list = h('div', { id, class: 'dropdown-list', role: 'listbox', hidden: true });
  const element = document.createElement('vscode-dropdown');
  for (const [name, value] of Object.entries({
    role: 'combobox',
    tabindex: '0',
    'aria-haspopup': 'listbox',
    'aria-expanded': 'false',
    'aria-controls': id,
  }))
    element.setAttribute(name, value);
  element.append(shown, h('span', { class: 'dropdown-sign', 'aria-hidden': 'true' }), list);
  const name = (text: string): void => {
    element.setAttribute('aria-label', text);
    list.setAttribute('aria-label', text);
    element.title = text;
  };
  name(label);
  let options: readonly { value: Value; label: string }[] = [];
  let chosen = -1;
  let active = -1;
  Object.defineProperty(element, 'value', { get: () => options[chosen]?.value ?? '' });

  const activate = (at: number): void => {
    list.children[active]?.classList.remove('active');
    active = Math.max(0, Math.min(options.length - 1, at));
    const option = list.children[active];
    option?.classList.add('active');
    option?.scrollIntoView({ block: 'nearest' });
    if (option) element.setAttribute('aria-activedescendant', option.id);
  };
  const elsewhere = (event: Event): void => {
    if (!event.composedPath().includes(element)) close();
  };
  const open = (): void => {
    list.hidden = false;
    element.setAttribute('aria-expanded', 'true');
    document.addEventListener('pointerdown', elsewhere);
    activate(Math.max(0, chosen));
  };
  const close = (): void => {
    list.hidden = true;
    list.children[active]?.classList.remove('active');
    active = -1;
    element.setAttribute('aria-expanded', 'false');
    element.removeAttribute('aria-activedescendant');
    document.removeEventListener('pointerdown', elsewhere);
  };
  const show = (at: number): void => {
    list.children[chosen]?.setAttribute('aria-selected', 'false');
    chosen = at;
    list.children[chosen]?.setAttribute('aria-selected', 'true');
    shown.textContent = options[chosen]?.label ?? '';
  };
  const take = (at: number): void => {
    const option = options[at];
    close();
    if (!option || at === chosen) return;
    show(at);
    onChange(option.value);
  };
  element.addEventListener('blur', close);
  element.addEventListener('click', (event) => {
    const option = (event.target as Element).closest('vscode-option');
    if (option) take([...list.children].indexOf(option));
    else if (list.hidden) open();
    else close();
  });
  let [typed, typedAt] = ['', 0];
  /** Letters go to the option that begins with them. */
  const seek = (letter: string): void => {
    typed = performance.now() - typedAt < 800 ? typed + letter : letter;
    typedAt = performance.now();
    const from = list.hidden ? chosen : active;
    const places = options.map((_, at) => (from + at + (typed.length > 1 ? 0 : 1)) % options.length);
    const found = places.find((at) => options[at]?.label.toLowerCase().startsWith(typed.toLowerCase()));
    if (found === undefined) return;
    if (list.hidden) open();
    activate(found);
  };
  element.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey) return;
    const isOpen = !list.hidden;
    const moves: Record<string, () => void> = {
      ArrowDown: () => (isOpen ? activate(active + 1) : open()),
      ArrowUp: () => (isOpen ? activate(active - 1) : open()),
      Home: () => (isOpen ? activate(0) : open()),
      End: () => {
        if (!isOpen) open();
        activate(options.length - 1);
      },
      Enter: () => (isOpen ? take(active) : open()),
      ' ': () => (isOpen ? take(active) : open()),
    };
    const move = moves[event.key];
    if (move) move();
    else if (event.key === 'Escape' && isOpen) close();
    else if (event.key === 'Tab' && isOpen) {
      take(active);
      return;
    } else if (event.key.length === 1 && !event.altKey) seek(event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  let signature = '';
  return {
    element,
    name,
    set(next, value) {
      const written = JSON.stringify(next);
      if (written !== signature) {
        signature = written;
        options = next;
        chosen = -1;
        const wasOpen = !list.hidden;
        if (wasOpen) close();
        list.replaceChildren(
          ...options.map(({ label: text }, at) => {
            const option = document.createElement('vscode-option');
            option.id = `${id}-${at}`;
            option.setAttribute('role', 'option');
            option.setAttribute('aria-selected', 'false');
            option.textContent = text;
            return option;
          }),
        );
        if (wasOpen) open();
      }
      const at = options.findIndex((option) => option.value === value);
      if (at !== chosen) show(at);
    },
  };
}

/** A button that folds out a panel of choices over the page. Escape and a click elsewhere close it. */
import { type Child, h, present } from '../dom.ts';

export interface Menu {
  element: HTMLDetailsElement;
  /** What is to be in the panel; made when it is open. The focus stays on what has the same `data-key`. */
  set(make: () => readonly Child[]): void;
  close(): void;
}

export function menu(label: string, className = ''): Menu {
  const panel = h('div', { class: 'menu-panel' });
  const summary = h('summary', { class: 'menu-button' }, label);
  const element = h('details', { class: `menu ${className}` }, summary, panel);
  const close = (): void => {
    element.open = false;
  };
  let make: () => readonly Child[] = () => [];
  const draw = (): void => {
    const focused = document.activeElement;
    const key = focused && panel.contains(focused) ? focused.getAttribute('data-key') : null;
    const top = panel.scrollTop;
    panel.replaceChildren(...present(make()));
    panel.scrollTop = top;
    if (key) panel.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
  };
  element.addEventListener('toggle', () => {
    if (element.open) draw();
  });
  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !element.open) return;
    event.stopPropagation();
    close();
    summary.focus();
  });
  document.addEventListener('pointerdown', (event) => {
    if (element.open && !element.contains(event.target as Node)) close();
  });
  return {
    element,
    close,
    set(next) {
      make = next;
      if (element.open) draw();
    },
  };
}

export function checkbox(
  label: string,
  {
    key,
    checked,
    disabled = false,
    onChange,
  }: { key: string; checked: boolean; disabled?: boolean; onChange(checked: boolean): void },
): HTMLElement {
  const input = h('input', { type: 'checkbox', 'data-key': key, disabled });
  input.checked = checked;
  input.addEventListener('change', () => onChange(input.checked));
  return h('label', { class: 'check' }, input, h('span', {}, label));
}

/** A choice of a panel that acts and closes it. */
export const action = (label: string, onClick: () => void, key = label): HTMLElement =>
  h('button', { type: 'button', class: 'menu-action', 'data-key': key, onclick: onClick }, label);

/** One of several. */
export function radios<Value extends string>(
  legend: string,
  options: readonly { value: Value; label: string }[],
  { name, chosen, onChange }: { name: string; chosen: Value; onChange(value: Value): void },
): HTMLElement {
  return h(
    'fieldset',
    {},
    h('legend', {}, legend),
    ...options.map(({ value, label }) => {
      const input = h('input', { type: 'radio', name, value, 'data-key': `${name} ${value}` });
      input.checked = value === chosen;
      input.addEventListener('change', () => {
        if (input.checked) onChange(value);
      });
      return h('label', { class: 'check' }, input, h('span', {}, label));
    }),
  );
}

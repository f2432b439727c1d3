/** A panel that a button opens below itself: a small dialog that Escape and a click elsewhere close. */
import { type Child, h, present } from './dom.ts';
import { button } from './ui.ts';

export interface Popover {
  element: HTMLElement;
  close(): void;
  /** Makes the content anew where the panel is open. */
  refresh(): void;
}

let made = 0;

/** @param content made whenever the panel opens; the first control in it gets the focus */
export function popover(label: string, title: string, content: () => Child[]): Popover {
  const id = `popover-${made++}`;
  const panel = h('div', { class: 'popover', id, role: 'dialog', 'aria-label': title, hidden: true });
  const opener = button({ label, onClick: () => (panel.hidden ? open() : close(false)) });
  opener.title = title;
  opener.setAttribute('aria-haspopup', 'dialog');
  opener.setAttribute('aria-expanded', 'false');
  opener.setAttribute('aria-controls', id);
  const element = h('div', { class: 'popover-place' }, opener, panel);
  const fill = (): void => panel.replaceChildren(...present(content()));
  const elsewhere = (event: Event): void => {
    if (!event.composedPath().includes(element)) close(false);
  };
  const open = (): void => {
    fill();
    panel.hidden = false;
    // To the side where there is room for it.
    const { left, right } = element.getBoundingClientRect();
    const fits = left + panel.offsetWidth <= document.documentElement.clientWidth;
    panel.classList.toggle('at-end', !fits && right - panel.offsetWidth >= 0);
    opener.setAttribute('aria-expanded', 'true');
    document.addEventListener('pointerdown', elsewhere);
    document.addEventListener('focusin', elsewhere);
    panel.querySelector<HTMLElement>('input, button, vscode-button')?.focus();
  };
  const close = (back: boolean): void => {
    if (panel.hidden) return;
    panel.hidden = true;
    opener.setAttribute('aria-expanded', 'false');
    document.removeEventListener('pointerdown', elsewhere);
    document.removeEventListener('focusin', elsewhere);
    if (back) opener.focus();
  };
  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || panel.hidden) return;
    event.stopPropagation();
    close(true);
  });
  return {
    element,
    close: () => close(true),
    refresh() {
      if (!panel.hidden) fill();
    },
  };
}

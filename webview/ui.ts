/**
 * The controls of all pages, in the editor's look. They stand in for the webview UI toolkit, which is deprecated and took a
 * quarter of the largest page: the same names of elements, and what they look like is in controls.css. Only this module
 * makes controls, so that they can be swapped for another set without touching a page.
 */
import { h } from './dom.ts';
import { type IconName, icon } from './icons.ts';

export { type DropdownControl, dropdown } from './select.ts';

export interface ButtonOptions {
  label: string;
  /** Drawn in place of the label, which then becomes the accessible name and the tooltip. */
  icon?: IconName;
  appearance?: 'primary' | 'secondary';
  key?: string;
  onClick(): void;
}

export function button({ label, icon: name, appearance = 'secondary', key, onClick }: ButtonOptions): HTMLElement {
  const element = document.createElement('vscode-button');
  element.setAttribute('appearance', name ? 'icon' : appearance);
  element.setAttribute('role', 'button');
  element.tabIndex = 0;
  if (name) {
    element.append(icon(name));
    element.setAttribute('aria-label', label);
    element.title = label;
  } else element.textContent = label;
  if (key) element.dataset.key = key;
  element.addEventListener('click', onClick);
  // As a button of the browser: Enter when it is pressed, the space bar when it is let go.
  element.addEventListener('keydown', (event) => {
    if (event.target !== element || (event.key !== 'Enter' && event.key !== ' ')) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Enter') element.click();
  });
  element.addEventListener('keyup', (event) => {
    if (event.target === element && event.key === ' ') element.click();
  });
  return element;
}

export interface TextFieldControl {
  element: HTMLElement;
  value: string;
  /** Marks the field as wrong (and names the element that says why), or as right again. */
  setInvalid(describedBy: string | null): void;
  focus(): void;
}

export function textField(label: string, placeholder: string, onInput: (value: string) => void): TextFieldControl {
  const input = h('input', {
    type: 'text',
    'aria-label': label,
    placeholder,
    spellcheck: 'false',
    autocomplete: 'off',
  });
  const element = document.createElement('vscode-text-field');
  element.append(input);
  element.focus = (options) => input.focus(options);
  input.addEventListener('input', () => onInput(input.value));
  return {
    element,
    get value() {
      return input.value;
    },
    set value(text) {
      if (input.value !== text) input.value = text;
    },
    setInvalid(describedBy) {
      element.classList.toggle('invalid', describedBy !== null);
      if (describedBy === null) {
        input.removeAttribute('aria-invalid');
        input.removeAttribute('aria-describedby');
      } else {
        input.setAttribute('aria-invalid', 'true');
        input.setAttribute('aria-describedby', describedBy);
      }
    },
    focus: () => input.focus(),
  };
}

export function progressRing(label: string): HTMLElement {
  const element = document.createElement('vscode-progress-ring');
  element.setAttribute('role', 'progressbar');
  element.setAttribute('aria-label', label);
  return element;
}

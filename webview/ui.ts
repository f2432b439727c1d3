/**
 * The controls of all pages. The toolkit behind them is deprecated: only this module knows it, so that it can be
 * swapped for another set of elements without touching a page.
 */
// must come before the toolkit
import './nonce.ts';
import {
  type Button,
  type Dropdown,
  provideVSCodeDesignSystem,
  type TextField,
  vsCodeButton,
  vsCodeDropdown,
  vsCodeOption,
  vsCodeProgressRing,
  vsCodeTextField,
} from '@vscode/webview-ui-toolkit';
import { type IconName, icon } from './icons.ts';

provideVSCodeDesignSystem().register(
  vsCodeButton(),
  vsCodeDropdown(),
  vsCodeOption(),
  vsCodeProgressRing(),
  vsCodeTextField(),
);

export interface ButtonOptions {
  label: string;
  /** Drawn in place of the label, which then becomes the accessible name and the tooltip. */
  icon?: IconName;
  appearance?: 'primary' | 'secondary';
  key?: string;
  onClick(): void;
}

export function button({ label, icon: name, appearance = 'secondary', key, onClick }: ButtonOptions): HTMLElement {
  const element = document.createElement('vscode-button') as Button;
  element.setAttribute('appearance', name ? 'icon' : appearance);
  if (name) {
    element.append(icon(name));
    element.setAttribute('aria-label', label);
    element.title = label;
  } else element.textContent = label;
  if (key) element.dataset.key = key;
  element.addEventListener('click', onClick);
  return element;
}

export interface DropdownControl<Value extends string> {
  element: HTMLElement;
  /** Names it anew. */
  name(label: string): void;
  /** Replaces the options where they differ, and shows `value` as chosen without calling back. */
  set(options: readonly { value: Value; label: string }[], value: Value): void;
}

export function dropdown<Value extends string>(
  label: string,
  onChange: (value: Value) => void,
): DropdownControl<Value> {
  const element = document.createElement('vscode-dropdown') as Dropdown;
  const name = (text: string): void => {
    element.setAttribute('aria-label', text);
    element.title = text;
  };
  name(label);
  let shown = '';
  let current = '';
  element.addEventListener('change', () => {
    // The toolkit also reports what the program set.
    if (element.value === current) return;
    current = element.value;
    onChange(element.value as Value);
  });
  return {
    element,
    name,
    set(options, value) {
      const signature = JSON.stringify(options);
      current = value;
      if (signature !== shown) {
        shown = signature;
        element.replaceChildren(
          ...options.map(({ value: each, label: text }) => {
            const option = document.createElement('vscode-option');
            option.setAttribute('value', each);
            option.textContent = text;
            if (each === value) option.setAttribute('selected', '');
            return option;
          }),
        );
      }
      // The toolkit reads its options a moment after they are put in.
      queueMicrotask(() => {
        if (element.value !== current) element.value = current;
      });
      requestAnimationFrame(() => {
        if (element.value !== current) element.value = current;
      });
    },
  };
}

export interface TextFieldControl {
  element: HTMLElement;
  value: string;
  /** Marks the field as wrong (and names the element that says why), or as right again. */
  setInvalid(describedBy: string | null): void;
  focus(): void;
}

export function textField(label: string, placeholder: string, onInput: (value: string) => void): TextFieldControl {
  const element = document.createElement('vscode-text-field') as TextField;
  element.setAttribute('aria-label', label);
  element.setAttribute('placeholder', placeholder);
  element.setAttribute('spellcheck', 'false');
  element.addEventListener('input', () => onInput(element.value));
  return {
    element,
    get value() {
      return element.value ?? '';
    },
    set value(text) {
      if (element.value !== text) element.value = text;
    },
    setInvalid(describedBy) {
      element.classList.toggle('invalid', describedBy !== null);
      const inner = element.shadowRoot?.querySelector('input');
      if (describedBy === null) inner?.removeAttribute('aria-invalid');
      else inner?.setAttribute('aria-invalid', 'true');
    },
    focus: () => element.focus(),
  };
}

export function progressRing(label: string): HTMLElement {
  const element = document.createElement('vscode-progress-ring');
  element.setAttribute('role', 'progressbar');
  element.setAttribute('aria-label', label);
  return element;
}

/** What every page does at first: takes its place in the document, says that it reads, and what could not be read. */
import { asError } from '../src/shared/errors.ts';
import { h } from './dom.ts';
import { button, progressRing } from './ui.ts';

/** Opens the page in the element `#root`, made where there is none, or says there why it cannot. */
export function openPage(open: (root: HTMLElement) => Promise<void>, problemClass = 'error-text'): void {
  const root = document.getElementById('root') ?? document.body.appendChild(h('main', { id: 'root' }));
  try {
    void open(root);
  } catch (error) {
    root.append(h('p', { class: problemClass, role: 'alert' }, asError(error).message));
  }
}

/** @param words `Reading records` */
export const reading = (words: string): HTMLElement[] => [progressRing(words), h('p', { class: 'muted' }, `${words}…`)];

/** @param what `The records` */
export const notRead = (what: string, error: unknown, again: () => void): HTMLElement =>
  h(
    'div',
    { class: 'banner error', role: 'alert' },
    h('div', { class: 'grow' }, h('p', {}, `${what} could not be read: ${asError(error).message}`)),
    button({ label: 'Try again', appearance: 'primary', onClick: again }),
  );

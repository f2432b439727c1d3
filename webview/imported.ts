/** The mark of imported results: by its shape and by the word, never by colour alone. */
import { h, svg } from './dom.ts';

/** An arrow that points into a tray, and "imported". `title` says from where. */
export const importedMark = (title?: string): HTMLElement =>
  h(
    'span',
    { class: 'imported-mark', ...(title && { title }) },
    svg(
      'svg',
      { class: 'icon', viewBox: '0 0 16 16', 'aria-hidden': 'true' },
      svg('path', { d: 'M8 2.5v7.5M4.8 7L8 10.2 11.2 7M2.5 10.5v3h11v-3', class: 'line' }),
    ),
    'imported',
  );

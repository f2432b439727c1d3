/** Glyphs as SVG, so that they look the same in every font; verdicts differ in shape as well as in colour. */
import { svg } from './dom.ts';
import type { Verdict } from './terms.ts';

const shapes: Record<Verdict, () => SVGElement[]> = {
  // a tick
  right: () => [svg('path', { d: 'M2.5 8.5l3.6 3.6L13.5 4.2', class: 'line' })],
  // a half-filled disc
  unformatted: () => [
    svg('circle', { cx: 8, cy: 8, r: 5.5, class: 'line' }),
    svg('path', { d: 'M8 2.5a5.5 5.5 0 0 0 0 11z', class: 'solid' }),
  ],
  // a ring
  wrong: () => [svg('circle', { cx: 8, cy: 8, r: 5.5, class: 'line' })],
  // a cross
  neither: () => [svg('path', { d: 'M3.5 3.5l9 9M12.5 3.5l-9 9', class: 'line' })],
  // a solid triangle
  likely: () => [svg('path', { d: 'M8 3l5.5 10h-11z', class: 'solid' })],
  // a triangle upside down, its outline
  unlikely: () => [svg('path', { d: 'M8 13L2.5 3h11z', class: 'line' })],
  // a dash
  unscored: () => [svg('path', { d: 'M3.5 8h9', class: 'line' })],
  // a square
  measured: () => [svg('path', { d: 'M3.5 3.5h9v9h-9z', class: 'line' })],
};

const verdictTemplates = new Map<Verdict, SVGElement>();

export function verdictIcon(verdict: Verdict): SVGElement {
  let template = verdictTemplates.get(verdict);
  if (!template) {
    template = svg(
      'svg',
      { class: `verdict-icon verdict-${verdict}`, viewBox: '0 0 16 16', 'aria-hidden': 'true' },
      ...shapes[verdict](),
    );
    verdictTemplates.set(verdict, template);
  }
  return template.cloneNode(true) as SVGElement;
}

const paths = {
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  previous: 'M8 12.5v-9M3.8 7.7L8 3.5l4.2 4.2',
  next: 'M8 3.5v9M3.8 8.3L8 12.5l4.2-4.2',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  source: 'M9 2.5H3.5v11h9V6zM9 2.5V6h3.5',
  mark: 'M4 14V2.5h8.5L10.3 5.4l2.2 2.9H4',
  widen: 'M2 8h12M5 5L2 8l3 3M11 5l3 3-3 3',
  share: 'M8 9.5v-7M5 5.2l3-2.9 3 2.9M4.5 7.5h-2v6h11v-6h-2',
  warning: 'M8 2.5l6 11H2zM8 6.5v3.5M8 11.5v.5',
} as const;
export type IconName = keyof typeof paths;

export const icon = (name: IconName): SVGElement =>
  svg(
    'svg',
    { class: 'icon', viewBox: '0 0 16 16', 'aria-hidden': 'true' },
    svg('path', { d: paths[name], class: 'line' }),
  );

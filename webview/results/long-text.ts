/**
 * Texts of any length: the beginning and what the readings took is shown at first, the rest on request. A line of a
 * megabyte in one piece would stop the page: whole texts go in blocks that the browser lays out as they come into sight.
 */
import { type Child, h, present } from '../dom.ts';
import { count } from '../format.ts';
import { piecesOf, visible } from '../text.ts';
import { button } from '../ui.ts';
import { blockEnds, firstCharacters, type Span, type Spans, shownRanges } from './text-parts.ts';

const none: Spans = { strict: null, lenient: null };

/** Text and marked pieces of `text` from `from` to `to`. */
function marked(text: string, from: number, to: number, { strict, lenient }: Spans): Child[] {
  const shift = (span: Span | null): [number, number] | null => span && [span[0] - from, span[1] - from];
  return piecesOf(text.slice(from, to), shift(strict), shift(lenient)).map((piece) => {
    if (!piece.strict && !piece.lenient) return visible(piece.text);
    const kinds = [piece.strict && 'strict', piece.lenient && 'lenient'].filter(Boolean).join(' ');
    const words = `taken by the ${kinds.replace(' ', ' and the ')} reading`;
    return h('mark', { class: kinds, title: words }, visible(piece.text));
  });
}

/**
 * Fills an element with a text.
 * @param end what stands behind its last character
 * @param limit characters shown at first
 */
export function fillText(
  place: HTMLElement,
  text: string,
  spans: Spans = none,
  end: Child = null,
  limit: number = firstCharacters,
): void {
  const ranges = shownRanges(text.length, spans, limit);
  let at = 0;
  const children: Child[] = [];
  const gap = (characters: number): HTMLElement =>
    h('span', { class: 'cut' }, ` … ${count(characters)} characters are left out … `);
  for (const [from, to] of ranges) {
    if (from > at) children.push(gap(from - at));
    children.push(...marked(text, from, to, spans));
    at = to;
  }
  const isCut = ranges.length > 1 || at < text.length;
  if (at < text.length) children.push(h('span', { class: 'cut' }, ` … ${count(text.length - at)} more characters `));
  if (end) children.push(end);
  if (isCut)
    children.push(
      ' ',
      button({ label: `Show all ${count(text.length)} characters`, onClick: () => showAll(place, text, spans, end) }),
    );
  place.replaceChildren(...present(children));
}

function showAll(place: HTMLElement, text: string, spans: Spans, end: Child): void {
  const ends = blockEnds(text);
  place.replaceChildren(
    ...ends.map((to, number) => {
      const from = ends[number - 1] ?? 0;
      const isLast = number === ends.length - 1;
      // The line break that ends a block is the block's end itself.
      const stop = !isLast && text[to - 1] === '\n' ? to - 1 : to;
      const broken = !isLast && stop === to;
      return h(
        'span',
        { class: `text-block${broken ? ' goes-on' : ''}` },
        ...marked(text, from, stop, spans),
        isLast && end,
      );
    }),
  );
}

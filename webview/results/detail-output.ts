/** The output of an item: what the readings took out of it, where it ended and why, and what came of it. */
import type { ItemRow } from '../../src/shared/protocol.ts';
import type { Reading } from '../../src/shared/results.ts';
import { type Child, h } from '../dom.ts';
import { count } from '../format.ts';
import { verdictIcon } from '../icons.ts';
import { hasInvisible, oneLine, visible } from '../text.ts';
import { fillText } from './long-text.ts';
import { stopSentence, stops } from './stop-words.ts';
import { firstCharacters } from './text-parts.ts';

/** Stands behind the last character of an output. */
export function stopMark({ stop }: Pick<ItemRow, 'stop'>): HTMLElement {
  const { glyph, name, sentence } = stops[stop.reason];
  const marker = stop.marker ? ` ${JSON.stringify(visible(stop.marker))}` : '';
  return h('span', { class: `stop-mark stop-${stop.reason}`, title: sentence }, `${glyph} ${name}${marker}`);
}

type Judged = Pick<ItemRow, 'output' | 'strict' | 'lenient' | 'stop'>;

/**
 * The raw output with what the readings took. Very long ones start cut and can be shown whole.
 * @param kind `output`: that of the run that is shown; `excerpt`: that of another
 */
export function outputText(
  record: Judged,
  limit: number = firstCharacters,
  kind: 'output' | 'excerpt' = 'output',
): HTMLElement {
  const { output, strict, lenient } = record;
  const place = h('pre', { class: `text ${kind}`, dir: 'auto', tabindex: -1 });
  const end = stopMark(record);
  if (output === '') place.append(h('span', { class: 'muted' }, '(empty) '), end);
  else fillText(place, output, { strict: strict.span, lenient: lenient.span }, end, limit);
  return place;
}

/** What the marks in the output mean; only those that are there. */
function legend({ output, strict, lenient }: Judged): Child[] {
  const entry = (kind: 'strict' | 'lenient', { answer, span }: Reading): Child => {
    if (answer === null) return null;
    const text = span ? `${kind} reading` : `${kind} reading: its answer does not stand in the text as it is`;
    return h('li', {}, span && h('mark', { class: kind, 'aria-hidden': 'true' }, 'abc'), ` ${text}`);
  };
  const entries = [
    entry('strict', strict),
    entry('lenient', lenient),
    hasInvisible(output.slice(0, 100_000)) &&
      h('li', {}, h('span', { class: 'mono' }, '␛ ⟨U+202E⟩'), ' controls and invisible characters, made visible'),
  ].filter(Boolean);
  return entries.length > 0
    ? [h('ul', { class: 'legend marks-legend', 'aria-label': 'Marks in the output' }, ...entries)]
    : [];
}

export function outputSection(record: ItemRow): Child[] {
  return [
    outputText(record),
    ...legend(record),
    h('p', { class: 'muted small' }, `${count(record.outputTokens)} tokens, ${stopSentence(record)}`),
  ];
}

/** Gold and readings, each with its verdict. */
export function readings(record: ItemRow, gold: string): HTMLElement {
  const line = (name: string, kind: string, answer: string | null, ok: boolean | null): HTMLElement =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, h('span', { class: `reading-mark ${kind}` }), name),
      h(
        'td',
        {},
        answer === null
          ? h('span', { class: 'muted' }, 'nothing')
          : h('bdi', { class: 'mono', dir: 'auto' }, oneLine(answer, 400)),
      ),
      h(
        'td',
        {},
        ok === null
          ? ''
          : h('span', { class: 'mode-name' }, verdictIcon(ok ? 'right' : 'neither'), ok ? 'right' : 'wrong'),
      ),
    );
  const { strict, lenient, inFormat, right, lenientRight, generated } = record;
  return h(
    'table',
    { class: 'readings' },
    h(
      'tbody',
      {},
      line('Gold', 'gold', gold, null),
      generated !== false &&
        line('Strict reading', 'strict', strict.answer, strict.answer === null && !inFormat ? null : right),
      generated !== false &&
        line('Lenient reading', 'lenient', lenient.answer, lenient.answer === null ? null : lenientRight),
    ),
  );
}

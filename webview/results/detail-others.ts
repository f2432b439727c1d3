/** The same item in the other columns, beside each other; their outputs as they are, or as differences from this one. */
import { type Child, h } from '../dom.ts';
import { count } from '../format.ts';
import { verdictIcon } from '../icons.ts';
import { verdicts } from '../terms.ts';
import { oneLine, visible } from '../text.ts';
import { columnName } from './columns.ts';
import { outputText } from './detail-output.ts';
import { likelihoodText } from './likelihood-text.ts';
import type { Row } from './rows.ts';
import { mostCompared, wordDifference } from './word-difference.ts';

/** Characters of an output that a card shows at first. */
const shownCharacters = 1_200;

export interface OthersActions {
  choose(row: Row): void;
  /** Whether outputs are shown as differences. */
  differences: boolean;
  setDifferences(on: boolean): void;
}

const generated = ({ record }: Row): boolean => record.generated !== false;

export function othersSection(row: Row, others: readonly Row[], actions: OthersActions): Child[] {
  if (others.length === 0) return [];
  const compares = generated(row) && others.some(generated);
  const toggle = h(
    'button',
    {
      type: 'button',
      class: 'toggle',
      'data-key': 'differences',
      'aria-pressed': actions.differences ? 'true' : 'false',
      title: 'Shows each output as what differs, word by word, from the output above',
      onclick: () => actions.setDifferences(!actions.differences),
    },
    'Show differences',
  );
  return [
    compares && h('div', { class: 'section-tools' }, toggle, actions.differences && differenceLegend(row)),
    h('ul', { class: 'others' }, ...others.map((other) => h('li', {}, card(row, other, actions)))),
  ];
}

const differenceLegend = (row: Row): HTMLElement =>
  h(
    'span',
    { class: 'muted small' },
    h('ins', {}, 'only there'),
    ', ',
    h('del', {}, `only in ${row.mark.label}`),
    row.record.output.length > mostCompared && ` (the first ${count(mostCompared)} characters)`,
  );

function card(row: Row, other: Row, actions: OthersActions): HTMLElement {
  const { record } = other;
  return h(
    'article',
    { class: 'other', 'aria-label': `Item ${record.index} in ${other.mark.label}` },
    h(
      'button',
      {
        type: 'button',
        class: 'other-head',
        title: `Show the details of ${other.mark.label}`,
        'data-key': `other-${other.run}`,
        onclick: () => actions.choose(other),
      },
      columnName(other.mark),
      h('span', { class: 'mode-name' }, verdictIcon(other.verdict), verdicts[other.verdict].label),
      record.cause && h('span', { class: 'muted' }, record.cause),
    ),
    ...(generated(other)
      ? outputOf(row, other, actions.differences)
      : [h('p', { class: 'mono' }, likelihoodText(record))]),
  );
}

function outputOf(row: Row, { record }: Row, differences: boolean): Child[] {
  const read = h(
    'p',
    { class: 'small other-read' },
    h('span', { class: 'muted' }, 'strict '),
    answer(record.strict.answer),
    h('span', { class: 'muted' }, ' · lenient '),
    answer(record.lenient.answer),
  );
  if (!differences || !generated(row)) return [read, outputText(record, shownCharacters, 'excerpt')];
  if (record.output === row.record.output)
    return [read, h('p', { class: 'muted' }, 'The output is the same, character by character.')];
  return [read, difference(row.record.output, record.output)];
}

const answer = (text: string | null): HTMLElement =>
  text === null
    ? h('span', { class: 'muted' }, 'nothing')
    : h('bdi', { class: 'mono', dir: 'auto' }, oneLine(text, 80));

/** Words of the second text, and among them those of the first that it does not have. */
function difference(first: string, second: string): HTMLElement {
  const place = h('pre', { class: 'text difference', dir: 'auto' });
  for (const { kind, text } of wordDifference(first, second))
    place.append(kind === 'same' ? visible(text) : h(kind === 'first' ? 'del' : 'ins', {}, visible(text)));
  if (second.length > mostCompared)
    place.append(h('span', { class: 'cut' }, ` … ${count(second.length - mostCompared)} characters are not compared`));
  return place;
}

/** The prompt of an item by its segments, with the soft prompt where it stands among them. */
import type { ItemDetail, RunColumn } from '../../src/shared/protocol.ts';
import { positionOf } from '../../src/shared/soft-prompt-words.ts';
import { type Child, h } from '../dom.ts';
import { count } from '../format.ts';
import { visible } from '../text.ts';
import type { ColumnMark } from './columns.ts';
import { fillText } from './long-text.ts';
import { type PromptPart, promptSegments } from './prompt-segments.ts';

/** Examples together longer than this start folded: the question is what one looks for. */
const longExamples = 1_500;

export function promptSection({
  mark,
  detail,
  column,
  tokens,
  problem,
}: {
  mark: ColumnMark;
  detail: ItemDetail | null;
  column: RunColumn | undefined;
  tokens: number | undefined;
  problem: string | null;
}): Child[] {
  if (problem) return [h('p', { class: 'error-text' }, `The prompt could not be rendered: ${problem}`)];
  if (!detail) return [h('p', { class: 'muted' }, 'Rendering the prompt…')];
  const prompt = detail.prompts.find((each) => each.run === mark.run);
  if (!prompt) return [h('p', { class: 'muted' }, 'The prompt is not part of this file.')];
  const segments = promptSegments(prompt.parts, column);
  const notes = prompt.parts.filter(({ kind }) => kind === 'note');
  return [
    ...notes.map(({ text }) => h('p', { class: 'prompt-note' }, visible(text.trim()))),
    segments.length > 0 && h('div', { class: 'text prompt' }, ...folded(segments, column)),
    tokens !== undefined && segments.length > 0 && h('p', { class: 'muted small' }, `${count(tokens)} tokens`),
  ];
}

/** The segments; a long run of examples can be unfolded. */
function folded(segments: readonly { name: string; part: PromptPart }[], column: RunColumn | undefined): HTMLElement[] {
  const isExample = ({ part }: { part: PromptPart }): boolean => part.kind === 'example';
  const examples = segments.filter(isExample);
  const length = examples.reduce((sum, { part }) => sum + part.text.length, 0);
  if (examples.length < 2 || length <= longExamples) return segments.map((segment) => element(segment, column));
  const from = segments.findIndex(isExample);
  const to = segments.length - [...segments].reverse().findIndex(isExample);
  const inner = segments.slice(from, to);
  const fold = h(
    'details',
    { class: 'part-fold', 'data-key': 'examples' },
    h('summary', {}, `${count(examples.length)} examples, ${count(length)} characters`),
  );
  // Filled when it is opened: a hundred examples cost nothing before.
  fold.addEventListener('toggle', () => {
    if (fold.open && fold.childElementCount === 1) fold.append(...inner.map((segment) => element(segment, column)));
  });
  return [
    ...segments.slice(0, from).map((segment) => element(segment, column)),
    fold,
    ...segments.slice(to).map((segment) => element(segment, column)),
  ];
}

function element({ name, part }: { name: string; part: PromptPart }, column: RunColumn | undefined): HTMLElement {
  if (part.kind === 'soft-prompt') {
    const behind = column !== undefined && positionOf(column.run) === 'suffix';
    const title = `Learned vectors ${behind ? 'behind' : 'in front of'} the embedded text; they are not tokens and have no text`;
    return h('div', { class: 'soft-prompt-marker', title }, name);
  }
  const content = h('pre', { dir: 'auto' });
  fillText(content, part.text);
  return h('div', { class: `part part-${part.kind}` }, h('span', { class: 'part-name' }, name), content);
}

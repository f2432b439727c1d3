/** The mark of an item: what is shown of it, and the form that sets it. */
import { type ItemMark, longestNote, type MarkedItem, markKinds } from '../../src/shared/marks.ts';
import { h } from '../dom.ts';
import { visible } from '../text.ts';
import { button } from '../ui.ts';
import { markGlyph } from './mark-glyph.ts';

/** The mark in words, above the details. */
export function markBanner(mark: MarkedItem, edit: (() => void) | null): HTMLElement {
  const sentence = markKinds.find(({ kind }) => kind === mark.kind)?.sentence ?? '';
  return h(
    'div',
    { class: 'mark-banner', role: 'note' },
    h('span', { class: 'mark-glyph', 'aria-hidden': 'true' }, markGlyph(mark.kind)),
    h(
      'div',
      { class: 'grow' },
      h('p', {}, h('strong', {}, `Marked: ${mark.kind}. `), sentence),
      mark.note !== '' && h('p', { class: 'mark-note', dir: 'auto' }, visible(mark.note)),
    ),
    edit && button({ label: 'Change', key: 'change-mark', onClick: edit }),
  );
}

export interface MarkFormActions {
  save(mark: ItemMark | null): void;
  cancel(): void;
}

let forms = 0;

/** The form; the first kind, or the item's own, is chosen. Enter in the note saves with Ctrl or Cmd. */
export function markForm(mark: MarkedItem | null, actions: MarkFormActions): HTMLFormElement {
  const name = `mark-kind-${++forms}`;
  const chosen = mark?.kind ?? markKinds[0].kind;
  const radios = markKinds.map(({ kind }) =>
    h('input', { type: 'radio', name, value: kind, checked: kind === chosen }),
  );
  const note = h('textarea', {
    rows: 2,
    maxlength: longestNote,
    placeholder: 'What is wrong with it? (may be empty)',
    'aria-label': 'Note',
    dir: 'auto',
  });
  note.value = mark?.note ?? '';
  const save = (): void => {
    const kind = markKinds[radios.findIndex((radio) => radio.checked)]?.kind ?? 'other';
    actions.save({ kind, note: note.value.trim() });
  };
  const form = h(
    'form',
    {
      class: 'mark-form',
      onsubmit: (event) => {
        event.preventDefault();
        save();
      },
    },
    h(
      'fieldset',
      {},
      h('legend', {}, 'Mark this item'),
      ...markKinds.map(({ kind, glyph, sentence }, at) =>
        h(
          'label',
          { class: 'mark-kind' },
          radios[at],
          h('span', { class: 'mark-glyph', 'aria-hidden': 'true' }, glyph),
          h('span', {}, h('strong', {}, kind), ' ', h('span', { class: 'muted' }, sentence)),
        ),
      ),
    ),
    note,
    h(
      'div',
      { class: 'mark-buttons' },
      button({ label: 'Save', appearance: 'primary', onClick: save }),
      mark && button({ label: 'Take the mark away', onClick: () => actions.save(null) }),
      button({ label: 'Cancel', onClick: () => actions.cancel() }),
    ),
  );
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    save();
  });
  return form;
}

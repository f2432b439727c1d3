/** The cells of the grid: what a score, a rank and a name look like, for eyes and for screen readers. */
import { h } from '../dom.ts';
import { icon } from '../icons.ts';
import { importedMark } from '../imported.ts';
import { visible } from '../text.ts';
import type { PageState } from './state.ts';
import type { Column, Table } from './table.ts';
import {
  cellSentence,
  columnTitle,
  intervalText,
  type Likely,
  likelyText,
  rankSentence,
  rankText,
  valueText,
} from './words.ts';

export interface MatrixContent {
  table: Table;
  state: PageState;
  /** Of the modes that rank, by model. */
  likely(mode: PageState['mode'], model: string): Likely | undefined;
  /** Results can be opened. */
  live: boolean;
  /** Changes with all that is shown but the runs under way. */
  version: number;
  /** What is known of the runs under way of a model: a row is drawn again only where it has changed. */
  running(model: string): string;
}

export function cellElement(
  model: string,
  column: Column,
  at: number,
  state: PageState,
  { table, likely, live }: MatrixContent,
): HTMLElement {
  const common = { 'aria-colindex': at + 1, 'data-column': column.key, tabindex: -1 };
  if (column.kind === 'model')
    return h(
      'div',
      {
        ...common,
        role: 'rowheader',
        class: `matrix-cell model-cell ${stickyClass(column)}`,
        title: model,
        // Its button is no part of its name.
        'aria-label': visible(model),
      },
      h('bdi', { class: 'model-name' }, visible(model)),
      // By keys a cell hides its row: the button takes no stop of its own.
      h(
        'button',
        {
          type: 'button',
          class: 'hide-button',
          tabindex: -1,
          title: 'Hide the model (Delete)',
          'aria-label': `Hide ${visible(model)}`,
        },
        icon('close'),
      ),
    );
  if (column.kind === 'rank') {
    const entry = table.ranked.find(({ mode }) => mode === column.mode)?.models.get(model);
    const could = entry && entry.rank !== null ? likely(column.mode, model) : undefined;
    return h(
      'div',
      {
        ...common,
        role: 'gridcell',
        class: `matrix-cell rank-cell ${stickyClass(column)}`,
        title: entry ? rankSentence(entry, could) : 'no rank: not run',
      },
      entry && entry.rank !== null
        ? h('span', { class: 'value' }, rankText(entry))
        : h('span', { class: 'muted' }, '–', h('span', { class: 'visually-hidden' }, ' no rank')),
      state.intervals && likelyText(could) && h('span', { class: 'sub' }, likelyText(could)),
    );
  }
  const cell = table.cell(model, column);
  const { kind, score, running, of } = cell;
  const sentence = cellSentence(cell, state.metric);
  const partial = of !== undefined && of.missing > 0 && score !== null;
  const element = h(
    'div',
    {
      ...common,
      role: 'gridcell',
      class: `matrix-cell score-cell ${kind}${live && cell.cell ? ' opens' : ''}${partial ? ' partial' : ''}`,
      title: `${visible(model)}, ${visible(columnTitle(column))}, ${column.mode}: ${sentence}`,
    },
    score
      ? h(
          'span',
          { class: 'value' },
          kind === 'imported' && importedGlyph(),
          kind === 'predicted' && h('span', { class: 'glyph', 'aria-hidden': 'true' }, '≈'),
          kind === 'running' && h('span', { class: 'glyph', 'aria-hidden': 'true' }, '…'),
          valueText(score),
          cell.cell?.softPromptPosition && h('span', { class: 'glyph', title: 'position: suffix' }, '›'),
          hidden(kindWords[kind]),
          partial && hidden(` of ${of.tasks - of.missing} of ${of.tasks} benchmarks`),
        )
      : kind === 'running'
        ? h('span', { class: 'value muted' }, '…', hidden('running'))
        : h('span', { class: 'value muted' }, '–', hidden(' not run')),
    state.intervals &&
      h(
        'span',
        { class: 'sub' },
        running && running.done !== null
          ? `${running.done} / ${running.total}`
          : running
            ? 'running'
            : partial
              ? `${of.tasks - of.missing} of ${of.tasks}`
              : score
                ? intervalText(score)
                : '',
      ),
  );
  if (score?.isShare) {
    const bar = h('span', { class: 'cell-bar', 'aria-hidden': 'true' });
    bar.style.inlineSize = `${Math.max(0, Math.min(100, 100 * score.value))}%`;
    element.append(bar);
  }
  return element;
}

const hidden = (text: string): HTMLElement | false => text !== '' && h('span', { class: 'visually-hidden' }, text);

const kindWords: Record<ReturnType<Table['cell']>['kind'], string> = {
  measured: '',
  imported: ' imported',
  predicted: ' predicted',
  running: ' so far, running',
  missing: '',
};

/** The glyph of imported results without its word, which a narrow cell has no room for; a screen reader is told. */
function importedGlyph(): SVGElement | null {
  return importedMark().querySelector('svg');
}

export const stickyClass = (column: Column | undefined): string =>
  column?.kind === 'model' ? 'sticky sticky-model' : column?.key.startsWith('rank') ? 'sticky-rank' : '';

/**
 * The narrow layout: models ranked in a list, with their benchmarks to fold out. All models are in it, so that a screen reader
 * and the editor's search know of them; the browser lays out and paints those in sight (`content-visibility`).
 */

import type { RankedModel, Score } from '../../src/metrics/index.ts';
import { type Child, h } from '../dom.ts';
import { count } from '../format.ts';
import { importedMark } from '../imported.ts';
import { visible } from '../text.ts';
import type { PageState } from './state.ts';
import type { RankedMode, Row, Table } from './table.ts';
import {
  cellNotes,
  importedNote,
  intervalText,
  type Likely,
  likelyText,
  metricLabel,
  rankSentence,
  rankText,
  valueText,
} from './words.ts';

export interface ListContent {
  table: Table;
  state: PageState;
  likely(model: string): Likely | undefined;
  live: boolean;
  /** Models whose benchmarks are folded out; kept by whoever owns the page. */
  opened: Set<string>;
  /** Items of models that are good still, where only the order or the search has changed; kept like `opened`. */
  made: WeakMap<RankedModel, HTMLElement>;
  open(model: string, task: string): void;
  toggle(group: string): void;
}

/** By rank; those that lack benchmarks, and those not run, stand below. */
export function listContent(content: ListContent): Child[] {
  const { table, state } = content;
  const [ranked] = table.ranked;
  if (!ranked) return [];
  const entryOf = (row: Row): RankedModel | undefined =>
    row.kind === 'model' ? ranked.models.get(row.model) : undefined;
  const entries = table.rows.flatMap((row) => entryOf(row) ?? []);
  const complete = entries.filter(({ rank }) => rank !== null);
  const partial = entries.filter(({ rank, score }) => rank === null && score !== null);
  const without = entries.filter(({ score }) => score === null);
  const label = `Models by ${metricLabel(state.metric)}, ${state.mode}`;
  const grouped = state.group !== 'none';
  return [
    ...(grouped ? groupedLists(content, ranked) : []),
    !grouped &&
      complete.length > 0 &&
      h('ol', { class: 'models', 'aria-label': label }, ...complete.map((entry) => modelItem(entry, content, ranked))),
    complete.length === 0 &&
      partial.length === 0 &&
      h('p', { class: 'muted' }, `No model has been run in the mode ${state.mode} here.`),
    !grouped && partial.length > 0 && h('h2', { class: 'group' }, 'Not on all benchmarks'),
    !grouped &&
      partial.length > 0 &&
      h('ul', { class: 'models' }, ...partial.map((entry) => modelItem(entry, content, ranked))),
    !grouped && without.length > 0 && h('h2', { class: 'group' }, `Not run: ${state.mode}`),
    !grouped &&
      without.length > 0 &&
      h('ul', { class: 'without' }, ...without.map((entry) => withoutItem(entry, content, ranked))),
  ];
}

function groupedLists(content: ListContent, ranked: RankedMode): Child[] {
  const lists: Child[] = [];
  let list: HTMLElement | null = null;
  for (const row of content.table.rows) {
    if (row.kind === 'group') {
      list = h('ul', { class: 'models', 'aria-label': row.label });
      lists.push(
        h(
          'h2',
          { class: 'group' },
          h(
            'button',
            {
              type: 'button',
              class: 'group-toggle',
              'data-key': row.key,
              'aria-expanded': String(!row.collapsed),
              onclick: () => content.toggle(row.key),
            },
            h('bdi', {}, visible(row.label)),
            h('span', { class: 'muted' }, ` ${row.count}`),
          ),
        ),
        !row.collapsed && list,
      );
      continue;
    }
    const entry = ranked.models.get(row.model);
    if (entry)
      list?.append(entry.score === null ? withoutItem(entry, content, ranked) : modelItem(entry, content, ranked));
  }
  return lists;
}

/** A model without a score: under way, predicted, or not run. */
function withoutItem({ model }: RankedModel, { table }: ListContent, { tasks, mode }: RankedMode): HTMLElement {
  const [task] = tasks;
  const only = tasks.length === 1 && task !== undefined;
  const cell = only ? table.cell(model, { kind: 'task', key: '', mode, task, group: null }) : null;
  const words =
    cell?.kind === 'running'
      ? `${cell.score ? `${valueText(cell.score)} ` : ''}running${cell.running && cell.running.done !== null ? ` ${count(cell.running.done)} / ${count(cell.running.total)}` : ''}`
      : cell?.kind === 'predicted' && cell.score
        ? `≈ ${valueText(cell.score)} predicted`
        : '';
  return h(
    'li',
    { class: 'muted without-row', title: model },
    h('span', { class: 'model' }, h('bdi', {}, visible(model))),
    words && h('span', { class: cell?.kind === 'predicted' ? 'predicted-words' : 'running-words' }, words),
  );
}

function modelItem(entry: RankedModel, content: ListContent, ranked: RankedMode): HTMLElement {
  const made = content.made.get(entry) ?? makeItem(entry, content, ranked);
  content.made.set(entry, made);
  return made;
}

function makeItem(entry: RankedModel, content: ListContent, { tasks, mode }: RankedMode): HTMLElement {
  const { model, score, parts } = entry;
  const { state } = content;
  const [only] = parts;
  if (!score) return h('li', {});
  const could = content.likely(model);
  const head = [
    h(
      'span',
      { class: 'rank', title: rankSentence(entry, could) },
      rankText(entry),
      likelyText(could) && h('span', { class: 'likely' }, likelyText(could)),
    ),
    h('span', { class: 'model' }, h('bdi', {}, visible(model)), entry.imported && importedMark()),
    h('span', { class: 'value' }, valueText(score)),
    bar(score),
    h(
      'span',
      { class: 'interval' },
      // A mean of some of the benchmarks stands for no other mean.
      entry.missing.length > 0 ? `${parts.length} of ${tasks.length} benchmarks` : intervalText(score),
    ),
  ];
  const said = `${model}${entry.imported ? ' (imported)' : ''}, ${mode}, ${valueText(score)}, 95 % interval ${intervalText(score)}; ${rankSentence(entry, could)}`;
  if (tasks.length > 1) return h('li', {}, foldedOut(entry, content, head, said, { tasks, mode }));
  const notes = only ? cellNotes(only.cell, state.metric) : [];
  return h(
    'li',
    {},
    openButton(
      content,
      model,
      only?.task ?? '',
      model,
      'row',
      [...head, notes.length > 0 && h('span', { class: 'row-note' }, notes.join('; '))],
      `${said}, ${count(only?.figure.n ?? 0)} items. Open the results.`,
    ),
  );
}

/** A model with its benchmarks, which are made when they are folded out: of 500 models they would be 25,000. */
function foldedOut(
  { model, parts, missing }: RankedModel,
  content: ListContent,
  head: Child[],
  said: string,
  { mode }: Pick<RankedMode, 'tasks' | 'mode'>,
): HTMLElement {
  const { opened, table } = content;
  const list = h('ul', { class: 'parts' });
  const fill = (): void => {
    if (list.childElementCount > 0) return;
    list.append(
      ...parts.map(({ task, figure, cell }) =>
        h(
          'li',
          {},
          openButton(
            content,
            model,
            task,
            `${model} ${task}`,
            `part ${cell.status}`,
            [
              h(
                'span',
                { class: 'model' },
                visible(task),
                cell.imported && importedMark(importedNote(cell.imported)),
                cell.softPromptPosition && h('span', { class: 'muted' }, ` (${cell.softPromptPosition})`),
              ),
              h('span', { class: 'value' }, valueText(figure)),
              bar(figure),
              h('span', { class: 'interval' }, intervalText(figure)),
            ],
            `${task}: ${valueText(figure)} of ${count(figure.n)} items. Open the results.`,
          ),
        ),
      ),
      ...missing.map((task) => missingPart(model, task, mode, table)),
    );
  };
  // In front of the change itself, so that it never opens empty.
  const summary = h('summary', { class: 'row', title: said, 'data-key': `${model} summary`, onclick: fill }, ...head);
  const details = h('details', { 'data-key': model, open: opened.has(model) }, summary, list);
  details.addEventListener('toggle', () => {
    if (details.open) {
      opened.add(model);
      fill();
    } else opened.delete(model);
  });
  if (details.open) fill();
  return details;
}

function missingPart(model: string, task: string, mode: PageState['mode'], table: Table): HTMLElement {
  const { kind, score, running } = table.cell(model, { kind: 'task', key: '', mode, task, group: null });
  const words =
    kind === 'predicted' && score
      ? `≈ ${valueText(score)} predicted`
      : kind === 'running'
        ? `running${running && running.done !== null ? ` ${count(running.done)} / ${count(running.total)}` : ''}`
        : 'not run';
  return h(
    'li',
    { class: `part missing ${kind}` },
    h('span', { class: 'model' }, visible(task)),
    h('span', { class: `value muted${kind === 'predicted' ? ' predicted-words' : ''}` }, words),
  );
}

function openButton(
  { live, open }: ListContent,
  model: string,
  task: string,
  key: string,
  className: string,
  children: Child[],
  title: string,
): HTMLElement {
  return h(
    'button',
    { type: 'button', class: className, title, 'data-key': key, disabled: !live, onclick: () => open(model, task) },
    ...children,
  );
}

/** The value as a bar from 0 to 100 %, its interval as a whisker. */
function bar({ value, low, high, isShare }: Score): HTMLElement {
  // What is no share has no scale to draw it on.
  if (!isShare) return h('span', { class: 'bar', 'aria-hidden': 'true' });
  const fill = h('span', { class: 'value-bar' });
  fill.style.inlineSize = `${100 * value}%`;
  const whisker = h('span', { class: 'whisker' });
  whisker.style.insetInlineStart = `${100 * low}%`;
  whisker.style.inlineSize = `${100 * (high - low)}%`;
  return h('span', { class: 'bar', 'aria-hidden': 'true' }, fill, whisker);
}

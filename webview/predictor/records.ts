/** The records: where they come from, how many are used, and what was left out for which reason. */
import type { PredictorView, RecordsReport } from '../../src/shared/predictions.ts';
import type { PredictorCommand } from '../../src/shared/protocol.ts';
import { type Child, h, render } from '../dom.ts';
import { visible } from '../text.ts';
import { button } from '../ui.ts';
import { table } from './table.ts';
import { counted } from './words.ts';

export interface RecordsActions {
  live: boolean;
  run(command: PredictorCommand): void;
  removeFile(path: string): void;
}

export class RecordsSection {
  readonly element: HTMLElement;
  readonly #content = h('div', {});
  readonly #actions: RecordsActions;

  constructor(actions: RecordsActions) {
    this.#actions = actions;
    this.element = h(
      'section',
      { id: 'records', 'aria-labelledby': 'records-heading' },
      h(
        'div',
        { class: 'heading-row' },
        h('h2', { id: 'records-heading' }, 'Records'),
        actions.live && button({ label: 'Add records…', key: 'records add', onClick: () => actions.run('addRecords') }),
      ),
      this.#content,
    );
  }

  update({ records }: PredictorView): void {
    this.element.hidden = !records || records.used === 0;
    if (records) render(this.#content, records, () => this.#of(records));
  }

  #of(records: RecordsReport): Child[] {
    const left = records.leftOut.reduce((sum, { count }) => sum + count, 0);
    return [
      h(
        'p',
        { class: 'words' },
        `${recordsInWords(records)} ${left === 0 ? 'None was left out.' : `${counted(left, 'record')} left out:`}`,
      ),
      records.leftOut.length > 0 &&
        table(
          'Records left out',
          [{ title: 'Reason' }, { title: 'Records', number: true }, { title: 'For example' }],
          records.leftOut.map(({ reason, count, examples }) => [
            visible(reason),
            count.toLocaleString('en-US'),
            h(
              'span',
              { title: examples.map(visible).join('\n') },
              visible(examples[0] ?? ''),
              examples.length > 1 && ', …',
            ),
          ]),
          'left-out',
        ),
      ...records.notes.map((note) => h('p', { class: 'note' }, visible(note))),
      h('h3', {}, 'Sources'),
      this.#sources(records),
      h(
        'details',
        { 'data-key': 'families' },
        h('summary', {}, `Families (${records.families.length})`),
        table(
          'Families',
          [{ title: 'Family' }, { title: 'Records', number: true }],
          records.families.map(({ family, records: n }) => [visible(family), n.toLocaleString('en-US')]),
        ),
      ),
    ];
  }

  #sources({ sources }: RecordsReport): HTMLElement {
    return table(
      'Sources of records',
      [
        { title: 'Source' },
        { title: 'Used', number: true },
        { title: 'Problem' },
        ...(this.#actions.live ? [{ title: 'Remove' }] : []),
      ],
      sources.map(({ path, kind, used, problem }) => [
        kind === 'runs'
          ? h('span', { title: path }, 'Runs of this workspace')
          : h('span', { title: path }, visible(nameOf(path))),
        used.toLocaleString('en-US'),
        problem === null ? '' : h('span', { class: 'error-text' }, visible(problem)),
        ...(this.#actions.live
          ? [
              kind === 'file' &&
                button({
                  label: `Remove ${visible(nameOf(path))}`,
                  icon: 'close',
                  key: `remove ${path}`,
                  onClick: () => this.#actions.removeFile(path),
                }),
            ]
          : []),
      ]),
      'sources',
    );
  }
}

const nameOf = (path: string): string => path.split(/[\\/]/).at(-1) ?? path;

/** `3,942 records of 77 models in 21 families on 27 tasks.` */
export function recordsInWords(records: RecordsReport): string {
  const tasks =
    records.subtasks > records.tasks
      ? `${counted(records.tasks, 'task')} (${counted(records.subtasks, 'subtask')})`
      : counted(records.tasks, 'task');
  return `${counted(records.used, 'record')} of ${counted(records.models.length, 'model')} in ${counted(records.families.length, 'family', 'families')} on ${tasks}.`;
}

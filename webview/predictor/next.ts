/** Which benchmark next: what a model should be run on so that its other scores become surest, per unit of cost. */
import {
  type NextBenchmark,
  type NextBenchmarkRow,
  type PredictionSettings,
  type PredictorView,
  subtaskName,
} from '../../src/shared/predictions.ts';
import { type Child, h, render } from '../dom.ts';
import { visible } from '../text.ts';
import { dropdown } from '../ui.ts';
import { type SectionActions, SectionFrame } from './section.ts';
import { barCell, table } from './table.ts';
import { counted, pointsText, scoreText } from './words.ts';

const rowsShown = 15;

export class NextSection {
  readonly #frame: SectionFrame;
  readonly #model: ReturnType<typeof dropdown<string>>;
  readonly #content = h('div', {});

  constructor(actions: SectionActions & { set(change: Partial<PredictionSettings>): void }) {
    this.#model = dropdown<string>('Model', (model) => actions.set({ model }));
    this.#frame = new SectionFrame(
      {
        id: 'next',
        title: 'Next benchmark',
        task: 'next',
        start: 'Suggest the next benchmark',
        again: 'Suggest again',
        empty:
          'For a model with few scores: which benchmark, run next, would make its predicted scores on all others surest for its cost.',
      },
      actions,
    );
    this.#frame.controls.append(this.#model.element);
    this.#frame.content.append(this.#content);
  }

  get element(): HTMLElement {
    return this.#frame.element;
  }

  update(view: PredictorView): void {
    const models = view.records?.models ?? [];
    this.#model.element.hidden = models.length === 0;
    // Models with the fewest scores first: they are those that the question is asked for.
    this.#model.set(
      [
        { value: '', label: 'Model with the fewest scores' },
        ...[...models]
          .sort((a, b) => a.records - b.records || a.model.localeCompare(b.model))
          .map(({ model, records }) => ({ value: model, label: `${visible(model)} (${records})` })),
      ],
      models.some(({ model }) => model === view.settings.model) ? view.settings.model : '',
    );
    const { next } = view;
    if (this.#frame.update(view, next) && next) render(this.#content, next, () => contentOf(next));
  }
}

function contentOf(next: NextBenchmark): Child[] {
  const [first] = next.rows;
  if (!first)
    return [
      h(
        'p',
        { class: 'muted' },
        next.open === 0
          ? `${visible(next.model)} has a score on every benchmark of the records. Choose a model that has few, or add some scores of a new one to the records: a CSV file with model, task and score will do.`
          : `Nothing can be said about ${visible(next.model)} from these records.`,
      ),
    ];
  const hasCosts = next.rows.some(({ cost }) => cost !== first.cost);
  const best = Math.max(...next.rows.map(gain), 1e-9);
  return [
    h(
      'p',
      { class: 'words' },
      h('strong', {}, visible(next.model)),
      ` has scores on ${counted(next.known, 'task')}; ${counted(next.open, 'task')} are open. Run `,
      h('strong', {}, visible(nameOf(first))),
      ` next: it takes the typical error of the other open scores from ${pointsText(Math.sqrt(first.before))} to ${pointsText(Math.sqrt(first.after))} points${hasCosts ? ', the most for its cost' : ''}.`,
      next.caution && ` ${next.caution}`,
    ),
    table(
      'Next benchmarks, best first',
      [
        { title: 'Benchmark' },
        {
          title: 'Variance removed',
          words: 'Share of the variance of the other open scores that knowing this one removes',
        },
        { title: 'Typical error after, points', number: true },
        ...(hasCosts ? [{ title: `Cost, ${next.costUnit}`, number: true }] : []),
      ],
      next.rows
        .slice(0, rowsShown)
        .map((row) => [
          visible(nameOf(row)),
          barCell(scoreText(gain(row)), gain(row) / best, 'gain-bar'),
          pointsText(Math.sqrt(row.after)),
          ...(hasCosts ? [row.cost.toLocaleString('en-US', { maximumSignificantDigits: 3 })] : []),
        ]),
      'next-table',
    ),
    next.rows.length > rowsShown &&
      h('p', { class: 'note' }, `The first ${rowsShown} of ${counted(next.rows.length, 'benchmark')}.`),
  ];
}

const nameOf = (row: NextBenchmarkRow): string => `${subtaskName(row)}${row.setting ? `, ${row.setting}` : ''}`;

const gain = ({ before, after }: { before: number; after: number }): number =>
  before > 0 ? Math.max(0, (before - after) / before) : 0;

/** How well scores are predicted that were held out: by split, beside the additive baseline and the noise ceiling. */
import type { FitQuality, PredictorFit, PredictorView, SplitFit } from '../../src/shared/predictions.ts';
import { type Child, h, render } from '../dom.ts';
import { FitBars } from './fit-bars.ts';
import { type SectionActions, SectionFrame } from './section.ts';
import { table } from './table.ts';
import { counted, estimateText, fixed, pointsEstimate, pointsText, scoreText } from './words.ts';

const nominalCoverage = 0.9;
/** Intervals whose coverage is off by more are said to be off, */
const coverageMargin = 0.04;
/** where it is more than so many standard deviations of a share of so few scores. */
const coverageDeviations = 2;

export class FitSection {
  readonly #frame: SectionFrame;
  readonly #figure = h('figure', {});
  readonly #table = h('div', { class: 'grow' });
  readonly #words = h('div', {});
  readonly #bars = new FitBars();
  #shown: FitQuality | null = null;

  constructor(actions: SectionActions) {
    this.#frame = new SectionFrame(
      {
        id: 'fit',
        title: 'Fit by split',
        task: 'fit',
        start: 'Measure the fit',
        again: 'Measure again',
        empty:
          'Holds records out in ten parts, predicts each part from the others, and says how far off the predictions are: from single missing scores to families and tasks that nobody has run.',
      },
      actions,
    );
    this.#figure.append(this.#bars.element);
    this.#frame.content.append(h('div', { class: 'chart-and-table' }, this.#figure, this.#table), this.#words);
  }

  get element(): HTMLElement {
    return this.#frame.element;
  }

  update(view: PredictorView): void {
    const { fit } = view;
    if (!this.#frame.update(view, fit) || !fit) return;
    // A step of other work brings the view again with the same fit.
    if (this.#shown === fit) return;
    this.#shown = fit;
    // All but the records themselves, which are thousands.
    const figures = fit.splits.map(({ points, tasks, families, ...rest }) => rest);
    render(this.#table, figures, () => this.#tableContent(fit.splits));
    render(this.#words, figures, () => wordsOf(fit.splits));
    this.#bars.update(fit.splits);
  }

  #tableContent(splits: readonly SplitFit[]): Child[] {
    const hasCeiling = splits.some(({ ceiling }) => ceiling !== null);
    const hasCoverage = splits.some(({ fits }) => fits.some(({ coverage }) => coverage));
    return [
      table(
        'Fit by split',
        [
          { title: 'Split' },
          { title: 'Predictor' },
          {
            title: 'R²',
            number: true,
            words: 'Share of the variance of held-out scores that is predicted; mean ± standard deviation over folds',
          },
          {
            title: 'RMSE',
            number: true,
            words: 'Root of the mean squared error, in points of the score; mean ± standard deviation over folds',
          },
          ...(hasCeiling
            ? [{ title: 'Ceiling', number: true, words: 'The highest R² that the noise of the measured scores allows' }]
            : []),
          ...(hasCoverage
            ? [
                {
                  title: 'In 90 % interval',
                  number: true,
                  words:
                    'Held-out scores that fall into their 90 % interval, and how far it reaches either way, in points',
                },
              ]
            : []),
          { title: 'Folds', number: true },
        ],
        splits.flatMap((split) => this.#rows(split, hasCeiling, hasCoverage)),
        'fit-table',
      ),
    ];
  }

  #rows(split: SplitFit, hasCeiling: boolean, hasCoverage: boolean): Child[][] {
    const name = h(
      'span',
      { title: split.words },
      h('span', { class: 'value' }, split.split),
      h('span', { class: 'sub' }, split.title),
    );
    if (split.problem !== null) return [[name, h('span', { class: 'muted' }, split.problem)]];
    return split.fits.map((fit, at) => [
      at === 0 ? name : h('span', { class: 'visually-hidden' }, split.split),
      fit.title,
      h('span', { class: at === 0 ? 'value' : 'muted' }, estimateText(fit.r2)),
      h('span', { class: at === 0 ? null : 'muted' }, pointsEstimate(fit.rmse)),
      ...(hasCeiling ? [at === 0 && split.ceiling !== null ? fixed(split.ceiling) : ''] : []),
      ...(hasCoverage ? [coverageText(fit)] : []),
      at === 0 ? String(split.folds) : '',
    ]);
  }
}

/** `90.1 % in ± 16.2` */
const coverageText = ({ coverage }: PredictorFit): string =>
  coverage ? `${scoreText(coverage.share)} in ±\u202f${pointsText(coverage.reach)}` : '';

function isOff({ share, n }: NonNullable<PredictorFit['coverage']>): boolean {
  const chance = coverageDeviations * Math.sqrt((nominalCoverage * (1 - nominalCoverage)) / n);
  return Math.abs(share - nominalCoverage) > Math.max(coverageMargin, chance);
}

/** What a reader must not overlook. */
function wordsOf(splits: readonly SplitFit[]): Child[] {
  const lines: Child[] = [];
  for (const split of splits) {
    const [chosen, ...others] = split.fits;
    const baseline = others.find(({ predictor }) => predictor === 'additive');
    if (!chosen) continue;
    const r2 = chosen.r2.mean;
    if (r2 !== null && r2 <= 0)
      lines.push(
        h(
          'li',
          {},
          h('strong', {}, split.split),
          ` (${split.title}): no better than the mean of the held-out scores. Do not use predictions of this kind.`,
        ),
      );
    else if (r2 !== null && baseline?.r2.mean != null && r2 <= baseline.r2.mean)
      lines.push(
        h(
          'li',
          {},
          h('strong', {}, split.split),
          ` (${split.title}): the ${baseline.title} baseline does as well; there is nothing to gain from ${chosen.title} here.`,
        ),
      );
    if (chosen.coverage && isOff(chosen.coverage))
      lines.push(
        h(
          'li',
          {},
          h('strong', {}, split.split),
          ` (${split.title}): the 90 % intervals hold ${scoreText(chosen.coverage.share, 0)} of ${counted(chosen.coverage.n, 'score')}. ${
            chosen.coverage.share < nominalCoverage
              ? 'They are too narrow here: take predictions of this kind as a guess.'
              : 'They are wider than they need to be.'
          }`,
        ),
      );
    for (const note of split.notes) lines.push(h('li', {}, h('strong', {}, split.split), `: ${note}`));
  }
  return lines.length > 0 ? [h('ul', { class: 'warnings' }, ...lines)] : [];
}

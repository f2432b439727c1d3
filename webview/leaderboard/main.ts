/** The leaderboard in the side panel: models ranked by any mode and metric, on one benchmark or over all. */
import { figureOf, formatFigure, isShareName, metricRows, metricTitle } from '../../src/metrics/index.ts';
import { isPromptMode, type PromptMode, promptModes } from '../../src/shared/modes.ts';
import type { LeaderboardPageApi, LeaderboardPageEvents, LeaderboardView } from '../../src/shared/protocol.ts';
import { type Child, h, render } from '../dom.ts';
import { embeddedLeaderboard } from '../embedded.ts';
import { bounds, count, percent } from '../format.ts';
import { type Host, openHost } from '../host.ts';
import { importedMark } from '../imported.ts';
import { metricNames, metrics } from '../terms.ts';
import { visible } from '../text.ts';
import { button, dropdown, progressRing } from '../ui.ts';
import { type RankedModel, rank, type Score, tasksOf } from './ranking.ts';

const allTasks = 'all';

interface Choice {
  task: string;
  mode: PromptMode;
  /** F, S, K, L, LL, or the key of a metric of the benchmark files. */
  metric: string;
}

class LeaderboardPage {
  readonly #host: Host<LeaderboardPageApi>;
  readonly #state = h('div', { class: 'page-state' });
  readonly #controls = h('div', { class: 'controls', hidden: true });
  readonly #definition = h('p', { class: 'note', hidden: true });
  readonly #list = h('div', {});
  readonly #problem = h('p', { class: 'error-text', role: 'alert' });
  readonly #task = dropdown<string>('Benchmark', (task) => this.#choose({ task }));
  readonly #mode = dropdown<PromptMode>('Prompt mode', (mode) => this.#choose({ mode }));
  readonly #metric = dropdown<string>('Metric', (metric) => this.#choose({ metric }));
  #view: LeaderboardView | null = null;
  #choice: Partial<Choice> = {};

  constructor(root: HTMLElement) {
    this.#host = openHost<LeaderboardPageApi, LeaderboardPageEvents>(
      'leaderboard',
      { viewChanged: (view) => this.#setView(view) },
      embeddedLeaderboard,
    );
    this.#controls.append(this.#task.element, this.#mode.element, this.#metric.element);
    root.append(
      h('h1', { class: 'visually-hidden' }, 'Leaderboard'),
      this.#controls,
      this.#state,
      this.#problem,
      this.#list,
      this.#definition,
    );
  }

  async start(): Promise<void> {
    this.#state.replaceChildren(progressRing('Loading the leaderboard'));
    try {
      const [view, saved] = await Promise.all([this.#host.api.view(), this.#host.api.loadState().catch(() => null)]);
      if (saved && typeof saved === 'object') this.#choice = saved as Partial<Choice>;
      this.#setView(view);
    } catch (error) {
      this.#state.replaceChildren(
        h(
          'p',
          { class: 'error-text', role: 'alert' },
          `The leaderboard could not be read: ${error instanceof Error ? error.message : String(error)}`,
        ),
        button({ label: 'Try again', onClick: () => void this.start() }),
      );
    }
  }

  #choose(change: Partial<Choice>): void {
    this.#choice = { ...this.#choice, ...change };
    this.#host.api.saveState({ state: this.#choice }).catch(() => {});
    this.#refresh();
  }

  #setView(view: LeaderboardView): void {
    this.#view = view;
    this.#refresh();
  }

  /** What is chosen, or the nearest that the view has. */
  #resolved(view: LeaderboardView): Choice {
    const modes = promptModes.filter((mode) => view.cells.some((cell) => cell.mode === mode));
    const mode =
      isPromptMode(this.#choice.mode) && modes.includes(this.#choice.mode)
        ? this.#choice.mode
        : (modes.find((each) => each === 'soft-prompt') ?? modes[0] ?? 'zero-shot');
    const task = view.benchmarks.some((each) => each.task === this.#choice.task)
      ? (this.#choice.task ?? allTasks)
      : allTasks;
    const metric = metricsOf(view).find((each) => each === this.#choice.metric) ?? firstMetric(view);
    return { task, mode, metric };
  }

  #refresh(): void {
    const view = this.#view;
    if (!view) return;
    const empty = view.cells.length === 0;
    this.#state.hidden = !empty;
    this.#controls.hidden = empty;
    this.#list.hidden = empty;
    this.#definition.hidden = empty;
    if (empty) {
      render(this.#state, view.models.length > 0, () => this.#emptyState(view.models.length > 0));
      return;
    }
    const choice = this.#resolved(view);
    this.#task.set(
      [
        { value: allTasks, label: 'All benchmarks' },
        ...view.benchmarks.map(({ task }) => ({ value: task, label: visible(task) })),
      ],
      choice.task,
    );
    this.#mode.set(
      promptModes
        .filter((mode) => view.cells.some((cell) => cell.mode === mode))
        .map((mode) => ({ value: mode, label: mode })),
      choice.mode,
    );
    this.#metric.set(
      metricsOf(view).map((metric) => ({ value: metric, label: metricLabel(metric) })),
      choice.metric,
    );
    const task = choice.task === allTasks ? null : choice.task;
    const tasks = tasksOf(view, task, choice.mode, choice.metric);
    const models = rank(view, task, choice.mode, choice.metric);
    this.#definition.textContent = `${definitionOf(view, choice.metric)}${
      tasks.length > 1 ? ' Mean over the benchmarks; the interval takes them as independent.' : ''
    }`;
    render(this.#list, [choice, models], () => this.#content(models, choice, tasks));
  }

  #emptyState(hasModels: boolean): Child[] {
    const { api, live } = this.#host;
    const run = (command: 'chooseModel' | 'openExamples' | 'compare') => (): void =>
      this.#do(api.runCommand({ command }));
    return [
      h('h2', {}, 'No results yet'),
      h(
        'p',
        { class: 'muted' },
        hasModels
          ? 'Open a benchmark file and compare its prompt modes, or try one of the examples with the bundled model.'
          : 'Choose a model folder, then compare the prompt modes of a benchmark. The examples bring a small model along.',
      ),
      live &&
        h(
          'div',
          { class: 'empty-actions' },
          button({ label: 'Compare prompt modes', appearance: 'primary', onClick: run('compare') }),
          button({ label: 'Open the examples', onClick: run('openExamples') }),
          button({ label: 'Choose a model…', onClick: run('chooseModel') }),
        ),
    ];
  }

  #content(models: RankedModel[], { mode, metric }: Choice, tasks: string[]): Child[] {
    const ranked = models.filter((model) => model.rank !== null);
    const partial = models.filter((model) => model.rank === null && model.score !== null);
    const without = models.filter((model) => model.score === null);
    return [
      ranked.length > 0 &&
        h(
          'ol',
          { class: 'models', 'aria-label': `Models by ${metricLabel(metric)}, ${mode}` },
          ...ranked.map((model) => this.#model(model, mode, tasks)),
        ),
      ranked.length === 0 &&
        partial.length === 0 &&
        h('p', { class: 'muted' }, `No model has been run in the mode ${mode} here.`),
      partial.length > 0 && h('h2', { class: 'group' }, 'Not on all benchmarks'),
      partial.length > 0 && h('ul', { class: 'models' }, ...partial.map((model) => this.#model(model, mode, tasks))),
      without.length > 0 && h('h2', { class: 'group' }, `Not run: ${mode}`),
      without.length > 0 &&
        h(
          'ul',
          { class: 'without' },
          ...without.map(({ model }) => h('li', { class: 'muted', title: model }, visible(model))),
        ),
    ];
  }

  #model(entry: RankedModel, mode: PromptMode, tasks: string[]): HTMLElement {
    const { model, score, parts } = entry;
    const [only] = parts;
    if (!score) return h('li', {});
    const head = [
      h(
        'span',
        { class: 'rank', title: entry.tied ? 'Tied: equal value' : '' },
        entry.rank === null ? '' : `${entry.rank}${entry.tied ? '=' : ''}`,
      ),
      h('span', { class: 'model' }, visible(model), entry.imported && importedMark()),
      h('span', { class: 'value' }, figureText(score)),
      bar(score),
      h('span', { class: 'interval' }, intervalOf(score)),
    ];
    const said = `${entry.rank === null ? '' : `Rank ${entry.rank}${entry.tied ? ', tied' : ''}: `}${model}${entry.imported ? ' (imported)' : ''}, ${mode}, ${figureText(score)}, 95 % interval ${intervalOf(score)}`;
    if (tasks.length > 1)
      return h(
        'li',
        {},
        h(
          'details',
          { 'data-key': model },
          h('summary', { class: 'row', title: said, 'data-key': `${model} summary` }, ...head),
          h(
            'ul',
            { class: 'parts' },
            ...parts.map((part) =>
              h(
                'li',
                {},
                this.#open(
                  model,
                  part.task,
                  `${model} ${part.task}`,
                  `part ${part.status}`,
                  [
                    h(
                      'span',
                      { class: 'model' },
                      visible(part.task),
                      part.imported && importedMark(importedNote(part.imported)),
                      part.softPromptPosition && h('span', { class: 'muted' }, ` (${part.softPromptPosition})`),
                    ),
                    h('span', { class: 'value' }, figureText(part.score)),
                    bar(part.score),
                    h('span', { class: 'interval' }, intervalOf(part.score)),
                  ],
                  `${part.task}: ${figureText(part.score)} of ${count(part.n)} items. Open the results.`,
                ),
              ),
            ),
            ...entry.missing.map((task) =>
              h(
                'li',
                { class: 'part missing' },
                h('span', { class: 'model' }, visible(task)),
                h('span', { class: 'value muted' }, 'not run'),
              ),
            ),
          ),
        ),
      );
    const notes = [
      only?.imported ? importedNote(only.imported) : '',
      only && only.status !== 'finished' ? only.status : '',
      only?.softPromptPosition ? 'position: suffix, the soft prompt stands behind the text' : '',
      only?.unreliable ? 'unreliable: few items are in the format' : '',
      only?.commonest && (only.commonest.share.value ?? 0) >= 0.9
        ? `same answer to ${percent(only.commonest.share)} of the items`
        : '',
    ].filter(Boolean);
    return h(
      'li',
      {},
      this.#open(
        model,
        only?.task ?? '',
        model,
        'row',
        [...head, notes.length > 0 && h('span', { class: 'row-note' }, notes.join('; '))],
        `${said}, ${count(only?.n ?? 0)} items. Open the results.`,
      ),
    );
  }

  #open(model: string, task: string, key: string, className: string, children: Child[], title: string): HTMLElement {
    return h(
      'button',
      {
        type: 'button',
        class: className,
        title,
        'data-key': key,
        disabled: !this.#host.live,
        onclick: () => this.#do(this.#host.api.open({ model, task })),
      },
      ...children,
    );
  }

  #do(call: Promise<unknown>): void {
    this.#problem.textContent = '';
    call.catch((error) => {
      this.#problem.textContent = error instanceof Error ? error.message : String(error);
    });
  }
}

/** `imported from …; run otherwise: 5 examples, measured here: 8 examples` */
const importedNote = ({ words, differences }: NonNullable<RankedModel['parts'][number]['imported']>): string =>
  [words, ...(differences.length > 0 ? [`run otherwise: ${differences.join('; ')}`] : [])].join('; ');

/** F, S, K, L and LL first, as far as there are any, then the metrics of the benchmark files. */
function metricsOf({ cells }: LeaderboardView): string[] {
  const shares = metricNames.filter((name) => cells.some(({ cell }) => figureOf(cell.summary, name) !== null));
  return [...shares, ...metricRows(cells.map(({ cell }) => cell.summary)).map(({ key }) => key)];
}

const firstMetric = (view: LeaderboardView): string => {
  const known = metricsOf(view);
  return known.includes('S') ? 'S' : (known[0] ?? 'S');
};

function metricLabel(metric: string): string {
  if (isShareName(metric)) return `${metric} · ${metrics[metric].name}`;
  const [name = metric, filter = 'none'] = metric.split(',');
  return metricTitle({ metric: name, filter });
}

function definitionOf({ cells }: LeaderboardView, metric: string): string {
  if (isShareName(metric)) return `${metric}: ${metrics[metric].definition}`;
  const row = metricRows(cells.map(({ cell }) => cell.summary)).find(({ key }) => key === metric);
  return `${metricLabel(metric)}: a metric of the benchmark files, as lm-evaluation-harness computes it; ${row?.higherIsBetter === false ? 'lower' : 'higher'} is better.`;
}

const figureText = (score: Score): string => (score.isShare ? percent(score) : formatFigure(score.value));
const intervalOf = (score: Score): string =>
  score.isShare
    ? bounds(score)
    : score.low < score.high
      ? `${formatFigure(score.low)}–${formatFigure(score.high)}`
      : '';

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

const root = document.getElementById('root') ?? document.body.appendChild(h('main', { id: 'root' }));
try {
  void new LeaderboardPage(root).start();
} catch (error) {
  root.append(h('p', { class: 'error-text', role: 'alert' }, error instanceof Error ? error.message : String(error)));
}

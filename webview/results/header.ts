/** Head of the page: what was run, the running job with Stop, a problem with Resume, and how the runs were made. */
import { formatBytes, formatSeconds, formatTimeLeft } from '../../src/metrics/index.ts';
import { importedWords, isImportedPlace } from '../../src/shared/imported.ts';
import type { ResultsView, RunColumn } from '../../src/shared/protocol.ts';
import { providerSentences, providerTitle } from '../../src/shared/provider-words.ts';
import { timeMark } from '../../src/shared/response-words.ts';
import type { RunFile } from '../../src/shared/results.ts';
import { positionOf } from '../../src/shared/soft-prompt-words.ts';
import { type Child, h, render } from '../dom.ts';
import { count } from '../format.ts';
import { importedMark } from '../imported.ts';
import { visible } from '../text.ts';
import { button } from '../ui.ts';
import { columnName, columnsOf, type MarkedColumn } from './columns.ts';
import { unfinishedInWords } from './unfinished-words.ts';

export interface HeaderActions {
  live: boolean;
  stop(): void;
  /** Saves the page as one file. */
  share(): void;
  resume(): void;
  openBenchmark(file: string): void;
}

export class Header {
  readonly element: HTMLElement;
  readonly #title = h('div', { class: 'title' }, h('h1', {}, 'Results'));
  readonly #job = h('div', { class: 'job', hidden: true });
  readonly #problem = h('div', { hidden: true });
  readonly #settings = h('div', {});
  readonly #leftOut = h('p', { class: 'note', hidden: true });
  readonly #jobText = h('span', { class: 'job-text' });
  readonly #jobTime = h('span', { class: 'muted' });
  readonly #bar = h('span', { class: 'progress-bar' });
  readonly #track = h(
    'div',
    {
      class: 'progress',
      role: 'progressbar',
      'aria-label': 'Progress of the job',
      'aria-valuemin': 0,
      'aria-valuemax': 100,
    },
    this.#bar,
  );
  /** Said to a screen reader on a new phase only, not at every step. */
  readonly #announce = h('span', { class: 'visually-hidden', role: 'status' });
  #phase = '';

  constructor(private readonly actions: HeaderActions) {
    this.#job.append(
      h(
        'div',
        { class: 'job-row' },
        this.#jobText,
        this.#jobTime,
        h('span', { class: 'spacer' }),
        actions.live && button({ label: 'Stop', key: 'stop', onClick: () => actions.stop() }),
      ),
      this.#track,
    );
    this.element = h(
      'header',
      {},
      this.#title,
      this.#announce,
      this.#job,
      this.#problem,
      this.#leftOut,
      this.#settings,
    );
  }

  update(view: ResultsView): void {
    document.title = `${visible(view.title)} · Softbench`;
    render(this.#title, [view.benchmark, view.model, view.columns.length > 0], () => [
      h('h1', {}, visible(view.benchmark.task), h('span', { class: 'by' }, visible(view.model.name))),
      isImportedPlace(view.benchmark.file) && importedMark(),
      this.actions.live &&
        !isImportedPlace(view.benchmark.file) &&
        button({
          label: 'Open the benchmark file',
          icon: 'source',
          onClick: () => this.actions.openBenchmark(view.benchmark.file),
        }),
      this.actions.live &&
        view.columns.length > 0 &&
        button({ label: 'Save as HTML page', icon: 'share', onClick: () => this.actions.share() }),
    ]);
    const { job } = view;
    this.#job.hidden = job === null;
    if (job) {
      this.#jobText.textContent = visible(job.message);
      this.#jobTime.textContent = [
        job.fraction === null ? '' : `${Math.round(100 * job.fraction)}\u202f%`,
        job.secondsLeft === null ? '' : formatTimeLeft(job.secondsLeft),
      ]
        .filter(Boolean)
        .join(' · ');
      this.#track.classList.toggle('indeterminate', job.fraction === null);
      if (job.fraction === null) this.#track.removeAttribute('aria-valuenow');
      else this.#track.setAttribute('aria-valuenow', String(Math.round(100 * job.fraction)));
      this.#bar.style.inlineSize = job.fraction === null ? '' : `${100 * Math.min(1, Math.max(0, job.fraction))}%`;
      if (job.phase !== this.#phase) this.#announce.textContent = visible(job.message);
    } else if (this.#phase) this.#announce.textContent = 'The job has ended.';
    this.#phase = job?.phase ?? '';
    this.#renderProblem(view);
    this.#leftOut.hidden = !view.leftOut?.length;
    this.#leftOut.textContent = leftOutWords(view.leftOut ?? []);
    const columns = columnsOf(view);
    render(this.#settings, [columns.map(({ run, mark, summary }) => [run, mark, summary])], () =>
      settingsContent(columns),
    );
  }

  #renderProblem(view: ResultsView): void {
    const unfinished = view.job ? [] : view.columns.filter(({ run }) => run.status !== 'finished');
    this.#problem.hidden = view.problem === null && unfinished.length === 0;
    render(
      this.#problem,
      [view.problem, unfinished.map((column) => [column.run.id, column.run.status, unfinishedInWords(column)])],
      () => {
        const lines: Child[] = [];
        if (view.problem) lines.push(h('p', {}, visible(view.problem)));
        else lines.push(...unfinished.map((column) => h('p', {}, unfinishedInWords(column))));
        return [
          h(
            'div',
            {
              class: `banner ${view.problem || unfinished.some(({ run }) => run.status === 'failed') ? 'error' : 'info'}`,
              role: view.problem ? 'alert' : 'note',
            },
            h('div', { class: 'grow' }, ...lines),
            this.actions.live &&
              view.columns.length > 0 &&
              button({ label: 'Resume', key: 'resume', appearance: 'primary', onClick: () => this.actions.resume() }),
          ),
        ];
      },
    );
  }
}

/** What the file does not hold: nobody should take it for empty. */
function leftOutWords(parts: NonNullable<ResultsView['leftOut']>): string {
  const words = parts.join(' and ');
  return words === '' ? '' : `${words.charAt(0).toUpperCase()}${words.slice(1)} are not in this file.`;
}

/** One row a setting; the first is what differs most often. */
const settings: { label: string; of(column: RunColumn): string }[] = [
  {
    label: 'Status',
    of: ({ run, done, total }) =>
      run.status === 'finished' ? 'finished' : `${run.status}, ${count(done)} of ${count(total)} items`,
  },
  {
    label: 'Origin',
    of: ({ run: { source } }) =>
      source
        ? `${importedWords(source)}${source.evaluated ? `, evaluated ${new Date(source.evaluated).toLocaleString()}` : ''}: ${visible(source.file)}`
        : 'measured here',
  },
  { label: 'Started', of: ({ run }) => new Date(run.created).toLocaleString() },
  {
    label: 'Execution provider',
    of: ({ run: { provider } }) => providerSentences(provider).join(' ') || '–',
  },
  {
    label: 'Items',
    of: ({ run }) =>
      `${count(run.benchmark.items)} of split “${run.benchmark.split}”${run.settings.limit === null ? '' : `, limited to ${count(run.settings.limit)}`}`,
  },
  {
    label: 'Shots',
    of: ({ run: { settings: each } }) => (each.shots === 0 ? '0' : `${each.shots}, seed ${each.fewShotSeed}`),
  },
  { label: 'Soft prompt', of: ({ run }) => softPrompt(run) },
  {
    label: 'Generation',
    of: ({
      run: {
        settings: { generation },
      },
    }) =>
      `${generation.temperature === 0 ? 'greedy' : `temperature ${generation.temperature}, top-p ${generation.topP}, seed ${generation.seed}`}, at most ${count(generation.maxNewTokens)} tokens, stops at ${generation.until.map((marker) => JSON.stringify(visible(marker))).join(' ') || 'end of text only'}`,
  },
  { label: 'Chat template', of: ({ run }) => chat(run) },
  { label: 'Batch size', of: ({ run }) => batchSize(run) },
  {
    label: 'Time',
    of: ({ run, summary }) =>
      summary
        ? [
            formatSeconds(summary.seconds),
            summary.tuningSeconds ? `tuning ${formatSeconds(summary.tuningSeconds)}` : '',
            timeMark(run, summary),
          ]
            .filter(Boolean)
            .join(', ')
        : '–',
  },
  {
    label: 'Tokens',
    of: ({ summary }) =>
      summary ? `${count(summary.promptTokens)} in prompts, ${count(summary.outputTokens)} in outputs` : '–',
  },
  {
    label: 'Peak memory',
    of: ({ summary }) => (summary?.peakMemoryBytes ? formatBytes(summary.peakMemoryBytes) : '–'),
  },
  {
    label: 'Model file',
    of: ({ run }) => (run.source ? '–' : `${run.model.graphFile}, weights ${run.model.digests.weights.slice(0, 12)}`),
  },
  {
    label: 'Versions',
    of: ({ run }) => `Softbench ${run.softbench}${run.onnxruntime ? `, ONNX Runtime ${run.onnxruntime}` : ''}`,
  },
];

function chat({ settings: { chat: each } }: RunFile): string {
  if (!each) return 'none';
  const { template, systemInstruction, fewshotAsMultiturn } = each;
  return [
    template
      ? `${visible(template.name)} (${template.digest.slice(0, 12)}), examples ${fewshotAsMultiturn ? 'as turns' : 'in one message'}`
      : 'none',
    ...(systemInstruction === null ? [] : [`system instruction ${JSON.stringify(visible(systemInstruction))}`]),
  ].join(', ');
}

function softPrompt(run: RunFile): string {
  const { softPrompt: each, softPromptFrom } = run.settings;
  const { learningRate } = run;
  const behind = positionOf(run) === 'suffix' ? ', behind the text (position: suffix)' : '';
  if (!each) return behind ? `from a file${behind}` : '–';
  const from = softPromptFrom ? `, taken from ${softPromptFrom}` : '';
  return `${each.vectors} vectors, ${each.steps} steps × ${each.batchSize}, learning rate ${learningRate?.value ?? each.learningRate}, ${each.init} init, seed ${each.seed}${from}${behind}`;
}

/** Values that all runs share stand once. */
function settingsContent(columns: readonly MarkedColumn[]): Child[] {
  if (columns.length === 0) return [];
  const rows = settings.map(({ label, of }) => ({ label, values: columns.map(of) }));
  const notes = [...new Set(columns.flatMap(({ run }) => run.notes))];
  const providers = [
    ...new Set(
      columns.map(({ run }) => (run.source ? importedWords(run.source) : providerTitle(run.provider.running))),
    ),
  ].join(', ');
  return [
    h(
      'details',
      { class: 'settings', 'data-key': 'settings' },
      h(
        'summary',
        {},
        'How the runs were made',
        h(
          'span',
          { class: 'muted' },
          ` · ${providers}${notes.length ? ` · ${notes.length} ${notes.length === 1 ? 'note' : 'notes'}` : ''}`,
        ),
      ),
      notes.length > 0 && h('ul', { class: 'notes' }, ...notes.map((note) => h('li', {}, visible(note)))),
      h(
        'div',
        { class: 'scroll-x', tabindex: 0, role: 'region', 'aria-label': 'Settings of the runs, table' },
        h(
          'table',
          { class: 'settings-table' },
          h(
            'thead',
            {},
            h(
              'tr',
              {},
              h('th', { scope: 'col' }, 'Setting'),
              ...columns.map(({ mark }) => h('th', { scope: 'col' }, columnName(mark))),
            ),
          ),
          h(
            'tbody',
            {},
            ...rows.map(({ label, values }) =>
              h(
                'tr',
                {},
                h('th', { scope: 'row' }, label),
                ...(new Set(values).size === 1
                  ? [h('td', { colspan: columns.length }, visible(values[0] ?? ''))]
                  : values.map((value) => h('td', {}, visible(value)))),
              ),
            ),
          ),
        ),
      ),
    ),
  ];
}

/** As asked for, and what was found or what memory left of it. */
function batchSize({ settings: { batchSize: asked, batchRows } }: RunFile): string {
  const rows = [
    ...(batchRows?.outputs ? [`${count(batchRows.outputs)} for outputs`] : []),
    ...(batchRows?.likelihoods ? [`${count(batchRows.likelihoods)} for likelihoods`] : []),
  ];
  const words = asked === 'auto' ? 'auto' : count(asked);
  return rows.length ? `${words}: ${rows.join(', ')}` : words;
}

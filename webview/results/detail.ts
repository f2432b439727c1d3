/** The detail pane: one output with its prompt, what was read where, why it failed, and the item in the other runs. */

import { causeSentences } from '../../src/shared/failure-causes.ts';
import { usesSoftPrompt } from '../../src/shared/modes.ts';
import type { ItemDetail, ItemRow, ResultsView } from '../../src/shared/protocol.ts';
import type { ItemRecord, Reading } from '../../src/shared/results.ts';
import { positionOf } from '../../src/shared/soft-prompt-words.ts';
import { type Child, h } from '../dom.ts';
import { count } from '../format.ts';
import { verdictIcon } from '../icons.ts';
import { verdicts } from '../terms.ts';
import { oneLine, piecesOf, visible } from '../text.ts';
import { button } from '../ui.ts';
import { type ColumnMark, columnName } from './columns.ts';
import { candidates, furtherOutputs, itemLikelihoods, itemMeasures } from './item-measures.ts';
import { likelihoodText } from './item-row.ts';
import { itemAsMarkdown } from './markdown.ts';
import { keyOf, type Row } from './rows.ts';

/** Characters of a text shown at first: a 1 MB line would stop the page. */
const firstCharacters = 6_000;

const stopSentences = {
  'stop-string': 'stopped at a stop string',
  eos: 'ended by itself (end of text)',
  length: 'cut off at the token limit',
} as const;

const partNames: Record<string, string> = {
  description: 'Description',
  example: 'Example',
  question: 'Question',
  'generation-prefix': 'Start of the answer',
  template: 'Chat template',
};

export interface DetailActions {
  live: boolean;
  load(index: number): Promise<ItemDetail>;
  step(by: number): void;
  choose(row: Row): void;
  close(): void;
  copy(text: string): Promise<void>;
  openSource(place: { file: string; line: number }): void;
}

export class DetailPane {
  readonly element = h('aside', { class: 'detail', 'aria-labelledby': 'detail-heading', tabindex: -1 });
  #row: Row | null = null;
  #detail: ItemDetail | null = null;
  #problem: string | null = null;
  #siblings: Row[] = [];
  #view: ResultsView | null = null;

  constructor(private readonly actions: DetailActions) {
    this.element.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const moves: Record<string, () => void> = {
        Escape: () => this.actions.close(),
        j: () => this.actions.step(1),
        k: () => this.actions.step(-1),
      };
      const move = moves[event.key];
      if (!move) return;
      event.preventDefault();
      move();
    });
  }

  get shown(): Row | null {
    return this.#row;
  }

  focus(): void {
    this.element.focus({ preventScroll: true });
  }

  /** Shows a row; the prompt follows as soon as the host has rendered it. */
  async show(row: Row, siblings: Row[], view: ResultsView): Promise<void> {
    const same = this.#row !== null && keyOf(this.#row) === keyOf(row);
    const agree = siblings.map(keyOf).join() === this.#siblings.map(keyOf).join();
    this.#view = view;
    if (same && agree && this.#detail) return;
    const sameItem = this.#row?.record.index === row.record.index;
    this.#row = row;
    this.#siblings = [...siblings];
    if (!sameItem) this.#detail = null;
    this.#problem = null;
    this.#render(!same);
    if (sameItem && agree && this.#detail) return;
    try {
      const detail = await this.actions.load(row.record.index);
      if (this.#row?.record.index !== row.record.index) return;
      this.#detail = detail;
    } catch (error) {
      if (this.#row?.record.index !== row.record.index) return;
      this.#problem = error instanceof Error ? error.message : String(error);
    }
    this.#render(false);
  }

  clear(): void {
    this.#row = null;
    this.#detail = null;
    this.#siblings = [];
    this.element.replaceChildren();
  }

  #render(toTop: boolean): void {
    const row = this.#row;
    if (!row) return;
    const focused = this.element.contains(document.activeElement);
    const scroll = this.element.querySelector('.detail-body')?.scrollTop ?? 0;
    const { record, mark, verdict } = row;
    const body = h(
      'div',
      { class: 'detail-body', tabindex: 0, role: 'region', 'aria-label': 'Details of the item' },
      h('p', { class: 'why' }, h('strong', {}, record.cause ?? verdicts[verdict].label), ' ', this.#why(record, row)),
      this.#readings(record),
      ...(record.generated === false ? [] : this.#outputs(row)),
      record.choices ? candidates(record.choices) : null,
      ...itemLikelihoods(record),
      ...itemMeasures(this.#whole(row)),
      record.truncated
        ? h(
            'p',
            { class: 'muted small' },
            `${count(record.truncated)} tokens at the beginning were left out: the model's context is shorter.`,
          )
        : null,
      ...this.#prompt(mark),
      ...this.#otherRuns(row),
    );
    this.element.replaceChildren(
      h(
        'div',
        { class: 'detail-head' },
        h('h3', { id: 'detail-heading' }, `Item ${record.index}`, columnName(mark)),
        h(
          'div',
          { class: 'detail-actions' },
          button({ label: 'Previous (k)', icon: 'previous', onClick: () => this.actions.step(-1) }),
          button({ label: 'Next (j)', icon: 'next', onClick: () => this.actions.step(1) }),
          this.#detail?.source && this.actions.live
            ? button({ label: 'Open the line of the data file', icon: 'source', onClick: () => this.#openSource() })
            : '',
          button({ label: 'Copy as Markdown', icon: 'copy', onClick: () => void this.#copy() }),
          button({ label: 'Close (Escape)', icon: 'close', onClick: () => this.actions.close() }),
        ),
      ),
      body,
    );
    if (!toTop) body.scrollTop = scroll;
    if (focused && !this.element.contains(document.activeElement)) this.focus();
  }

  /** What the table does not carry, as soon as the host has read it. */
  #whole({ run }: Row): Partial<ItemRecord> {
    return this.#detail?.records.find((each) => each.run === run)?.record ?? {};
  }

  #why(record: ItemRow, row: Row): string {
    if (record.cause) return causeSentences[record.cause];
    if (record.inFormat && !record.right && record.lenientRight)
      return 'In the required format, and the strict reading took a wrong answer where the lenient one took the right one.';
    return verdicts[row.verdict].sentence;
  }

  #stop({ stop }: ItemRow): string {
    const marker = stop.marker === undefined ? '' : ` ${JSON.stringify(visible(stop.marker))}`;
    return `${stopSentences[stop.reason]}${marker}`;
  }

  #readings(record: ItemRow): HTMLElement {
    const line = (name: string, kind: string, reading: Reading | string, ok: boolean | null): HTMLElement => {
      const answer = typeof reading === 'string' ? reading : reading.answer;
      return h(
        'tr',
        {},
        h('th', { scope: 'row' }, h('span', { class: `reading-mark ${kind}` }), name),
        h(
          'td',
          {},
          answer === null
            ? h('span', { class: 'muted' }, 'nothing')
            : h('bdi', { class: 'mono' }, oneLine(answer, 400)),
        ),
        h(
          'td',
          {},
          ok === null
            ? ''
            : h('span', { class: 'mode-name' }, verdictIcon(ok ? 'right' : 'neither'), ok ? 'right' : 'wrong'),
        ),
      );
    };
    return h(
      'table',
      { class: 'readings' },
      h(
        'tbody',
        {},
        line('Gold', 'gold', this.#detail?.gold ?? record.gold, null),
        record.generated !== false &&
          line(
            'Strict reading',
            'strict',
            record.strict,
            record.strict.answer === null && !record.inFormat ? null : record.right,
          ),
        record.generated !== false &&
          line(
            'Lenient reading',
            'lenient',
            record.lenient,
            record.lenient.answer === null ? null : record.lenientRight,
          ),
      ),
    );
  }

  #outputs(row: Row): Child[] {
    const { record } = row;
    return [
      h('h4', {}, 'Output'),
      this.#output(record),
      h('p', { class: 'muted small' }, `${count(record.outputTokens)} tokens, ${this.#stop(record)}`),
      ...furtherOutputs(this.#whole(row)),
    ];
  }

  /** The raw output; what the readings took is marked. Very long texts start cut and can be shown whole. */
  #output(record: ItemRow): HTMLElement {
    const { output, strict, lenient } = record;
    const place = h('pre', { class: 'text output', dir: 'auto' });
    if (output === '') {
      place.append(h('span', { class: 'muted' }, '(empty)'));
      return place;
    }
    const fill = (limit: number): void => {
      const reach = Math.max(strict.span?.[1] ?? 0, lenient.span?.[1] ?? 0);
      const length = Math.min(output.length, Math.max(limit, Math.min(reach + 200, 4 * firstCharacters)));
      const pieces = piecesOf(output.slice(0, length), strict.span, lenient.span);
      place.replaceChildren(
        ...pieces.map((piece) => {
          const text = visible(piece.text);
          if (!piece.strict && !piece.lenient) return document.createTextNode(text);
          const kinds = [piece.strict && 'strict', piece.lenient && 'lenient'].filter(Boolean).join(' ');
          return h('mark', { class: kinds, title: `taken by the ${kinds.replace(' ', ' and the ')} reading` }, text);
        }),
      );
      if (length < output.length)
        place.append(
          h(
            'span',
            { class: 'cut' },
            `… ${count(output.length - length)} more characters `,
            button({ label: 'Show more', onClick: () => fill(length * 4) }),
          ),
        );
    };
    fill(firstCharacters);
    return place;
  }

  #prompt(mark: ColumnMark): Child[] {
    const heading = h('h4', {}, 'Prompt');
    if (this.#problem)
      return [heading, h('p', { class: 'error-text' }, `The prompt could not be rendered: ${this.#problem}`)];
    if (!this.#detail) return [heading, h('p', { class: 'muted' }, 'Rendering the prompt…')];
    const prompt = this.#detail.prompts.find((each) => each.run === mark.run);
    if (!prompt) return [heading, h('p', { class: 'muted' }, 'The prompt is not part of this file.')];
    const run = this.#view?.columns.find(({ run }) => run.id === mark.run)?.run;
    const vectors = run?.settings.softPrompt?.vectors;
    const place = h('div', { class: 'text prompt' });
    const notes: HTMLElement[] = [];
    const behind = run !== undefined && positionOf(run) === 'suffix';
    const marker = (): HTMLElement =>
      h(
        'div',
        {
          class: 'soft-prompt-marker',
          title: `Learned vectors ${behind ? 'behind' : 'in front of'} the embedded text; they are not tokens and have no text`,
        },
        vectors ? `soft prompt: ${vectors} learned vectors` : 'soft prompt: learned vectors',
      );
    if (usesSoftPrompt(mark.mode) && !behind) place.append(marker());
    for (const { kind, text } of prompt.parts) {
      // The marker above stands for it: the vectors have no text.
      if (kind === 'soft-prompt') continue;
      if (kind === 'note') {
        notes.push(h('p', { class: 'prompt-note' }, visible(text.trim())));
        continue;
      }
      const content = h('pre', { dir: 'auto' });
      const fill = (limit: number): void => {
        content.replaceChildren(visible(text.slice(0, limit)));
        if (text.length > limit)
          content.append(
            h(
              'span',
              { class: 'cut' },
              `… ${count(text.length - limit)} more characters `,
              button({ label: 'Show more', onClick: () => fill(limit * 4) }),
            ),
          );
      };
      fill(firstCharacters);
      place.append(
        h('div', { class: `part part-${kind}` }, h('span', { class: 'part-name' }, partNames[kind] ?? kind), content),
      );
    }
    if (behind) place.append(marker());
    return [heading, ...notes, place.childElementCount > 0 && place];
  }

  #otherRuns(row: Row): Child[] {
    const others = this.#siblings.filter((each) => keyOf(each) !== keyOf(row));
    if (others.length === 0) return [];
    return [
      h('h4', {}, 'The same item in the other runs'),
      h(
        'ul',
        { class: 'others' },
        ...others.map((other) =>
          h(
            'li',
            {},
            h(
              'button',
              { type: 'button', class: 'other', onclick: () => this.actions.choose(other) },
              h(
                'span',
                { class: 'other-head' },
                columnName(other.mark),
                h('span', { class: 'mode-name' }, verdictIcon(other.verdict), verdicts[other.verdict].label),
                other.record.cause && h('span', { class: 'muted' }, other.record.cause),
              ),
              h(
                'span',
                { class: 'other-output mono' },
                h(
                  'bdi',
                  {},
                  other.record.generated === false
                    ? likelihoodText(other.record)
                    : other.record.output === ''
                      ? '(empty)'
                      : oneLine(other.record.output, 300),
                ),
              ),
            ),
          ),
        ),
      ),
    ];
  }

  #openSource(): void {
    const source = this.#detail?.source;
    if (source) this.actions.openSource(source);
  }

  async #copy(): Promise<void> {
    const row = this.#row;
    if (!row || !this.#view) return;
    const detail = this.#detail ?? {
      index: row.record.index,
      prompts: [],
      records: [],
      gold: row.record.gold,
      source: null,
    };
    const records = [row, ...this.#siblings.filter((each) => keyOf(each) !== keyOf(row))];
    await this.actions.copy(itemAsMarkdown(this.#view, detail, records));
  }
}

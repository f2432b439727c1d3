/**
 * The detail pane: one output with its prompt, what was read where, why it failed, its tokens with their probabilities,
 * and the item in the other runs; here items are marked, too.
 */
import { asError } from '../../src/shared/errors.ts';
import { causeSentences } from '../../src/shared/failure-causes.ts';
import type { ItemTokens } from '../../src/shared/item-tokens.ts';
import type { ItemMark } from '../../src/shared/marks.ts';
import type { ItemDetail, ResultsView, RunColumn } from '../../src/shared/protocol.ts';
import type { ItemRecord } from '../../src/shared/results.ts';
import { type Child, h } from '../dom.ts';
import { count } from '../format.ts';
import { verdicts } from '../terms.ts';
import { button } from '../ui.ts';
import { columnName } from './columns.ts';
import { markBanner, markForm } from './detail-mark.ts';
import { othersSection } from './detail-others.ts';
import { outputSection, readings } from './detail-output.ts';
import { promptSection } from './detail-prompt.ts';
import { type TokensState, tokensSection } from './detail-tokens.ts';
import { changeWords, type ItemMarks } from './item-marks.ts';
import { candidates, furtherOutputs, itemLikelihoods, itemMeasures } from './item-measures.ts';
import { itemAsMarkdown } from './markdown.ts';
import { promptText } from './prompt-segments.ts';
import { keyOf, type Row } from './rows.ts';

export interface DetailActions {
  live: boolean;
  marks: ItemMarks;
  load(index: number): Promise<ItemDetail>;
  tokens(
    of: { run: string; index: number },
    options: { signal: AbortSignal; onProgress(progress: { message: string }): void },
  ): Promise<ItemTokens>;
  step(by: number): void;
  choose(row: Row): void;
  close(): void;
  copy(text: string): Promise<void>;
  openSource(place: { file: string; line: number }): void;
  notice(text: string): void;
}

/** Parts of the pane that have a heading, in their order. */
const sections = ['Output', 'Log-probabilities', 'Prompt', 'Other runs'] as const;
type Section = (typeof sections)[number];

/** Whether keys are text there. */
const isTextField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.closest('textarea, input') !== null || target.tagName === 'VSCODE-TEXT-FIELD');

export class DetailPane {
  readonly element = h('aside', { class: 'detail', 'aria-labelledby': 'detail-heading', tabindex: -1 });
  #row: Row | null = null;
  #detail: ItemDetail | null = null;
  #problem: string | null = null;
  #siblings: Row[] = [];
  #view: ResultsView | null = null;
  /** Tokens are computed for every item that is shown, once they were asked for. */
  #wantsTokens = false;
  #tokens: TokensState = { state: 'not asked' };
  #computing: AbortController | null = null;
  #differences = false;
  #form: HTMLFormElement | null = null;
  #wide = false;

  constructor(private readonly actions: DetailActions) {
    this.element.addEventListener('keydown', (event) => this.#key(event));
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
    if (!sameItem) {
      this.#detail = null;
      this.#form = null;
    }
    this.#problem = null;
    if (!same) this.#forgetTokens();
    this.#render(!same);
    if (!same && this.#wantsTokens) void this.#compute();
    if (sameItem && agree && this.#detail) return;
    try {
      const detail = await this.actions.load(row.record.index);
      if (this.#row?.record.index !== row.record.index) return;
      this.#detail = detail;
    } catch (error) {
      if (this.#row?.record.index !== row.record.index) return;
      this.#problem = asError(error).message;
    }
    this.#render(false);
  }

  clear(): void {
    this.#forgetTokens();
    this.#row = null;
    this.#detail = null;
    this.#form = null;
    this.#siblings = [];
    this.element.replaceChildren();
  }

  /** Opens the form that marks the item, with the focus in it. */
  editMark(): void {
    const index = this.#row?.record.index;
    if (index === undefined || !this.actions.live) return;
    this.#form = markForm(this.actions.marks.of(index), {
      save: (mark) => void this.#setMark(index, mark),
      cancel: () => this.#closeForm(),
    });
    this.#render(true);
    this.#form.querySelector<HTMLInputElement>('input:checked')?.focus();
  }

  /** Marks have changed. */
  marksChanged(): void {
    this.#render(false);
  }

  #closeForm(): void {
    this.#form = null;
    this.#render(false);
    this.focus();
  }

  async #setMark(index: number, mark: ItemMark | null): Promise<void> {
    try {
      await this.actions.marks.set(index, mark);
    } catch (error) {
      this.actions.notice(asError(error).message);
      return;
    }
    this.#closeForm();
  }

  async #undo(): Promise<void> {
    try {
      await this.actions.marks.undo();
    } catch (error) {
      this.actions.notice(asError(error).message);
    }
  }

  #key(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      event.preventDefault();
      if (this.#form) this.#closeForm();
      else this.actions.close();
      return;
    }
    if (isTextField(event.target)) return;
    if ((event.ctrlKey || event.metaKey) && event.key === 'z' && this.actions.marks.last) {
      event.preventDefault();
      void this.#undo();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves: Record<string, () => void> = {
      j: () => this.actions.step(1),
      k: () => this.actions.step(-1),
      m: () => this.editMark(),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    // What is listened to above the pane has its own use of these keys.
    event.stopPropagation();
    move();
  }

  #forgetTokens(): void {
    this.#computing?.abort();
    this.#computing = null;
    this.#tokens = { state: 'not asked' };
  }

  async #compute(): Promise<void> {
    const row = this.#row;
    if (!row) return;
    this.#computing?.abort();
    const controller = new AbortController();
    this.#computing = controller;
    const set = (state: TokensState): void => {
      // Another item is shown by now.
      if (this.#computing !== controller) return;
      this.#tokens = state;
      this.#render(false);
    };
    set({ state: 'computing', message: 'Computing log-probabilities' });
    try {
      const tokens = await this.actions.tokens(
        { run: row.run, index: row.record.index },
        { signal: controller.signal, onProgress: ({ message }) => set({ state: 'computing', message }) },
      );
      set({ state: 'there', tokens });
    } catch (error) {
      set({ state: 'failed', message: asError(error).message });
    }
  }

  get #column(): RunColumn | undefined {
    return this.#view?.columns.find(({ run }) => run.id === this.#row?.run);
  }

  /** What the table does not carry, as soon as the host has read it. */
  #whole({ run }: Row): Partial<ItemRecord> {
    return this.#detail?.records.find((each) => each.run === run)?.record ?? {};
  }

  #others(): Row[] {
    const row = this.#row;
    return row ? this.#siblings.filter((each) => keyOf(each) !== keyOf(row)) : [];
  }

  /** The contents by their sections; empty ones are left out. */
  #sections(row: Row): Map<Section, Child[]> {
    const { record } = row;
    const found = new Map<Section, Child[]>();
    const whole = this.#whole(row);
    found.set('Output', [
      ...(record.generated === false ? [] : outputSection(record)),
      ...furtherOutputs(whole),
      record.choices ? candidates(record.choices) : null,
      ...itemLikelihoods(record),
      ...itemMeasures(whole),
      record.truncated
        ? h(
            'p',
            { class: 'muted small' },
            `${count(record.truncated)} tokens at the beginning were left out: the model's context is shorter.`,
          )
        : null,
    ]);
    if (this.actions.live)
      found.set(
        'Log-probabilities',
        tokensSection(this.#tokens, {
          ask: () => {
            this.#wantsTokens = true;
            void this.#compute();
          },
          stop: () => {
            this.#wantsTokens = false;
            this.#forgetTokens();
            this.#render(false);
          },
        }),
      );
    found.set(
      'Prompt',
      promptSection({
        mark: row.mark,
        detail: this.#detail,
        column: this.#column,
        tokens: whole.prompt?.tokens,
        problem: this.#problem,
      }),
    );
    const others = this.#others();
    if (others.length > 0)
      found.set(
        'Other runs',
        othersSection(row, others, {
          choose: (other) => this.actions.choose(other),
          differences: this.#differences,
          setDifferences: (on) => {
            this.#differences = on;
            this.#render(false);
          },
        }),
      );
    return found;
  }

  #render(toTop: boolean): void {
    const row = this.#row;
    if (!row) return;
    const active = document.activeElement;
    const focused = this.element.contains(active);
    const key = focused && active instanceof HTMLElement ? active.dataset.key : undefined;
    const scroll = this.element.querySelector('.detail-body')?.scrollTop ?? 0;
    const opened = [...this.element.querySelectorAll<HTMLDetailsElement>('details[open][data-key]')].map(
      (details) => details.dataset.key,
    );
    const parts = this.#sections(row);
    const body = h(
      'div',
      { class: 'detail-body', tabindex: 0, role: 'region', 'aria-label': 'Details of the item' },
      this.#form,
      ...this.#markLines(row),
      h('p', { class: 'why' }, h('strong', {}, row.record.cause ?? verdicts[row.verdict].label), ' ', why(row)),
      readings(row.record, this.#detail?.gold || row.record.gold),
      this.#sourceLine(),
      ...[...parts].flatMap(([name, children]) => [this.#heading(name), ...children]),
    );
    this.element.replaceChildren(this.#head(row), contents([...parts.keys()], this.element), body);
    for (const details of body.querySelectorAll<HTMLDetailsElement>('details[data-key]'))
      if (opened.includes(details.dataset.key)) details.open = true;
    body.scrollTop = toTop ? 0 : scroll;
    if (!focused || this.element.contains(document.activeElement)) return;
    const again = key ? this.element.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`) : null;
    if (again) again.focus({ preventScroll: true });
    else this.focus();
  }

  #head({ record, mark }: Row): HTMLElement {
    const { live } = this.actions;
    const isText = this.#detail?.source && this.#detail.source.isText !== false;
    return h(
      'div',
      { class: 'detail-head' },
      h('h3', { id: 'detail-heading' }, `Item ${record.index}`, columnName(mark)),
      h(
        'div',
        { class: 'detail-actions' },
        button({ label: 'Previous (k)', icon: 'previous', key: 'previous', onClick: () => this.actions.step(-1) }),
        button({ label: 'Next (j)', icon: 'next', key: 'next', onClick: () => this.actions.step(1) }),
        live ? button({ label: 'Mark (m)', icon: 'mark', key: 'mark', onClick: () => this.editMark() }) : '',
        isText && live
          ? button({
              label: 'Open the line of the data file',
              icon: 'source',
              key: 'source',
              onClick: () => this.#openSource(),
            })
          : '',
        button({ label: 'Copy as Markdown', icon: 'copy', key: 'copy', onClick: () => void this.#copy() }),
        button({ label: this.#wide ? 'Narrow' : 'Widen', icon: 'widen', key: 'widen', onClick: () => this.#widen() }),
        button({ label: 'Close (Escape)', icon: 'close', key: 'close', onClick: () => this.actions.close() }),
      ),
    );
  }

  #widen(): void {
    this.#wide = !this.#wide;
    this.element.closest('.items')?.classList.toggle('wide', this.#wide);
    this.#render(false);
  }

  #markLines({ record }: Row): Child[] {
    const { marks, live } = this.actions;
    const mark = marks.of(record.index);
    const { last } = marks;
    return [
      mark && !this.#form && markBanner(mark, live ? () => this.editMark() : null),
      last?.index === record.index &&
        !this.#form &&
        h(
          'p',
          { class: 'small mark-change', role: 'status' },
          changeWords(last),
          ' ',
          button({ label: 'Undo', key: 'undo', onClick: () => void this.#undo() }),
        ),
    ];
  }

  #heading(name: Section): HTMLElement {
    const copies: Partial<Record<Section, () => string | null>> = {
      Output: () => (this.#row?.record.generated === false ? null : (this.#row?.record.output ?? null)),
      Prompt: () => {
        const prompt = this.#detail?.prompts.find(({ run }) => run === this.#row?.run);
        return prompt ? promptText(prompt.parts) : null;
      },
    };
    const text = copies[name]?.();
    return h(
      'div',
      { class: 'section-head' },
      h('h4', { tabindex: -1, 'data-section': name }, name === 'Other runs' ? 'The same item in the other runs' : name),
      text &&
        button({
          label: `Copy the ${name.toLowerCase()}`,
          icon: 'copy',
          key: `copy-${name}`,
          onClick: () => void this.actions.copy(text),
        }),
    );
  }

  #sourceLine(): Child {
    const source = this.#detail?.source;
    if (!source) return null;
    const file = source.file.split(/[\\/]/).at(-1) ?? source.file;
    return h(
      'p',
      { class: 'muted small' },
      `${source.isText === false ? 'Row' : 'Line'} ${count(source.line)} of ${file}`,
    );
  }

  #openSource(): void {
    const source = this.#detail?.source;
    if (source) this.actions.openSource({ file: source.file, line: source.line });
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
    const mark = this.actions.marks.of(row.record.index);
    await this.actions.copy(itemAsMarkdown(this.#view, detail, [row, ...this.#others()], mark));
  }
}

function why(row: Row): string {
  const { record } = row;
  if (record.cause) return causeSentences[record.cause];
  if (record.inFormat && !record.right && record.lenientRight)
    return 'In the required format, and the strict reading took a wrong answer where the lenient one took the right one.';
  return verdicts[row.verdict].sentence;
}

/** Ways to the sections for those who go by keyboard, and for all where they are long. */
function contents(names: readonly Section[], pane: HTMLElement): HTMLElement {
  return h(
    'nav',
    { class: 'detail-contents', 'aria-label': 'Parts of the details' },
    ...names.map((name) =>
      h(
        'button',
        {
          type: 'button',
          class: 'link',
          'data-key': `to-${name}`,
          onclick: () => {
            const heading = pane.querySelector<HTMLElement>(`[data-section="${name}"]`);
            heading?.scrollIntoView({ block: 'start' });
            heading?.focus({ preventScroll: true });
          },
        },
        name,
      ),
    ),
  );
}

/** The marks of the page's items, as the host keeps them, and what was changed here, to be undone. */
import type { ItemMark, MarkedItem } from '../../src/shared/marks.ts';

interface Change {
  index: number;
  before: ItemMark | null;
  after: ItemMark | null;
}

export class ItemMarks {
  #marks: ReadonlyMap<number, MarkedItem> = new Map();
  readonly #changes: Change[] = [];

  /**
   * @param save sets or takes away a mark; gives all marks afterwards
   * @param changed told after every change, wherever it came from
   */
  constructor(
    private readonly save: (change: { index: number; mark: ItemMark | null }) => Promise<MarkedItem[]>,
    private readonly changed: () => void,
  ) {}

  of(index: number): MarkedItem | null {
    return this.#marks.get(index) ?? null;
  }

  /** By the item's index; another map after each change. */
  get byItem(): ReadonlyMap<number, MarkedItem> {
    return this.#marks;
  }

  /** In the order of the items. */
  get all(): readonly MarkedItem[] {
    return [...this.#marks.values()];
  }

  /** What `undo` would take back; null where nothing was changed here. */
  get last(): Change | null {
    return this.#changes.at(-1) ?? null;
  }

  /** Takes the marks as the host has them. */
  update(marks: readonly MarkedItem[]): void {
    const same =
      marks.length === this.#marks.size && marks.every((mark) => this.#marks.get(mark.index)?.time === mark.time);
    if (same) return;
    this.#marks = new Map(marks.map((mark) => [mark.index, mark]));
    this.changed();
  }

  async set(index: number, mark: ItemMark | null): Promise<void> {
    const before = this.of(index);
    await this.#put(index, mark);
    this.#changes.push({ index, before, after: mark });
    this.changed();
  }

  /** Takes back the last change that was made here. */
  async undo(): Promise<void> {
    const change = this.#changes.pop();
    if (!change) return;
    try {
      await this.#put(change.index, change.before);
    } catch (error) {
      this.#changes.push(change);
      throw error;
    }
    this.changed();
  }

  async #put(index: number, mark: ItemMark | null): Promise<void> {
    this.update(await this.save({ index, mark: mark && { kind: mark.kind, note: mark.note } }));
  }
}

/** A change in words, for a notice. */
export const changeWords = ({ index, before, after }: Change): string =>
  after
    ? `Item ${index} is marked: ${after.kind}.`
    : `The mark of item ${index} is taken away${before ? ` (${before.kind})` : ''}.`;

/**
 * What the open results tabs show, kept beside what the editor keeps: the editor learns it from the tab's page, so of a
 * tab whose window was loaded anew before the page ran it knows the title alone.
 */
import type { Memento } from 'vscode';
import { subjectOf } from './jobs.ts';
import { isComparison, type Shown } from './live-results.ts';

const stateKey = 'softbench.openResults';
/** Tabs that were open when a window ended badly stay in the list: the oldest give way. */
const mostTabs = 50;

interface OpenTab {
  title: string;
  shown: Shown;
}

export const titleOf = (shown: Shown): string =>
  isComparison(shown) ? `${shown.task} · ${shown.runs.length} runs` : `${shown.task} · ${shown.modelName}`;

export const keyOf = (shown: Shown): string =>
  isComparison(shown) ? ['runs', ...shown.runs].join('\n') : subjectOf(shown.benchmarkFile, shown.modelFolder);

export function isShown(state: unknown): state is Shown {
  if (typeof state !== 'object' || state === null) return false;
  const subject = state as Record<string, unknown>;
  if (Array.isArray(subject.runs))
    return typeof subject.task === 'string' && subject.runs.every((run) => typeof run === 'string');
  return ['task', 'benchmarkFile', 'modelName', 'modelFolder'].every((name) => typeof subject[name] === 'string');
}

export class OpenResults {
  readonly #memento: Memento;

  constructor(memento: Memento) {
    this.#memento = memento;
  }

  /** Newest first. */
  get #tabs(): OpenTab[] {
    const tabs = this.#memento.get<unknown>(stateKey);
    return Array.isArray(tabs) ? tabs.filter((tab) => isShown(tab?.shown) && typeof tab.title === 'string') : [];
  }

  async opened(shown: Shown): Promise<void> {
    const tab: OpenTab = { title: titleOf(shown), shown };
    await this.#memento.update(stateKey, [tab, ...this.#others(shown)].slice(0, mostTabs));
  }

  async closed(shown: Shown): Promise<void> {
    await this.#memento.update(stateKey, this.#others(shown));
  }

  #others(shown: Shown): OpenTab[] {
    const key = keyOf(shown);
    return this.#tabs.filter((tab) => keyOf(tab.shown) !== key);
  }

  /** What a tab with this title showed. @param isOpen tells of a key whether another tab shows it already */
  find(title: string, isOpen: (key: string) => boolean): Shown | null {
    return this.#tabs.find((tab) => tab.title === title && !isOpen(keyOf(tab.shown)))?.shown ?? null;
  }
}

/** Data embedded in an HTML file as JSON (README.md has the contract), checked before a page trusts it. */
import { asError } from '../src/shared/errors.ts';
import type { PredictorView } from '../src/shared/predictions.ts';
import type {
  ItemDetail,
  LeaderboardPageApi,
  LeaderboardView,
  PredictorPageApi,
  ResultsPageApi,
  ResultsView,
} from '../src/shared/protocol.ts';
import type { ItemRecord } from '../src/shared/results.ts';
import type { Client } from '../src/shared/rpc.ts';

export interface EmbeddedResults {
  page: 'results';
  view: ResultsView;
  /** Finished items by run id, in file order. */
  items: Record<string, ItemRecord[]>;
  /** Prompts and sources; items without one are shown without their prompt. */
  details?: ItemDetail[];
  /**
   * The same for many items: of each run, by item, its index, its parts (kind, number of the text) and its place in the
   * data file. A text stands once, however many prompts have it.
   */
  prompts?: {
    of: Record<string, [index: number, parts: [kind: string, text: number][], file: string, line: number][]>;
    texts: string[];
  };
}

export interface EmbeddedLeaderboard {
  page: 'leaderboard';
  view: LeaderboardView;
  /** How the page is to look at first: as it looked where it was exported. */
  state?: unknown;
}

export interface EmbeddedPredictor {
  page: 'predictor';
  view: PredictorView;
}

export type EmbeddedData = EmbeddedResults | EmbeddedLeaderboard | EmbeddedPredictor;

/** Reads the element `#softbench-data`. Throws an error that says what is missing. */
export function readEmbedded(page: EmbeddedData['page']): EmbeddedData {
  const element = document.getElementById('softbench-data');
  if (!element?.textContent) throw new Error('This file holds no Softbench data (no element “softbench-data”).');
  let data: unknown;
  try {
    data = JSON.parse(element.textContent);
  } catch (error) {
    throw new Error(`The data in this file is damaged: ${asError(error).message}`);
  }
  if (typeof data !== 'object' || data === null || !('page' in data) || !('view' in data))
    throw new Error('The data in this file is not Softbench data (no “page” or no “view”).');
  if (data.page !== page)
    throw new Error(`The data in this file is for the page “${String(data.page)}”, not “${page}”.`);
  if (page === 'results' && (!('items' in data) || typeof data.items !== 'object' || data.items === null))
    throw new Error('The data in this file is incomplete (no “items”).');
  return data as EmbeddedData;
}

const notHere = (): Promise<never> => Promise.reject(new Error('This works in the editor only.'));

/** State of a page, kept for the tab where the browser allows it for local files. */
const state = {
  save({ state: value }: { state: unknown }): Promise<void> {
    try {
      sessionStorage.setItem('softbench', JSON.stringify(value));
    } catch {
      // A browser may refuse storage to local files; the page then starts afresh.
    }
    return Promise.resolve();
  },
  load(): Promise<unknown> {
    try {
      return Promise.resolve(JSON.parse(sessionStorage.getItem('softbench') ?? 'null'));
    } catch {
      return Promise.resolve(null);
    }
  },
};

async function copyText({ text }: { text: string }): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Local files have no clipboard permission in some browsers: the old way works there.
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}

export function embeddedResults(data: EmbeddedData): Client<ResultsPageApi> {
  if (data.page !== 'results') throw new Error('Not the data of a results page.');
  const places = new Map<string, Map<number, number>>();
  /** Where an item stands in a run's lists. */
  const placeOf = (run: string, index: number): number => {
    let ofRun = places.get(run);
    if (!ofRun) {
      ofRun = new Map(data.items[run]?.map((item, at) => [item.index, at]));
      places.set(run, ofRun);
    }
    return ofRun.get(index) ?? -1;
  };
  const joined = (index: number): ItemDetail => {
    const records = data.view.columns.flatMap(({ run }) => {
      const record = data.items[run.id]?.[placeOf(run.id, index)];
      return record ? [{ run: run.id, record }] : [];
    });
    const found = records.flatMap(({ run }) => {
      const entry = data.prompts?.of[run]?.[placeOf(run, index)];
      return entry?.[0] === index ? [{ run, entry }] : [];
    });
    const texts = data.prompts?.texts ?? [];
    const place = found.find(({ entry: [, , file] }) => file)?.entry;
    return {
      index,
      prompts: found.map(({ run, entry: [, parts] }) => ({
        run,
        parts: parts.map(([kind, text]) => ({ kind, text: texts[text] ?? '' })),
      })),
      records,
      gold: records[0]?.record.gold ?? '',
      source: place ? { file: place[2], line: place[3] } : null,
    };
  };
  return {
    view: () => Promise.resolve({ ...data.view, job: null }),
    items: ({ run, from, limit }) => Promise.resolve((data.items[run] ?? []).slice(from, from + limit)),
    detail: ({ index }) => Promise.resolve(data.details?.find((detail) => detail.index === index) ?? joined(index)),
    tokens: notHere,
    mark: notHere,
    openSource: notHere,
    stop: notHere,
    resume: notHere,
    share: notHere,
    copy: copyText,
    saveState: state.save,
    loadState: state.load,
  };
}

export function embeddedLeaderboard(data: EmbeddedData): Client<LeaderboardPageApi> {
  if (data.page !== 'leaderboard') throw new Error('Not the data of a leaderboard page.');
  return {
    view: () => Promise.resolve(data.view),
    open: notHere,
    // No items are here: the page draws from the intervals by itself.
    ranks: notHere,
    editLink: notHere,
    openTab: notHere,
    showPredictions: notHere,
    save: notHere,
    runCommand: notHere,
    saveState: state.save,
    loadState: async () => (await state.load()) ?? data.state ?? null,
  };
}

export function embeddedPredictor(data: EmbeddedData): Client<PredictorPageApi> {
  if (data.page !== 'predictor') throw new Error('Not the data of a predictor page.');
  return {
    view: () => Promise.resolve({ ...data.view, work: null, problem: null }),
    set: notHere,
    start: notHere,
    stop: notHere,
    runCommand: notHere,
    removeFile: notHere,
    exportSmallBench: notHere,
    copy: copyText,
    saveState: state.save,
    loadState: state.load,
  };
}

/** Figures of another tool as a run of the store. */
import { type JudgedItem, scores } from '../metrics/index.ts';
import type { DiskRunStore } from '../runs/index.ts';
import { importedPlace, importedWords } from '../shared/imported.ts';
import type { PromptMode } from '../shared/modes.ts';
import type { ItemRecord, RunFile, RunSummary, Scores } from '../shared/results.ts';
import { aggregatedScores, measuresOf, noFacts, ownShares } from './aggregated.ts';
import type { Fields, ForeignTask } from './foreign.ts';

/** An item with its right answers in the form that the readers give. */
export interface ForeignItem {
  record: ItemRecord;
  golds: readonly string[];
}

/** One task, checked and ready to be written. */
export interface Foreign {
  task: ForeignTask;
  config: Fields;
  /** Null where the files have means only. Read while they are written; may throw. */
  items: { count: number; generates: boolean; read(): AsyncGenerator<ForeignItem[]> } | null;
}

const modeOf = ({ shots }: ForeignTask): PromptMode => (shots > 0 ? 'few-shot' : 'zero-shot');

function runFileOf({ task, items }: Foreign, group: string, softbench: string): Parameters<DiskRunStore['create']>[0] {
  return {
    schema: 1,
    softbench,
    onnxruntime: '',
    group,
    mode: modeOf(task),
    model: {
      name: task.model.name,
      folder: `${importedPlace}${task.source.tool}/${task.model.identity}`,
      graphFile: '',
      digests: { graph: '', weights: task.model.weights, tokenizer: '', config: '' },
    },
    benchmark: {
      task: task.task,
      file: `${importedPlace}${task.task}`,
      digests: { config: '', data: '' },
      items: items?.count ?? task.n ?? 0,
      split: task.split,
    },
    settings: {
      limit: task.limit,
      shots: task.shots,
      fewShotSeed: task.fewShotSeed,
      batchSize: 0,
      generation: { ...task.generation, seed: 0 },
      softPrompt: null,
      softPromptFrom: null,
      ...(task.chat && { chat: task.chat }),
      ...(isLikelihoods(task, items) && { generates: false as const }),
    },
    provider: { asked: '', running: '', reason: '', threads: 0 },
    notes: notesOf(task, items === null, items?.generates === true),
    source: task.source,
  } satisfies Omit<RunFile, 'id' | 'created' | 'updated' | 'status'>;
}

/** Nothing was generated: as the samples show, else as the task's kind says. */
const isLikelihoods = ({ outputType }: ForeignTask, items: Foreign['items']): boolean =>
  items ? !items.generates : outputType !== null && !/^(?:generate|greedy)_until$/.test(outputType);

function notesOf({ notes, taskVersion, source }: ForeignTask, aggregated: boolean, isGenerated: boolean): string[] {
  return [
    `${importedWords(source).replace('imported', 'Imported')}: nothing was run here.`,
    ...(taskVersion ? [`Version of the task: ${taskVersion}.`] : []),
    ...(source.group ? [`Mean over the tasks ${source.group.join(', ')}, as the file gives it.`] : []),
    ...(aggregated
      ? ['The files have no samples: means only, so format-following and knowledge cannot be told apart.']
      : isGenerated
        ? ['The samples do not say why an output ended, nor how many tokens it has.']
        : []),
    ...notes,
  ];
}

/** Records written at a time: the store flushes once for each. */
const batch = 2000;

/** Writes one run. Where it throws, nothing of the run is left. @returns its id and number of items */
export async function writeForeign(
  store: DiskRunStore,
  foreign: Foreign,
  { group, softbench, onItems }: { group: string; softbench: string; onItems?(done: number): void },
): Promise<{ run: string; items: number }> {
  const { task, items } = foreign;
  const writer = await store.create(runFileOf(foreign, group, softbench));
  const { id } = writer.run;
  try {
    const judged: JudgedItem[] = [];
    const golds: (readonly string[])[] = [];
    let waiting: Promise<void>[] = [];
    for await (const part of items?.read() ?? []) {
      for (const { record, golds: right } of part) {
        waiting.push(writer.appendItem(record));
        const { inFormat, right: isRight, lenientRight, cause, lenient, choices, generated, likelihoods } = record;
        judged.push({
          inFormat,
          right: isRight,
          lenientRight,
          cause,
          lenient,
          ...(choices && { choices }),
          ...(generated === false && { generated }),
          ...(likelihoods && { likelihoods: likelihoods.slice(0, 1) }),
        });
        golds.push(right);
      }
      if (waiting.length >= batch) {
        await Promise.all(waiting);
        waiting = [];
        onItems?.(judged.length);
      }
    }
    await Promise.all(waiting);
    const summary: RunSummary = {
      schema: 1,
      run: id,
      mode: modeOf(task),
      scores: items ? { ...scoresOf(judged, golds), ...likelihoodOf(foreign) } : aggregatedScores(task, foreign.config),
      ...noFacts,
      ...(measuresOf(task).length > 0 && { measures: measuresOf(task) }),
    };
    await writer.saveSummary(summary);
    await writer.update({ status: 'finished' });
    await writer.close();
    return { run: id, items: judged.length };
  } catch (thrown) {
    await writer.close().catch(() => {});
    await store.remove(id).catch(() => {});
    throw thrown;
  }
}

/** LL of a file of our own, whose samples have the outputs only. */
function likelihoodOf({ task }: Foreign): { LL?: Scores['LL'] } {
  const { LL } = ownShares(task);
  return LL ? { LL } : {};
}

/** Golds that are tried as the constant answer. */
const constantCandidates = 50;

function scoresOf(judged: readonly JudgedItem[], golds: readonly (readonly string[])[]): Scores {
  const counts = new Map<string, number>();
  for (const right of golds) for (const gold of new Set(right)) counts.set(gold, (counts.get(gold) ?? 0) + 1);
  const commonest = [...counts].sort((a, b) => b[1] - a[1]).slice(0, constantCandidates);
  const sets = golds.map((right) => new Set(right));
  const chances = judged.flatMap(({ choices }) =>
    choices && choices.texts.length > 0 ? [1 / choices.texts.length] : [],
  );
  return scores(judged, {
    constantCandidates: commonest.map(([gold]) => gold),
    isRight: (position, answer) => sets[position]?.has(answer) ?? false,
    chance: chances.length > 0 ? chances.reduce((sum, chance) => sum + chance, 0) / chances.length : null,
  });
}

/** Records of the places that the host names: files are read once as long as they stay the same. */
import { createHash } from 'node:crypto';
import { dirname, sep } from 'node:path';
import {
  combineTables,
  inTurns,
  type RecordTable,
  readRecordFile,
  recordStamp,
  runRecords,
  type ScoreRecord,
  stepwise,
  turns,
} from '../predict/index.ts';
import { openRunStore, type RunFolder } from '../runs/index.ts';
import { HumanError, sentenceOf } from '../shared/errors.ts';
import type { RecordPlaces, RecordsReport } from '../shared/predictions.ts';

interface Source {
  path: string;
  kind: RecordsReport['sources'][number]['kind'];
  table: RecordTable;
  problem: string | null;
}

export interface GatheredRecords {
  /** By the metric that each task is ranked by: what fits, maps and small benches are made of. */
  preferred: ScoreRecord[];
  /** Of all metrics: what cells of any metric are predicted from. */
  all: ScoreRecord[];
  /** Newest first. */
  runs: RunFolder[];
  report: RecordsReport;
}

const nothing: RecordTable = { records: [], leftOut: [] };

export class RecordReader {
  readonly #files = new Map<string, { stamp: string; table: RecordTable }>();
  #last: { key: string; gathered: GatheredRecords } | null = null;

  /** A file or a store that cannot be read is told of in the report; the others count. */
  async read({ storeFolders, files }: RecordPlaces): Promise<GatheredRecords> {
    const runs: RunFolder[] = [];
    const sources: Source[] = [];
    const stamps: string[] = [];
    const ofStores: { path: string; ids: Set<string>; problem: string | null }[] = [];
    for (const path of storeFolders)
      try {
        const list = await openRunStore(path).list();
        runs.push(...list.runs);
        ofStores.push({ path, ids: new Set(list.runs.map(({ run }) => run.id)), problem: null });
      } catch (thrown) {
        ofStores.push({ path, ids: new Set(), problem: sentenceOf(thrown) });
      }
    runs.sort((a, b) => (a.run.created < b.run.created ? 1 : a.run.created > b.run.created ? -1 : 0));
    stamps.push(...runs.map(({ run, summary }) => `${run.id} ${run.status} ${run.updated} ${summary ? 1 : 0}`));
    for (const path of new Set(files)) {
      const { table, stamp, problem } = await this.#file(path);
      stamps.push(`${path} ${stamp}`);
      sources.push({ path, kind: 'file', table, problem });
    }
    const key = JSON.stringify([storeFolders, stamps]);
    if (this.#last?.key === key) return this.#last.gathered;
    // Runs of all stores together: the leaderboard, whose names records have, counts the newest of each.
    const ofRuns = runRecords(runs);
    const tables = [ofRuns, ...sources.map(({ table }) => table)];
    const preferred = await combineTables(tables, { preferredOnly: true });
    const gathered: GatheredRecords = {
      preferred: preferred.records,
      all: (await combineTables(tables)).records,
      runs,
      report: await reportOf(preferred, [
        ...(ofStores.length > 0
          ? [
              {
                path: ofStores.map(({ path }) => path).join(', '),
                kind: 'runs' as const,
                table: ofRuns,
                problem: ofStores.find(({ problem }) => problem !== null)?.problem ?? null,
              },
            ]
          : []),
        ...sources,
      ]),
    };
    this.#last = { key, gathered };
    return gathered;
  }

  async #file(path: string): Promise<{ table: RecordTable; stamp: string; problem: string | null }> {
    const stamp = await recordStamp(path);
    if (stamp === null) {
      this.#files.delete(path);
      return { table: nothing, stamp: 'missing', problem: 'The file is not there.' };
    }
    const known = this.#files.get(path);
    if (known?.stamp === stamp) return { ...known, problem: null };
    try {
      const table = await readRecordFile(path);
      this.#files.set(path, { stamp, table });
      return { table, stamp, problem: null };
    } catch (thrown) {
      if (!(thrown instanceof HumanError)) throw thrown;
      return { table: nothing, stamp, problem: thrown.sentence };
    }
  }
}

async function reportOf(
  { records, leftOut, notes = [] }: RecordTable,
  sources: readonly Source[],
): Promise<RecordsReport> {
  const turn = turns();
  const used = new Set(records);
  // Examples name places in files; where the files lie is said once, by the sources.
  const folders = sources.filter(({ kind }) => kind === 'file').map(({ path }) => `${dirname(path)}${sep}`);
  const brief = (example: string): string => folders.reduce((text, folder) => text.replaceAll(folder, ''), example);
  const models = new Map<string, { model: string; family: string; records: number }>();
  const families = new Map<string, number>();
  const [tasks, subtasks, metrics] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const hash = createHash('sha256');
  const add = (record: ScoreRecord): void => {
    const { family, model, task, subtask, shots, mode, metric, score } = record;
    const entry = models.get(model) ?? { model, family, records: 0 };
    entry.records++;
    models.set(model, entry);
    families.set(family, (families.get(family) ?? 0) + 1);
    tasks.add(task);
    subtasks.add(`${task}\n${subtask}`);
    metrics.add(metric);
    hash.update(`${family}\n${model}\n${task}\n${subtask}\n${shots}\n${mode}\n${metric}\n${score}\n`);
  };
  await inTurns(stepwise(records, add), turn);
  await turn();
  return {
    sources: sources.map(({ path, kind, table, problem }) => ({
      path,
      kind,
      used: table.records.filter((record) => used.has(record)).length,
      problem,
    })),
    used: records.length,
    models: [...models.values()].sort((a, b) => a.model.localeCompare(b.model)),
    families: [...families]
      .map(([family, n]) => ({ family, records: n }))
      .sort((a, b) => b.records - a.records || a.family.localeCompare(b.family)),
    tasks: tasks.size,
    subtasks: subtasks.size,
    metrics: [...metrics].sort(),
    leftOut: leftOut.map((line) => ({ ...line, examples: line.examples.map(brief) })),
    notes: [...notes],
    digest: hash.digest('hex').slice(0, 16),
  };
}

/**
 * Opens task files of the lm-eval package with the rows that scripts/render-lm-eval.py made up for them, and compares every
 * prompt with the one that the harness rendered.
 */
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openBenchmark } from '../../src/benchmark/index.ts';
import type { Benchmark, Chat, Item, ItemResponse } from '../../src/benchmark/types.ts';
import { HumanError } from '../../src/shared/errors.ts';

/** One line of render-lm-eval.py. */
interface RenderedTask {
  file: string;
  name: string;
  python: string[];
  rows: Record<string, Record<string, unknown>[]>;
  /** Metrics that stand in for those that cannot be had; null: the file's own. */
  metrics: unknown[] | null;
  /** What the harness makes of made-up responses: outputs, or log-likelihoods with or without a greedy flag. */
  judged: {
    item: number;
    responses: (string | number | [number, boolean])[][];
    filters: Record<string, Record<string, unknown>>;
  }[];
  /** By setting: the texts of every request of the first items; contexts and continuations. */
  requests: Record<string, { shots: number; items: string[][][] }>;
}

export type Verdict =
  | { name: string; kind: 'equal' }
  | { name: string; kind: 'different'; setting: string; item: number; theirs: string; ours: string }
  | { name: string; kind: 'refused'; message: string }
  | { name: string; kind: 'crashed'; message: string };

/** Shows exactly what it is given, as the template of render-lm-eval.py. */
const template: Chat['template'] = {
  render: (messages, { addGenerationPrompt }) =>
    pythonJson([messages.map(({ role, content }) => ({ role, content })), addGenerationPrompt]),
};

/** JSON with Python's spaces. */
function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, inner]) => `${JSON.stringify(key)}: ${pythonJson(inner)}`)
      .join(', ')}}`;
  return JSON.stringify(value);
}

const chats: Record<string, Chat | null> = {
  '0': null,
  '5': null,
  '5-system': { template: null, systemInstruction: 'Be brief.', fewshotAsMultiturn: false },
  '0-chat': { template, systemInstruction: null, fewshotAsMultiturn: false },
  '5-chat': { template, systemInstruction: 'Be brief.', fewshotAsMultiturn: false },
  '5-turns': { template, systemInstruction: null, fewshotAsMultiturn: true },
};

/** The file with the made-up rows in place of its data, as a file that includes it. */
function wrap(task: RenderedTask, folder: string): string {
  const files: Record<string, string> = {};
  for (const [split, rows] of Object.entries(task.rows)) {
    files[split] = join(folder, `${split.replace(/\W/g, '_')}.jsonl`);
    writeFileSync(files[split], rows.map((row) => JSON.stringify(row)).join('\n'));
  }
  const wrapper = {
    include: task.file,
    dataset_path: 'json',
    dataset_name: null,
    dataset_kwargs: { data_files: files },
    // Metrics are compared elsewhere; those of Python functions are no matter of prompts.
    ...(task.metrics && { metric_list: task.metrics, process_results: null }),
    ...(task.python.some((key) => key.startsWith('filter_list')) && { filter_list: null }),
  };
  const file = join(folder, 'task.yaml');
  writeFileSync(file, JSON.stringify(wrapper));
  return file;
}

/** Texts of an item's requests; for one that only generates, its prompt. */
async function textsOf(benchmark: Benchmark, item: Item, shots: number): Promise<string[][]> {
  const requests = await benchmark.requests?.(item, shots);
  if (!requests) return [[(await benchmark.prompt(item, shots)).text]];
  const asked = requests.map((request) =>
    request.kind === 'rolling'
      ? [request.text]
      : request.kind === 'generate'
        ? [request.context]
        : [request.context, request.continuation],
  );
  // Behind the likelihoods stands the generated reading, which is ours.
  return benchmark.outputType === 'multiple_choice' && requests.at(-1)?.kind === 'generate'
    ? asked.slice(0, -1)
    : asked;
}

export async function compareTask(task: RenderedTask): Promise<Verdict> {
  const folder = mkdtempSync(join(tmpdir(), 'softbench-rendered-'));
  const { name } = task;
  try {
    const opened = await openBenchmark(wrap(task, folder));
    for (const [setting, { shots, items: theirs }] of Object.entries(task.requests)) {
      const benchmark = opened.withChat(chats[setting] ?? null);
      const items = await benchmark.items('evaluation');
      for (const [at, expected] of theirs.entries()) {
        const item = items[at];
        if (!item) return { name, kind: 'different', setting, item: at, theirs: 'an item', ours: 'none' };
        const ours = await textsOf(benchmark, item, shots);
        const wanted = benchmark.requests ? expected : expected.slice(0, 1).map((texts) => texts.slice(0, 1));
        if (JSON.stringify(ours) !== JSON.stringify(wanted))
          return {
            name,
            kind: 'different',
            setting,
            item: at,
            theirs: JSON.stringify(wanted),
            ours: JSON.stringify(ours),
          };
      }
    }
    return judge(task, opened, await opened.items('evaluation')) ?? { name, kind: 'equal' };
  } catch (thrown) {
    if (thrown instanceof HumanError) return { name, kind: 'refused', message: thrown.message };
    return { name, kind: 'crashed', message: thrown instanceof Error ? (thrown.stack ?? thrown.message) : `${thrown}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the first item whose filters or metrics give something else gets; null where all are equal. */
function judge({ name, judged }: RenderedTask, benchmark: Benchmark, items: readonly Item[]): Verdict | null {
  for (const { item, responses, filters } of judged) {
    const row = items[item];
    const found = row && benchmark.measure?.(row, responses.map(responseOf));
    for (const [filter, theirs] of Object.entries(filters)) {
      const ours = found?.find((entry) => entry.filter === filter)?.values ?? {};
      const different = Object.keys(theirs).filter((metric) => !alike(theirs[metric], ours[metric]));
      if (different.length > 0)
        return {
          name,
          kind: 'different',
          setting: `${different.join(', ')} by ${filter}`,
          item,
          theirs: JSON.stringify([responses, theirs]),
          ours: JSON.stringify(found),
        };
    }
  }
  return null;
}

function responseOf(repeats: RenderedTask['judged'][number]['responses'][number]): ItemResponse {
  const [first] = repeats;
  if (Array.isArray(first)) return { kind: 'loglikelihood', sum: first[0], greedy: first[1] };
  if (typeof first === 'number') return { kind: 'rolling', sum: first };
  return {
    kind: 'generate',
    outputs: repeats.map((text) => ({ text: String(text), stop: { reason: 'stop-string' as const } })),
  };
}

function alike(theirs: unknown, ours: unknown): boolean {
  if (Array.isArray(theirs))
    return Array.isArray(ours) && ours.length === theirs.length && theirs.every((part, at) => alike(part, ours[at]));
  if (typeof theirs === 'number' || typeof theirs === 'boolean')
    return Math.abs(Number(theirs) - Number(ours)) < 1e-9 && ours !== null && ours !== undefined;
  return theirs === ours;
}

export async function* compareFile(path: string): AsyncGenerator<Verdict> {
  for await (const line of createInterface({ input: createReadStream(path) }))
    if (line !== '') yield await compareTask(JSON.parse(line) as RenderedTask);
}

/** The harness's runs in test/fixtures/parity, as scripts/make-parity.py wrote them. */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

// A bundle stands elsewhere in the project: npm and vitest begin in its root.
const root = resolve(process.cwd());
export const fixtures = join(root, 'test', 'fixtures', 'parity');

/** A model whose weights are in the repository, and the template that it has in these runs where it has none itself. */
export const models: Record<string, { folder: string; chat?: string }> = {
  stories260k: { folder: join(root, 'examples', 'models', 'stories260k'), chat: 'stories.jinja' },
  llama: { folder: join(root, 'test', 'fixtures', 'models', 'llama-genai-fp32') },
  gpt2: { folder: join(root, 'test', 'fixtures', 'models', 'gpt2-optimum'), chat: 'no-system.jinja' },
};

export interface ChatSetting {
  systemInstruction: string | null;
  fewshotAsMultiturn: boolean;
}

/** A setting of make-parity.py; null: no chat template. */
export const chats: Record<string, ChatSetting | null> = {
  'zero-shot': null,
  'few-shot': null,
  'zero-shot-chat': { systemInstruction: null, fewshotAsMultiturn: false },
  'few-shot-chat': { systemInstruction: 'You tell short stories.', fewshotAsMultiturn: false },
  'few-shot-chat-turns': { systemInstruction: 'You tell short stories.', fewshotAsMultiturn: true },
};

/** What one request was, in tokens. */
export interface RequestTokens {
  item: number;
  request: number;
  context?: number;
  continuation?: number;
  /** Digest of the ids of context and continuation. */
  ids?: string;
  /** Of a text longer than the context: its windows. */
  windows?: { context: number; continuation: number; ids: string }[];
  /** Generated ids, and the places where the two best were close, with how close. */
  output?: number[];
  close?: Record<string, number>;
}

/** One line of samples_*.jsonl. */
export interface Sample {
  doc_id: number;
  filter: string;
  target: string;
  arguments: Record<string, Record<string, unknown>>;
  resps: string[][] | string[][][];
  metrics: string[];
  [metric: string]: unknown;
}

export interface HarnessRun {
  /** Items that were evaluated; null: all. */
  limit: number | null;
  /** Of a digest: texts are given by their hash, numbers to the fifth place. */
  hashed: boolean;
  model: string;
  setting: string;
  task: string;
  shots: number;
  chat: ChatSetting | null;
  requests: RequestTokens[];
  samples: Sample[];
  /** `metric,filter` and `metric_stderr,filter`. */
  results: Record<string, number | string>;
}

const json = <Value>(path: string): Value => JSON.parse(readFileSync(path, 'utf8')) as Value;

export function harnessRuns(model: string): HarnessRun[] {
  return Object.entries(chats).flatMap(([setting, chat]) => {
    const folder = join(fixtures, 'runs', model, setting);
    if (!existsSync(join(folder, 'tokens.json'))) return [];
    const tokens = json<Record<string, { shots: number; requests: RequestTokens[] }>>(join(folder, 'tokens.json'));
    const { results } = json<{ results: Record<string, Record<string, number | string>> }>(
      join(folder, 'results.json'),
    );
    return Object.entries(tokens).map(([task, { shots, requests }]) => ({
      limit: null,
      hashed: false,
      model,
      setting,
      task,
      shots,
      chat,
      requests,
      results: results[`parity_${task}`] ?? {},
      samples: readFileSync(join(folder, `samples_parity_${task}.jsonl`), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Sample),
    }));
  });
}

/** One request of digest.json: hashes of its texts, and what the model answered. */
interface DigestRequest extends RequestTokens {
  texts: string[];
  /** An output, or log-likelihood and greedy flag. */
  response: string | number[];
}

interface Digest {
  shots: number;
  requests: DigestRequest[];
  verdicts: { item: number; filter: string; values: Record<string, unknown> }[];
  results: Record<string, number | string>;
}

/** Items of a task in a digest, as make-parity.py. */
const digestItems = 8;

/** Runs of a model whose weights are not in the repository. */
export function digestRuns(model: string): HarnessRun[] {
  return Object.entries(chats).flatMap(([setting, chat]) => {
    const file = join(fixtures, 'runs', model, setting, 'digest.json');
    if (!existsSync(file)) return [];
    return Object.entries(json<Record<string, Digest>>(file)).map(([task, { shots, requests, verdicts, results }]) => ({
      limit: digestItems,
      hashed: true,
      model,
      setting,
      task,
      shots,
      chat,
      requests,
      results,
      samples: verdicts.map(({ item, filter, values }) => {
        const mine = requests.filter((request) => request.item === item);
        const sample: Sample = {
          doc_id: item,
          filter,
          target: '',
          arguments: Object.fromEntries(mine.map(({ texts }, at) => [`gen_args_${at}`, { ...texts }])),
          resps: mine.map(({ response }) => responsesOf(response)) as Sample['resps'],
          metrics: Object.keys(values),
          ...values,
        };
        return sample;
      }),
    }));
  });
}

/** A response as samples_*.jsonl has it. */
function responsesOf(response: string | number[]): (string | string[])[] {
  if (typeof response === 'string') return [response];
  const [sum, greedy] = response;
  return greedy === undefined ? [String(sum)] : [[String(sum), greedy ? 'True' : 'False']];
}

/** The model's folder, in `workspace` with the chat template of these runs where the model has none. */
export function modelFolder(model: string, workspace: string): string {
  const spec = models[model];
  if (!spec) throw new Error(`no model ${model}`);
  if (!spec.chat) return spec.folder;
  const folder = join(workspace, model);
  if (existsSync(folder)) return folder;
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(spec.folder))
    if (/\.onnx/.test(name)) symlinkSync(join(spec.folder, name), join(folder, name));
    else if (/\.json$/.test(name)) cpSync(join(spec.folder, name), join(folder, name));
  cpSync(join(fixtures, 'chat', spec.chat), join(folder, 'chat_template.jinja'));
  return folder;
}

/** Of a text in a digest. */
export const textHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** As make-parity.py's digest. */
export const digest = (ids: readonly number[]): string =>
  createHash('sha256').update(ids.join(',')).digest('hex').slice(0, 16);

/** Fetching data sets and models on the command line: with consent only, over a server that speaks as the Hub does. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli/run.ts';
import type { Surroundings } from '../../src/cli/terminal.ts';
import { HubServer } from '../hub/server.ts';
import { type Outcome, runProgram, scriptedProgram } from './run-program.ts';

const models = join(import.meta.dirname, '../fixtures/models');
const model =
  readdirSync(models).find(
    (name) => existsSync(join(models, name, 'model.onnx')) && existsSync(join(models, name, 'tokenizer.json')),
  ) ?? '';
const inModel = (name: string): Buffer => readFileSync(join(models, model, name));

const built = scriptedProgram();
let folder: string;
let server: HubServer;
beforeAll(async () => {
  const files = readdirSync(join(models, model)).filter((name) => /\.(?:json|jinja|onnx|onnx_data)$/.test(name));
  server = await HubServer.start([
    {
      kind: 'dataset',
      id: 'owner/sums',
      licence: 'mit',
      revisions: { main: { 'train.jsonl': '{"a": 1}\n'.repeat(50), 'test.jsonl': '{"a": 2}\n{"a": 3}\n' } },
    },
    {
      kind: 'model',
      id: 'owner/tiny',
      largeFrom: 10_000,
      revisions: {
        main: {
          ...Object.fromEntries(files.map((name) => [name, inModel(name)])),
          'onnx/model_q4.onnx': 'graph',
          'onnx/model_q4.onnx_data': 'weights',
          'onnx/model_fp16.onnx': 'graph',
          'pytorch_model.bin': 'x',
        },
      },
    },
    { kind: 'model', id: 'owner/plain', revisions: { main: { 'config.json': '{}', 'model.safetensors': 'x' } } },
  ]);
});
afterAll(() => server.stop());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-cli-downloads-'));
  server.asked.length = 0;
  server.behaviour = {};
  writeFileSync(
    join(folder, 'sums.yaml'),
    'task: sums\ndataset_path: owner/sums\ntest_split: test\ndoc_to_text: "{{a}}"\ndoc_to_target: "{{a}}"\n',
  );
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const environment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:HF_|HUGGING|SOFTBENCH_)/.test(name))),
  HF_ENDPOINT: server.address,
  HF_HOME: join(folder, 'home'),
  WORKER_FILE: built.workerFile,
});
const snapshotFiles = (kind: string, id: string): string[] => {
  const snapshots = join(folder, 'home', 'hub', `${kind}s--${id.replace('/', '--')}`, 'snapshots');
  return existsSync(snapshots)
    ? readdirSync(snapshots)
        .flatMap((commit) => readdirSync(join(snapshots, commit), { recursive: true }) as string[])
        .sort()
    : [];
};

const softbench = (...args: string[]): Promise<Outcome> =>
  runProgram({ ...built, folder, environment: environment() }, args);

/** In this process, with somebody at the terminal who gives `answer`. */
async function asked(
  answer: string,
  ...args: string[]
): Promise<{ code: number; stderr: string; questions: string[] }> {
  let stderr = '';
  const questions: string[] = [];
  const before = { ...process.env };
  Object.assign(process.env, environment());
  try {
    const code = await runCommandLine(args, {
      stdout: { write: () => true },
      stderr: { write: (text: string) => (stderr += text) },
      ask: async (question: string) => {
        questions.push(question);
        return answer;
      },
      signal: new AbortController().signal,
      worker: null,
      version: '0',
      pages: '',
    } as unknown as Surroundings);
    return { code, stderr, questions };
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

describe('datasets download', () => {
  it('fetches what a benchmark reads, and says what, from where and where to', async () => {
    const { code, stdout, stderr } = await softbench('datasets', 'download', 'sums.yaml', '--yes');
    expect(stderr).toMatch(/Data set owner\/sums: configuration default, split test\nDownload: 1 KB in 1 file\n/);
    expect(stderr).toContain(`Source: ${server.address}/datasets/owner/sums, revision main`);
    expect(stderr).toContain('Licence: mit');
    expect(code).toBe(0);
    expect(stdout.trim()).toMatch(/snapshots.[0-9a-f]{40}$/);
    expect(snapshotFiles('dataset', 'owner/sums')).toEqual(['test.jsonl']);
    expect((await softbench('check', 'sums.yaml')).stdout).toBe('No problems found.\n');
  });
  it('fetches all splits of an id, as JSON', async () => {
    const { stdout } = await softbench('datasets', 'download', 'owner/sums', '--yes', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ id: 'owner/sums', folder: expect.stringMatching(/snapshots/) });
    expect(snapshotFiles('dataset', 'owner/sums')).toEqual(['test.jsonl', 'train.jsonl']);
  });
  it('fetches nothing without consent', async () => {
    const { code, stderr } = await softbench('datasets', 'download', 'owner/sums');
    expect(code).toBe(2);
    expect(stderr).toMatch(/Nobody can be asked here whether to fetch this\. Agree with --yes/);
    const no = await asked('no', 'datasets', 'download', 'owner/sums');
    expect(no).toMatchObject({ code: 130, questions: ['Fetch it? [y/N] '] });
    expect(snapshotFiles('dataset', 'owner/sums')).toEqual([]);
    expect(server.asked.some(({ url }) => url.includes('/resolve/'))).toBe(false);
    expect(await asked('y', 'datasets', 'download', 'owner/sums')).toMatchObject({ code: 0 });
    expect(snapshotFiles('dataset', 'owner/sums')).toEqual(['test.jsonl', 'train.jsonl']);
  });
  it('says in one sentence what went wrong', async () => {
    const { code, stderr } = await softbench('datasets', 'download', 'owner/none', '--yes');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^softbench: There is no data set owner\/none on 127.*\n$/);
  });
});

describe('a job whose data set is not here', () => {
  const evaluate = ['evaluate', 'sums.yaml', '--model', '.', '--json'];
  it('says how to get it, and asks nothing of the network', async () => {
    const { code, stderr } = await softbench(...evaluate);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /owner\/sums .* is not on this machine\. Agree to fetch it with --download; or map a folder with --dataset_folder owner\/sums=DIR/,
    );
    expect(server.asked).toEqual([]);
  });
  it('fetches it with --download before the model is opened', async () => {
    await softbench(...evaluate, '--download');
    expect(snapshotFiles('dataset', 'owner/sums')).toEqual(['test.jsonl']);
  });
  it('asks at a terminal, before the Hub is asked and before anything is fetched', async () => {
    const job = ['evaluate', join(folder, 'sums.yaml'), '--model', folder];
    const no = await asked('n', ...job);
    expect(no).toMatchObject({ code: 2, questions: [`Ask ${new URL(server.address).host} for it? [y/N] `] });
    expect(server.asked).toEqual([]);
    const yes = await asked('y', ...job);
    expect(yes.questions).toHaveLength(2);
    expect(snapshotFiles('dataset', 'owner/sums')).toEqual(['test.jsonl']);
  });
  it('reads it from a mapped folder', async () => {
    mkdirSync(join(folder, 'mine'));
    writeFileSync(join(folder, 'mine', 'test.jsonl'), '{"a": 1}\n');
    const { stdout } = await softbench(
      'check',
      'sums.yaml',
      '--dataset_folder',
      'a/b=c',
      '--dataset_folder',
      'owner/sums=mine',
    );
    expect(stdout).toBe('No problems found.\n');
    expect((await softbench('check', 'sums.yaml', '--dataset_folder', 'mine')).stderr).toMatch(
      /"mine" maps no data set to a folder/,
    );
    expect(server.asked).toEqual([]);
  });
});

describe('models download', () => {
  it('fetches the most exact graph with what belongs to it', async () => {
    const { code, stdout, stderr } = await softbench('models', 'download', 'owner/tiny', '--yes');
    expect(stderr).toMatch(/^Model owner\/tiny: model\.onnx\n/);
    expect(stderr).toMatch(/Other graphs: onnx\/model_fp16\.onnx .*onnx\/model_q4\.onnx/);
    expect(code).toBe(0);
    const files = snapshotFiles('model', 'owner/tiny');
    expect(files).toEqual(expect.arrayContaining(['config.json', 'model.onnx', 'tokenizer.json']));
    expect(files.some((file) => /q4|fp16|pytorch/.test(file))).toBe(false);
    expect(readFileSync(join(stdout.trim(), 'model.onnx')).equals(inModel('model.onnx'))).toBe(true);
    expect(stderr).toContain('Use it with --model owner/tiny');
  });
  it('fetches the graph that is asked for, with its weights', async () => {
    await softbench('models', 'download', 'owner/tiny', '--yes', '--variant', 'q4');
    const graphs = snapshotFiles('model', 'owner/tiny').filter((file) => file.includes('.onnx'));
    expect(graphs).toEqual([join('onnx', 'model_q4.onnx'), join('onnx', 'model_q4.onnx_data')]);
    const wrong = await softbench('models', 'download', 'owner/tiny', '--yes', '--variant', 'q5');
    expect(wrong.stderr).toMatch(/has no graph "q5"\. It has model\.onnx, /);
  });
  it('says what a repository without an ONNX file needs', async () => {
    expect((await softbench('models', 'download', 'owner/plain', '--yes')).stderr).toMatch(
      /owner\/plain has no ONNX file.*optimum-cli export onnx --model owner\/plain/,
    );
  });
});

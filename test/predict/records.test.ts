import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type LeftOut,
  type RecordFilters,
  type RecordTable,
  readRecords,
  studyFilters,
} from '../../src/predict/index.ts';
import { mappingOf } from '../../src/predict/mapping.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'records-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function file(content: string | Buffer, name = 'scores.csv'): string {
  const path = join(folder, `${++files}-${name}`);
  writeFileSync(path, content);
  return path;
}
const read = (content: string | Buffer, filters: RecordFilters = {}, name?: string): Promise<RecordTable> =>
  readRecords({ files: [file(content, name)] }, filters);
const reasons = (leftOut: readonly LeftOut[]): Record<string, number> =>
  Object.fromEntries(leftOut.map(({ reason, count }) => [reason, count]));

const studyHeader =
  'task,subtask,model_family,model_name,non_embedding_params,flop_matched_non_embedding_params,total_params,n_shot,metric_name,is_preferred_metric,score';

describe("CSV in the study's columns", () => {
  it('is read with all that it says', async () => {
    const { records, leftOut, notes } = await read(
      `${studyHeader}\nnavigate,navigate,BIG-G T=0,2m,1536000,1536000,2100000,3,multiple_choice_grade,1,0.5\n`,
    );
    expect(records).toEqual([
      {
        family: 'BIG-G T=0',
        model: '2m',
        parameters: { total: 2.1e6, nonEmbedding: 1.536e6, flopMatched: 1.536e6 },
        trainingFlops: null,
        task: 'navigate',
        subtask: 'navigate',
        shots: 3,
        mode: null,
        metric: 'multiple_choice_grade',
        preferred: true,
        score: 0.5,
        n: null,
        source: 'csv',
      },
    ]);
    expect(leftOut).toEqual([]);
    expect(notes).toEqual([]);
  });

  it('needs no columns but model, task and score, and says what it takes for granted', async () => {
    const { records, notes } = await read(
      'model,task,score\norg/Pythia-1.4b,boolq,0.6\norg/Llama-3-8B-Instruct,boolq,0.8\n',
    );
    expect(records.map(({ family, parameters }) => [family, parameters.total])).toEqual([
      ['Pythia', 1.4e9],
      ['Llama-3', 8e9],
    ]);
    expect(notes?.map((note) => note.replace(/^.* has/, 'It has'))).toEqual([
      'It has no column model_family: families are taken from the names of models.',
      'It has no column total_params: sizes are taken from the names of models.',
      'It has no column n_shot: the number of examples is taken as 0.',
      'It has no column metric_name: all scores are taken as of one metric from 0 to 1.',
    ]);
  });

  it('tells models of one name in several families apart', async () => {
    const { records, leftOut } = await read(
      'model_family,model_name,task,score\nBIG-G T=0,128b,t,0.5\nBIG-G T=1,128b,t,0.6\nPaLM,8b,t,0.7\n',
    );
    expect(records.map(({ model }) => model)).toEqual(['BIG-G T=0 128b', 'BIG-G T=1 128b', '8b']);
    expect(leftOut).toEqual([]);
  });

  it.each([
    ['model,task\na,b\n', 'The table has no column "score". Its columns are: model, task.'],
    ['a;b;c\n1;2;3\n', 'The table has no columns "task", "model_name", "score". Its columns are: a, b, c.'],
    ['', 'The file is empty: there is no header line.'],
    ['  \n\n \t\n', 'The file is empty: there is no header line.'],
    ['PK\u0003\u0004\u0000\u0000', 'The file is no text: it holds zero bytes.'],
    [`model,task,score\n${'m,t,0.5\n'.repeat(200_000)}m,t\u0000,0.5\n`, 'The file is no text: it holds zero bytes.'],
    ['model,task,score,score\n', 'Two columns are named "score".'],
    ['model,task,score\n"a,b,0.5\n', 'This is not valid CSV'],
  ])('says what is wrong with %j', async (content, message) => {
    await expect(read(content)).rejects.toThrow(message);
    await expect(read(content)).rejects.toMatchObject({
      details: { place: { file: expect.stringContaining('.csv') } },
    });
  });

  it('names the file that is not there, and a folder', async () => {
    await expect(readRecords({ files: ['no/such.csv'] })).rejects.toThrow('The file cannot be read.');
    await expect(readRecords({ files: [folder] })).rejects.toThrow('This is a folder');
  });

  it.each([
    ['a byte order mark', '\uFEFFmodel,task,score\nm,t,0.5\n'],
    ['semicolons and decimal commas', 'model;task;score\nm;t;0,5\n'],
    ['tabs', 'model\ttask\tscore\nm\tt\t0.5\n'],
    ['quotes, and separators and line ends in them', '"model","task","score"\r\n"m","t","0.5"\r\n'],
    ['UTF-16', Buffer.from('\uFEFFmodel,task,score\nm,t,0.5\n', 'utf16le')],
    ['UTF-16 with the high byte first', Buffer.from('\uFEFFmodel,task,score\nm,t,0.5\n', 'utf16le').swap16()],
    ['line ends of old Macs', 'model,task,score\rm,t,0.5\r'],
    ['blank lines in front of the header', '\n  \nmodel,task,score\nm,t,0.5\n'],
    ["Excel's line that names the separator", 'sep=;\r\nmodel;task;score\r\nm;t;0,5\r\n'],
    ['percent signs', 'model,task,score\nm,t,50 %\n'],
    ['empty lines', 'model,task,score\n\n\nm,t,0.5\n\n'],
    ['spaces around names', ' model , task , score \n m , t , 0.5 \n'],
  ])('reads %s', async (_, content) => {
    const { records, leftOut } = await read(content);
    expect(records.map(({ model, task, score }) => [model, task, score])).toEqual([['m', 't', 0.5]]);
    expect(leftOut).toEqual([]);
  });

  it('reads what is no UTF-8 as Windows-1252, and says so', async () => {
    const { records, notes } = await read(Buffer.from('model,task,score\nModèle,tâche,0.5\n', 'latin1'));
    expect(records.map(({ model, task }) => [model, task])).toEqual([['Modèle', 'tâche']]);
    expect(notes?.[0]).toMatch(/not valid UTF-8: read as Windows-1252/);
    const whole = await read('model,task,score\nModèle,tâche,0.5\n');
    expect(whole.records.map(({ model }) => model)).toEqual(['Modèle']);
    expect(whole.notes?.join()).not.toContain('UTF-8');
  });

  it('reads fields of megabytes, in which characters lie across the pieces that are read', async () => {
    const long = 'é'.repeat(1_000_001);
    const { records } = await read(`model,task,score\n"m,\nof ""two"" lines",${long},0.5\nn,x${long},0.25\n`);
    expect(records.map(({ model, task }) => [model, task.length])).toEqual([
      ['m,\nof "two" lines', 1_000_001],
      ['n', 1_000_002],
    ]);
    expect(records.every(({ task }) => task.replace('x', '') === long)).toBe(true);
  });

  it('takes sizes and items below 0 as missing, and says how many', async () => {
    const { records, notes } = await read('model,task,score,total_params,n_items\nx,t,0.5,-7e9,-1\ny,t,0.25,0,0\n');
    expect(records.map(({ parameters, n }) => [parameters.total, n])).toEqual([
      [null, null],
      [null, null],
    ]);
    expect(notes?.filter((note) => note.includes('below 0'))).toEqual([
      expect.stringMatching(/1 value of n_items is below 0 \("-1"\)/),
      expect.stringMatching(/1 value of total_params is below 0 \("-7e9"\)/),
    ]);
  });

  it('says which values of sizes and items are no numbers, and takes no such number of examples for 0', async () => {
    const { records, leftOut, notes } = await read(
      'model,task,score,total_params,n_shot,n_items\nx-7b,t,0.5,seven,0,many\nx-7b,u,0.5,7e9,few,100\nx-7b,v,0.25,8B,1,100\n',
    );
    expect(records.map(({ task, parameters, n }) => [task, parameters.total, n])).toEqual([
      ['t', 7e9, null],
      ['v', 7e9, 100],
    ]);
    expect(leftOut).toMatchObject([{ reason: 'rows whose number of examples is no whole number', count: 1 }]);
    expect(notes?.filter((note) => note.includes('no number'))).toEqual([
      expect.stringMatching(/1 value of n_items is no number \("many"\)/),
      expect.stringMatching(/2 values of total_params are no numbers \("seven"\)/),
    ]);
  });

  it('counts each row that it cannot use, with the line', async () => {
    const path = file(
      [
        'model,task,n_shot,metric,score',
        'a,t,0,acc,0.5',
        'a,t,0,acc,0.5',
        'a,t,0,acc,0.6',
        'b,t,0,acc,NaN',
        'b,t,0,acc,',
        'b,t,0,acc,high',
        ',t,0,acc,0.5',
        'b,,0,acc,0.5',
        'b,t,-1,acc,0.5',
        'b,t,0.5,acc,0.5',
        'b,t,0',
        'b,t,0,acc,0.5,more',
        'b,t,0,perplexity,12.5',
        'b,u,0,acc,-0.1',
        'b,v,0,acc,Infinity',
      ].join('\n'),
    );
    const { records, leftOut } = await readRecords({ files: [path] });
    expect(records).toHaveLength(1);
    expect(reasons(leftOut)).toEqual({
      'rows without a score': 2,
      'scores that are no numbers': 2,
      'rows without a model': 1,
      'rows without a task': 1,
      'rows whose number of examples is no whole number': 2,
      'rows with fewer fields than the header has': 1,
      'rows with more fields than the header has': 1,
      'scores of "perplexity", a metric whose range is not known (a mapping file can say it)': 1,
      'scores of "acc" outside of 0 to 1': 1,
      'records that repeat another': 1,
      'further scores of a configuration that has one, and differ from it': 1,
    });
    expect(leftOut.find(({ reason }) => reason === 'rows without a score')?.examples).toEqual([
      `${path}:5`,
      `${path}:6`,
    ]);
    expect(leftOut.reduce((sum, { count }) => sum + count, 0) + records.length).toBe(15);
  });
});

describe('scales', () => {
  const rows = (metric: string, scores: Record<string, number[]>): string =>
    `model,task,metric,score\n${Object.entries(scores)
      .flatMap(([model, values]) => values.map((value, at) => `${model},t${at},${metric},${value}`))
      .join('\n')}\n`;

  it.each([
    ['acc', 0.25, 0.25],
    ['multiple_choice_grade', 0.25, 0.25],
    ['rougeLsum', 25, 0.25],
    ['bleu', 25, 0.25],
    ['bleurt', 0.2, 0.25],
    ['mcc', -0.5, 0.25],
    ['expected_calibration_error', 0.75, 0.25],
    ['exact_match,strict-match', 0.25, 0.25],
  ])('%s: %d becomes %d', async (metric, score, wanted) => {
    const { records } = await read(`model,task,metric,score\nm,t,"${metric}",${score}\n`);
    expect(records[0]?.score).toBeCloseTo(wanted, 12);
  });

  it('percents are known by the scores above 1', async () => {
    const { records, leftOut } = await read(rows('acc', { a: [43, 12.5, 0.9], b: [88, 100, 0] }));
    expect(records.map(({ score }) => score)).toEqual([0.43, 0.125, expect.closeTo(0.009, 12), 0.88, 1, 0]);
    expect(leftOut).toEqual([]);
  });

  it('one score above 1 does not make all others percents', async () => {
    const { records, leftOut } = await read(rows('acc', { a: [0.43, 0.125, 0.9], b: [0.88, 12, 0] }));
    expect(records.map(({ score }) => score)).toEqual([0.43, 0.125, 0.9, 0.88, 0]);
    expect(reasons(leftOut)).toEqual({ 'scores of "acc" outside of 0 to 1': 1 });
  });

  it('a model in shares among models in percents is left out: nobody can tell what it means', async () => {
    const { records, leftOut } = await read(rows('acc', { a: [43, 12.5, 60], b: [88, 90, 95], c: [0.43, 0.51, 0.33] }));
    expect(new Set(records.map(({ model }) => model))).toEqual(new Set(['a', 'b']));
    expect(reasons(leftOut)).toEqual({ 'scores of "acc" from 0 to 1 among percents: mixed scales': 3 });
  });
});

describe('what flatters predictors', () => {
  /** Models × columns of made scores. */
  const wide = (columns: Record<string, (model: number) => number>, metric = 'acc'): string =>
    `model,task,subtask,metric,score\n${Object.entries(columns)
      .flatMap(([name, score]) =>
        Array.from(
          { length: 8 },
          (_, model) => `m${model},${name.split('/')[0]},${name.split('/').at(-1)},${metric},${score(model)}`,
        ),
      )
      .join('\n')}\n`;
  const a = (m: number): number => 0.1 + 0.1 * m;
  const b = (m: number): number => 0.3 + 0.05 * ((m * 3) % 8);
  const c = (m: number): number => 0.9 - 0.02 * m * m * 0.5;
  const tasks = ({ records }: RecordTable): string[] => [...new Set(records.map(({ subtask }) => subtask))];

  it.each(['overall', 'bbh_overall', 'Average', 'Average ⬆️', 'mean'])('a column named %s is left out', async (name) => {
    const table = await read(wide({ a, b, c, [name]: (m) => 0.5 + 0.01 * ((m * 5) % 7) }));
    expect(tasks(table)).toEqual(['a', 'b', 'c']);
    expect(reasons(table.leftOut)).toEqual({ 'aggregates of other records': 8 });
    const kept = await read(wide({ a, b, c, [name]: a }), { keepAggregates: true, keepDerived: true });
    expect(tasks(kept)).toHaveLength(4);
  });

  it('a subtask named as its task beside others is the mean of them', async () => {
    const table = await read(wide({ 'x/x:1': a, 'x/x:2': b, 'x/x': c, y: c }));
    expect(tasks(table)).toEqual(['x:1', 'x:2', 'y']);
  });

  it('a column that is the mean of the others by its values is left out, whatever its name', async () => {
    const mean = (m: number): number => (a(m) + b(m) + c(m)) / 3;
    const table = await read(wide({ a, b, c, 'leader board': (m) => Number(mean(m).toFixed(4)) }));
    expect(tasks(table)).toEqual(['a', 'b', 'c']);
    expect(reasons(table.leftOut)).toEqual({ 'aggregates of other records: equal to their mean': 8 });
  });

  it('a group among other tasks is known by the names that begin with its own', async () => {
    const mean = (m: number): number => (a(m) + b(m) + c(m)) / 3;
    const table = await read(
      wide({ mmlu_a: a, mmlu_b: b, mmlu_c: c, mmlu: mean, other: (m) => 0.2 + 0.05 * ((m * 5) % 8) }),
    );
    expect(tasks(table)).toEqual(['mmlu_a', 'mmlu_b', 'mmlu_c', 'other']);
  });

  it('a column that is another one in other numbers is left out: normalised by chance, for example', async () => {
    const table = await read(wide({ a, b, normalised: (m) => (b(m) - 0.25) / 0.75 }));
    expect(tasks(table)).toEqual(['a', 'b']);
    expect(reasons(table.leftOut)).toEqual({
      'scores that follow from another metric or subtask of the same models': 8,
    });
    expect(
      tasks(await read(wide({ a, b, normalised: (m) => (b(m) - 0.25) / 0.75 }), { keepDerived: true })),
    ).toHaveLength(3);
  });

  it('similar columns stay', async () => {
    const table = await read(wide({ a, similar: (m) => a(m) + 0.01 * (m % 2), b }));
    expect(tasks(table)).toHaveLength(3);
    expect(table.leftOut).toEqual([]);
  });

  it("the study's filters keep what the study kept", async () => {
    const rows = [
      'navigate,navigate,PaLM,8b,3,multiple_choice_grade,1,0.5,200',
      'navigate,navigate,PaLM,8b,3,bleu,0,20,200',
      'navigate,navigate,T0,3b,3,multiple_choice_grade,1,0.5,200',
      'zero,zero,PaLM,8b,3,exact_str_match,1,0,200',
      'zero,zero,GPT,3b,3,exact_str_match,1,0,200',
      'small,small,PaLM,8b,3,exact_str_match,1,0.5,100',
      'calibration,calibration,PaLM,8b,3,expected_calibration_error,1,0.5,200',
    ].join('\n');
    const header = 'task,subtask,model_family,model_name,n_shot,metric_name,is_preferred_metric,score,n_items';
    const { records, leftOut } = await read(`${header}\n${rows}\n`, studyFilters);
    expect(records.map(({ subtask, metric, family }) => [subtask, metric, family])).toEqual([
      ['navigate', 'multiple_choice_grade', 'PaLM'],
    ]);
    expect(reasons(leftOut)).toEqual({
      'families that were not asked for': 1,
      'subtasks on which everybody scores 0': 2,
      'metrics that are not the preferred one': 1,
      'metrics that were not asked for': 1,
      'scores of fewer than 101 items': 1,
    });
  });
});

describe('mapping files', () => {
  it('give the ObsScaling records of BIG-bench Hard: 73 models with size and computation × 54 columns', async () => {
    const { records, leftOut } = await readRecords({ files: ['examples/predictions/obs-scaling-bbh.yaml'] });
    expect(records).toHaveLength(3942);
    expect(new Set(records.map(({ model }) => model)).size).toBe(73);
    expect(new Set(records.map(({ task }) => task)).size).toBe(27);
    expect(records.every(({ n, trainingFlops, parameters }) => n && trainingFlops && parameters.total)).toBe(true);
    expect(
      records.find(({ model, subtask }) => model === 'meta-llama/Llama-2-7b-hf' && subtask === 'bbh_fewshot_snarks'),
    ).toMatchObject({
      family: 'Llama-2',
      parameters: { total: 7e9 },
      trainingFlops: 8.4e22,
      shots: 3,
      n: 178,
      task: 'snarks',
    });
    const cells = 96 * 234;
    expect(records.length + leftOut.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(cells);
    expect(reasons(leftOut)['rows without training_flops, which the mapping requires']).toBe(108);
  });

  it('give strict and lenient readings as two metrics, and lm-harmony', async () => {
    const readings = await readRecords({ files: ['examples/predictions/obs-scaling-readings.yaml'] });
    const ofGsm8k = readings.records.filter(
      ({ model, subtask }) => model === 'meta-llama/Llama-2-7b-hf' && subtask === 'gsm8k_5',
    );
    expect(ofGsm8k.map(({ metric, preferred, n, shots }) => [metric, preferred, n, shots])).toEqual([
      ['strict', true, 1319, 5],
      ['lenient', false, 1319, 5],
    ]);
    const harmony = await readRecords({ files: ['examples/predictions/lm-harmony.yaml'] });
    expect(harmony.records).toHaveLength(61 * 24 * 2);
    expect(new Set(harmony.records.map(({ family }) => family)).size).toBe(12);
    expect(harmony.records.every(({ parameters }) => parameters.total)).toBe(true);
    expect(harmony.records.filter(({ n }) => n === null).every(({ task }) => task === 'cola')).toBe(true);
  });

  const mapped = (mapping: unknown, content: string, name?: string): Promise<RecordTable> =>
    readRecords({ files: [file(content, name)], mapping: mappingOf(mapping, 'map.yaml') });

  it('say which column is what, in which unit', async () => {
    const { records } = await mapped(
      {
        fields: {
          model_name: 'Name',
          task: { value: 'mmlu' },
          score: 'MMLU (%)',
          total_params: { column: 'Size', unit: 1e9 },
          n_shot: 5,
          standard_error: 'SE',
          metric_name: { value: 'acc' },
        },
        scores: [{ match: { Name: '.' }, range: [0, 100] }],
      },
      'Name,Size,MMLU (%),SE\nPythia,1.4,25,1\n',
    );
    expect(records[0]).toMatchObject({
      parameters: { total: 1.4e9 },
      score: 0.25,
      shots: 5,
      // 0.25 × 0.75 ÷ 0.01² + 1
      n: 1876,
    });
  });

  it('read columns by patterns with named groups, and count what they leave out', async () => {
    const { records, leftOut } = await mapped(
      {
        leave_out: [{ match: { column: '^rank$' }, reason: 'ranks' }],
        scores: [{ match: { column: '^(?<task>.+)_(?<shots>\\d+)$' }, fields: { n_shot: 'shots' } }],
      },
      'model,a_0,a_5,rank,b_0\nm,0.1,0.2,1,\nn,0.3,x,2,0.4\n',
    );
    expect(records.map(({ model, task, shots, score }) => [model, task, shots, score])).toEqual([
      ['m', 'a', 0, 0.1],
      ['m', 'a', 5, 0.2],
      ['n', 'a', 0, 0.3],
      ['n', 'b', 0, 0.4],
    ]);
    expect(reasons(leftOut)).toEqual({ ranks: 2, 'empty cells: not run': 1, 'scores that are no numbers': 1 });
  });

  it('read nested JSON and lists of objects', async () => {
    const nested = await mapped(
      { levels: ['task', 'model'] },
      JSON.stringify({ boolq: { m: 0.5, n: null }, piqa: { m: 0.75 } }),
      'scores.json',
    );
    expect(nested.records.map(({ task, model, score }) => [task, model, score])).toEqual([
      ['boolq', 'm', 0.5],
      ['piqa', 'm', 0.75],
    ]);
    expect(nested.leftOut[0]?.examples[0]).toMatch(/scores\.json \(boolq → n\)$/);
    const list = JSON.stringify([{ model: 'm', task: 'boolq', score: 0.5 }]);
    expect((await read(list, {}, 'scores.json')).records).toHaveLength(1);
    expect(
      (await read('{"model":"m","task":"t","score":0.5}\n{"model":"n","task":"t","score":0.5}\n', {}, 'scores.jsonl'))
        .records,
    ).toHaveLength(2);
  });

  it.each([
    [
      { levels: ['task'], fields: { model_name: 'task' } },
      '{"a":{"m":1}}',
      'a holds more keys; the mapping names 1 levels.',
    ],
    [{ levels: ['task', 'model'] }, '{"a":1}', 'a holds no "model": keys and values are expected.'],
    [{}, '{"a":1}', 'The file is no list of objects.'],
    [{}, '[]', 'The list is empty: there are no scores.'],
    [{}, '{', 'This is not valid JSON'],
  ])('say what is wrong with JSON: %j %s', async (mapping, content, message) => {
    await expect(mapped(mapping, content, 'scores.json')).rejects.toThrow(message);
  });

  it.each([
    [[], 'The mapping must hold keys and values.'],
    [{ columns: {} }, 'The mapping has no key "columns".'],
    [{ fields: { modell: 'x' } }, 'fields: there is no field "modell".'],
    [{ fields: { task: { colum: 'x' } } }, 'fields.task has no key "colum".'],
    [{ fields: { total_params: { column: 'x', unit: 'B' } } }, 'fields.total_params.unit must be a number.'],
    [{ scores: [{ match: { column: '(' } }] }, 'scores[0].match.column is not a regular expression'],
    [{ scores: [{ match: {} }] }, 'scores[0].match must name at least one column and its pattern.'],
    [
      { scores: [{ match: { column: 'x' }, range: [1, 0] }] },
      'scores[0].range must be two numbers, the lower in front.',
    ],
    [{ require: ['size'] }, 'require: there is no field "size".'],
    [{ join: [{ file: 'x.csv' }] }, 'join[0].on must be a text.'],
  ])('are checked: %j', (mapping, message) => {
    expect(() => mappingOf(mapping, 'map.yaml')).toThrow(message);
  });

  it('that name no column of the table say so', async () => {
    await expect(mapped({ fields: { task: 'Task' } }, 'model,score\nm,0.5\n')).rejects.toThrow('has no column "Task"');
    await expect(mapped({ scores: [{ match: { column: '^x' } }] }, 'model,a\nm,0.5\n')).rejects.toThrow(
      "None of the mapping's patterns matches a column",
    );
    await expect(readRecords({ files: [file('fields: {}', 'map.yaml')] })).rejects.toThrow('does not say which table');
    await expect(readRecords({ files: [file('fields: {', 'map.yaml')] })).rejects.toThrow('This is not valid YAML');
  });

  it('join another table by the model', async () => {
    const sizes = file('Model,Family,B\nm,Alder,7\n', 'sizes.csv');
    const { records, leftOut } = await mapped(
      {
        join: [{ file: sizes, on: 'Model', with: 'model' }],
        fields: { model_family: 'Family', total_params: { column: 'B', unit: 1e9 } },
        require: ['total_params'],
      },
      'model,task,score\nm,t,0.5\nother,t,0.5\n',
    );
    expect(records.map(({ model, family, parameters }) => [model, family, parameters.total])).toEqual([
      ['m', 'Alder', 7e9],
    ]);
    expect(reasons(leftOut)).toEqual({ 'rows without total_params, which the mapping requires': 1 });
  });
});

describe('results of BIG-bench', () => {
  const result = {
    model: {
      model_family: 'BIG-G T=0',
      model_name: '128b',
      total_params: 137e9,
      non_embedding_params: 131e9,
      flop_matched_non_embedding_params: 131e9,
    },
    task: { task_name: 'navigate' },
    scores: [
      {
        subtask_description: 'navigate',
        number_of_shots: 2,
        preferred_score: 'multiple_choice_grade',
        low_score: 0.5,
        high_score: 1,
        score_dict: { multiple_choice_grade: 0.6, normalized_aggregate_score: 20, log_likelihood: -3 },
      },
      {
        subtask_description: 'navigate:turns',
        number_of_shots: 0,
        preferred_score: 'points',
        low_score: 0,
        high_score: 10,
        score_dict: { points: 5 },
      },
    ],
  };

  it('are read by metric: within its range, else between the low and high score', async () => {
    const { records, leftOut } = await read(JSON.stringify(result), {}, 'scores_128b.json');
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ subtask: 'navigate:turns', score: 0.5, metric: 'points', shots: 0 });
    const all = await read(JSON.stringify(result), { keepAggregates: true }, 'scores_128b.json');
    expect(all.records[0]).toMatchObject({
      family: 'BIG-G T=0',
      model: 'BIG-G T=0 128b',
      parameters: { total: 137e9, nonEmbedding: 131e9, flopMatched: 131e9 },
      task: 'navigate',
      shots: 2,
      metric: 'multiple_choice_grade',
      preferred: true,
      score: 0.6,
      source: 'big-bench',
    });
    expect(reasons(leftOut)).toMatchObject({
      'aggregates of other records': 2,
      'scores of "log_likelihood", a metric whose range is not known (a mapping file can say it)': 1,
    });
  });

  it('name their task, or stand in its folder', async () => {
    const named = await read(JSON.stringify({ ...result, task: { name: 'navigate' } }), {}, 'x.json');
    expect(named.records[0]?.task).toBe('navigate');
    const path = join(folder, 'codenames', 'results', 'scores_128b.json');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify({ model: result.model, scores: result.scores }));
    expect((await readRecords({ files: [path] })).records[0]?.task).toBe('codenames');
    const nowhere = read(JSON.stringify({ model: result.model, scores: result.scores }), {}, 'x.json');
    await expect(nowhere).rejects.toThrow('The BIG-bench result has no name of the task.');
  });

  it('are all taken of a folder; what is none is counted', async () => {
    const root = join(folder, 'benchmark_tasks');
    for (const [task, model] of [
      ['navigate', '128b'],
      ['navigate', '8b'],
      ['snarks', '128b'],
    ] as const) {
      const path = join(root, task, 'results', `scores_${model}.json`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(
        path,
        JSON.stringify({ model: { ...result.model, model_name: model }, scores: result.scores.slice(1) }),
      );
    }
    writeFileSync(join(root, 'navigate', 'task.json'), '{}');
    writeFileSync(join(root, 'navigate', 'results', 'scores_broken.json'), '{');
    const { records, leftOut } = await readRecords({ files: [root] }, { keepAggregates: true });
    expect(records.map(({ task, model }) => `${task} ${model}`)).toEqual([
      'navigate BIG-G T=0 128b',
      'navigate BIG-G T=0 8b',
      'snarks BIG-G T=0 128b',
    ]);
    expect(reasons(leftOut)).toMatchObject({ 'files that are no results of BIG-bench': 1 });
  });

  it('without a model say so', async () => {
    const content = JSON.stringify({ ...result, model: {} });
    await expect(read(content, {}, 'x.json')).rejects.toThrow('The BIG-bench result has no model.model_family.');
  });
});

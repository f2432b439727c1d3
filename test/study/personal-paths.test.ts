/** What is handed on says nothing of the machine it was made on. */
import { describe, expect, it } from 'vitest';
import { withoutPaths, withoutPersonalPaths } from '../../src/study/index.ts';

const linux = { home: '/home/ada', user: 'ada' };
const mac = { home: '/Users/Ada Lovelace', user: 'ada' };
const windows = { home: 'C:\\Users\\Ada', user: 'ada' };

describe('a text', () => {
  it.each([
    ['Cannot read /home/ada/models/gpt2/model.onnx: no such file.', 'Cannot read model.onnx: no such file.'],
    [
      'The soft prompt comes from a file: /srv/team/prompts/p.safetensors',
      'The soft prompt comes from a file: p.safetensors',
    ],
    ['Two files, "/data/a b/x.jsonl" and /data/y.jsonl.', 'Two files, "x.jsonl" and y.jsonl.'],
    ['cannot write /srv/Ada Lovelace/My Models/x.bin.', 'cannot write x.bin.'],
    ['/data/a.txt and /data/b.txt', 'a.txt and b.txt'],
    ['error:/home/ada/x/y.yaml(3)', 'error:y.yaml(3)'],
    ['open file:///home/ada/my%20model/x.onnx now', 'open x.onnx now'],
    ['in ~/models/x and ~/y', 'in x and y'],
    ['The folder /home/ada is full.', 'The folder ~ is full.'],
    ['/home/adam/x/y.txt is of somebody else', 'y.txt is of somebody else'],
    ['ada@laptop:~/x', 'user@laptop:x'],
    // None of these is a path of a machine.
    ['https://example.org/a/b.html says so', 'https://example.org/a/b.html says so'],
    ['1/2 of the items, and/or 3/4/5', '1/2 of the items, and/or 3/4/5'],
    ['HuggingFaceTB/SmolLM2-135M and onnx/model.onnx', 'HuggingFaceTB/SmolLM2-135M and onnx/model.onnx'],
    ['the data of Canada and adaptive', 'the data of Canada and adaptive'],
    ['F / S / K', 'F / S / K'],
  ])('of Linux: %s', (text, clean) => {
    expect(withoutPaths(text, linux)).toBe(clean);
  });
  it.each([
    ['Cannot open C:\\Users\\Ada\\models\\m.onnx: denied.', 'Cannot open m.onnx: denied.'],
    ['Cannot open C:\\Users\\Ada Lovelace\\My Models\\m.onnx.', 'Cannot open m.onnx.'],
    ['at D:/work/bench/task.yaml:12', 'at task.yaml:12'],
    ['on \\\\server\\share\\team\\task.yaml', 'on task.yaml'],
    ['on \\\\?\\C:\\very\\long\\task.yaml now', 'on task.yaml now'],
    ['"C:\\a\\b.txt" and "D:\\c\\d.txt"', '"b.txt" and "d.txt"'],
    ['c:\\users\\ada\\x.txt', 'x.txt'],
    ['LAPTOP\\ada', 'LAPTOP\\user'],
  ])('of Windows: %s', (text, clean) => {
    expect(withoutPaths(text, windows)).toBe(clean);
  });
  it('knows folders with spaces where it is told of them', () => {
    const folder = '/Users/Ada Lovelace/My Models/smollm2';
    expect(withoutPaths(`The model in ${folder} has no tokenizer.`, mac, [folder])).toBe(
      'The model in smollm2 has no tokenizer.',
    );
    expect(withoutPaths('See /Users/Ada Lovelace/notes.txt', mac)).toBe('See notes.txt');
  });
});

describe('plain data', () => {
  it('loses the places of files, and keeps what benchmarks and models say', () => {
    const output = 'I live in /home/ada/street and C:\\Users\\Ada\\x.';
    const data = {
      view: {
        problem: 'Cannot read /home/ada/x/items.jsonl.',
        columns: [
          {
            run: {
              id: 'r1',
              message: '/home/ada/b/task.yaml: line 3 is broken. Mend it.',
              model: { name: 'org/model', folder: '/home/ada/models/my model', graphFile: 'onnx/model.onnx' },
              benchmark: { task: 't', file: 'C:\\Users\\Ada\\bench\\t.yaml' },
              settings: {
                generation: { until: ['\n\n', '/home/ada/end'] },
                chat: { template: { name: 'default', source: '{{ "/usr/share/x" }}' }, systemInstruction: '/be/brief' },
              },
              provider: { reason: 'libcudart.so of /usr/lib/x86/libcudart.so does not load' },
              source: { file: '/home/ada/out/results.json', tool: 'lm-eval' },
              notes: ['from /srv/p/q.safetensors'],
            },
            summary: { scores: { commonest: { answer: '/a/b' } } },
          },
        ],
      },
      items: { r1: [{ output, gold: '/x/y' }] },
    };
    const clean = withoutPersonalPaths(data, linux);
    expect(clean).toEqual({
      view: {
        problem: 'Cannot read items.jsonl.',
        columns: [
          {
            run: {
              id: 'r1',
              message: 'task.yaml: line 3 is broken. Mend it.',
              model: { name: 'org/model', folder: 'my model', graphFile: 'onnx/model.onnx' },
              benchmark: { task: 't', file: 't.yaml' },
              settings: {
                generation: { until: ['\n\n', '/home/ada/end'] },
                chat: { template: { name: 'default', source: '{{ "/usr/share/x" }}' }, systemInstruction: '/be/brief' },
              },
              provider: { reason: 'libcudart.so of libcudart.so does not load' },
              source: { file: 'results.json', tool: 'lm-eval' },
              notes: ['from q.safetensors'],
            },
            summary: { scores: { commonest: { answer: '/a/b' } } },
          },
        ],
      },
      items: { r1: [{ output, gold: '/x/y' }] },
    });
    expect(data.view.problem).toContain('/home/ada');
  });
});

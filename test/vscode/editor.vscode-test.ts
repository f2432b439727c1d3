import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { until } from '../support/wait.ts';
import { benchmarkUri, openWorkbench, workspaceFolder, writeFile } from './workspace.ts';

async function open(uri: vscode.Uri): Promise<vscode.TextDocument> {
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  return document;
}
const lensTitles = async (uri: vscode.Uri): Promise<string[]> => {
  const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', uri, 50);
  return lenses.map((lens) => lens.command?.title ?? '');
};
const problemsOf = (uri: vscode.Uri): vscode.Diagnostic[] =>
  vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'Softbench');

describe('a benchmark file in the editor', () => {
  after(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  it('has its actions above the task', async () => {
    const uri = benchmarkUri('stories-who.yaml');
    const document = await open(uri);
    // Opening a YAML file activates the extension: its lenses come a moment later.
    const lenses = await until('lenses', async () => {
      const found = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', uri, 50);
      return found.length > 0 ? found : null;
    });
    const titles = lenses.map((lens) => lens.command?.title ?? '');
    for (const title of ['Evaluate', 'Tune soft prompt', 'Compare prompt modes', 'Preview prompts'])
      assert.ok(
        titles.some((one) => one.includes(title)),
        `${title} is missing from ${titles.join(' | ')}`,
      );
    for (const lens of lenses) assert.match(document.lineAt(lens.range.start.line).text, /^task:/);
  });

  it('is told from other YAML files', async () => {
    const uri = await writeFile('other.yaml', 'version: 3\nservices:\n  web: { image: x }\n');
    await open(uri);
    assert.deepEqual(await lensTitles(uri), []);
    assert.deepEqual(problemsOf(uri), []);
  });

  it('of the examples has no problems', async () => {
    // The data of the others is the user's own, and missing here.
    for (const name of ['stories-who.yaml', 'stories-yes-no.yaml', 'capitals.yaml']) {
      const uri = benchmarkUri(name);
      await open(uri);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      assert.deepEqual(
        problemsOf(uri)
          .filter(({ severity }) => severity !== vscode.DiagnosticSeverity.Information)
          .map(({ message }) => message),
        [],
        name,
      );
    }
  });

  const { Error: error, Warning: warning } = vscode.DiagnosticSeverity;
  const broken: [name: string, text: string, line: number, message: RegExp, severity: vscode.DiagnosticSeverity][] = [
    [
      'YAML that does not parse',
      'task: x\noutput_type: generate_until\ndoc_to_text: "open\n',
      2,
      /not valid YAML/,
      error,
    ],
    ['an unknown key', 'task: x\ndoc_to_text: "{{q}}"\ndoc_to_taget: "{{a}}"\n', 2, /doc_to_taget/, warning],
    ['a wrong type', 'task: x\ndoc_to_text: "{{q}}"\nnum_fewshot: many\n', 2, /num_fewshot/, error],
    [
      'a data file that is not there',
      'task: x\ndataset_path: json\ndataset_kwargs:\n  data_files:\n    test: nowhere.jsonl\ntest_split: test\ndoc_to_text: "{{q}}"\ndoc_to_target: "{{a}}"\n',
      4,
      /nowhere\.jsonl/,
      error,
    ],
  ];
  for (const [name, text, line, message, severity] of broken)
    it(`marks ${name} where it stands`, async () => {
      const uri = await writeFile(`broken-${line}-${name.length}.yaml`, text);
      await open(uri);
      const found = await until(`a problem about ${name}`, () =>
        problemsOf(uri).find((one) => message.test(one.message) && one.range.start.line === line),
      );
      assert.equal(found.severity, severity);
      assert.ok(!found.range.isEmpty, 'the marked range is empty');
    });

  it('is checked again as it is typed', async () => {
    const uri = await writeFile('typed.yaml', 'task: x\ndoc_to_text: "{{q}}"\nnum_fewshots: 3\n');
    const document = await open(uri);
    await until('the unknown key', () => problemsOf(uri).find(({ message }) => /num_fewshots/.test(message)));
    const edit = new vscode.WorkspaceEdit();
    edit.replace(uri, new vscode.Range(2, 0, 2, 12), 'num_fewshot');
    await vscode.workspace.applyEdit(edit);
    await until('the problem to go', () => !problemsOf(uri).some(({ message }) => /num_fewshots/.test(message)));
    assert.equal(document.isDirty, true);
    await document.save();
  });

  it('completes keys and values', async () => {
    const uri = await writeFile(
      'complete.yaml',
      'task: x\ndoc_to_text: "{{q}}"\noutput_type: \nmetadata:\n  softbench:\n    \n',
    );
    await open(uri);
    const labelsAt = async (line: number, column: number): Promise<string[]> => {
      const list = await vscode.commands.executeCommand<vscode.CompletionList>(
        'vscode.executeCompletionItemProvider',
        uri,
        new vscode.Position(line, column),
      );
      return list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
    };
    assert.ok((await labelsAt(2, 13)).includes('generate_until'));
    assert.ok((await labelsAt(5, 4)).includes('soft_prompt'));
  });

  it('explains a key under the pointer', async () => {
    const uri = benchmarkUri('stories-who.yaml');
    const document = await open(uri);
    const offset = document.getText().indexOf('filter_list') + 3;
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider',
      uri,
      document.positionAt(offset),
    );
    const text = hovers
      .flatMap(({ contents }) => contents)
      .map((content) => (typeof content === 'string' ? content : content.value))
      .join('\n');
    assert.match(text, /\*\*filter_list\*\*/);
  });
});

describe('prompt previews', () => {
  after(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));
  const preview = (): vscode.TextDocument | undefined =>
    vscode.window.activeTextEditor?.document.uri.scheme === 'softbench-prompt'
      ? vscode.window.activeTextEditor.document
      : undefined;

  it('show the exact text of the first item in each mode', async () => {
    await vscode.commands.executeCommand('softbench.previewPrompts', benchmarkUri('stories-who.yaml'));
    const text = await until('the preview', () => preview()?.getText());
    assert.match(text, /item 1 of \d+/);
    for (const mode of ['zero-shot', 'few-shot', 'soft-prompt']) assert.ok(text.includes(`⟦${mode}`), text);
    assert.match(text, /Who had a hat\?\nAnswer: \w+/);
    assert.match(text, /⟦stop: "\\n"/);
  });

  it('show the tokens as the chosen model reads them', async () => {
    const workbench = await openWorkbench();
    const model = vscode.Uri.joinPath(workspaceFolder(), 'models', 'stories260k').fsPath;
    await workbench.models.choose(benchmarkUri('stories-who.yaml').fsPath, model);
    await vscode.commands.executeCommand('softbench.previewPrompts', benchmarkUri('stories-who.yaml'));
    const text = await until(
      'tokens',
      () => /⟦zero-shot: \d+ tokens⟧[\s\S]*?⟦tokens: [^⟧]+⟧/.exec(preview()?.getText() ?? '')?.[0],
    );
    const count = Number(/zero-shot: (\d+)/.exec(text)?.[1]);
    const tokens = text
      .slice(text.indexOf('⟦tokens: ') + 9, -1)
      .replaceAll('\n', '')
      .split('│');
    assert.equal(tokens.length, count);
    assert.equal(tokens[0], '<s>');
  });

  it('go to the next item and back', async () => {
    await vscode.commands.executeCommand('softbench.previewNext');
    await until('item 2', () => /item 2 of/.test(preview()?.getText() ?? ''));
    await vscode.commands.executeCommand('softbench.previewPrevious');
    await until('item 1', () => /item 1 of/.test(preview()?.getText() ?? ''));
  });
});

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { until } from '../support/wait.ts';
import { workspaceFolder, writeFile } from './workspace.ts';

const problemsOf = (uri: vscode.Uri): vscode.Diagnostic[] =>
  vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'Softbench');
const setting = (): vscode.WorkspaceConfiguration => vscode.workspace.getConfiguration('softbench');

describe('a benchmark whose data set is not here', () => {
  let uri: vscode.Uri;
  before(async () => {
    uri = await writeFile(
      'hub.yaml',
      'task: sums\ndataset_path: owner/of-nobody-here\ntest_split: test\ntraining_split: train\ndoc_to_text: "{{a}}"\ndoc_to_target: "{{a}}"\n',
    );
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
  });
  after(async () => {
    await setting().update('datasetFolders', undefined, vscode.ConfigurationTarget.Workspace);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('says so at the id, and offers to fetch it or to map a folder', async () => {
    const [problem] = await until('the problem', () => {
      const found = problemsOf(uri);
      return Promise.resolve(found.length > 0 ? found : null);
    });
    assert.equal(problem?.code, 'missing-dataset');
    assert.equal(problem?.range.start.line, 1);
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      uri,
      problem?.range,
    );
    assert.deepEqual(
      actions
        .map(({ title, command }) => [title, command?.command])
        .filter(([, name]) => name?.startsWith('softbench.')),
      [
        ['Download from Hugging Face…', 'softbench.downloadDataset'],
        ['Map to a folder…', 'softbench.mapDataset'],
      ],
    );
  });

  it('is fine with a mapped folder, and a hover has its rows', async () => {
    const folder = join(workspaceFolder().fsPath, 'mapped');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'test.jsonl'), '{"a": 1}\n{"a": 2}\n');
    writeFileSync(join(folder, 'train.jsonl'), '{"a": 3}\n');
    await setting().update(
      'datasetFolders',
      { 'owner/*': `\${workspaceFolder}/*`, 'owner/of-nobody-here': `\${workspaceFolder}/mapped` },
      vscode.ConfigurationTarget.Workspace,
    );
    await until('no problem', () => Promise.resolve(problemsOf(uri).length === 0 ? true : null));
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider',
      uri,
      new vscode.Position(2, 3),
    );
    const text = hovers
      .flatMap(({ contents }) => contents.map((one) => (one as vscode.MarkdownString).value))
      .join('\n');
    assert.match(text, /\*\*owner\/of-nobody-here\*\*/);
    assert.match(text, /\*\*test\*\* \| 2 \|/);
    assert.match(text, /\*\*train\*\* \| 1 \|/);
    assert.match(text, /a folder that is mapped to it/);
  });
});

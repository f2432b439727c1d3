// The workspace folder of the tests, and the extension's parts as it hands them out to tests.
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { Workbench } from '../../src/views/workbench.ts';

export function workspaceFolder(): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, 'no folder is open');
  return folder.uri;
}

export const benchmarkUri = (name: string): vscode.Uri => vscode.Uri.joinPath(workspaceFolder(), 'benchmarks', name);

/** Writes a file into the workspace's `benchmarks` folder. */
export async function writeFile(name: string, text: string): Promise<vscode.Uri> {
  const uri = benchmarkUri(name);
  await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
  return uri;
}

/** What the extension hands out when SOFTBENCH_TEST is set. */
export async function openWorkbench(): Promise<Workbench> {
  const extension = vscode.extensions.getExtension<{ workbench: Workbench }>('softbench.softbench');
  const exported = await extension?.activate();
  assert.ok(exported, 'the extension hands nothing out: is SOFTBENCH_TEST set?');
  return exported.workbench;
}

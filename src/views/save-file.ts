/** Saving a file that the user names: where to, and what is said when it is there. */
import { writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { HumanError, sentenceOf } from '../shared/errors.ts';

/**
 * Asks where to.
 * @param name of the file, offered in the workspace's first folder
 * @param kind of file, as the dialog lists it: `Web page`
 */
export async function askWhereTo(
  title: string,
  name: string,
  kind: string,
  extension: string,
): Promise<vscode.Uri | null> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  const target = await vscode.window.showSaveDialog({
    title,
    filters: { [kind]: [extension] },
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder.uri, name) }),
  });
  return target ?? null;
}

/**
 * @param what is saved, as the subject of a sentence: `The leaderboard`
 * @throws HumanError where it cannot be written
 */
export async function writeTo(target: vscode.Uri, content: string | Uint8Array, what: string): Promise<void> {
  try {
    await writeFile(target.fsPath, content);
  } catch (cause) {
    throw new HumanError('disk', `${what} cannot be saved as ${target.fsPath}: ${sentenceOf(cause)}`, {
      todo: 'Choose another folder, or make room.',
      cause,
    });
  }
}

/** Offers to open the file: a web page in the browser, all else in the editor. Not waited for: what was asked for is done. */
export function tellSaved(target: vscode.Uri, more = ''): void {
  const isPage = target.path.toLowerCase().endsWith('.html');
  const open = isPage ? 'Open in Browser' : 'Open';
  void vscode.window.showInformationMessage(`Saved as ${target.fsPath}${more}.`, open).then(async (chosen) => {
    if (chosen === undefined) return;
    if (isPage) await vscode.env.openExternal(target);
    else await vscode.commands.executeCommand('vscode.open', target);
  });
}

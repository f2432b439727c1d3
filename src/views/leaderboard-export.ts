/** Saving what the leaderboard page shows: as a table, as a picture, or as one HTML file that opens in any browser. */
import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { HumanError } from '../shared/errors.ts';
import type { LeaderboardFormat, LeaderboardPageApi, LeaderboardView } from '../shared/protocol.ts';
import { leaderboardFile } from '../study/index.ts';

const formats: Record<LeaderboardFormat, string> = {
  csv: 'CSV',
  md: 'Markdown',
  png: 'Picture',
  html: 'Web page',
};

/** Asks where to. @returns whether it was saved */
export async function saveLeaderboard(
  { format, name, content }: LeaderboardPageApi['save']['argument'],
  view: () => Promise<LeaderboardView>,
  pages: string,
): Promise<boolean> {
  if (!Object.hasOwn(formats, format)) return false;
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  const file = basename(name).replace(/[^\p{L}\p{N}._+ -]/gu, '-');
  const target = await vscode.window.showSaveDialog({
    title: `Save the leaderboard as ${formats[format]}`,
    filters: { [formats[format]]: [format] },
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder.uri, file) }),
  });
  if (!target) return false;
  const bytes =
    format === 'png'
      ? Buffer.from(content, 'base64')
      : Buffer.from(format === 'html' ? await leaderboardFile(await view(), JSON.parse(content), pages) : content);
  try {
    await writeFile(target.fsPath, bytes);
  } catch (cause) {
    throw new HumanError('disk', `The leaderboard cannot be saved as ${target.fsPath}.`, {
      todo: 'Choose another folder, or make room.',
      cause,
    });
  }
  void vscode.window.showInformationMessage(`Saved as ${target.fsPath}.`, 'Open').then(async (shown) => {
    if (shown !== 'Open') return;
    if (format === 'html') await vscode.env.openExternal(target);
    else await vscode.commands.executeCommand('vscode.open', target);
  });
  return true;
}

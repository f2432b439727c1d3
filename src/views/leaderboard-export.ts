/** Saving what the leaderboard page shows: as a table, as a picture, or as one HTML file that opens in any browser. */
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { HumanError } from '../shared/errors.ts';
import type { LeaderboardFormat, LeaderboardPageApi, LeaderboardView } from '../shared/protocol.ts';
import { pageHtml } from '../study/index.ts';

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

/**
 * The leaderboard as one file, in the state in which it is shown, without what is hidden there and without the places of
 * models and benchmarks on this machine.
 * @param pages folder with the bundled page (`leaderboard.js`, `leaderboard.css`)
 */
export async function leaderboardFile(view: LeaderboardView, state: unknown, pages: string): Promise<string> {
  const part = async (name: string): Promise<string> => {
    try {
      return (await readFile(join(pages, name), 'utf8')).replace(/^(\/\/|\/\*)# sourceMappingURL=.*$/m, '');
    } catch (cause) {
      throw new HumanError('missing', `A part of Softbench is missing: ${join(pages, name)}.`, {
        todo: 'Build or install it again.',
        cause,
      });
    }
  };
  return pageHtml({
    title: 'Leaderboard',
    data: { page: 'leaderboard', view: shareableLeaderboard(view, state), state },
    script: await part('leaderboard.js'),
    style: await part('leaderboard.css'),
  });
}

/** Without what the state hides, and without paths: where files lie on this machine is nobody's business. */
export function shareableLeaderboard(view: LeaderboardView, state: unknown): LeaderboardView {
  const { hiddenModels = [], hiddenBenchmarks = [] } = (state ?? {}) as Record<string, unknown>;
  const isIn = (list: unknown, name: string): boolean => Array.isArray(list) && list.includes(name);
  const isShown = ({ model, task }: { model: string; task: string }): boolean =>
    !isIn(hiddenModels, model) && !isIn(hiddenBenchmarks, task);
  const { running: _, ...rest } = view;
  return {
    ...rest,
    benchmarks: view.benchmarks
      .filter(({ task }) => !isIn(hiddenBenchmarks, task))
      .map(({ task, file }) => ({ task, file: basename(file) })),
    models: view.models
      .filter(({ name }) => !isIn(hiddenModels, name))
      .map(({ name, folder }) => ({ name, folder: basename(folder) })),
    cells: view.cells.filter(isShown),
    ...(view.links && {
      links: view.links.filter(
        ({ base, postTrained }) => !isIn(hiddenModels, base) && !isIn(hiddenModels, postTrained),
      ),
    }),
    ...(view.predicted && { predicted: view.predicted.filter(isShown) }),
  };
}

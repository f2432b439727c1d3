/** The quick pick of models. */
import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { KnownModel } from './models.ts';
import type { Workbench } from './workbench.ts';

const origins: Record<KnownModel['origin'], string> = {
  bundled: 'Comes with Softbench',
  added: 'Added by you',
  workspace: 'In this workspace',
};

interface ModelPick extends vscode.QuickPickItem {
  folder?: string;
  action?: 'browse' | 'settings';
}

/** Lets the user choose the model of a benchmark file (null: of all that have none). @returns null where nothing was chosen */
export async function chooseModel(
  workbench: Workbench,
  file: string | null,
): Promise<{ folder: string; name: string } | null> {
  const { models } = workbench;
  const current = file ? models.chosen(file)?.folder : undefined;
  const picked = await vscode.window.showQuickPick(picks(await models.known(), current), {
    title: file ? `Model for ${basename(file)}` : 'Model',
    placeHolder: 'Choose the model to run on',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (picked?.action === 'settings') {
    await vscode.commands.executeCommand('workbench.action.openSettings', 'softbench.modelFolders');
    return null;
  }
  const folder = picked?.action === 'browse' ? await browseModel(workbench) : picked?.folder;
  if (!folder) return null;
  await models.choose(file, folder);
  return { folder, name: basename(folder) };
}

function picks(known: readonly KnownModel[], current: string | undefined): ModelPick[] {
  const ofOrigin = (Object.keys(origins) as KnownModel['origin'][]).flatMap((origin): ModelPick[] => {
    const found = known.filter((model) => model.origin === origin);
    if (found.length === 0) return [];
    return [
      { label: origins[origin], kind: vscode.QuickPickItemKind.Separator },
      ...found.map(({ name, folder }) => ({
        label: `$(chip) ${name}`,
        description: folder === current ? 'chosen' : '',
        detail: folder,
        folder,
      })),
    ];
  });
  return [
    ...ofOrigin,
    { label: '', kind: vscode.QuickPickItemKind.Separator },
    {
      label: '$(folder-opened) Browse…',
      detail: 'A folder with config.json, tokenizer.json and an ONNX file',
      action: 'browse',
      alwaysShow: true,
    },
    {
      label: '$(gear) Model folders in the settings…',
      detail: 'Folders in which models are looked for',
      action: 'settings',
      alwaysShow: true,
    },
  ];
}

/** Asks for a folder, checks that a model is in it, and adds it to the settings. */
export async function browseModel(workbench: Workbench): Promise<string | null> {
  const [uri] =
    (await vscode.window.showOpenDialog({
      canSelectFolders: true,
      canSelectFiles: false,
      canSelectMany: false,
      title: 'Model folder',
      openLabel: 'Add',
    })) ?? [];
  if (!uri) return null;
  const folder = uri.fsPath;
  await workbench.models.add(folder);
  const inside = (await workbench.models.known()).filter((model) => model.folder.startsWith(folder));
  const [only] = inside;
  if (inside.length !== 1 || !only) return null;
  const report = await workbench.models.report(only.folder);
  if (report.ok) return only.folder;
  void vscode.window.showWarningMessage(
    `${only.name} cannot run: ${report.reason ?? 'its folder was not understood.'}`,
  );
  return null;
}

/** Which model folders are known, which one a benchmark runs on, and what is in them. */
import { basename, dirname, join } from 'node:path';
import * as vscode from 'vscode';
import type { ModelReport } from '../shared/protocol.ts';
import { isModelFolder, modelFoldersIn } from './find-models.ts';
import { settings, settingsSection } from './settings.ts';

export interface KnownModel {
  folder: string;
  name: string;
  /** `added`: named in the settings. */
  origin: 'bundled' | 'added' | 'workspace';
}

const chosenKey = 'softbench.chosenModels';
const lastKey = 'softbench.lastModel';
/** Deep enough for a folder of models; a whole disk is not searched. */
const searchDepth = 2;

export class Models implements vscode.Disposable {
  readonly #context: vscode.ExtensionContext;
  readonly #inspect: (folder: string) => Promise<ModelReport>;
  readonly #reports = new Map<string, Promise<ModelReport>>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  #known: Promise<KnownModel[]> | null = null;

  constructor(context: vscode.ExtensionContext, inspect: (folder: string) => Promise<ModelReport>) {
    this.#context = context;
    this.#inspect = inspect;
  }

  known(): Promise<KnownModel[]> {
    this.#known ??= this.#find();
    return this.#known;
  }

  /** What was understood of a folder; asked once until {@link refresh}. */
  report(folder: string): Promise<ModelReport> {
    let report = this.#reports.get(folder);
    if (!report) {
      report = this.#inspect(folder);
      this.#reports.set(folder, report);
      report.catch(() => this.#reports.delete(folder));
    }
    return report;
  }

  refresh(): void {
    this.#known = null;
    this.#reports.clear();
    this.#changed.fire();
  }

  /** The model that a benchmark file runs on: chosen for it, else the one that was chosen last. */
  chosen(file: string): { folder: string; name: string } | null {
    const chosen = this.#context.workspaceState.get<Record<string, string>>(chosenKey, {});
    const folder = chosen[file] ?? this.last;
    return folder ? { folder, name: basename(folder) } : null;
  }

  /** The folder that was chosen last: what a benchmark without a choice of its own runs on. */
  get last(): string | null {
    return this.#context.workspaceState.get<string>(lastKey) ?? null;
  }

  /** @param file null: for every benchmark that has no choice of its own */
  async choose(file: string | null, folder: string): Promise<void> {
    if (file) {
      const chosen = this.#context.workspaceState.get<Record<string, string>>(chosenKey, {});
      await this.#context.workspaceState.update(chosenKey, { ...chosen, [file]: folder });
    }
    await this.#context.workspaceState.update(lastKey, folder);
    this.#changed.fire();
  }

  /** Adds the folder to the setting, so that it is there in every window. */
  async add(folder: string): Promise<void> {
    const configuration = vscode.workspace.getConfiguration(settingsSection);
    const folders = configuration.get<string[]>('modelFolders', []);
    if (!settings.modelFolders.includes(folder))
      await configuration.update('modelFolders', [...folders, folder], vscode.ConfigurationTarget.Global);
    this.refresh();
  }

  /** Takes the folder, or the folder it was found in, out of the user's setting. */
  async remove(folder: string): Promise<boolean> {
    const configuration = vscode.workspace.getConfiguration(settingsSection);
    const before = configuration.inspect<string[]>('modelFolders')?.globalValue ?? [];
    const after = before.filter((one) => one !== folder);
    if (after.length === before.length) return false;
    await configuration.update('modelFolders', after, vscode.ConfigurationTarget.Global);
    this.refresh();
    return true;
  }

  async #find(): Promise<KnownModel[]> {
    const found = new Map<string, KnownModel>();
    const take = (folders: string[], origin: KnownModel['origin']): void => {
      for (const folder of folders)
        if (!found.has(folder)) found.set(folder, { folder, name: basename(folder), origin });
    };
    take(await modelFoldersIn(join(this.#context.extensionPath, 'examples', 'models'), searchDepth), 'bundled');
    for (const folder of settings.modelFolders) {
      const inside = await modelFoldersIn(folder, searchDepth);
      // A folder that the user named is listed even where no model is seen in it: its report says what is missing.
      take(inside.length > 0 ? inside : [folder], 'added');
    }
    const configurations = await vscode.workspace.findFiles(
      '**/config.json',
      '**/{node_modules,.git,.softbench,.venv,site-packages}/**',
      500,
    );
    const folders: string[] = [];
    for (const folder of configurations.map(({ fsPath }) => dirname(fsPath)).sort())
      if (await isModelFolder(folder)) folders.push(folder);
    take(folders, 'workspace');
    return [...found.values()];
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

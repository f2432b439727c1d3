/** Every setting behind a typed getter. What a setting means stands in package.json; values are checked here. */
import { homedir } from 'node:os';
import { isAbsolute, join, normalize } from 'node:path';
import * as vscode from 'vscode';
import type { EngineSettings, JobRequest } from '../shared/protocol.ts';
import { defaultCacheBytes } from '../shared/response-words.ts';
import type { ChatRequest } from '../shared/results.ts';

const providers: readonly EngineSettings['executionProvider'][] = ['auto', 'cpu', 'cuda', 'webgpu', 'dml', 'coreml'];
export const settingsSection = 'softbench';
const folderVariable = `\${workspaceFolder}`;

const get = (name: string, scope?: vscode.Uri): unknown =>
  vscode.workspace.getConfiguration(settingsSection, scope).get(name);

function wholeNumber(value: unknown, least: number): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= least ? value : null;
}

export const settings = {
  get engine(): EngineSettings {
    const asked = get('executionProvider');
    return {
      executionProvider: providers.find((one) => one === asked) ?? 'auto',
      threads: wholeNumber(get('threads'), 0) ?? 0,
    };
  },

  get batchSize(): number | 'auto' {
    return wholeNumber(get('batchSize'), 1) ?? 'auto';
  },

  /** Null where it is turned off. */
  get responseCache(): JobRequest['responseCache'] {
    if (get('responseCache') === false) return null;
    const megabytes = wholeNumber(get('responseCacheLimit'), 1);
    return { limitBytes: megabytes === null ? defaultCacheBytes : megabytes * 2 ** 20, lookUp: true };
  },

  /** undefined: as the benchmark says. */
  limit(file: vscode.Uri): number | undefined {
    return wholeNumber(get('limit', file), 1) ?? undefined;
  },

  /** undefined: as the benchmark says. */
  chat(file: vscode.Uri): Partial<ChatRequest> | undefined {
    const [template, instruction, multiturn] = ['chatTemplate', 'systemInstruction', 'fewshotAsMultiturn'].map((name) =>
      get(name, file),
    );
    const request: Partial<ChatRequest> = {
      ...((typeof template === 'boolean' || (typeof template === 'string' && template)) && { template }),
      ...(typeof instruction === 'string' && instruction && { systemInstruction: instruction }),
      ...(typeof multiturn === 'boolean' && { fewshotAsMultiturn: multiturn }),
    };
    return Object.keys(request).length > 0 ? request : undefined;
  },

  /** Absolute paths. */
  get modelFolders(): string[] {
    const value = get('modelFolders');
    if (!Array.isArray(value)) return [];
    return value.flatMap((one) => {
      const path = typeof one === 'string' ? settings.resolve(one) : null;
      return path ? [path] : [];
    });
  },

  /** Files with scores of models; absolute paths. */
  get predictionRecords(): string[] {
    const value = get('predictionRecords');
    if (!Array.isArray(value)) return [];
    return [...new Set(value)].flatMap((one) => {
      const path = typeof one === 'string' ? settings.resolve(one) : null;
      return path ? [path] : [];
    });
  },

  /** A path of a setting as an absolute one, below the first workspace folder; null where that is not open. */
  resolve(path: string): string | null {
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    return resolvePath(path, folder?.uri.fsPath ?? null);
  },

  /** Folders in place of data sets, by id; absolute paths. Those of the environment come behind. */
  get datasetFolders(): Record<string, string> {
    const value = get('datasetFolders');
    if (typeof value !== 'object' || value === null) return {};
    return Object.fromEntries(
      Object.entries(value).flatMap(([id, one]) => {
        const path = typeof one === 'string' ? settings.resolve(one) : null;
        return path ? [[id, path]] : [];
      }),
    );
  },

  /** The store of a workspace folder; null where the setting needs a folder and none is open. */
  store(folder: vscode.WorkspaceFolder | undefined): string | null {
    const value = get('store', folder?.uri);
    const text = typeof value === 'string' && value.trim() ? value.trim() : `${folderVariable}/.softbench`;
    return resolvePath(text, folder?.uri.fsPath ?? null);
  },

  get openResultsOnStart(): boolean {
    return get('openResultsOnStart') !== false;
  },
};

/** `${workspaceFolder}` and `~` filled in; null where the folder that the path needs is not open. */
function resolvePath(text: string, workspaceFolder: string | null): string | null {
  let path = text.trim();
  if (!path) return null;
  if (path === '~' || /^~[\\/]/.test(path)) path = join(homedir(), path.slice(1));
  if (path.includes(folderVariable)) {
    if (!workspaceFolder) return null;
    path = path.replaceAll(folderVariable, workspaceFolder);
  }
  if (isAbsolute(path)) return normalize(path);
  return workspaceFolder ? join(workspaceFolder, path) : null;
}

export function onSettingsChange(listener: (affects: (name: string) => boolean) => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(settingsSection))
      listener((name) => event.affectsConfiguration(`${settingsSection}.${name}`));
  });
}

/** Libraries of GPU providers: chosen, agreed to, fetched with progress; and a page that says which provider runs here. */
import * as vscode from 'vscode';
import type { LibraryPackage } from '../libraries/index.ts';
import { HumanError } from '../shared/errors.ts';
import { cancellable } from './progress.ts';
import { providersText } from './provider-text.ts';
import type { Workbench } from './workbench.ts';

/** Asks which package, shows what it is and where it goes, and installs it. */
export async function installLibraries(workbench: Workbench): Promise<void> {
  const libraries = await import('../libraries/index.ts');
  const { librariesFolder: folder } = workbench;
  const here = `${process.platform}/${process.arch}`;
  const offered = libraries.libraryPackages.filter(({ platform }) => platform === here);
  if (offered.length === 0)
    throw new HumanError('unsupported', `There are no GPU libraries to install for ${here}.`, {
      todo: 'The providers that run here need none: “Softbench: Show Execution Providers” lists them.',
    });
  const megabytes = (one: LibraryPackage): string => `${Math.round(libraries.downloadBytes(one) / 1e6)} MB`;
  const picked = await vscode.window.showQuickPick(
    offered.map((wanted) => ({
      label: wanted.title,
      description: libraries.packageState(folder, wanted).lib ? 'installed' : megabytes(wanted),
      detail: wanted.needs,
      wanted,
    })),
    { title: 'Install GPU libraries', placeHolder: 'Choose what to fetch' },
  );
  if (!picked) return;
  const { wanted } = picked;
  const state = libraries.packageState(folder, wanted);
  if (state.lib) {
    void vscode.window.showInformationMessage(`${wanted.title} are installed already: ${state.lib}`);
    return;
  }
  const agreed = await vscode.window.showInformationMessage(
    `Fetch and install ${wanted.title}?`,
    { modal: true, detail: libraries.consentLines(wanted, folder).slice(1).join('\n') },
    'Fetch and Install',
  );
  if (agreed !== 'Fetch and Install') return;
  await cancellable(wanted.title, async (signal, progress) => {
    let shown = 0;
    await libraries.installPackage(wanted, {
      folder,
      signal,
      environment: proxyEnvironment(),
      onProgress: ({ phase, bytes, total }) => {
        // Fetching is the first four fifths of the bar.
        const part = phase === 'fetching' ? (80 * bytes) / total : 80 + (20 * bytes) / total;
        if (part - shown < 1) return;
        progress.report({
          increment: part - shown,
          message: `${phase} ${Math.round(bytes / 1e6)} of ${Math.round(total / 1e6)} MB`,
        });
        shown = part;
      },
    });
  });
  const later = await workbench.restartWorker();
  void vscode.window.showInformationMessage(
    `${wanted.title} are installed.${later ? ' They are used once the running job is done.' : ''}`,
  );
}

/** The environment with the editor's own proxy settings, which go before it. */
export function proxyEnvironment(): NodeJS.ProcessEnv {
  const http = vscode.workspace.getConfiguration('http');
  const proxy = http.get<string>('proxy')?.trim();
  const none = http.get<string[]>('noProxy') ?? [];
  if (http.get<string>('proxySupport') === 'off') return {};
  return {
    ...process.env,
    ...(proxy && { https_proxy: proxy, http_proxy: proxy }),
    ...(none.length > 0 && { no_proxy: none.join(',') }),
  };
}

/** Tries every provider and opens what was found as a document. */
export async function showProviders(workbench: Workbench): Promise<void> {
  const found = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: 'Trying the execution providers' },
    async () => (await workbench.worker()).call.providers(),
  );
  const libraries = await import('../libraries/index.ts');
  const installed = libraries.libraryPackages.map((one) => ({
    title: one.title,
    ...libraries.packageState(workbench.librariesFolder, one),
  }));
  const document = await vscode.workspace.openTextDocument({
    language: 'markdown',
    content: providersText(
      found,
      installed.map(({ title, lib, problem }) => `${title}: ${lib ?? problem ?? 'not installed'}`),
    ),
  });
  await vscode.window.showTextDocument(document, { preview: true });
}

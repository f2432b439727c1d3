// Starts the VS Code that test/vscode/install.mjs has put on the disk, on folders of its own that are removed afterwards.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Settings of a window that stays quiet: no welcome pages, updates, telemetry, galleries, AI features or autosave. */
const quietSettings: Record<string, unknown> = {
  'security.workspace.trust.enabled': false,
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.commandCenter.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'files.autoSave': 'off',
  'typescript.tsserver.enable': false,
};

export interface ServerOptions {
  /** The installed server (`serverFolder()` of install.mjs). */
  home: string;
  /** An extension package to install before the start. */
  vsix?: string;
  settings?: Record<string, unknown>;
  /** The user's own key bindings. */
  keybindings?: { key: string; command: string }[];
  /** Dialogs are shown and wait for an answer: as long as its test driver is there, VS Code refuses to show any. */
  dialogs?: boolean;
  /** Added to the environment of the server and of its extension hosts. */
  env?: Record<string, string>;
  /** Where the server's own log goes. */
  log: string;
}

export interface Server {
  /** `http://127.0.0.1:<port>` */
  origin: string;
  /** What `vscode-remote://` addresses name this server by. */
  authority: string;
  /** A folder for the test's files, removed with the server. */
  scratch: string;
  stop(): Promise<void>;
}

function output(child: ChildProcess, log: string): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data: Buffer) => {
      text += data;
      appendFileSync(log, data);
    });
  return () => text;
}

const ended = (child: ChildProcess): Promise<number | null> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve(child.exitCode)
    : new Promise((resolve) => child.once('exit', resolve));

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

export async function startServer(options: ServerOptions): Promise<Server> {
  const { home, vsix, log } = options;
  const main = join(home, 'out', 'server-main.js');
  if (!existsSync(main)) throw new Error(`There is no VS Code in ${home}. node test/vscode/install.mjs installs it.`);
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'softbench-window-')));
  const folder = (name: string): string => {
    mkdirSync(join(base, name), { recursive: true });
    return join(base, name);
  };
  const userData = folder('user');
  const writeUserFile = (name: string, content: unknown): void =>
    writeFileSync(join(folder(join('user', 'User')), name), JSON.stringify(content, null, 2));
  writeUserFile('settings.json', { ...quietSettings, ...options.settings });
  writeUserFile('keybindings.json', options.keybindings ?? []);
  const places = [
    '--user-data-dir',
    userData,
    '--server-data-dir',
    folder('server'),
    '--extensions-dir',
    folder('extensions'),
  ];
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    // No gallery: nothing is looked up on the internet.
    EXTENSIONS_GALLERY: JSON.stringify({ serviceUrl: '', itemUrl: '', resourceUrlTemplate: '' }),
    ...options.env,
  };
  // What this process was started with is not meant for the extension host.
  delete env.NODE_OPTIONS;
  const node = process.env.SOFTBENCH_VSCODE_NODE ?? process.execPath;
  const start = (args: string[]): ChildProcess =>
    spawn(node, [main, ...places, ...args], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
    });
  const remove = (): void => {
    if (!process.env.SOFTBENCH_KEEP) rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };

  if (vsix) {
    const installer = start(['--install-extension', vsix, '--force']);
    const said = output(installer, log);
    const code = await ended(installer);
    if (code !== 0 || !/successfully installed/.test(said())) {
      remove();
      throw new Error(`VS Code did not install ${vsix}:\n${said()}`);
    }
  }
  const child = start([
    '--host',
    '127.0.0.1',
    '--port',
    '0',
    '--without-connection-token',
    '--accept-server-license-terms',
    '--disable-workspace-trust',
    ...(options.dialogs ? [] : ['--enable-smoke-test-driver']),
    '--telemetry-level',
    'off',
  ]);
  const said = output(child, log);
  const end = (signal: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, signal);
      else child.kill(signal);
    } catch {
      // Already gone.
    }
  };
  const atExit = (): void => end('SIGKILL');
  process.once('exit', atExit);
  const stop = async (): Promise<void> => {
    end('SIGTERM');
    await Promise.race([ended(child), pause(5000)]);
    end('SIGKILL');
    process.removeListener('exit', atExit);
    remove();
  };
  const deadline = Date.now() + 60_000;
  for (;;) {
    const port = /Extension host agent listening on (\d+)/.exec(said())?.[1];
    if (port)
      return {
        origin: `http://127.0.0.1:${port}`,
        authority: `127.0.0.1:${port}`,
        scratch: folder('scratch'),
        stop,
      };
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop();
      throw new Error(`The VS Code server did not start:\n${said()}`);
    }
    await pause(50);
  }
}

/** Copies a folder into the server's scratch folder, so that a test may change it. */
export function copyInto(server: Server, from: string, name: string): string {
  const to = join(server.scratch, name);
  cpSync(from, to, { recursive: true });
  return to;
}

/** `softbench providers …`: which execution providers run here, and the libraries that some of them need. */
import {
  consentLines,
  downloadBytes,
  type InstallProgress,
  installPackage,
  type LibraryPackage,
  librariesFolder,
  libraryPackages,
  packageFor,
  packageNames,
  packageState,
  removePackage,
} from '../libraries/index.ts';
import { CancelledError, HumanError } from '../shared/errors.ts';
import { type Command, commonOptions, exitCodes, operands } from './command.ts';
import { type Terminal, table } from './terminal.ts';

export const providersCommand: Command = {
  name: 'providers list',
  operands: '',
  summary: 'say which execution providers run here, and why the others do not',
  details: 'Each is tried: a session is opened with it, in a process of its own. Nothing is fetched.',
  options: { ...commonOptions },
  async run(given, terminal) {
    operands(given, [] as const);
    const { signal, worker } = terminal.surroundings;
    const providers = await worker.call.providers(undefined, { signal });
    const folder = librariesFolder();
    const packages = libraryPackages.map((one) => ({ one, ...packageState(folder, one) }));
    if (terminal.json) {
      terminal.printJson({
        providers,
        folder,
        packages: packages.map(({ one, lib, problem }) => ({
          name: one.name,
          version: one.version,
          platform: one.platform,
          bytes: downloadBytes(one),
          files: one.archives.map(({ file, url, bytes, sha256 }) => ({ file, url, bytes, sha256 })),
          installed: lib,
          problem,
        })),
      });
      return exitCodes.done;
    }
    for (const line of table([
      ['provider', 'runs', ''],
      ...providers.map(({ name, runs, automatic, reason }) => [
        name,
        runs ? 'yes' : 'no',
        runs ? (automatic ? 'taken by auto' : 'by name only') : (reason ?? ''),
      ]),
    ]))
      terminal.print(line);
    for (const { name, todo } of providers) if (todo) terminal.print(`${name}: ${todo}`);
    terminal.print();
    for (const line of table([
      ['libraries', 'version', 'for', 'download', ''],
      ...packages.map(({ one, lib, problem }) => [
        one.name,
        one.version,
        one.platform,
        `${Math.round(downloadBytes(one) / 1e6)} MB`,
        lib ? `installed in ${lib}` : (problem ?? 'not installed'),
      ]),
    ]))
      terminal.print(line);
    return exitCodes.done;
  },
};

export const installCommand: Command = {
  name: 'providers install',
  operands: 'NAME',
  summary: `fetch the libraries of a provider from their publisher (${packageNames.join(', ')})`,
  details: [
    'Asks first: what, how large, from where, under which licence, where to. Size and SHA-256 of every archive are checked.',
    'An attempt that was stopped goes on where it left off. HTTPS_PROXY and NO_PROXY count; NODE_EXTRA_CA_CERTS adds a',
    'certificate. Without a network: fetch the archives elsewhere ("providers list --json" has their addresses) and give',
    'their folder with --from. SOFTBENCH_LIBRARIES names another folder to keep them in.',
  ].join('\n'),
  options: {
    yes: { type: 'flag', short: 'y', help: 'agree without being asked' },
    from: { type: 'text', value: 'DIR|URL', help: 'a folder, or its address, that holds the archives by their names' },
    ...commonOptions,
  },
  async run(given, terminal) {
    const [name] = operands(given, ['NAME'] as const);
    const wanted = packageFor(name);
    const from = given.text('from');
    const folder = librariesFolder();
    const there = packageState(folder, wanted).lib;
    if (!there) {
      for (const line of consentLines(wanted, folder, from)) terminal.note(line);
      if (!given.flag('yes')) await agree(terminal);
    }
    const { signal } = terminal.surroundings;
    const progress = new Progress(terminal);
    const lib = await installPackage(wanted, {
      folder,
      ...(from !== undefined && { from }),
      signal,
      onProgress: (now) => progress.show(now),
    }).finally(() => progress.end());
    if (terminal.json) terminal.printJson({ name: wanted.name, version: wanted.version, lib, already: there !== null });
    else terminal.print(there ? `Installed already: ${lib}` : `Installed: ${lib}`);
    return exitCodes.done;
  },
};

async function agree({ surroundings }: Terminal): Promise<void> {
  if (!surroundings.ask)
    throw new HumanError('bad-input', 'Nobody can be asked here whether to fetch this.', { todo: 'Agree with --yes.' });
  const answer = await surroundings.ask('Fetch and install it? [y/N] ');
  if (!/^y(es)?$/i.test(answer.trim())) throw new CancelledError('Nothing was fetched.');
}

export const removeCommand: Command = {
  name: 'providers remove',
  operands: 'NAME',
  summary: 'delete installed libraries of a provider',
  options: { ...commonOptions },
  async run(given, terminal) {
    const [name] = operands(given, ['NAME'] as const);
    const known: Pick<LibraryPackage, 'name'> | undefined = libraryPackages.find((one) => one.name === name);
    if (!known)
      throw new HumanError('bad-input', `There are no provider libraries "${name}".`, {
        todo: `There are ${packageNames.join(', ')}.`,
      });
    const removed = await removePackage(known, librariesFolder());
    if (terminal.json) terminal.printJson({ name, removed });
    else terminal.print(removed ? `Removed ${name}.` : `${name} is not installed.`);
    return exitCodes.done;
  },
};

/** One line that is written over on a terminal; elsewhere a line at every tenth. */
class Progress {
  #shown = '';
  #open = false;
  constructor(private readonly terminal: Terminal) {}

  show({ phase, bytes, total }: InstallProgress): void {
    const { surroundings, quiet } = this.terminal;
    if (quiet) return;
    const percent = Math.floor((100 * bytes) / total);
    const live = surroundings.stderr.isTTY === true;
    const step = live ? percent : Math.floor(percent / 10) * 10;
    const line = `${phase === 'fetching' ? 'Fetching' : 'Unpacking'} ${step} % of ${Math.round(total / 1e6)} MB`;
    if (line === this.#shown) return;
    this.#shown = line;
    this.#open = live;
    surroundings.stderr.write(live ? `\r${line.padEnd(40)}` : `${line}\n`);
  }

  end(): void {
    if (this.#open) this.terminal.surroundings.stderr.write('\n');
    this.#open = false;
  }
}

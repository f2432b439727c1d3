// What the scripts share: the project's folder, running a program, and installing the dependencies. Uses Node only, so
// that it works before node_modules exists.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
/** Everything that tests make: screenshots, logs, the VS Code that they run in. Ignored by git. */
export const artifacts = join(root, 'test', '.artifacts');

/** Is this module the program that was started? */
export const isMain = (url) => process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(url);

/**
 * Runs a program to its end and gives its exit code, its standard output, and both streams in order of arrival.
 * `echo`: also show the output as it comes ('stderr': only that of standard error). `seconds`: end the program, and all that it started, after this time.
 */
export function run(command, args, { cwd = root, env = {}, echo = true, seconds, shell = false } = {}) {
  return new Promise((done) => {
    const posix = process.platform !== 'win32';
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      shell,
      // A group of its own, so that what it started can be ended with it.
      detached: posix && seconds !== undefined,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const chunks = [];
    const standard = [];
    const end = () => {
      try {
        if (posix && seconds !== undefined) process.kill(-child.pid, 'SIGKILL');
        else child.kill('SIGKILL');
      } catch {}
    };
    let late = false;
    const timer =
      seconds === undefined
        ? undefined
        : setTimeout(() => {
            late = true;
            end();
          }, seconds * 1000);
    const interrupt = () => end();
    if (seconds !== undefined) process.once('exit', interrupt);
    for (const [stream, to] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ])
      stream.on('data', (data) => {
        chunks.push(data);
        if (to === process.stdout) standard.push(data);
        if (echo === true || (echo === 'stderr' && to === process.stderr)) to.write(data);
      });
    const finish = (code, extra = '') => {
      clearTimeout(timer);
      process.removeListener('exit', interrupt);
      const text = (parts) => Buffer.concat(parts).toString('utf8');
      done({ code, late, stdout: text(standard), output: text(chunks) + extra });
    };
    child.on('error', (error) => finish(127, `${command}: ${error.message}\n`));
    child.on('close', (code, signal) => {
      const note = late ? `Ended after ${seconds} s without finishing.\n` : signal ? `Ended by ${signal}.\n` : '';
      if (note && echo) process.stderr.write(note);
      finish(code ?? 1, note);
    });
  });
}

export const runNode = (script, args = [], options) => run(process.execPath, [script, ...args], options);

/** Runs npm: the one that started us where there is one, else the one on the PATH. */
export function npm(args, options = {}) {
  const env = { ONNXRUNTIME_NODE_INSTALL: 'skip', npm_config_update_notifier: 'false', ...options.env };
  const beside = process.env.npm_execpath;
  if (beside && /npm-cli\.c?js$/.test(beside) && existsSync(beside))
    return run(process.execPath, [beside, ...args], { ...options, env });
  // npm is a command script on Windows, which only a shell can start.
  return run('npm', args, { ...options, env, shell: process.platform === 'win32' });
}

/** The path of a file of an installed package; the packages' own programs are started with it. */
export const packageFile = (name, ...path) => join(root, 'node_modules', ...name.split('/'), ...path);

/** The script behind a package's command, from the package's own `bin`. */
export function binOf(name, command = name.split('/').pop()) {
  const { bin } = JSON.parse(readFileSync(packageFile(name, 'package.json'), 'utf8'));
  return packageFile(name, typeof bin === 'string' ? bin : bin[command]);
}

/** Does node_modules hold what package-lock.json asks for? */
export function dependenciesInstalled() {
  let wanted;
  let present;
  try {
    wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
    present = JSON.parse(readFileSync(join(root, 'node_modules', '.package-lock.json'), 'utf8')).packages;
  } catch {
    return false;
  }
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '' || entry.link) continue;
    const installed = present[path];
    // Packages for other platforms, and peers that nobody needs, are left out by npm.
    if (!installed && !entry.optional && !entry.peer && !entry.devOptional) return false;
    if (installed && installed.version !== entry.version) return false;
  }
  return true;
}

/** Installs the dependencies as package-lock.json has them, where they are not there already. */
export async function installDependencies({ log = console.log } = {}) {
  const [major] = process.versions.node.split('.').map(Number);
  if (major < 20) throw new Error(`Softbench needs Node 20 or newer; this is ${process.version}.`);
  if (dependenciesInstalled()) return;
  log('Installing the dependencies (npm ci) …');
  const started = Date.now();
  const { code, output } = await npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    echo: false,
  });
  if (code !== 0) {
    process.stderr.write(output);
    throw new Error(
      'npm ci failed (its messages are above). Is the npm registry reachable, and is there room on the disk?',
    );
  }
  log(`Installed in ${((Date.now() - started) / 1000).toFixed(0)} s.`);
}

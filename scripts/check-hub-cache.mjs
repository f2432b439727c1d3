// Do Python's clients read what this product downloads, and does this product read what they keep? On local servers that
// speak as the Hub does (test/hub/server.ts); nothing outside of this machine is asked.
//   node scripts/check-hub-cache.mjs --python PYTHON [--write]      Python with huggingface_hub and datasets
// --write keeps the report and the cache of `datasets` for the tests (test/hub).
import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { nodeModule } from './build.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const argument = (name) => process.argv[process.argv.indexOf(name) + 1];
if (!process.argv.includes('--python'))
  throw new Error('Give the Python that has huggingface_hub and datasets: --python PYTHON');
const python = argument('--python');
const folder = mkdtempSync(join(tmpdir(), 'softbench-hub-cache-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const outfile = join(folder, 'product.mjs');
await build({
  ...nodeModule,
  outfile,
  stdin: {
    resolveDir: root,
    loader: 'ts',
    contents: `
      export * from './src/benchmark/index.ts';
      export { str } from './src/benchmark/python.ts';
      export { hubSettings } from './src/hub/index.ts';
      export { HubServer } from './test/hub/server.ts';`,
  },
});
const product = await import(pathToFileURL(outfile).href);

const { cases } = JSON.parse(readFileSync(join(root, 'test/benchmark/data-values.json'), 'utf8'));
const bytesOf = (name) => Buffer.from(Object.values(cases.find((one) => one.name === name).files)[0], 'base64');
const id = 'owner/SumsAndMore';
const configurations = {
  plain: 'parquet: several row groups',
  labels: 'parquet of datasets: class labels, sequence of objects',
  moments: 'parquet: microseconds',
};
const card = `---\nlicense: mit\nconfigs:\n${Object.keys(configurations)
  .map(
    (name) =>
      `- config_name: ${name}\n  data_files:\n  - split: train\n    path: ${name}/train-*\n  - split: test\n    path: ${name}/test-*`,
  )
  .join('\n')}\n---\n# Sums\n`;
const files = { 'README.md': card };
for (const [name, content] of Object.entries(configurations)) {
  files[`${name}/train-00000-of-00002.parquet`] = bytesOf(content);
  files[`${name}/train-00001-of-00002.parquet`] = bytesOf(content);
  files[`${name}/test-00000-of-00001.parquet`] = bytesOf(content);
}
const server = await product.HubServer.start([
  { kind: 'dataset', id, licence: 'mit', largeFrom: 1500, revisions: { main: files } },
]);

const checks = [];
const check = (what, ok) => {
  checks.push({ what, ok });
  console.log(`${ok ? 'yes' : 'NO '}  ${what}`);
};
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const home = (name) => join(folder, name);
async function runPython(homeName, ...options) {
  const { stdout } = await promisify(execFile)(
    python,
    [join(root, 'scripts/check-hub-cache.py'), id, Object.keys(configurations).join(','), ...options],
    {
      env: {
        ...process.env,
        HF_ENDPOINT: server.address,
        HF_HOME: home(homeName),
        HF_HUB_DISABLE_TELEMETRY: '1',
        HF_HUB_DISABLE_XET: '1',
        HF_HUB_DISABLE_PROGRESS_BARS: '1',
      },
      maxBuffer: 2 ** 26,
    },
  );
  return JSON.parse(stdout.trim().split('\n').at(-1));
}
const settings = (homeName) => product.hubSettings({ HF_ENDPOINT: server.address, HF_HOME: home(homeName) });
const need = (name) => ({
  request: { path: id, name, revision: null, dataDir: null, dataFiles: null },
  splits: ['train', 'test'],
});
async function fetchAll(homeName) {
  let snapshot = '';
  for (const name of Object.keys(configurations))
    snapshot = await product.fetchDataset(
      await product.planDataset(need(name), settings(homeName)),
      settings(homeName),
    );
  return snapshot;
}
/** All rows as this product reads them from a home, printed as Python prints them. */
async function rowsIn(homeName) {
  process.env.HF_HOME = home(homeName);
  const found = {};
  for (const name of Object.keys(configurations)) {
    const file = join(folder, `${name}.yaml`);
    const fields = Object.keys(Object.values(cases.find((one) => one.name === configurations[name]).rows)[0]);
    writeFileSync(
      file,
      `task: t\ndataset_path: ${id}\ndataset_name: ${name}\ntraining_split: train\ntest_split: test\ndoc_to_text: "{{${fields[0]}}}"\ndoc_to_target: "{{${fields[0]}}}"\n`,
    );
    const { benchmark, problems } = await product.checkBenchmark(file);
    if (!benchmark) throw new Error(problems.map(({ message }) => message).join('\n'));
    const printed = (items) =>
      items.map(({ fields: row }) =>
        Object.fromEntries(Object.entries(row).map(([key, value]) => [key, product.str(value)])),
      );
    found[name] = {
      train: printed(await benchmark.items('training')),
      test: printed(await benchmark.items('evaluation')),
    };
  }
  return found;
}
const carried = () => server.asked.filter(({ host, url }) => host === 'storage' || /\.parquet/.test(url));

// What this product downloads.
const snapshot = await fetchAll('product');
server.asked.length = 0;
const read = await runPython('product', '--scan', '--load');
check('huggingface_hub finds no fault with the cache', same(read.scan.warnings, []));
check(
  '… and all files, under the commit of the branch',
  same(read.scan.files, Object.keys(files).sort()) && snapshot.endsWith(read.scan.refs.main),
);
check('snapshot_download gives the same folder', read.snapshot === snapshot);
check('hf_hub_download reads the card', read.card === card);
check(
  'datasets loads from it without fetching data again',
  server.asked.filter(({ host }) => host === 'storage').length === 0,
);
rmSync(join(home('product'), 'datasets'), { recursive: true, force: true });
check('its rows are those that this product reads from the same files', same(read.rows, await rowsIn('product')));

// What Python downloads and prepares.
const prepared = await runPython('python', '--load');
server.asked.length = 0;
check('this product reads the Hub cache that Python filled', same(prepared.rows, await rowsIn('python')));
cpSync(join(home('python'), 'datasets'), join(home('arrow'), 'datasets'), { recursive: true });
check('… and the Arrow files of datasets alone', same(prepared.rows, await rowsIn('arrow')));
check('… without asking the Hub', server.asked.length === 0);
await fetchAll('python');
check('nothing is fetched again into it', carried().length === 0);

// Half a file, each way.
const large = Object.entries(files).find(([, content]) => content.length >= 1500)?.[0] ?? '';
const half = async (homeName) => {
  await fetchAll(homeName);
  const hub = join(home(homeName), 'hub', `datasets--${id.replace('/', '--')}`);
  const blobs = readdirSync(join(hub, 'blobs')).filter((name) => name.length === 64);
  rmSync(join(hub, 'snapshots'), { recursive: true });
  for (const name of blobs) {
    truncateSync(join(hub, 'blobs', name), Math.floor(statSync(join(hub, 'blobs', name)).size / 2));
    cpSync(join(hub, 'blobs', name), join(hub, 'blobs', `${name}.incomplete`));
    rmSync(join(hub, 'blobs', name));
  }
  server.asked.length = 0;
};
await half('half');
await runPython('half', '--file', large);
check(
  'Python goes on with a file that this product began',
  server.asked.some(({ host, range }) => host === 'storage' && /^bytes=[1-9]/.test(range ?? '')),
);

const report = {
  versions: {
    ...read.versions,
    '@huggingface/hub': JSON.parse(readFileSync(join(root, 'node_modules/@huggingface/hub/package.json'), 'utf8'))
      .version,
  },
  checks,
};
if (process.argv.includes('--write')) {
  const to = join(root, 'test/fixtures/hub');
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  cpSync(join(home('python'), 'datasets'), join(to, 'datasets'), {
    recursive: true,
    filter: (path) => !path.endsWith('.lock'),
  });
  writeFileSync(
    join(to, 'python-clients.json'),
    `${JSON.stringify({ ...report, id, rows: prepared.rows }, null, 1)}\n`,
  );
}
await server.stop();
if (checks.some(({ ok }) => !ok)) process.exit(1);

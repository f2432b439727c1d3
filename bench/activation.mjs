// What activation of the extension costs, in a process of its own: node bench/activation.mjs BUNDLE ROOT
// `vscode` is a shape without behaviour here; the time in a real VS Code is what its tests print.
import { readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [file, root] = process.argv.slice(2);

/** Stands for anything of the API: can be called, constructed, extended and asked for members. */
function anything() {
  const members = new Map();
  const proxy = new Proxy(class {}, {
    get(target, key) {
      // Not a promise, and a number where arithmetic asks for one.
      if (key === 'then') return undefined;
      if (key === Symbol.toPrimitive) return () => 0;
      if (key === Symbol.iterator) return [][Symbol.iterator].bind([]);
      if (key === 'prototype') return target.prototype;
      if (!members.has(key)) members.set(key, anything());
      return members.get(key);
    },
    set: (_, key, value) => members.set(key, value) && true,
    apply: () => anything(),
    construct: (target, args, made) => (made === proxy ? anything() : Reflect.construct(target, args, made)),
  });
  return proxy;
}
const configuration = {
  get: (_key, fallback) => fallback,
  inspect: () => undefined,
  has: () => false,
  update: () => {},
};
const folder = join(tmpdir(), 'softbench-bench-activation');
const known = {
  workspace: {
    workspaceFolders: [],
    textDocuments: [],
    isTrusted: true,
    getConfiguration: () => configuration,
  },
  window: { visibleTextEditors: [], activeTextEditor: undefined },
};
// A bundle copies the names that a module has, so they have to be there: those that the API's types declare.
const types = readFileSync(join(root, 'node_modules', '@types', 'vscode', 'index.d.ts'), 'utf8');
const vscode = {};
for (const [, name] of types.matchAll(/^\s{1,4}export (?:abstract )?(?:class|enum|namespace|function|const) (\w+)/gm)) {
  const shape = anything();
  vscode[name] = known[name]
    ? new Proxy(shape, { get: (inner, key) => (key in known[name] ? known[name][key] : inner[key]) })
    : shape;
}

const load = Module._load;
const loaded = [];
Module._load = function (request, ...rest) {
  if (request === 'vscode') return vscode;
  loaded.push(request);
  return load.call(this, request, ...rest);
};

const memento = { get: (_key, fallback) => fallback, update: async () => {}, keys: () => [] };
const context = {
  subscriptions: [],
  extensionPath: root,
  extensionUri: { fsPath: root, path: root, scheme: 'file' },
  globalStorageUri: { fsPath: folder, path: folder, scheme: 'file' },
  storageUri: undefined,
  workspaceState: memento,
  globalState: { ...memento, setKeysForSync: () => {} },
  extension: { packageJSON: { version: '0' }, id: 'softbench.softbench' },
  asAbsolutePath: (path) => join(root, path),
  extensionMode: 1,
};

const started = performance.now();
const extension = createRequire(import.meta.url)(file);
const required = performance.now();
await extension.activate(context);
const activated = performance.now();
const native = Object.keys(createRequire(import.meta.url).cache).filter((path) => path.endsWith('.node'));
console.log(
  JSON.stringify({
    requireMilliseconds: required - started,
    activateMilliseconds: activated - required,
    loaded,
    native,
  }),
);
process.exit(0);

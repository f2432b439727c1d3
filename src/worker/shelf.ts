/** The models that the worker holds open: the last ones used stay, as long as their files fit the memory set aside. */
import { readdir, stat } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { LanguageModel } from '../evaluate/index.ts';
import type { EngineSettings } from '../shared/protocol.ts';

interface Entry {
  key: string;
  model: LanguageModel;
  bytes: number;
  users: number;
  lastUse: number;
}

export class ModelShelf {
  readonly #entries = new Map<string, Entry>();
  #clock = 0;
  /** Opening goes one at a time: two callers of the same model get the same one. */
  #queue: Promise<unknown> = Promise.resolve();

  /** @param budget bytes of model files that idle models may take together with the one in use */
  constructor(
    private readonly open: (folder: string, engine: EngineSettings) => Promise<LanguageModel>,
    private readonly budget: number = totalmem() / 4,
  ) {}

  /** The model, kept from being closed until it is given back. */
  async borrow(folder: string, engine: EngineSettings): Promise<{ model: LanguageModel; giveBack(): Promise<void> }> {
    const turn = this.#queue.then(() => this.#take(folder, engine));
    this.#queue = turn.catch(() => {});
    const entry = await turn;
    return {
      model: entry.model,
      giveBack: async () => {
        entry.users--;
        entry.lastUse = ++this.#clock;
        // A model whose files changed while it was in use has no place on the shelf any more.
        if (entry.users === 0 && this.#entries.get(entry.key) !== entry) await entry.model.close();
      },
    };
  }

  async #take(folder: string, engine: EngineSettings): Promise<Entry> {
    const { fingerprint, bytes } = await describeFolder(folder);
    // The fingerprint makes a model that was exported again another one.
    const key = JSON.stringify([resolve(folder), engine, fingerprint]);
    let entry = this.#entries.get(key);
    if (!entry) {
      await this.#retire([...this.#entries.values()].filter((other) => sameFolder(other.key, key)));
      await this.#makeRoom(bytes);
      entry = { key, model: await this.open(folder, engine), bytes, users: 0, lastUse: ++this.#clock };
      this.#entries.set(key, entry);
    }
    entry.users++;
    return entry;
  }

  async #makeRoom(bytes: number): Promise<void> {
    const idle = [...this.#entries.values()].filter(({ users }) => users === 0).sort((a, b) => a.lastUse - b.lastUse);
    let held = [...this.#entries.values()].reduce((sum, entry) => sum + entry.bytes, bytes);
    for (const entry of idle) {
      if (held <= this.budget) return;
      await this.#close([entry]);
      held -= entry.bytes;
    }
  }

  /** Takes outdated models off the shelf; one in use is closed when it is given back. */
  async #retire(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) {
      this.#entries.delete(entry.key);
      if (entry.users === 0) await entry.model.close();
    }
  }

  async #close(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) {
      this.#entries.delete(entry.key);
      await entry.model.close();
    }
  }

  /** Closes all that nobody uses. */
  async release(): Promise<void> {
    const turn = this.#queue.then(() => this.#close([...this.#entries.values()].filter(({ users }) => users === 0)));
    this.#queue = turn.catch(() => {});
    await turn;
  }
}

function sameFolder(a: string, b: string): boolean {
  const [folder, engine] = JSON.parse(a) as [string, unknown];
  const [other, otherEngine] = JSON.parse(b) as [string, unknown];
  return folder === other && JSON.stringify(engine) === JSON.stringify(otherEngine);
}

/** Size and change times of a model folder's files (and of those in `onnx/`); empty where there is no such folder. */
async function describeFolder(path: string): Promise<{ fingerprint: string; bytes: number }> {
  // A model may be given as one ONNX file of its folder.
  const folder = path.endsWith('.onnx') ? dirname(path) : path;
  const files: string[] = [];
  let bytes = 0;
  for (const part of [folder, join(folder, 'onnx')]) {
    for (const entry of await readdir(part, { withFileTypes: true }).catch(() => [])) {
      const info = entry.isDirectory() ? null : await stat(join(part, entry.name)).catch(() => null);
      if (!info) continue;
      files.push(`${entry.name}:${info.size}:${info.mtimeMs}`);
      bytes += info.size;
    }
  }
  return { fingerprint: files.sort().join('|'), bytes };
}

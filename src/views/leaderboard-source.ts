/** What the leaderboard's pages show, made once for all of them: the view, ranks drawn from items, links between models. */
import { join } from 'node:path';
import * as vscode from 'vscode';
import { asError } from '../shared/errors.ts';
import type { LeaderboardPageApi, LeaderboardView, RunningCell } from '../shared/protocol.ts';
import {
  declaredBases,
  ItemEvidence,
  leaderboard,
  linksFile,
  linksText,
  type RunningRun,
  rankedModels,
  readLinks,
  runningCells,
  type SaidLinks,
} from '../study/index.ts';
import { throttle } from './emitter.ts';
import type { JobQueue } from './jobs.ts';
import type { RunIndex } from './run-index.ts';
import { RunningCells } from './running-cells.ts';

/** Who fills empty cells with predicted scores. */
export interface LeaderboardPredictions {
  /** What is known now of the cells that the view lacks; never waits. */
  of(view: LeaderboardView): Pick<LeaderboardView, 'predicted' | 'predictions'>;
  /** What the user wishes to see; {@link onDidChange} tells when there is more. */
  show(wish: { shown: boolean; metric: string }): Promise<void>;
  readonly onDidChange: vscode.Event<void>;
}

export class LeaderboardSource implements vscode.Disposable {
  readonly #runs: RunIndex;
  readonly #log: vscode.LogOutputChannel;
  readonly #running = new RunningCells();
  readonly #evidence: ItemEvidence;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #progressed = new vscode.EventEmitter<void>();
  /** Runs have got on, and nothing else: told often. */
  readonly onDidProgress = this.#progressed.event;
  /** What model cards say, by folder; read once a window: cards do not change while one works. */
  readonly #declared = new Map<string, Promise<string[]>>();
  readonly #subscriptions: { dispose(): void }[];
  readonly predictions: LeaderboardPredictions;

  constructor(runs: RunIndex, queue: JobQueue, predictions: LeaderboardPredictions, log: vscode.LogOutputChannel) {
    this.#runs = runs;
    this.#log = log;
    this.predictions = predictions;
    this.#evidence = new ItemEvidence({
      run: (id) => runs.runs.find(({ run }) => run.id === id)?.run ?? null,
      items: async (id) => (await runs.storeOf(id)?.readItems(id)) ?? [],
    });
    const soon = throttle(500, () => this.#changed.fire());
    const progressSoon = throttle(1000, () => this.#progressed.fire());
    this.#subscriptions = [
      soon,
      progressSoon,
      this.#changed,
      this.#progressed,
      runs.onDidChange(() => {
        this.#evidence.keep(new Set(runs.runs.map(({ run }) => run.id)));
        this.#changed.fire();
      }),
      queue.onProgress(({ progress }) => {
        this.#running.follow(progress);
        if (progress.kind === 'items') progressSoon();
        else if (progress.kind === 'run' || progress.kind === 'summary') soon();
      }),
      queue.onEnd(({ request }) => {
        this.#running.end(request.group);
        soon();
      }),
      predictions.onDidChange(() => this.#changed.fire()),
    ];
  }

  async view(): Promise<LeaderboardView> {
    await this.#runs.load();
    const { runs } = this.#runs;
    const folders = [...new Set(runs.map(({ run }) => run.model.folder))];
    const declared = await Promise.all(folders.map(async (folder) => [folder, await this.#basesOf(folder)] as const));
    const view = leaderboard(runs, {
      running: this.#underWay,
      links: await this.#saidLinks(),
      declaredBases: new Map(declared),
    });
    return { ...view, ...this.predictions.of(view) };
  }

  /** What {@link view} has of runs under way, without the rest of it: asked for often. */
  async running(): Promise<RunningCell[]> {
    await this.#runs.load();
    return runningCells(this.#runs.runs, this.#underWay);
  }

  get #underWay(): RunningRun[] {
    const own = this.#running.list;
    const known = new Set(own.map(({ run }) => run.id));
    // Runs of other windows and of the command line are known by their files only.
    const others = this.#runs.runs
      .filter(({ run }) => run.status === 'running' && !known.has(run.id))
      .map(({ run }) => ({ run, done: null, total: null, S: null }));
    return [...own, ...others];
  }

  async ranks({
    tasks,
    mode,
    metric,
    models,
  }: LeaderboardPageApi['ranks']['argument']): Promise<LeaderboardPageApi['ranks']['result']> {
    const choice = { tasks, mode, metric, models: new Set(models) };
    const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const { models: ranked, drawn } = await rankedModels(await this.view(), choice, this.#evidence, pause);
    const likely = new Map(ranked.map((one) => [one.model, one.likely]));
    return { ranks: models.map((model) => likely.get(model) ?? { low: 0, high: 0 }), drawn };
  }

  #basesOf(folder: string): Promise<string[]> {
    const known = this.#declared.get(folder) ?? declaredBases(folder);
    this.#declared.set(folder, known);
    return known;
  }

  /** Of all stores; the first one that names a model counts. */
  async #saidLinks(): Promise<SaidLinks> {
    const said = await Promise.all(
      this.#runs.storeFolders.map((folder) =>
        readLinks(folder).catch((thrown): SaidLinks => {
          this.#log.warn(asError(thrown).message);
          return {};
        }),
      ),
    );
    return Object.assign({}, ...said.reverse()) as SaidLinks;
  }

  /** Lets the user say which base model a post-trained one was made from. @param model null: asks for it first */
  async editLink(model: string | null): Promise<void> {
    const { models, links = [] } = await this.view();
    if (models.length < 2) {
      void vscode.window.showInformationMessage('There are no two models to link: the leaderboard has fewer.');
      return;
    }
    const baseOf = new Map(links.map((link) => [link.postTrained, link]));
    const postTrained = models.some(({ name }) => name === model) ? model : await this.#pickPostTrained(models, baseOf);
    if (!postTrained) return;
    const current = baseOf.get(postTrained);
    const items: (vscode.QuickPickItem & { base?: string | null })[] = [
      {
        label: '$(circle-slash) No base model',
        description: 'it is not post-trained, or its base is not here',
        base: null,
      },
      { label: '$(wand) As card and name tell', description: 'forget what was said before' },
      { label: 'Base model', kind: vscode.QuickPickItemKind.Separator },
      ...models
        .filter(({ name }) => name !== postTrained)
        .map(({ name }) => ({
          label: `$(chip) ${name}`,
          description: name === current?.base ? `now, by ${sayers[current.by]}` : '',
          base: name,
        })),
    ];
    const picked = await vscode.window.showQuickPick(items, {
      title: `Base model of ${postTrained}`,
      placeHolder: 'Which model was it post-trained from?',
      matchOnDescription: true,
    });
    if (picked) await this.#say(postTrained, picked.base);
  }

  async #pickPostTrained(
    models: LeaderboardView['models'],
    baseOf: ReadonlyMap<string, { base: string }>,
  ): Promise<string | undefined> {
    const picked = await vscode.window.showQuickPick(
      models.map(({ name }) => ({
        label: `$(chip) ${name}`,
        description: baseOf.has(name) ? `from ${baseOf.get(name)?.base}` : '',
        name,
      })),
      { title: 'Post-trained model', placeHolder: 'Whose base model do you want to name?', matchOnDescription: true },
    );
    return picked?.name;
  }

  async #say(postTrained: string, base: string | null | undefined): Promise<void> {
    const run = this.#runs.runs.find(({ run: { model } }) => model.name === postTrained)?.run.id;
    const folder = (run && this.#runs.storeOf(run)?.folder) ?? this.#runs.storeFolders[0];
    if (folder === undefined) return;
    const { [postTrained]: _, ...others } = await readLinks(folder);
    const { writeWhole, makeFolder } = await import('../system/index.ts');
    await makeFolder(folder);
    await writeWhole(
      join(folder, linksFile),
      linksText(base === undefined ? others : { ...others, [postTrained]: base }),
    );
    this.#changed.fire();
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}

const sayers: Record<'user' | 'card' | 'name', string> = { user: 'you', card: 'its card', name: 'its name' };

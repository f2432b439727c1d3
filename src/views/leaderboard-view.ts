/** The leaderboard in the side panel: the page, fed with the newest finished run of each model × benchmark × mode. */
import * as vscode from 'vscode';
import type { LeaderboardPageApi, LeaderboardPageEvents, LeaderboardView } from '../shared/protocol.ts';
import { connect, type Handlers, serve } from '../shared/rpc.ts';
import { throttle } from './emitter.ts';
import type { Subject } from './live-results.ts';
import { pageChannel, pageHtml, pageOptions } from './page.ts';
import type { RunIndex } from './run-index.ts';

export const leaderboardViewType = 'softbench.leaderboard';

export interface LeaderboardHost {
  context: vscode.ExtensionContext;
  runs: RunIndex;
  open(subject: Subject): void;
}

/** What a button of the page runs. */
const pageCommands: Record<LeaderboardPageApi['runCommand']['argument']['command'], string> = {
  chooseModel: 'softbench.chooseModel',
  openExamples: 'softbench.openExample',
  compare: 'softbench.compare',
};

const stateKey = 'softbench.page.leaderboard';

export class LeaderboardViewProvider implements vscode.WebviewViewProvider {
  readonly #host: LeaderboardHost;

  constructor(host: LeaderboardHost) {
    this.#host = host;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const { context, runs } = this.#host;
    view.webview.options = pageOptions(context.extensionUri);
    const channel = pageChannel(view.webview);
    const page = connect<LeaderboardPageEvents>(channel);
    const push = throttle(500, () => {
      if (!view.visible) return;
      void this.#view()
        .then((shown) => page.call.viewChanged(shown))
        .catch(() => {});
    });
    const handlers: Handlers<LeaderboardPageApi> = {
      view: async () => {
        await runs.load();
        return this.#view();
      },
      open: async ({ model, task }) => {
        // By the run: names are as the leaderboard shows them, and an imported run stands beside a benchmark's measured ones.
        const cell = (await this.#view()).cells.find((each) => each.model === model && each.task === task)?.cell;
        const run = runs.runs.find((folder) => folder.run.id === cell?.run)?.run;
        if (run)
          this.#host.open({
            task: run.benchmark.task,
            benchmarkFile: run.benchmark.file,
            modelName: run.model.name,
            modelFolder: run.model.folder,
          });
      },
      runCommand: async ({ command }) => {
        const known = Object.hasOwn(pageCommands, command) ? pageCommands[command] : null;
        if (known) await vscode.commands.executeCommand(known);
      },
      saveState: async ({ state }) => context.workspaceState.update(stateKey, state),
      loadState: () => context.workspaceState.get(stateKey) ?? null,
    };
    const stopServing = serve<LeaderboardPageApi>(channel, handlers);
    const subscriptions = [
      runs.onDidChange(push),
      view.onDidChangeVisibility(() => {
        if (view.visible) push();
      }),
    ];
    view.onDidDispose(() => {
      stopServing();
      page.dispose();
      push.dispose();
      for (const subscription of subscriptions) subscription.dispose();
    });
    view.webview.html = pageHtml(view.webview, context.extensionUri, 'leaderboard', { title: 'Leaderboard' });
  }

  async #view(): Promise<LeaderboardView> {
    const { leaderboard } = await import('../study/index.ts');
    return leaderboard(this.#host.runs.runs);
  }
}

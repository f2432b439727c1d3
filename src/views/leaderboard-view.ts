/** The leaderboard in the side panel and as an editor tab: one page, fed from one source. */
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { LeaderboardPageApi, LeaderboardPageEvents } from '../shared/protocol.ts';
import { connect, type Handlers, serve } from '../shared/rpc.ts';
import { throttle } from './emitter.ts';
import { saveLeaderboard } from './leaderboard-export.ts';
import type { LeaderboardSource } from './leaderboard-source.ts';
import { type Subject, subjectOfRun } from './live-results.ts';
import { pageChannel, pageHtml, pageOptions } from './page.ts';
import type { RunIndex } from './run-index.ts';
import { SingleTab } from './single-tab.ts';

/** Of the view in the side panel. */
export const leaderboardViewType = 'softbench.leaderboard';
/** Of the editor tab. */
export const leaderboardTabType = 'softbench.leaderboardTab';

export interface LeaderboardHost {
  context: vscode.ExtensionContext;
  runs: RunIndex;
  source: LeaderboardSource;
  open(subject: Subject): void;
}

/** What a button of the page runs. */
const pageCommands: Record<LeaderboardPageApi['runCommand']['argument']['command'], string> = {
  chooseModel: 'softbench.chooseModel',
  openExamples: 'softbench.openExample',
  compare: 'softbench.compare',
};

/** A webview and whether it is seen: what a view in the side panel and a tab have in common. */
interface Place {
  webview: vscode.Webview;
  isVisible(): boolean;
  onDidChangeVisible(listener: () => void): vscode.Disposable;
  onDidDispose(listener: () => void): vscode.Disposable;
  /** Under which the page's state is kept: each place has its own layout. */
  stateKey: string;
}

export class LeaderboardPages implements vscode.WebviewViewProvider, vscode.Disposable {
  readonly #host: LeaderboardHost;
  readonly tab: SingleTab;

  constructor(host: LeaderboardHost) {
    this.#host = host;
    const extension = host.context.extensionUri;
    this.tab = new SingleTab({ type: leaderboardTabType, title: 'Leaderboard', extension }, (panel) =>
      this.#serve(
        {
          webview: panel.webview,
          isVisible: () => panel.visible,
          onDidChangeVisible: (listener) => panel.onDidChangeViewState(listener),
          onDidDispose: (listener) => panel.onDidDispose(listener),
          stateKey: 'softbench.page.leaderboardTab',
        },
        {},
      ),
    );
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    view.webview.options = pageOptions(this.#host.context.extensionUri);
    this.#serve(
      {
        webview: view.webview,
        isVisible: () => view.visible,
        onDidChangeVisible: (listener) => view.onDidChangeVisibility(listener),
        onDidDispose: (listener) => view.onDidDispose(listener),
        stateKey: 'softbench.page.leaderboard',
      },
      undefined,
    );
  }

  #serve({ webview, isVisible, onDidChangeVisible, onDidDispose, stateKey }: Place, restore: unknown): void {
    const { context, runs, source } = this.#host;
    const channel = pageChannel(webview);
    const page = connect<LeaderboardPageEvents>(channel);
    // A hidden page is told nothing and costs nothing.
    const push = throttle(500, () => {
      if (!isVisible()) return;
      void source
        .view()
        .then((shown) => page.call.viewChanged(shown))
        .catch(() => {});
    });
    const pushRunning = (): void => {
      if (!isVisible()) return;
      void source
        .running()
        .then((running) => page.call.runningChanged(running))
        .catch(() => {});
    };
    const handlers: Handlers<LeaderboardPageApi> = {
      view: () => source.view(),
      open: async ({ model, task, mode }) => {
        // By the run: names are as the leaderboard shows them, and an imported run stands beside a benchmark's measured ones.
        const { cells, running = [] } = await source.view();
        const isAsked = (at: { model: string; task: string; mode: string }): boolean =>
          at.model === model && at.task === task && (mode === undefined || at.mode === mode);
        const id = cells.find(isAsked)?.cell.run ?? running.find(isAsked)?.run;
        const run = runs.runs.find((folder) => folder.run.id === id)?.run;
        if (run) this.#host.open(subjectOfRun(run));
      },
      ranks: (asked) => source.ranks(asked),
      showPredictions: (wish) => source.predictions.show(wish),
      editLink: ({ model }) => source.editLink(model),
      openTab: async () => this.tab.show(),
      save: (asked) =>
        saveLeaderboard(asked, () => source.view(), join(context.extensionUri.fsPath, 'dist', 'webview')),
      runCommand: async ({ command }) => {
        const known = Object.hasOwn(pageCommands, command) ? pageCommands[command] : null;
        if (known) await vscode.commands.executeCommand(known);
      },
      saveState: async ({ state }) => context.workspaceState.update(stateKey, state),
      loadState: () => context.workspaceState.get(stateKey) ?? null,
    };
    const stopServing = serve<LeaderboardPageApi>(channel, handlers);
    const subscriptions = [
      source.onDidChange(push),
      source.onDidProgress(pushRunning),
      onDidChangeVisible(() => {
        if (isVisible()) push();
      }),
    ];
    onDidDispose(() => {
      stopServing();
      page.dispose();
      push.dispose();
      for (const subscription of subscriptions) subscription.dispose();
    });
    webview.html = pageHtml(webview, context.extensionUri, 'leaderboard', { title: 'Leaderboard', restore });
  }

  dispose(): void {
    this.tab.dispose();
  }
}

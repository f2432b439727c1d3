/** The texts of an item token by token, shaded by how likely the model held each. */
import {
  type ItemTokens,
  type ScoredText,
  stepOf,
  type TokenOfText,
  tokenSteps,
} from '../../src/shared/item-tokens.ts';
import { type Child, h } from '../dom.ts';
import { count } from '../format.ts';
import { visible } from '../text.ts';
import { button } from '../ui.ts';

/** Where the tokens of the item that is shown stand. */
export type TokensState =
  | { state: 'not asked' }
  | { state: 'computing'; message: string }
  | { state: 'failed'; message: string }
  | { state: 'there'; tokens: ItemTokens };

export interface TokensActions {
  ask(): void;
  /** Stops what is computed, and does not compute those of the next items. */
  stop(): void;
}

/** Rows of a table that are made at first. */
const firstRows = 200;

export function tokensSection(shown: TokensState, actions: TokensActions): Child[] {
  switch (shown.state) {
    case 'not asked':
      return [
        h(
          'p',
          { class: 'muted small' },
          'Opens the model as the run had it, and puts the recorded text to it again: how likely was each token?',
        ),
        button({ label: 'Show log-probabilities', key: 'ask-tokens', onClick: () => actions.ask() }),
      ];
    case 'computing':
      return [
        h('p', { class: 'muted', role: 'status' }, `${shown.message}…`),
        button({ label: 'Cancel', key: 'stop-tokens', onClick: () => actions.stop() }),
      ];
    case 'failed':
      return [
        h('p', { class: 'error-text', role: 'status' }, shown.message),
        button({ label: 'Try again', key: 'ask-tokens', onClick: () => actions.ask() }),
      ];
    case 'there':
      return [
        legend(),
        ...shown.tokens.texts.flatMap((text, number) => textOfTokens(text, number, shown.tokens.texts)),
        ...shown.tokens.notes.map((note) => h('p', { class: 'muted small' }, note)),
        button({ label: 'Hide log-probabilities', key: 'stop-tokens', onClick: () => actions.stop() }),
      ];
  }
}

const legend = (): HTMLElement =>
  h(
    'ul',
    { class: 'legend token-legend', 'aria-label': 'Shading by probability' },
    ...tokenSteps.map(({ name, words }) =>
      h('li', {}, h('span', { class: `token token-${name}`, 'aria-hidden': 'true' }, 'abc'), ` ${words}`),
    ),
  );

const titles: Record<ScoredText['of'], string> = {
  output: 'Output',
  candidate: 'Candidate',
  target: 'Target',
  text: 'Text',
};

function titleOf({ of, number }: ScoredText, all: readonly ScoredText[]): string {
  const several = all.filter((other) => other.of === of).length > 1;
  return several ? `${titles[of]} ${number + 1}` : titles[of];
}

function textOfTokens(text: ScoredText, number: number, all: readonly ScoredText[]): Child[] {
  const { tokens, stopTokens } = text;
  const sum = tokens.reduce((total, { logProbability }) => total + logProbability, 0);
  const from = tokens.length - stopTokens;
  return [
    h('h5', {}, titleOf(text, all)),
    h(
      'pre',
      { class: 'text tokens', dir: 'auto' },
      ...tokens.map((token, at) => tokenElement(token, at >= from)),
      tokens.length === 0 && h('span', { class: 'muted' }, '(no tokens)'),
    ),
    tokens.length > 0 &&
      h(
        'p',
        { class: 'muted small' },
        `${count(tokens.length)} tokens${stopTokens ? `, ${count(stopTokens)} of them the stop (dotted)` : ''}; log-likelihood ${sum.toFixed(3)}, ${(sum / tokens.length).toFixed(3)} a token (perplexity ${Math.exp(-sum / tokens.length).toPrecision(3)})`,
      ),
    tokens.length > 0 && tokenTable(tokens, `tokens-${number}`),
  ];
}

/** Spaces and line breaks of their own are seen as signs; a part of a character has none of its own. */
export function tokenText({ text }: Pick<TokenOfText, 'text'>): string {
  if (text === '') return '▯';
  return visible(text).replace(/\n/g, '⏎\n').replace(/\t/g, '⇥\t');
}

const percentText = (logProbability: number): string => {
  const percent = 100 * Math.exp(logProbability);
  return percent >= 0.01 ? `${percent.toPrecision(3)} %` : `${percent.toExponential(1)} %`;
};

const quoted = (text: string): string =>
  text === '' ? 'a part of a character' : `“${visible(text).replace(/\n/g, '⏎')}”`;

export function tokenWords({ id, text, logProbability, rank, best }: TokenOfText): string {
  const others = best.filter((other) => other.id !== id);
  return [
    `${quoted(text)} (token ${id})`,
    `probability ${percentText(logProbability)}, log ${logProbability.toFixed(3)}`,
    `rank ${count(rank)}`,
    ...(others.length > 0
      ? [
          `${rank > 1 ? 'likelier' : 'next'}: ${others.map((other) => `${quoted(other.text)} ${percentText(other.logProbability)}`).join(', ')}`,
        ]
      : []),
  ].join('\n');
}

function tokenElement(token: TokenOfText, isStop: boolean): HTMLElement {
  const classes = [
    'token',
    `token-${stepOf(token.logProbability).name}`,
    isStop && 'token-stop',
    token.rank > 1 && 'token-passed',
  ];
  return h('span', { class: classes.filter(Boolean).join(' '), title: tokenWords(token) }, tokenText(token));
}

/** The same as a table; made when it is opened. */
function tokenTable(tokens: readonly TokenOfText[], key: string): HTMLElement {
  const details = h('details', { 'data-key': key }, h('summary', {}, 'Tokens as a table'));
  const body = h('tbody', {});
  const fill = (rows: number): void => {
    body.replaceChildren(...tokens.slice(0, rows).map((token, at) => tokenRow(token, at)));
  };
  details.addEventListener('toggle', () => {
    if (!details.open || details.childElementCount > 1) return;
    fill(firstRows);
    const head = ['#', 'Token', 'Probability', 'log p', 'Rank', 'Likeliest'].map((name, at) =>
      h('th', { scope: 'col', class: at === 1 || at === 5 ? '' : 'number' }, name),
    );
    details.append(
      h(
        'div',
        { class: 'scroll-x', tabindex: 0, role: 'region', 'aria-label': 'Tokens, table' },
        h('table', { class: 'token-table' }, h('thead', {}, h('tr', {}, ...head)), body),
      ),
    );
    if (tokens.length > firstRows) {
      const more = button({
        label: `Show all ${count(tokens.length)} rows`,
        onClick: () => {
          fill(tokens.length);
          more.remove();
        },
      });
      details.append(more);
    }
  });
  return details;
}

function tokenRow(token: TokenOfText, at: number): HTMLElement {
  const [likeliest] = token.best;
  return h(
    'tr',
    {},
    h('td', { class: 'number' }, String(at + 1)),
    h('td', {}, h('bdi', { class: 'mono', dir: 'auto' }, quoted(token.text))),
    h('td', { class: 'number' }, percentText(token.logProbability)),
    h('td', { class: 'number' }, token.logProbability.toFixed(3)),
    h('td', { class: 'number' }, count(token.rank)),
    h(
      'td',
      {},
      token.rank === 1 || !likeliest
        ? h('span', { class: 'muted' }, 'itself')
        : h('bdi', { class: 'mono' }, quoted(likeliest.text)),
      token.rank > 1 && likeliest ? ` ${percentText(likeliest.logProbability)}` : null,
    ),
  );
}

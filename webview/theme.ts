/** Colours of the editor's theme for what is drawn on a canvas, and news of a theme change. */
import type { PromptMode } from '../src/shared/modes.ts';

export interface Palette {
  foreground: string;
  muted: string;
  grid: string;
  background: string;
  modes: Record<PromptMode, string>;
  F: string;
  S: string;
  K: string;
  loss: string;
  /** Colours to tell groups apart, beside the shapes of their points. */
  series: string[];
  font: string;
}

const seriesColours = ['blue', 'orange', 'green', 'purple', 'red', 'yellow'] as const;

let probe: HTMLElement | null = null;

/** CSS colour expressions (`var(--x, CanvasText)`) as the canvas needs them: resolved, all at once. */
function resolved(expressions: readonly string[]): Map<string, string> {
  if (!probe) {
    probe = document.createElement('span');
    probe.hidden = true;
    document.body.append(probe);
  }
  const spans = expressions.map((expression) => {
    const span = document.createElement('span');
    span.style.color = expression;
    return span;
  });
  probe.replaceChildren(...spans);
  const found = new Map(spans.map((span, at) => [expressions[at] ?? '', getComputedStyle(span).color]));
  probe.replaceChildren();
  return found;
}

const named = (name: string): string => `var(--softbench-${name})`;
const names = [
  ...['foreground', 'muted', 'grid', 'background', 'series-F', 'series-S', 'series-K'],
  ...['mode-zero-shot', 'mode-few-shot', 'mode-soft-prompt', 'mode-both'],
];
const seriesNames = seriesColours.map((name) => `var(--vscode-charts-${name})`);

export function palette(): Palette {
  const forced = matchMedia('(forced-colors: active)').matches;
  const colours = resolved(forced ? ['CanvasText', 'Canvas'] : [...names.map(named), ...seriesNames]);
  const resolve = (expression: string): string => colours.get(forced ? 'CanvasText' : expression) ?? '';
  const colour = (name: string): string => resolve(named(name));
  return {
    foreground: colour('foreground'),
    muted: colour('muted'),
    grid: forced ? 'transparent' : colour('grid'),
    background: forced ? (colours.get('Canvas') ?? '') : colour('background'),
    modes: {
      'zero-shot': colour('mode-zero-shot'),
      'few-shot': colour('mode-few-shot'),
      'soft-prompt': colour('mode-soft-prompt'),
      'few-shot+soft-prompt': colour('mode-both'),
    },
    F: colour('series-F'),
    S: colour('series-S'),
    K: colour('series-K'),
    loss: colour('muted'),
    series: seriesNames.map(resolve),
    font: getComputedStyle(document.body).fontFamily,
  };
}

/** Calls back after the editor's theme or the system's preference has changed. */
export function onThemeChange(changed: () => void): void {
  // Variables stand on <html style>, the kind of theme on <body class>: both change, so wait for the end of the task.
  let asked = false;
  const soon = (): void => {
    if (asked) return;
    asked = true;
    setTimeout(() => {
      asked = false;
      changed();
    });
  };
  const observer = new MutationObserver(soon);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style', 'class'] });
  observer.observe(document.body, { attributes: true, attributeFilter: ['class'] });
  for (const query of ['(forced-colors: active)', '(prefers-color-scheme: dark)', '(prefers-contrast: more)'])
    matchMedia(query).addEventListener('change', soon);
}

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

/** A CSS colour expression (`var(--x, CanvasText)`) as the canvas needs it: resolved. */
function resolve(expression: string): string {
  if (!probe) {
    probe = document.createElement('span');
    probe.hidden = true;
    document.body.append(probe);
  }
  probe.style.color = '';
  probe.style.color = expression;
  return getComputedStyle(probe).color;
}

export function palette(): Palette {
  const forced = matchMedia('(forced-colors: active)').matches;
  const colour = (name: string): string => resolve(forced ? 'CanvasText' : `var(--softbench-${name})`);
  return {
    foreground: colour('foreground'),
    muted: colour('muted'),
    grid: forced ? 'transparent' : colour('grid'),
    background: resolve(forced ? 'Canvas' : 'var(--softbench-background)'),
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
    series: seriesColours.map((name) => resolve(forced ? 'CanvasText' : `var(--vscode-charts-${name})`)),
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

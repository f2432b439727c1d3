/** What the charts of this page share: axes in the theme's type, point shapes, a band, a diagonal. */
import { type ChartOptions, type Plugin, type PointStyle, ScatterController } from 'chart.js';
import { Chart, tooltipStyle } from '../charts.ts';
import type { Palette } from '../theme.ts';

Chart.register(ScatterController);

export { Chart, tooltipStyle };

/** An axis of numbers with its name. */
export const axis = (colours: Palette, title: string, { grid = true } = {}) => ({
  type: 'linear' as const,
  border: { display: !grid, color: colours.muted },
  grid: grid ? { color: colours.grid, drawTicks: false } : { display: false },
  title: { display: title !== '', text: title, color: colours.muted, font: { family: colours.font, size: 11 } },
  ticks: {
    color: colours.muted,
    padding: 6,
    includeBounds: false,
    font: { family: colours.font, size: 11 },
    // Sums of steps are rounded: 0.6000000000000001.
    callback: (value: string | number) => String(Number(Number(value).toPrecision(6))).replace('-', '−'),
  },
});

/** Options that all charts of the page have. */
export const plain = {
  animation: false,
  responsive: true,
  maintainAspectRatio: false,
} as const satisfies ChartOptions;

/** Shapes first, then the same ones hollow: sixteen kinds of point that differ without colour. */
const shapes: readonly PointStyle[] = [
  'circle',
  'triangle',
  'rect',
  'rectRot',
  'star',
  'cross',
  'crossRot',
  'rectRounded',
];

/** Names of shapes for the table behind a chart. */
const shapeWords = ['disc', 'triangle', 'square', 'diamond', 'star', 'plus', 'cross', 'rounded square'];

export interface Mark {
  style: PointStyle;
  colour: string;
  hollow: boolean;
  words: string;
}

/** The mark of group number `index`: shape, colour and filling change one after the other. */
export function markOf(index: number, colours: Palette): Mark {
  const palette = colours.series;
  const hollow = Math.floor(index / shapes.length) % 2 === 1;
  return {
    style: shapes[index % shapes.length] ?? 'circle',
    colour: palette[index % palette.length] ?? colours.foreground,
    hollow,
    words: `${hollow ? 'hollow ' : ''}${shapeWords[index % shapes.length]}`,
  };
}

/** A swatch of a point for a legend, drawn as the chart draws it. */
export function swatch(mark: Mark): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  const scale = Math.max(1, window.devicePixelRatio);
  canvas.width = 14 * scale;
  canvas.height = 14 * scale;
  canvas.className = 'point-swatch';
  canvas.setAttribute('aria-hidden', 'true');
  const context = canvas.getContext('2d');
  if (context) {
    context.scale(scale, scale);
    context.strokeStyle = mark.colour;
    context.fillStyle = mark.hollow ? 'transparent' : mark.colour;
    context.lineWidth = 1.5;
    drawMark(context, mark.style, 7, 7, 4.5);
  }
  return canvas;
}

function drawMark(context: CanvasRenderingContext2D, style: PointStyle, x: number, y: number, r: number): void {
  const polygon = (...corners: [number, number][]): void => {
    context.beginPath();
    for (const [at, [dx, dy]] of corners.entries())
      at === 0 ? context.moveTo(x + dx, y + dy) : context.lineTo(x + dx, y + dy);
    context.closePath();
  };
  const strokes = (...lines: [number, number][]): void => {
    context.beginPath();
    for (const [dx, dy] of lines) {
      context.moveTo(x - dx, y - dy);
      context.lineTo(x + dx, y + dy);
    }
  };
  const half = r * Math.SQRT1_2;
  if (style === 'triangle') polygon([0, -r], [r, r * 0.8], [-r, r * 0.8]);
  else if (style === 'rect') polygon([-half, -half], [half, -half], [half, half], [-half, half]);
  else if (style === 'rectRot') polygon([0, -r], [r, 0], [0, r], [-r, 0]);
  else if (style === 'rectRounded') {
    context.beginPath();
    context.roundRect(x - half, y - half, 2 * half, 2 * half, r / 2);
  } else if (style === 'star') strokes([r, 0], [0, r], [half, half], [half, -half]);
  else if (style === 'cross') strokes([r, 0], [0, r]);
  else if (style === 'crossRot') strokes([half, half], [half, -half]);
  else {
    context.beginPath();
    context.arc(x, y, r * 0.85, 0, 2 * Math.PI);
  }
  context.fill();
  context.stroke();
}

/** The line where predicted equals actual. */
export const diagonal = (colours: () => Palette): Plugin<'scatter'> => ({
  id: 'softbench-diagonal',
  afterDatasetsDraw(chart) {
    const { x, y } = chart.scales;
    if (!x || !y) return;
    const { ctx } = chart;
    ctx.save();
    ctx.strokeStyle = colours().foreground;
    ctx.lineWidth = 1;
    ctx.setLineDash([5, 4]);
    ctx.beginPath();
    const low = Math.max(x.min, y.min);
    const high = Math.min(x.max, y.max);
    ctx.moveTo(x.getPixelForValue(low), y.getPixelForValue(low));
    ctx.lineTo(x.getPixelForValue(high), y.getPixelForValue(high));
    ctx.stroke();
    ctx.restore();
  },
});

/** A filled band between two curves, with its middle as a dashed line. */
export const band = (
  at: () => readonly { x: number; low: number; middle: number; high: number }[],
  colours: () => Palette,
): Plugin<'scatter'> => ({
  id: 'softbench-band',
  beforeDatasetsDraw(chart) {
    const { x, y } = chart.scales;
    const points = at();
    if (!x || !y || points.length === 0) return;
    const { ctx, chartArea: area } = chart;
    const px = (value: number): number => x.getPixelForValue(value);
    const py = (value: number): number => y.getPixelForValue(value);
    ctx.save();
    ctx.beginPath();
    ctx.rect(area.left, area.top, area.width, area.height);
    ctx.clip();
    const [only] = points;
    ctx.beginPath();
    if (points.length === 1 && only) ctx.rect(px(only.x) - 6, py(only.high), 12, py(only.low) - py(only.high));
    else {
      for (const [index, point] of points.entries())
        index === 0 ? ctx.moveTo(px(point.x), py(point.high)) : ctx.lineTo(px(point.x), py(point.high));
      for (const point of [...points].reverse()) ctx.lineTo(px(point.x), py(point.low));
      ctx.closePath();
    }
    ctx.fillStyle = colours().muted;
    ctx.globalAlpha = 0.22;
    ctx.fill();
    ctx.globalAlpha = 1;
    // An outline: the fill alone is too weak in forced colours.
    ctx.strokeStyle = colours().muted;
    ctx.lineWidth = 0.75;
    ctx.stroke();
    ctx.setLineDash([4, 3]);
    ctx.lineWidth = 1;
    ctx.beginPath();
    for (const [index, point] of points.entries())
      index === 0 ? ctx.moveTo(px(point.x), py(point.middle)) : ctx.lineTo(px(point.x), py(point.middle));
    ctx.stroke();
    ctx.restore();
  },
});

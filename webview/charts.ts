/** chart.js with only what the pages draw, and the small plugins that it lacks: whiskers and reference lines. */
import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  LinearScale,
  LineController,
  LineElement,
  type Plugin,
  PointElement,
  Tooltip,
} from 'chart.js';
import type { PromptMode } from '../src/shared/modes.ts';
import type { Palette } from './theme.ts';

Chart.register(
  BarController,
  BarElement,
  CategoryScale,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
);

export { Chart };

export interface Interval {
  low: number;
  high: number;
}

/** 95 % intervals over bars, in the units of the y axis; `intervals()[dataset][index]`. */
export const whiskers = (intervals: () => (Interval | null)[][], colours: () => Palette): Plugin<'bar'> => ({
  id: 'softbench-whiskers',
  afterDatasetsDraw(chart) {
    const scale = chart.scales.y;
    if (!scale) return;
    const { ctx } = chart;
    ctx.save();
    for (const [dataset, row] of intervals().entries()) {
      for (const [index, element] of chart.getDatasetMeta(dataset).data.entries()) {
        const interval = row[index];
        if (!interval) continue;
        const x = Math.round(element.x) + 0.5;
        const low = scale.getPixelForValue(interval.low);
        const high = scale.getPixelForValue(interval.high);
        const cap = 4;
        const path = new Path2D();
        path.moveTo(x, low);
        path.lineTo(x, high);
        path.moveTo(x - cap, low);
        path.lineTo(x + cap, low);
        path.moveTo(x - cap, high);
        path.lineTo(x + cap, high);
        // a halo, so that the whisker is seen on its own bar too
        ctx.strokeStyle = colours().background;
        ctx.lineWidth = 3.5;
        ctx.stroke(path);
        ctx.strokeStyle = colours().foreground;
        ctx.lineWidth = 1.25;
        ctx.stroke(path);
      }
    }
    ctx.restore();
  },
});

/** A dashed line across the plot: at a y value, or at an x value with a word at its top. */
export const referenceLine = (
  at: () => { axis: 'x' | 'y'; value: number; label?: string } | null,
  colours: () => Palette,
): Plugin<'bar' | 'line'> => ({
  id: 'softbench-reference-line',
  afterDatasetsDraw(chart) {
    const line = at();
    const scale = line && chart.scales[line.axis];
    if (!line || !scale) return;
    const { ctx, chartArea: area } = chart;
    const position = Math.round(scale.getPixelForValue(line.value)) + 0.5;
    ctx.save();
    ctx.strokeStyle = colours().foreground;
    ctx.lineWidth = 1;
    ctx.setLineDash([5, 4]);
    ctx.beginPath();
    if (line.axis === 'y') {
      ctx.moveTo(area.left, position);
      ctx.lineTo(area.right, position);
    } else {
      ctx.moveTo(position, area.top);
      ctx.lineTo(position, area.bottom);
    }
    ctx.stroke();
    if (line.label) {
      ctx.font = `11px ${colours().font}`;
      ctx.fillStyle = colours().foreground;
      const left = position > (area.left + area.right) / 2;
      ctx.textAlign = left ? 'right' : 'left';
      ctx.textBaseline = 'bottom';
      ctx.fillText(line.label, position + (left ? 2 : -2), area.top - 3);
    }
    ctx.restore();
  },
});

/** Fills that tell columns apart without colour: hollow, hatched, solid, cross-hatched. The legend's swatches match. */
export function lookFill(look: { colour: PromptMode; fill: PromptMode }, colours: Palette): string | CanvasPattern {
  const colour = colours.modes[look.colour];
  if (look.fill === 'soft-prompt') return colour;
  if (look.fill === 'zero-shot') return 'transparent';
  const tile = document.createElement('canvas');
  const size = 8;
  tile.width = size;
  tile.height = size;
  const context = tile.getContext('2d');
  if (!context) return colour;
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.beginPath();
  for (const shift of [-size, 0, size]) {
    context.moveTo(shift - 1, size + 1);
    context.lineTo(shift + size + 1, -1);
    if (look.fill === 'few-shot+soft-prompt') {
      context.moveTo(shift - 1, -1);
      context.lineTo(shift + size + 1, size + 1);
    }
  }
  context.stroke();
  return context.createPattern(tile, 'repeat') ?? colour;
}

/** Tooltip colours and type of the theme. */
export const tooltipStyle = (colours: Palette) => ({
  backgroundColor: colours.background,
  titleColor: colours.foreground,
  bodyColor: colours.foreground,
  borderColor: colours.muted,
  borderWidth: 1,
  padding: 8,
  cornerRadius: 3,
  titleFont: { family: colours.font, size: 12 },
  bodyFont: { family: colours.font, size: 12 },
  boxPadding: 4,
});

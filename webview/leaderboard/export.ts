/** What the page shows as a table for programs, for people, and as a picture: with its filter, order and hidden parts. */
import type { Score } from '../../src/metrics/index.ts';
import { type Cell, csvRow, markdownRow } from '../../src/shared/table-text.ts';
import { palette } from '../theme.ts';
import type { PageState } from './state.ts';
import type { CellContent, Column, Table } from './table.ts';
import { columnTitle, intervalText, type Likely, likelyText, metricLabel, rankText, valueText } from './words.ts';

export interface Exported {
  table: Table;
  state: PageState;
  likely(mode: PageState['mode'], model: string): Likely | undefined;
}

const modelsOf = ({ rows }: Table): string[] => rows.flatMap((row) => (row.kind === 'model' ? [row.model] : []));

const columnName = (column: Column, several: boolean): string =>
  column.kind === 'model' ? 'model' : `${columnTitle(column)}${several ? `, ${column.mode}` : ''}`;

const plain = (text: string): string => text.replaceAll('\u202f', ' ');

/** Full precision: value and interval of each column, and where it comes from (RFC 4180). */
export function tableCsv({ table, state, likely }: Exported): string {
  const several = table.ranked.length > 1;
  const head = table.columns.flatMap((column): string[] => {
    const name = columnName(column, several);
    if (column.kind === 'model') return [name];
    if (column.kind === 'rank') return [name, `${name} low`, `${name} high`];
    return [`${name} ${state.metric}`, `${name} low`, `${name} high`, `${name} origin`];
  });
  const rows = modelsOf(table).map((model) =>
    table.columns.flatMap((column): Cell[] => {
      if (column.kind === 'model') return [model];
      if (column.kind === 'rank') {
        const entry = table.ranked.find(({ mode }) => mode === column.mode)?.models.get(model);
        const could = entry && entry.rank !== null ? likely(column.mode, model) : undefined;
        return [entry?.rank ?? '', could?.low ?? '', could?.high ?? ''];
      }
      const { kind, score } = table.cell(model, column);
      return score ? [score.value, score.low, score.high, kind] : ['', '', '', kind === 'missing' ? '' : kind];
    }),
  );
  return `${[head, ...rows].map(csvRow).join('\r\n')}\r\n`;
}

/** In words, as the page shows them. */
export function tableMarkdown(shown: Exported): string {
  const { table, state } = shown;
  const several = table.ranked.length > 1;
  const head = table.columns.map((column) => columnName(column, several));
  const rule = table.columns.map(({ kind }) => (kind === 'model' ? '---' : '--:'));
  const rows = modelsOf(table).map((model) => table.columns.map((column) => cellText(model, column, shown)));
  const tables = [head, rule, ...rows].map(markdownRow).join('\n');
  return `${plain(metricLabel(state.metric))}${several ? '' : `, ${state.mode}`}\n\n${tables}\n`;
}

function cellText(model: string, column: Column, { table, likely }: Exported): string {
  if (column.kind === 'model') return model;
  if (column.kind === 'rank') {
    const entry = table.ranked.find(({ mode }) => mode === column.mode)?.models.get(model);
    if (!entry || entry.rank === null) return '–';
    const could = likelyText(likely(column.mode, model));
    return `${rankText(entry)}${could ? ` (${could})` : ''}`;
  }
  const content = table.cell(model, column);
  const { score } = content;
  const mark = markOf(content);
  if (!score) return mark || '–';
  return plain(`${figureText(score)}${mark ? `, ${mark}` : ''}`);
}

const figureText = (score: Score): string =>
  intervalText(score) ? `${valueText(score)} (${intervalText(score)})` : valueText(score);

function markOf({ kind, of, running }: CellContent): string {
  if (kind === 'running')
    return running && running.done !== null ? `running, ${running.done} of ${running.total}` : 'running';
  if (kind === 'imported' || kind === 'predicted') return kind;
  return of && of.missing > 0 && of.tasks > of.missing ? `${of.tasks - of.missing} of ${of.tasks}` : '';
}

// ---------------------------------------------------------------- picture

/** Browsers draw no larger canvas than this on a side, and no larger area on some machines. */
const [longestSide, largestArea] = [16_000, 120_000_000];
const pictureWidths: Record<Column['kind'], number> = { rank: 76, model: 250, mean: 96, task: 96, group: 96 };

/** The table in the colours of the theme. @returns a PNG; what did not fit is said in its last line */
export async function tablePicture(shown: Exported): Promise<Blob> {
  const { table, state } = shown;
  const colours = palette();
  const [rowHeight, headHeight, titleHeight, margin] = [30, 40, 34, 14];
  const columnsThatFit = fitting(table.columns, ({ kind }) => pictureWidths[kind], longestSide - 2 * margin);
  const columns = table.columns.slice(0, columnsThatFit);
  const width = 2 * margin + columns.reduce((sum, { kind }) => sum + pictureWidths[kind], 0);
  const models = modelsOf(table);
  const most = Math.floor((longestSide - headHeight - titleHeight - 2 * margin) / rowHeight) - 1;
  const rows = models.slice(0, most);
  const left = [
    models.length > rows.length ? `${models.length - rows.length} more models` : '',
    table.columns.length > columns.length ? `${table.columns.length - columns.length} more columns` : '',
  ].filter(Boolean);
  const height = 2 * margin + titleHeight + headHeight + rowHeight * (rows.length + (left.length > 0 ? 1 : 0));
  const scale = Math.min(2, longestSide / Math.max(width, height), Math.sqrt(largestArea / (width * height)));
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(width * scale);
  canvas.height = Math.ceil(height * scale);
  const context = canvas.getContext('2d');
  if (!context) throw new Error('This browser draws no pictures.');
  context.scale(scale, scale);
  context.fillStyle = colours.background;
  context.fillRect(0, 0, width, height);
  context.textBaseline = 'middle';
  const write = (
    text: string,
    x: number,
    y: number,
    options: { room: number; align?: CanvasTextAlign; font?: string; colour?: string },
  ): void => {
    context.font = options.font ?? `12px ${colours.font}`;
    context.fillStyle = options.colour ?? colours.foreground;
    context.textAlign = options.align ?? 'left';
    context.fillText(shortened(context, text, options.room), x, y);
  };
  const title = `${metricLabel(state.metric)}${table.ranked.length > 1 ? '' : ` · ${state.mode}`}`;
  write(title, margin, margin + 10, { room: width - 2 * margin, font: `600 14px ${colours.font}` });
  const line = (y: number, colour: string): void => {
    context.strokeStyle = colour;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(margin, y + 0.5);
    context.lineTo(width - margin, y + 0.5);
    context.stroke();
  };
  const several = table.ranked.length > 1;
  const each = (draw: (column: Column, x: number, end: number) => void): void => {
    let x = margin;
    for (const column of columns) {
      const end = x + pictureWidths[column.kind];
      draw(column, x, end);
      x = end;
    }
  };
  const headTop = margin + titleHeight;
  each((column, x, end) => {
    const isModel = column.kind === 'model';
    const at = { room: end - x - 10, align: isModel ? 'left' : 'right', font: `600 12px ${colours.font}` } as const;
    // Two lines where modes stand side by side.
    write(columnTitle(column), isModel ? x : end - 6, headTop + (several && !isModel ? 11 : 20), at);
    if (several && column.kind !== 'model')
      write(column.mode, end - 6, headTop + 28, { ...at, font: `10px ${colours.font}`, colour: colours.muted });
  });
  line(headTop + headHeight - 2, colours.muted);
  for (const [index, model] of rows.entries()) {
    const top = headTop + headHeight + index * rowHeight;
    each((column, x, end) => drawCell(column, x, end, top, model));
    line(top + rowHeight - 2, colours.grid);
  }
  if (left.length > 0)
    write(`and ${left.join(', ')}`, margin, height - margin - 8, { room: width, colour: colours.muted });

  function drawCell(column: Column, x: number, end: number, top: number, model: string): void {
    const [upper, lower] = [top + 10, top + 21];
    if (column.kind === 'model') {
      write(model, x, top + 14, { room: end - x - 10 });
      return;
    }
    const right = { room: end - x - 10, align: 'right' as const };
    const small = { ...right, font: `10px ${colours.font}`, colour: colours.muted };
    if (column.kind === 'rank') {
      const entry = table.ranked.find(({ mode }) => mode === column.mode)?.models.get(model);
      const could = entry && entry.rank !== null ? likelyText(shown.likely(column.mode, model)) : '';
      write(entry && entry.rank !== null ? rankText(entry) : '–', end - 22, could ? upper : top + 14, right);
      if (could) write(could, end - 22, lower, small);
      return;
    }
    const content = table.cell(model, column);
    const { kind, score } = content;
    const mark = kind === 'predicted' ? '≈ ' : kind === 'imported' ? '↓ ' : kind === 'running' ? '… ' : '';
    const italic = kind === 'predicted' ? 'italic ' : '';
    write(score ? mark + valueText(score) : '–', end - 6, score ? upper : top + 14, {
      ...right,
      font: `${italic}12px ${colours.font}`,
      ...(!score && { colour: colours.muted }),
    });
    if (score) write(markOf(content) || intervalText(score), end - 6, lower, small);
  }
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (!blob) throw new Error('The picture could not be drawn: it is too large. Hide some models or benchmarks.');
  return blob;
}

/** How many of the first things fit. */
function fitting<T>(things: readonly T[], sizeOf: (thing: T) => number, room: number): number {
  let sum = 0;
  const at = things.findIndex((thing) => {
    sum += sizeOf(thing);
    return sum > room;
  });
  return at < 0 ? things.length : at;
}

function shortened(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let end = text.length;
  while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > room) end--;
  return `${text.slice(0, end)}…`;
}

/** The columns of the page as it names and draws them: one a run. */
import { type PromptMode, promptModes } from '../../src/shared/modes.ts';
import type { ResultsView, RunColumn } from '../../src/shared/protocol.ts';
import { h } from '../dom.ts';
import { modeHints } from '../terms.ts';
import { visible } from '../text.ts';

/** Colour and fill, each named by the mode that has it where columns are modes. */
export interface Look {
  colour: PromptMode;
  fill: PromptMode;
}

/** How a run is named and drawn wherever it appears. */
export interface ColumnMark {
  run: string;
  mode: PromptMode;
  label: string;
  /** Name of its model. */
  model: string;
  look: Look;
}

export type MarkedColumn = RunColumn & { mark: ColumnMark };

/** Columns are named by their modes alone: one model, one run a mode. */
export const isByMode = (marks: Iterable<ColumnMark>): boolean => [...marks].every(({ label, mode }) => label === mode);

const modeAt = (position: number): PromptMode => promptModes[position % promptModes.length] ?? 'zero-shot';

/** Modes have a look each. Where several columns are of one mode, looks go by order: no two of the first 16 are alike. */
export function columnsOf({ columns }: ResultsView): MarkedColumn[] {
  const byMode = new Set(columns.map(({ run }) => run.mode)).size === columns.length;
  return columns.map((column, order) => {
    const { id, mode } = column.run;
    const look = byMode
      ? { colour: mode, fill: mode }
      : { colour: modeAt(order), fill: modeAt(order + Math.floor(order / promptModes.length)) };
    return {
      ...column,
      mark: { run: id, mode, label: visible(column.label), model: visible(column.run.model.name), look },
    };
  });
}

const className = (mode: PromptMode): string => mode.replace('+', '-');

export const columnName = ({ label, mode, look }: ColumnMark): HTMLElement =>
  h(
    'span',
    { class: 'mode-name', title: label === mode ? modeHints[mode] : `${label} (${mode}: ${modeHints[mode]})` },
    h('span', { class: `swatch mode-${className(look.colour)} fill-${className(look.fill)}` }),
    label,
  );

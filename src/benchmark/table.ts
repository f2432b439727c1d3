/** Rows of the files of a split as items. Those of large files are made when they are asked for. */
import type { Item } from './types.ts';

type Row = Record<string, unknown>;

/** Rows of a file, each made anew at every call. */
export interface Rows {
  readonly count: number;
  fields(row: number): Row;
  /** Where the row begins, from 1. */
  line(row: number): number;
}

/** Rows that are there already. @param line of a row; its number where absent */
export const rowsAtHand = (fields: readonly Row[], line?: (row: number) => number): Rows => ({
  count: fields.length,
  fields: (row) => fields[row] ?? {},
  line: line ?? ((row) => row + 1),
});

/** Splits from so many bytes on keep their files in memory and not their rows, which take several times as much. */
export const largeSplit = 16 * 2 ** 20;
/** Rows of a large split that are kept: a benchmark asks for an item several times in a row. */
const keptRows = 512;

/** @param convert what becomes of a row, null: nothing */
export function itemsOf(
  files: readonly { file: string; rows: Rows }[],
  convert: ((row: Row) => Row) | null,
  isLarge: boolean,
): Item[] {
  const items: Item[] = [];
  const kept: ({ index: number; fields: Row } | undefined)[] = new Array(keptRows);
  for (const { file, rows } of files)
    for (let row = 0; row < rows.count; row++) {
      const index = items.length;
      const make = (): Row => {
        const fields = rows.fields(row);
        return convert ? convert(fields) : fields;
      };
      if (!isLarge) {
        items.push({ index, fields: make(), place: { file, line: rows.line(row) } });
        continue;
      }
      items.push({
        index,
        get fields() {
          const slot = index % keptRows;
          const known = kept[slot];
          if (known?.index === index) return known.fields;
          const fields = make();
          kept[slot] = { index, fields };
          return fields;
        },
        get place() {
          return { file, line: rows.line(row) };
        },
      });
    }
  return items;
}

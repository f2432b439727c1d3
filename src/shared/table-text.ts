/** Rows of tables as text: CSV for programs, Markdown for people. */

export type Cell = string | number | boolean | null | undefined;

const field = (value: Cell): string => {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** One row of CSV (RFC 4180) without its line end. What is absent is an empty field. */
export const csvRow = (cells: readonly Cell[]): string => cells.map(field).join(',');

/** One row of a Markdown table, on one line, with no bar that would end a cell. */
export const markdownRow = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll(/\r?\n/g, ' ')).join(' | ')} |`;

/** Model outputs and data are hostile: whatever they hold is shown as text, and what would be invisible is made visible. */

/** Controls, bidirectional overrides, invisible separators, and surrogates without their partner. */
const invisible =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the purpose
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function standIn(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '␡';
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** The text with control, bidirectional and zero-width characters replaced by visible stand-ins; newlines and tabs stay. */
export const visible = (text: string): string => text.replace(invisible, standIn);

/** Whether {@link visible} would replace something. */
export const hasInvisible = (text: string): boolean => text.search(invisible) >= 0;

/** One line for a table cell: at most `limit` characters of the text, line breaks as ⏎. */
export function oneLine(text: string, limit = 240): string {
  const head = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return visible(head.replace(/\r?\n/g, ' ⏎ ').replace(/\t/g, ' '));
}

export interface Piece {
  text: string;
  strict: boolean;
  lenient: boolean;
}

/** Cuts a text at the ends of two spans ([start, end) in UTF-16 units), so that each piece can be marked. */
export function piecesOf(text: string, strict: [number, number] | null, lenient: [number, number] | null): Piece[] {
  const inside = (span: [number, number] | null, at: number): boolean => span !== null && at >= span[0] && at < span[1];
  const cuts = new Set([0, text.length]);
  for (const end of [...(strict ?? []), ...(lenient ?? [])]) if (end > 0 && end < text.length) cuts.add(end);
  const ends = [...cuts].sort((a, b) => a - b);
  return ends.slice(0, -1).map((start, position) => ({
    text: text.slice(start, ends[position + 1]),
    strict: inside(strict, start),
    lenient: inside(lenient, start),
  }));
}

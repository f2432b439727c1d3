/** What stands for a mark where there is no room for words. */
import { type MarkKind, markKinds } from '../../src/shared/marks.ts';

export const markGlyph = (kind: MarkKind): string => markKinds.find((row) => row.kind === kind)?.glyph ?? '⚑';

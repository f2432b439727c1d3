/** An item as Markdown, for an issue or a message. */

import { causeSentences } from '../../src/shared/failure-causes.ts';
import type { ItemDetail, ItemRow, ResultsView } from '../../src/shared/protocol.ts';
import { verdictOf, verdicts } from '../terms.ts';
import { visible } from '../text.ts';
import type { ColumnMark } from './columns.ts';
import { likelihoodText } from './item-row.ts';

/** A code block whose fence is longer than any run of backticks in the text. */
export function codeBlock(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${visible(text)}\n${fence}`;
}

const code = (text: string): string => {
  const shown = visible(text.replace(/\s+/g, ' '));
  const ticks = '`'.repeat(Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
  return `${ticks} ${shown} ${ticks}`.replace(/^(`) ([^`]*) (`)$/, '$1$2$3');
};

export function itemAsMarkdown(
  view: ResultsView,
  detail: ItemDetail,
  records: { mark: Pick<ColumnMark, 'run' | 'label'>; record: ItemRow }[],
): string {
  const lines = [
    `### ${view.benchmark.task}, item ${detail.index} (${view.model.name})`,
    '',
    `Gold: ${code(detail.gold)}`,
  ];
  if (detail.source)
    lines.push(`Source: line ${detail.source.line} of ${code(detail.source.file.split(/[\\/]/).at(-1) ?? '')}`);
  for (const { mark, record } of records) {
    const verdict = verdictOf(record);
    lines.push('', `#### ${mark.label}: ${verdicts[verdict].label}`, '');
    if (record.cause) lines.push(`Cause: ${record.cause}. ${causeSentences[record.cause]}`, '');
    if (record.generated === false) {
      lines.push(likelihoodText(record));
      continue;
    }
    lines.push(
      `Strict reading: ${record.strict.answer === null ? 'none' : code(record.strict.answer)} · lenient reading: ${record.lenient.answer === null ? 'none' : code(record.lenient.answer)} · ended by ${record.stop.reason}`,
    );
    const prompt = detail.prompts.find((each) => each.run === mark.run);
    if (prompt)
      lines.push(
        '',
        'Prompt:',
        '',
        codeBlock(
          prompt.parts
            .filter(({ kind }) => kind !== 'note')
            .map(({ text }) => text)
            .join(''),
        ),
      );
    lines.push('', 'Output:', '', codeBlock(record.output));
  }
  return `${lines.join('\n')}\n`;
}

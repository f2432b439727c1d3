/** An item as Markdown, for an issue or a message. */

import { metricTitle } from '../../src/metrics/index.ts';
import { causeSentences } from '../../src/shared/failure-causes.ts';
import type { ItemMark } from '../../src/shared/marks.ts';
import type { ItemDetail, ItemRow, ResultsView, RunColumn } from '../../src/shared/protocol.ts';
import type { ItemRecord, Reading } from '../../src/shared/results.ts';
import { verdictOf, verdicts } from '../terms.ts';
import { visible } from '../text.ts';
import type { ColumnMark } from './columns.ts';
import { likelihoodText } from './likelihood-text.ts';
import { promptSegments } from './prompt-segments.ts';
import { stopSentence } from './stop-words.ts';

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

/** A reading with where it stands in the output. */
function readingText({ answer, span }: Reading): string {
  if (answer === null) return 'none';
  return `${code(answer)}${span ? ` (characters ${span[0]} to ${span[1]})` : ''}`;
}

/** The prompt by its segments; several examples are folded. */
function promptLines(parts: ItemDetail['prompts'][number]['parts'], column: RunColumn | undefined): string[] {
  const segments = promptSegments(parts, column);
  const examples = segments.filter(({ part }) => part.kind === 'example').length;
  const lines: string[] = [];
  for (const [at, { name, part }] of segments.entries()) {
    const isExample = part.kind === 'example';
    if (examples > 1 && isExample && segments[at - 1]?.part.kind !== 'example')
      lines.push(`<details><summary>${examples} examples</summary>`, '');
    lines.push(part.kind === 'soft-prompt' ? `*${name}*` : `${name}:`, '');
    if (part.kind !== 'soft-prompt') lines.push(codeBlock(part.text), '');
    if (examples > 1 && isExample && segments[at + 1]?.part.kind !== 'example') lines.push('</details>', '');
  }
  return lines;
}

/** What the item adds to the metrics of the benchmark file. */
const measureLines = ({ metrics = [] }: Pick<ItemRecord, 'metrics'>): string[] =>
  metrics.flatMap(({ filter, values }) =>
    Object.entries(values).map(
      ([metric, value]) => `- ${metricTitle({ metric, filter })}: ${code(JSON.stringify(value))}`,
    ),
  );

/** @param records the item in each run; the first is the one that is shown, and has its prompt written out */
export function itemAsMarkdown(
  view: Pick<ResultsView, 'benchmark' | 'model' | 'columns'>,
  detail: ItemDetail,
  records: { mark: Pick<ColumnMark, 'run' | 'label'>; record: ItemRow }[],
  marked: ItemMark | null = null,
): string {
  const lines = [
    `### ${view.benchmark.task}, item ${detail.index} (${view.model.name})`,
    '',
    `Gold: ${code(detail.gold)}`,
  ];
  if (detail.source) {
    const { file, line, isText } = detail.source;
    lines.push(`Source: ${isText === false ? 'row' : 'line'} ${line} of ${code(file.split(/[\\/]/).at(-1) ?? '')}`);
  }
  if (marked)
    lines.push(`Marked: ${marked.kind}${marked.note ? `. ${visible(marked.note).replace(/\s+/g, ' ')}` : ''}`);
  for (const { mark, record } of records) {
    const verdict = verdictOf(record);
    const whole = detail.records.find(({ run }) => run === mark.run)?.record;
    lines.push('', `#### ${mark.label}: ${verdicts[verdict].label}`, '');
    if (record.cause) lines.push(`Cause: ${record.cause}. ${causeSentences[record.cause]}`, '');
    if (record.generated === false) lines.push(likelihoodText(record));
    else
      lines.push(
        `Strict reading: ${readingText(record.strict)} · lenient reading: ${readingText(record.lenient)} · ${record.outputTokens} tokens, ${stopSentence(record)}`,
      );
    if (record.choices) {
      const { texts, logLikelihoods, gold } = record.choices;
      lines.push('', 'Candidates by log-likelihood:', '');
      lines.push(
        ...texts.map((text, at) => `- ${code(text)}: ${logLikelihoods[at]?.toFixed(3)}${at === gold ? ' (gold)' : ''}`),
      );
    }
    const measures = measureLines(whole ?? {});
    if (measures.length > 0) lines.push('', ...measures);
    const prompt = detail.prompts.find((each) => each.run === mark.run);
    if (prompt) {
      const segments = promptLines(
        prompt.parts,
        view.columns.find(({ run }) => run.id === mark.run),
      );
      if (segments.length > 0) lines.push('', 'Prompt:', '', ...segments);
    }
    if (record.generated !== false) lines.push('', 'Output:', '', codeBlock(record.output));
  }
  return `${lines.join('\n').replace(/\n{3,}/g, '\n\n')}\n`;
}

/** `softbench models inspect`: what is understood of a model folder. */
import { resolve } from 'node:path';
import { formatBytes } from '../metrics/index.ts';
import {
  attentionInWords,
  cacheInWords,
  loweredInWords,
  positionsInWords,
  quantisationInWords,
  tensorLines,
  tiedHeadInWords,
} from '../shared/model-words.ts';
import type { ModelReport } from '../shared/protocol.ts';
import { type Command, commonOptions, exitCodes, operands } from './command.ts';
import { table } from './terminal.ts';

export const inspectCommand: Command = {
  name: 'models inspect',
  operands: 'DIR',
  summary: 'say what is understood of a model folder, and whether it can be tuned',
  options: { ...commonOptions },
  async run(given, terminal) {
    const [folder] = operands(given, ['DIR'] as const);
    const { signal, worker } = terminal.surroundings;
    const report = await worker.call.inspectModel({ folder: resolve(folder) }, { signal });
    if (terminal.json) terminal.printJson(report);
    else for (const line of inspectLines(report)) terminal.print(line);
    return report.ok ? exitCodes.done : exitCodes.failed;
  },
};

function inspectLines(report: ModelReport): string[] {
  const orUnknown = (value: number | string | null): string =>
    value === null ? 'not known' : typeof value === 'number' ? value.toLocaleString('en') : value;
  const operators = Object.entries(report.operators).sort(([, a], [, b]) => b - a);
  // Nothing was read: rows of unknowns would hide the reason.
  if (!report.ok && report.graphFile === null) return [report.reason ?? `${report.folder} cannot be used.`];
  const several = (title: string, lines: readonly string[]): [string, string][] =>
    lines.length ? lines.map((line, at) => [at === 0 ? title : '', line]) : [[title, 'none']];
  const rows: [string, string][] = [
    ['model', `${report.name}${report.modelType ? ` (${report.modelType})` : ''}`],
    ['folder', report.folder],
    ['layout', report.layout.join('; ')],
    ['graph', orUnknown(report.graphFile)],
    ['other graphs', report.variants.join(', ') || 'none'],
    ['size', formatBytes(report.bytes)],
    ['parameters', orUnknown(report.parameters)],
    ['hidden size', orUnknown(report.hiddenSize)],
    ['layers', orUnknown(report.layers)],
    ['vocabulary', orUnknown(report.vocabularySize)],
    ['context length', orUnknown(report.contextLength)],
    ['element type', orUnknown(report.dtype)],
    [
      'opset',
      Object.entries(report.opset)
        .map(([domain, version]) => `${domain || 'ai.onnx'} ${version}`)
        .join(', '),
    ],
    ['exported by', orUnknown(report.producer)],
    ...several('inputs', tensorLines(report.inputs)),
    ...several('outputs', tensorLines(report.outputs)),
    ['KV cache', cacheInWords(report.cache)],
    ['positions', positionsInWords(report.positions, report.attention.headSize)],
    ['attention', attentionInWords(report.attention)],
    ['logits', report.logitSoftCap === null ? 'as they are' : `soft-capped at ${report.logitSoftCap}`],
    ['tied head', tiedHeadInWords(report.tiedHead)],
    ...several('quantised', report.quantisation.map(quantisationInWords)),
    ['chat template', report.chatTemplate ? 'yes' : 'no'],
    ['operators', operators.map(([name, count]) => `${name} ${count}`).join(', ')],
    ...several('lowered to tune', report.lowered.map(loweredInWords)),
    ...(report.tunable || report.missing.length > 0
      ? several(
          'no gradient rule',
          report.missing.map(({ operator, node }) => `${operator} (node "${node}")`),
        )
      : [['no gradient rule', 'not looked for: see the note'] as [string, string]]),
  ];
  return [
    ...table(rows),
    ...[...new Set(report.missing.map(({ advice }) => advice))].map((advice) => `To tune it: ${advice}`),
    ...report.notes.map((note) => `Note: ${note}`),
    '',
    report.ok
      ? `By what its files say, this model can be evaluated${report.tunable ? ' and tuned' : ', but not tuned'}.`
      : (report.reason ?? 'This model cannot be used.'),
  ];
}

/** A model report as Markdown, for a person and for an issue report. */
import { formatBytes } from '../metrics/index.ts';
import {
  attentionInWords,
  cacheInWords,
  loweredInWords,
  positionsInWords,
  quantisationInWords,
  tiedHeadInWords,
} from '../shared/model-words.ts';
import type { ModelReport } from '../shared/protocol.ts';
import { markdownRow } from '../shared/table-text.ts';

export function modelReportText(report: ModelReport): string {
  const rows: [string, unknown][] = [
    ['Folder', report.folder],
    ['Architecture', report.modelType],
    ['Graph', report.graphFile],
    ['Other graphs', report.variants.join(', ') || null],
    ['Size', formatBytes(report.bytes)],
    ['Parameters', report.parameters?.toLocaleString('en-US')],
    ['Data type', report.dtype],
    ['Layers', report.layers],
    ['Hidden size', report.hiddenSize],
    ['Vocabulary', report.vocabularySize],
    ['Context length', report.contextLength],
    ['Layout', report.layout.join('; ')],
    ['Positions', report.ok ? positionsInWords(report.positions, report.attention.headSize) : null],
    ['Attention', report.ok ? attentionInWords(report.attention) : null],
    ['Logits soft-capped at', report.logitSoftCap],
    ['Tied head', report.ok ? tiedHeadInWords(report.tiedHead) : null],
    ['Quantised', report.quantisation.map(quantisationInWords).join('; ')],
    ['KV cache', report.ok ? cacheInWords(report.cache) : null],
    ['Chat template', report.chatTemplate ? 'yes' : 'no'],
    ['Exported by', report.producer],
    [
      'Operator sets',
      Object.entries(report.opset)
        .map(([domain, version]) => `${domain || 'ai.onnx'} ${version}`)
        .join(', '),
    ],
  ];
  const operators = Object.entries(report.operators).sort(([, a], [, b]) => b - a);
  return [
    `# ${report.name}`,
    report.ok ? 'Softbench can run this model.' : `**Softbench cannot run this model.** ${report.reason ?? ''}`,
    ['| | |', '|---|---|']
      .concat(
        rows
          .filter(([, value]) => value !== null && value !== undefined && value !== '')
          .map(([name, value]) => markdownRow([name, String(value)])),
      )
      .join('\n'),
    ...(report.missing.length > 0
      ? [
          '## What tuning lacks',
          report.missing.map(({ operator, node, advice }) => `- \`${operator}\` (\`${node}\`): ${advice}`).join('\n'),
        ]
      : []),
    ...(report.lowered.length > 0
      ? ['## Operators that tuning lowers first', report.lowered.map((one) => `- ${loweredInWords(one)}`).join('\n')]
      : []),
    ...(report.notes.length > 0 ? ['## Notes', report.notes.map((note) => `- ${note}`).join('\n')] : []),
    ...(operators.length > 0
      ? ['## Operators', operators.map(([name, count]) => `${name} × ${count}`).join(', ')]
      : []),
  ]
    .join('\n\n')
    .concat('\n');
}

/** `softbench models …`: what is understood of a model folder, and whether it computes what its reference says. */
import { resolve } from 'node:path';
import {
  attentionInWords,
  cacheInWords,
  loweredInWords,
  positionsInWords,
  quantisationInWords,
  tensorLines,
  tiedHeadInWords,
} from '../shared/model-words.ts';
import type { ModelReport, VerifyReport } from '../shared/protocol.ts';
import { type Command, commonOptions, engineOptions, engineSettings, exitCodes, operands } from './command.ts';
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

export const verifyCommand: Command = {
  name: 'models verify',
  operands: 'DIR',
  summary: "run a folder's reference.json and reference.safetensors and compare",
  details:
    'Compares gradients, losses of tuning steps, logits, log-likelihoods and greedy generations with the reference.',
  options: { ...engineOptions, ...commonOptions },
  async run(given, terminal) {
    const [folder] = operands(given, ['DIR'] as const);
    const engine = engineSettings(given);
    const { signal, worker } = terminal.surroundings;
    const report = await worker.call.verifyModel(
      { folder: resolve(folder), engine },
      { signal, onProgress: ({ message }) => terminal.note(message) },
    );
    if (terminal.json) terminal.printJson(report);
    else for (const line of verifyLines(report)) terminal.print(line);
    return report.ok ? exitCodes.done : exitCodes.failed;
  },
};

function inspectLines(report: ModelReport): string[] {
  const orUnknown = (value: number | string | null): string =>
    value === null ? 'not known' : typeof value === 'number' ? value.toLocaleString('en') : value;
  const operators = Object.entries(report.operators).sort(([, a], [, b]) => b - a);
  const several = (title: string, lines: readonly string[]): [string, string][] =>
    lines.length ? lines.map((line, at) => [at === 0 ? title : '', line]) : [[title, 'none']];
  const rows: [string, string][] = [
    ['model', `${report.name}${report.modelType ? ` (${report.modelType})` : ''}`],
    ['folder', report.folder],
    ['layout', report.layout.join('; ')],
    ['graph', orUnknown(report.graphFile)],
    ['other graphs', report.variants.join(', ') || 'none'],
    ['size', `${(report.bytes / 1e6).toFixed(1)} MB`],
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
    ...several(
      'no gradient rule',
      report.missing.map(({ operator, node }) => `${operator} (node "${node}")`),
    ),
  ];
  return [
    ...table(rows),
    ...[...new Set(report.missing.map(({ advice }) => advice))].map((advice) => `To tune it: ${advice}`),
    ...report.notes.map((note) => `Note: ${note}`),
    '',
    report.ok
      ? `This model can be evaluated${report.tunable ? ' and tuned' : ', but not tuned'}.`
      : (report.reason ?? 'This model cannot be used.'),
  ];
}

function verifyLines(report: VerifyReport): string[] {
  const { gradient, losses, logits, log_likelihood: logLikelihood, generation } = report;
  const error = (value: number | undefined): string =>
    value === undefined ? 'not in the reference' : value.toExponential(2);
  return [
    ...table([
      ['gradient', `relative error ${error(gradient?.relative_error)}`],
      ['losses', `largest difference ${error(losses?.max_abs)}`],
      ['logits', `largest difference ${error(logits?.max_abs)}`],
      ['log-likelihoods', `largest difference ${error(logLikelihood?.max_abs)}`],
      ['generations', generation ? `${generation.equal} of ${generation.compared} equal` : 'not in the reference'],
    ]),
    '',
    report.ok ? 'The model computes what its reference says.' : `It does not: ${report.reason ?? 'see above'}`,
  ];
}

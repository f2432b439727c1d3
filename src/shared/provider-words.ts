/** Execution providers in words, for every place that shows them. */
import type { NodePlacement, ProviderReport } from './results.ts';

const titles: Record<string, string> = {
  auto: 'auto',
  cpu: 'CPU',
  cuda: 'CUDA',
  webgpu: 'WebGPU',
  dml: 'DirectML',
  coreml: 'Core ML',
};

export const providerTitle = (name: string): string => titles[name] ?? name;

/** Operators that are named one by one before "others". */
const named = 4;

/** `training graph: 12 of 830 nodes on the CPU (Shape 6, Gather 4, Cast 2), 3 copies` */
export function placementWords({ graph, nodes, cpuNodes, cpuOperators, copies }: NodePlacement): string {
  const operators = Object.entries(cpuOperators);
  const shown = operators.slice(0, named).map(([operator, count]) => `${operator} ${count}`);
  const rest = operators.slice(named).reduce((sum, [, count]) => sum + count, 0);
  if (rest) shown.push(`others ${rest}`);
  return [
    `${graph} graph: ${cpuNodes === 0 ? `none of ${nodes} nodes` : `${cpuNodes} of ${nodes} nodes`} on the CPU${shown.length ? ` (${shown.join(', ')})` : ''}`,
    ...(copies ? [`${copies} ${copies === 1 ? 'copy' : 'copies'} between the device and the CPU`] : []),
  ].join(', ');
}

/** What was asked for, what runs, why, and what of it the CPU computes: sentences. */
export function providerSentences({ asked, running, reason, threads, nodes = [] }: ProviderReport): string[] {
  // An imported run: nothing ran here.
  if (running === '') return [];
  return [
    `Asked for ${providerTitle(asked)}; runs on ${providerTitle(running)} with ${threads} ${threads === 1 ? 'thread' : 'threads'}.`,
    reason,
    ...nodes.map((placement) => {
      const words = placementWords(placement);
      return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
    }),
  ];
}

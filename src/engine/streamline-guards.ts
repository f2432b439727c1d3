/**
 * Guarded softmaxes (gradient/guards.ts) without their guards, which take an eighth of the time of evaluating behind a long
 * prefix (SmolLM2-135M on a CPU).
 *
 * Right only because nothing reads a row that sees nothing. Every token of a text sees itself, so the row is one of padding:
 * a place behind a text by more than a sliding window. Rows are padded on the right, padding is hidden from every text in
 * later layers too, is not kept in a cache, and no distribution is asked for there (run-tensors.ts, cache.ts).
 */
import { guardedSoftmax, leastFloat, type TypedGraph } from '../gradient/index.ts';
import { eitherWay, type Graph, type GraphNode } from '../onnx/index.ts';

/** Takes the guards out. `texts`: values that all that is known of texts comes from: embeddings, keys and values held. */
export function takeGuards(graph: Graph, g: TypedGraph, texts: readonly string[]): void {
  const varying = new Set(texts);
  // Masks are as large as the texts, whatever these say.
  for (const node of graph.nodes)
    if (node.operator !== 'Shape' && node.inputs.some((input) => varying.has(input)))
      for (const output of node.outputs) varying.add(output);
  const producers = graph.producers();
  const made = (value: string, operator: string): GraphNode | null => {
    const node = producers.get(value);
    return node && !node.domain && node.operator === operator ? node : null;
  };
  const type = (value: string) => g.types.get(g.aliases.get(value) ?? value);
  const finite = new Map<string, string>();
  for (const guard of [...graph.nodes]) {
    const softmax = guardedSoftmax(
      guard,
      (value) => producers.get(value),
      (value) => type(value)?.values,
    );
    if (!softmax || type(softmax.output())?.dtype !== 'float32') continue;
    // Scores against a shared prefix stand before those that a mask was added to.
    const join = made(softmax.input(0), 'Concat');
    const sum = made(join?.inputs.at(-1) ?? softmax.input(0), 'Add');
    const mask = sum && eitherWay(sum).find(([scores, other]) => varying.has(scores) && !varying.has(other))?.[1];
    if (!mask) continue;
    const known = finite.get(mask) ?? graph.add('Max', [mask, graph.scalar('float32', leastFloat)]);
    finite.set(mask, known);
    sum.inputs = sum.inputs.map((input) => (input === mask ? known : input));
    graph.replaceUses(guard.output(), softmax.output());
  }
}

/**
 * Where(IsNaN(s), 0, s) behind s = softmax(scores + mask): exporters guard against a row whose mask is all -inf. With the
 * mask's -inf as a finite number such a row has equal weights instead of zeros, and two passes over the largest tensors of
 * a graph go (a tenth of the time of evaluating behind a long prefix, SmolLM2-135M on a CPU).
 *
 * Right only because nothing reads such a row. Every token of a text sees itself, so the row is one of padding: a place
 * behind a text by more than a sliding window. Rows are padded on the right, padding is hidden from every text in later
 * layers too, is not kept in a cache, and no distribution is asked for there (run-tensors.ts, cache.ts).
 */
import type { TypedGraph } from '../gradient/index.ts';
import { eitherWay, type Graph, type GraphNode } from '../onnx/index.ts';

/** A fourth of the largest float32, so that sums with scores stay finite. */
const leastFloat = -(2 ** 126);

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
    if (guard.domain || guard.operator !== 'Where') continue;
    const softmax = made(guard.input(2), 'Softmax');
    if (!softmax || made(guard.input(0), 'IsNaN')?.input(0) !== softmax.output()) continue;
    if (!type(guard.input(1))?.values?.every((value) => value === 0)) continue;
    if (type(softmax.output())?.dtype !== 'float32') continue;
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

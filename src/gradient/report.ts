/** What tuning would do to a graph: which operators it writes out, in what, and which it has no rule for. */
import type { GraphNode, OnnxModel } from '../onnx/index.ts';
import { type MissingRule, pathBetween } from './backward.ts';
import { withCacheBranch } from './cache-branch.ts';
import { exactArithmetic } from './exact.ts';
import { inputSizes, type Sizes } from './inputs.ts';
import { lowered, lowerings, lowerNodes, sizedLowerings } from './lowerings/index.ts';
import { gradientRules } from './rules/index.ts';
import { softPromptInput } from './splice.ts';
import { missingGradientRules, specialiseForward, trainingForward } from './training-graph.ts';
import { specialise, type TypedGraph } from './typed-graph.ts';

export interface LoweredOperator {
  operator: string;
  /** Nodes of it that are written out. */
  count: number;
  /** Operators that stand in its place. */
  to: string[];
}

export interface TuningReport {
  lowered: LoweredOperator[];
  /** Empty: the model can be tuned. */
  missing: MissingRule[];
}

const counts = (nodes: readonly GraphNode[]): Map<string, number> => {
  const result = new Map<string, number>();
  for (const { fullOperator } of nodes) result.set(fullOperator, (result.get(fullOperator) ?? 0) + 1);
  return result;
};

/** Operators of which `after` has more nodes than `before`. */
const added = (before: readonly GraphNode[], after: readonly GraphNode[]): string[] => {
  const had = counts(before);
  return [...counts(after)].filter(([operator, count]) => count > (had.get(operator) ?? 0)).map(([name]) => name);
};

/**
 * Applies the tables of lowerings one operator at a time, as the training graph does, and looks at what comes out.
 * @throws HumanError where the graph has no token embedding, or a shape or an option of an operator is not understood
 */
export function tuningReport(file: OnnxModel): TuningReport {
  const stored = withCacheBranch(file, false);
  const model = exactArithmetic(stored, { keepInputs: true });
  const result: LoweredOperator[] = [];
  // What quantises activations is taken out as a whole; plain nodes that go with it are not worth a line.
  const exact = counts(model.graph.nodes);
  const to = added(stored.graph.nodes, model.graph.nodes);
  for (const [operator, count] of counts(stored.graph.nodes)) {
    const taken = count - (exact.get(operator) ?? 0);
    if (taken > 0 && !(operator in gradientRules)) result.push({ operator, count: taken, to });
  }
  const present = counts(model.graph.nodes);
  for (const [operator, row] of Object.entries(lowerings)) {
    const count = present.get(operator);
    if (count === undefined) continue;
    const { graph } = lowered(model, { [operator]: row });
    result.push({ operator, count, to: added(model.graph.nodes, graph.nodes) });
  }
  const missing = missingGradientRules(file);
  // Where shapes cannot be worked out, the rest cannot be looked at.
  const g = attempt(() => specialiseForward(trainingForward(file), { batch: 2, length: 5, vectors: 2, answers: 3 }));
  const [logits] = g?.graph.outputs ?? [];
  if (!g || !logits) return { lowered: result, missing };
  const path = (): GraphNode[] => {
    const [output] = g.graph.outputs;
    return pathBetween(g, new Set([softPromptInput]), new Set(output ? [output.name] : []));
  };
  for (const operator of Object.keys(sizedLowerings)) {
    const own = path().filter((node) => node.fullOperator === operator);
    if (own.length === 0) continue;
    const before = [...g.graph.nodes];
    lowerNodes(g, own);
    result.push({ operator, count: own.length, to: added(before, g.graph.nodes) });
  }
  return { lowered: result, missing };
}

function attempt<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}

/**
 * The model's own graph (of a merged decoder the branch with a cache) with the type and shape of every value at the
 * given sizes, norms and quantised products written out; null where an operator is not known well enough for that.
 */
export const sizedGraph = (model: OnnxModel, sizes: Sizes): TypedGraph | null =>
  attempt(() => {
    const chosen = lowered(exactArithmetic(withCacheBranch(model, true), { keepInputs: true }));
    return specialise({ ...chosen, graph: chosen.graph.clone() }, inputSizes(chosen, sizes));
  });

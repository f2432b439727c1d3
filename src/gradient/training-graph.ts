/** From a user's inference graph to one that gives the loss and its gradient with respect to a soft prompt. */

import type { OnnxModel } from '../onnx/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { Recomputation } from '../shared/results.ts';
import { answerLogitsGraph } from './answer-rows.ts';
import { backward, type MissingRule, missingRule, missingRules, pathBetween } from './backward.ts';
import { withCacheBranch } from './cache-branch.ts';
import { decodeWhereUsed } from './decoding.ts';
import { exactArithmetic } from './exact.ts';
import { inferenceRows } from './inference/index.ts';
import { inputSizes } from './inputs.ts';
import { lowerProductsOfFewBits } from './lowerings/bits.ts';
import { lowered, lowerNodes } from './lowerings/index.ts';
import { mergePatterns } from './patterns.ts';
import { recompute } from './recompute.ts';
import { orderForMemory } from './schedule.ts';
import { simplify } from './simplify.ts';
import { softPromptInput, spliceSoftPrompt } from './splice.ts';
import { specialise, type TypedGraph } from './typed-graph.ts';

/** Sizes of one compiled training graph. */
export interface TrainingSizes {
  batch: number;
  /** Padded tokens per row, the soft prompt's included. */
  length: number;
  vectors: number;
  /** Padded number of answer tokens in the batch. */
  answers: number;
  /** Padded tokens per row whose keys and values are given in the cache inputs; 0 where absent. */
  past?: number;
}

export interface TrainingGraphOptions {
  /** False: the loss alone. */
  withGradient?: boolean;
  /** What the way back makes again instead of keeping it. */
  recompute?: Recomputation;
}

export const labelsInput = 'answer_labels';
export const weightsInput = 'answer_weights';
export const lossOutput = 'loss';
export const gradientOutput = 'soft_prompt_gradient';

/**
 * The forward graph that training starts from, sizes still open: soft prompt spliced in, caches gone from the outputs,
 * logits at answer positions only. `anywhere`: as in {@link spliceSoftPrompt}. `cached`: of a merged decoder the branch
 * that reads keys and values, which a graph with `past` needs.
 */
export function trainingForward(file: OnnxModel, { anywhere = false, cached = false } = {}): OnnxModel {
  const model = exactArithmetic(withCacheBranch(file, cached), { keepInputs: true });
  const logits = model.graph.outputs.find(({ name }) => name === 'logits') ?? model.graph.outputs[0];
  if (!logits) throw new HumanError('unsupported', 'The graph has no output.', { todo: 'Export the model again.' });
  const spliced = spliceSoftPrompt(lowered(model), { anywhere });
  spliced.graph.outputs = spliced.graph.outputs.filter(({ name }) => name === logits.name);
  spliced.graph.prune();
  return answerLogitsGraph(spliced, logits.name);
}

/**
 * The training graph at fixed sizes.
 *
 * Inputs: the model's own (the cache only where `past` is not 0), `soft_prompt` [vectors, hidden], `answer_positions`
 * int64 [answers, 2] of (row, position of the token before the answer token, soft prompt included), `answer_labels`
 * int64 [answers], `answer_weights` float32 [answers] (1 / number of answer tokens; 0 on padding).
 * Outputs: `loss`, the weighted sum of cross-entropies (nats), and `soft_prompt_gradient` [vectors, hidden].
 * @param forward of {@link trainingForward}
 * @throws HumanError listing the operators without a gradient rule, or where a shape cannot be worked out
 */
export function trainingGraph(forward: OnnxModel, sizes: TrainingSizes, options: TrainingGraphOptions = {}): OnnxModel {
  return trainingModel(forward, typedTrainingGraph(forward, sizes, options));
}

/** The model of a graph of {@link typedTrainingGraph}. */
export const trainingModel = (forward: OnnxModel, { graph }: TypedGraph): OnnxModel => ({
  ...forward,
  opsets: withDomain(forward.opsets),
  functions: [],
  graph,
});

/** {@link trainingGraph} with what is known of its values. */
export function typedTrainingGraph(
  forward: OnnxModel,
  sizes: TrainingSizes,
  { withGradient = true, recompute: again = 'none' }: TrainingGraphOptions = {},
): TypedGraph {
  const g = specialiseForward(forward, sizes);
  if (withGradient) lowerPath(g);
  simplify(g, [softPromptInput]);
  const logits = logitsOf(g);
  const seed = addLoss(g, logits, sizes);
  const forwardNodes = new Set(g.graph.nodes);
  const seeds = new Set<string>();
  const outputs = [{ name: lossOutput, dtype: 'float32' as const, dims: [] as number[] }];
  if (withGradient) {
    const path = pathBetween(g, new Set([softPromptInput]), new Set([logits]));
    const first = seed();
    seeds.add(first);
    const gradient = backward(g, path, new Map([[logits, first]]), [softPromptInput]).get(softPromptInput);
    if (!gradient)
      throw new HumanError('unsupported', 'The logits do not depend on the soft prompt.', {
        todo: 'Check that this graph is a whole language model.',
      });
    rename(g, gradient, gradientOutput);
    outputs.push({ name: gradientOutput, dtype: 'float32', dims: [...g.dims(softPromptInput)] });
  }
  g.graph.outputs = outputs;
  g.graph.valueInfo = [];
  g.graph.prune();
  if (withGradient) recompute(g, again, forwardNodes, [softPromptInput]);
  orderForMemory(g.graph, forwardNodes, seeds);
  decodeWhereUsed(g.graph);
  // Inputs that nothing reads at these sizes are kept: callers feed what the model asks for.
  return g;
}

/**
 * Operators that keep a model from being tuned: those that shape inference does not know, or else those on the way from
 * soft prompt to logits without a gradient rule. Empty: the model can be tuned.
 * @throws HumanError where the graph has no token embedding
 */
export function missingGradientRules(model: OnnxModel): MissingRule[] {
  const forward = trainingForward(model);
  // (an If may be decided by sizes)
  const unknown = forward.graph.nodes.filter(
    (node) => !(node.fullOperator in inferenceRows) && node.fullOperator !== 'If',
  );
  if (unknown.length > 0) return unknown.map(missingRule);
  const sizes = { batch: 2, length: 5, vectors: 2, answers: 3 };
  const g = specialiseForward(forward, sizes);
  lowerPath(g);
  return missingRules(pathBetween(g, new Set([softPromptInput]), new Set([logitsOf(g)])));
}

export function specialiseForward(forward: OnnxModel, { past = 0, ...sizes }: TrainingSizes): TypedGraph {
  const copy = { ...forward, graph: forward.graph.clone() };
  const g = specialise(copy, inputSizes(forward, { ...sizes, past }));
  lowerProductsOfFewBits(g);
  mergePatterns(g);
  return g;
}

/** Writes out the fused operators that the gradient goes through. */
function lowerPath(g: TypedGraph): void {
  lowerNodes(g, pathBetween(g, new Set([softPromptInput]), new Set([logitsOf(g)])));
}

function logitsOf(g: TypedGraph): string {
  const [output] = g.graph.outputs;
  if (!output) throw new Error('the forward graph has one output');
  return output.name;
}

const withDomain = (opsets: Map<string, number>): Map<string, number> => new Map(opsets).set('com.microsoft', 1);

function rename(g: TypedGraph, from: string, to: string): void {
  for (const node of g.graph.nodes) {
    node.outputs = node.outputs.map((name) => (name === from ? to : name));
    node.inputs = node.inputs.map((name) => (name === from ? to : name));
  }
}

/**
 * loss = Σ w · (log Σ exp z - z[label]), in log-sum-exp form. Gives a function that adds ∂loss/∂z = w · (softmax z -
 * one-hot label), which is shorter and more exact than the rules applied one by one.
 */
function addLoss(g: TypedGraph, logits: string, { answers }: TrainingSizes): () => string {
  const labels = g.input(labelsInput, 'int64', [answers]);
  const weights = g.input(weightsInput, 'float32', [answers]);
  const z = g.cast(logits, 'float32');
  const logProbabilities = g.add('LogSoftmax', [z], { axis: -1 });
  const column = g.reshape(labels, [answers, 1]);
  const gathered = g.add('GatherElements', [logProbabilities, column], { axis: 1 });
  const picked = g.reshape(gathered, [answers]);
  const loss = g.neg(g.sum(g.mul(picked, weights), [0], false));
  rename(g, loss, lossOutput);
  return () => {
    const weightColumn = g.reshape(weights, [answers, 1]);
    const scaled = g.mul(g.add('Exp', [logProbabilities]), weightColumn);
    // at the label: (p - 1) · w, written over p · w
    const atLabel = g.mul(g.sub(g.add('Exp', [gathered]), g.scalar('float32', 1)), weightColumn);
    return g.cast(g.add('ScatterElements', [scaled, column, atLabel], { axis: 1 }), g.dtype(logits));
  };
}

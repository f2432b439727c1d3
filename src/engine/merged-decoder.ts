/** Merged decoders: which of the two branches of a graph with `use_cache_branch` evaluation runs, or both. */
import { withCacheBranch } from '../gradient/index.ts';
import type { ModelFiles } from '../model/index.ts';
import { attribute, Graph, GraphNode, type ValueInfo } from '../onnx/index.ts';
import { exactFiles } from './exact-files.ts';
import { type InferenceGraph, inferenceGraph } from './inference-graph.ts';

/** The files as if they held one branch only; `exact`: as {@link exactFiles} gives them. */
export function filesOfBranch(files: ModelFiles, cached: boolean, exact = false): ModelFiles {
  const branch = {
    ...files,
    file: withCacheBranch(files.file, cached),
    signature: { ...files.signature, useCacheBranch: null },
  };
  return exact ? exactFiles(branch) : branch;
}

/**
 * Both branches, each edited by itself, under one If on the graph's own input. For exports whose branch with a cache
 * reads one token at a time.
 */
export function bothBranches(files: ModelFiles, exact = false): InferenceGraph {
  const { useCacheBranch } = files.signature;
  if (!useCacheBranch) throw new Error('the graph has one branch only');
  const [cached, fresh] = [true, false].map((holds) => {
    const branch = filesOfBranch(files, holds, exact);
    return inferenceGraph(branch.file, branch.signature, { share: false });
  });
  if (!cached || !fresh) throw new Error('two were made');
  const graph = new Graph();
  graph.name = files.file.graph.name;
  const inputs = new Map<string, ValueInfo>();
  for (const { model } of [cached, fresh]) for (const input of model.graph.inputs) inputs.set(input.name, input);
  graph.inputs = [...inputs.values(), useCacheBranch];
  graph.outputs = cached.model.graph.outputs;
  const shared = files.file.graph.initializers;
  const branch = ({ model }: InferenceGraph): Graph => {
    const inner = model.graph.clone();
    inner.inputs = [];
    for (const [name, tensor] of inner.initializers)
      if (shared.has(name)) {
        graph.initializers.set(name, tensor);
        inner.initializers.delete(name);
      }
    // the outputs of both are the If's, by place
    const names = inner.outputs.map(({ name }) => name);
    inner.outputs = inner.outputs.map((output, at) => ({ ...output, name: `softbench.branch_${at}` }));
    for (const [at, name] of names.entries())
      inner.nodes.push(new GraphNode('Identity', [name], [`softbench.branch_${at}`]));
    const outer = new Set(graph.outputs.map(({ name }) => name));
    const rename = (name: string): string => (outer.has(name) ? `${name}.inner` : name);
    for (const node of inner.nodes) {
      node.inputs = node.inputs.map(rename);
      node.outputs = node.outputs.map(rename);
    }
    return inner;
  };
  const attributes = new Map([
    ['then_branch', attribute(branch(cached))],
    ['else_branch', attribute(branch(fresh))],
  ]);
  const outputs = graph.outputs.map(({ name }) => name);
  graph.nodes = [new GraphNode('If', [useCacheBranch.name], outputs, attributes, 'softbench.branches')];
  return {
    model: { ...cached.model, graph },
    weightFolder: cached.weightFolder,
    embedding: cached.embedding === null || fresh.embedding === null ? null : cached.embedding,
    sharesPrefix: false,
    cache: cached.cache,
    cacheOutputs: cached.cacheOutputs,
  };
}

/** Functions of a file and branches of an If put in place of the nodes that call or hold them. */
import { HumanError } from '../shared/errors.ts';
import type { OnnxFunction, OnnxModel } from './convert.ts';
import { type Attribute, type Graph, GraphNode } from './graph.ts';
import { numbersOf } from './tensor.ts';

/** Every name that a graph and the graphs inside it define; nodes of `except` are passed over. */
export function definedNames(graph: Graph, except?: GraphNode): Set<string> {
  const names = new Set<string>();
  const walk = (inner: Graph): void => {
    for (const { name } of [...inner.inputs, ...inner.outputs]) names.add(name);
    for (const name of inner.initializers.keys()) names.add(name);
    for (const node of inner.nodes) {
      if (node === except) continue;
      for (const output of node.outputs) names.add(output);
      for (const subgraph of node.subgraphs()) walk(subgraph);
    }
  };
  walk(graph);
  return names;
}

/** `label`, or that with a number behind it where the name is taken; taken from then on. */
function unique(taken: Set<string>, label: string): string {
  let name = label;
  for (let count = 1; taken.has(name); count++) name = `${label}_${count}`;
  taken.add(name);
  return name;
}

const mapAttributes = (node: GraphNode, change: (value: Attribute) => Attribute | null): void => {
  for (const [name, value] of node.attributes) {
    const changed = change(value);
    if (changed) node.attributes.set(name, changed);
    else node.attributes.delete(name);
  }
};

/**
 * Copies of nodes with their values renamed: what `names` says, and a free name for everything else that they or the
 * graphs inside them define.
 */
function renamed(
  nodes: readonly GraphNode[],
  names: Map<string, string>,
  taken: Set<string>,
  labelOf: (name: string) => string,
): GraphNode[] {
  const define = (name: string): void => {
    if (name && !names.has(name)) names.set(name, unique(taken, labelOf(name)));
  };
  const rename = (name: string): string => names.get(name) ?? name;
  for (const node of nodes) for (const output of node.outputs) define(output);
  const inner = (graph: Graph): Graph => {
    const copy = graph.clone();
    const own = [...graph.inputs.map(({ name }) => name), ...graph.initializers.keys()];
    // A name of an inner graph hides one from outside only within it.
    const hidden = new Map(names);
    for (const name of [...own, ...graph.nodes.flatMap(({ outputs }) => outputs)]) names.delete(name);
    for (const name of own) define(name);
    copy.nodes = renamed(graph.nodes, names, taken, labelOf);
    copy.inputs = graph.inputs.map((value) => ({ ...value, name: rename(value.name) }));
    copy.outputs = graph.outputs.map((value) => ({ ...value, name: rename(value.name) }));
    copy.initializers = new Map([...graph.initializers].map(([name, tensor]) => [rename(name), tensor]));
    copy.valueInfo = [];
    names.clear();
    for (const [name, to] of hidden) names.set(name, to);
    return copy;
  };
  return nodes.map((node) => {
    const copy = node.clone();
    copy.inputs = node.inputs.map(rename);
    copy.outputs = node.outputs.map(rename);
    mapAttributes(copy, (value) =>
      value.type === 'graph'
        ? { type: 'graph', value: inner(value.value) }
        : value.type === 'graphs'
          ? { type: 'graphs', value: value.value.map(inner) }
          : value,
    );
    return copy;
  });
}

const keyOf = (domain: string, name: string, overload: string): string =>
  `${domain === 'ai.onnx' ? '' : domain}::${name}::${overload}`;

/**
 * Versions of the default domain from which an operator takes something elsewhere or means something else by default:
 * a function written for one side of such a version cannot be read as if it were for the other (ONNX's changelog).
 */
const changes: Readonly<Record<string, readonly number[]>> = {
  Split: [13, 18],
  Squeeze: [13],
  Unsqueeze: [13],
  ReduceSum: [13],
  Softmax: [13],
  LogSoftmax: [13],
  ...Object.fromEntries(
    'ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare'
      .split(' ')
      .map((name) => [name, [18]]),
  ),
  Pad: [11],
  Slice: [10],
  Clip: [11],
  TopK: [10],
  Dropout: [12],
};

function checkVersions(definition: OnnxFunction, call: GraphNode, opsets: Map<string, number>): void {
  for (const [domain, version] of definition.opsets) {
    const here = opsets.get(domain);
    if (here === undefined) {
      opsets.set(domain, version);
      continue;
    }
    if (here === version || domain !== '') continue;
    const [low, high] = [Math.min(here, version), Math.max(here, version)];
    const changed = definition.nodes.find(
      (node) => !node.domain && changes[node.operator]?.some((change) => low < change && change <= high),
    );
    if (changed)
      throw new HumanError(
        'unsupported',
        `The function ${definition.name} (node "${call.place}") is written for opset ${version}, the graph for opset ${here}, and ${changed.operator} changed in between.`,
        { todo: 'Export the model again with one opset for all of it.' },
      );
  }
}

/**
 * The model with its functions put in place of the nodes that call them, those inside functions and inner graphs too.
 * Values and nodes get names that begin with the calling node's and the function's, so that messages say where they are.
 * @throws HumanError where functions call each other in a circle
 */
export function inlineFunctions(model: OnnxModel): OnnxModel {
  if (model.functions.length === 0) return model;
  const table = new Map(
    model.functions.map((definition) => [keyOf(definition.domain, definition.name, definition.overload), definition]),
  );
  const opsets = new Map(model.opsets);
  const taken = definedNames(model.graph);

  const body = (call: GraphNode, definition: OnnxFunction): GraphNode[] => {
    checkVersions(definition, call, opsets);
    const place = `${call.place}/${definition.name}`;
    const names = new Map<string, string>();
    definition.inputs.forEach((name, at) => {
      names.set(name, call.input(at));
    });
    const passed: GraphNode[] = [];
    const made = new Set(definition.nodes.flatMap(({ outputs }) => outputs));
    definition.outputs.forEach((name, at) => {
      const output = call.output(at);
      if (!output) return;
      // An output that is an input of the function, or one given twice, needs a node of its own.
      if (made.has(name) && !names.has(name)) names.set(name, output);
      else passed.push(new GraphNode('Identity', [name], [output]));
    });
    const given = (value: Attribute): Attribute | null =>
      value.type === 'reference'
        ? (call.attributes.get(value.value) ?? definition.defaults.get(value.value) ?? null)
        : value;
    const withAttributes = (node: GraphNode): GraphNode => {
      const copy = node.clone();
      const inner = (graph: Graph): Graph => {
        const changed = graph.clone();
        changed.nodes = graph.nodes.map(withAttributes);
        return changed;
      };
      mapAttributes(copy, (value) => {
        const actual = given(value);
        if (actual?.type === 'graph') return { type: 'graph', value: inner(actual.value) };
        return actual?.type === 'graphs' ? { type: 'graphs', value: actual.value.map(inner) } : actual;
      });
      copy.name = `${place}/${node.place}`;
      return copy;
    };
    const nodes = renamed(definition.nodes.map(withAttributes), names, taken, (name) => `${place}/${name}`);
    for (const node of passed) node.inputs = node.inputs.map((name) => names.get(name) ?? name);
    return [...nodes, ...passed];
  };

  const expand = (nodes: readonly GraphNode[], calls: readonly string[]): GraphNode[] =>
    nodes.flatMap((node) => {
      mapAttributes(node, (value) => {
        const inner = (graph: Graph): Graph => {
          graph.nodes = expand(graph.nodes, calls);
          return graph;
        };
        if (value.type === 'graph') return { type: 'graph', value: inner(value.value) };
        return value.type === 'graphs' ? { type: 'graphs', value: value.value.map(inner) } : value;
      });
      const key = keyOf(node.domain, node.operator, node.overload);
      const definition = table.get(key);
      if (!definition) return [node];
      if (calls.includes(key))
        throw new HumanError('bad-input', `The function ${definition.name} (node "${node.place}") calls itself.`, {
          todo: 'The file is damaged or was edited wrongly: export the model again.',
        });
      return expand(body(node, definition), [...calls, key]);
    });

  const graph = model.graph.clone();
  graph.nodes = expand(graph.nodes, []);
  return { ...model, opsets, graph, functions: [] };
}

/** What takes the place of an If whose branch is known. */
export interface Branch {
  /** In topological order; their last outputs are named as those of the If. */
  nodes: GraphNode[];
  initializers: Graph['initializers'];
}

/** A branch of an If with names that are not in `taken`; its outputs have the names of the If's. */
export function branchOf(node: GraphNode, taken: Set<string>, holds: boolean): Branch {
  const attribute = node.attributes.get(holds ? 'then_branch' : 'else_branch');
  if (attribute?.type !== 'graph') throw new Error(`the If "${node.place}" has no such branch`);
  const branch = attribute.value.clone();
  branch.sort();
  const names = new Map<string, string>();
  const made = new Set(branch.nodes.flatMap(({ outputs }) => outputs));
  const passed: GraphNode[] = [];
  branch.outputs.forEach(({ name }, at) => {
    const output = node.output(at);
    if (!output) return;
    if (made.has(name) && !names.has(name)) names.set(name, output);
    else passed.push(new GraphNode('Identity', [name], [output]));
  });
  for (const name of branch.initializers.keys()) names.set(name, unique(taken, name));
  const nodes = renamed(branch.nodes, names, taken, (name) => name);
  for (const each of passed) each.inputs = each.inputs.map((name) => names.get(name) ?? name);
  return {
    nodes: [...nodes, ...passed],
    initializers: new Map([...branch.initializers].map(([name, tensor]) => [names.get(name) ?? name, tensor])),
  };
}

/** Operators that keep a truth value what it is. */
const passing = new Set(['Identity', 'Cast', 'Reshape', 'Squeeze', 'Unsqueeze', 'Flatten']);

/**
 * The graph with every If whose condition is a constant, or follows from `known` inputs, replaced by the branch that is
 * taken. Inputs of `known` stay where something else reads them and go where nothing does.
 */
export function inlineBranches<Model extends OnnxModel>(
  model: Model,
  known: ReadonlyMap<string, boolean> = new Map(),
): Model {
  if (!model.graph.nodes.some(({ operator, domain }) => operator === 'If' && !domain)) return model;
  const graph = model.graph.clone();
  for (let changed = true; changed; ) {
    changed = false;
    const producers = graph.producers();
    const truth = (name: string): boolean | null => {
      const given = known.get(name);
      if (given !== undefined) return given;
      const constant = graph.constantOf(name, producers);
      if (constant?.data) return numbersOf(constant)[0] !== 0;
      const node = producers.get(name);
      if (!node || node.domain) return null;
      if (passing.has(node.operator)) return truth(node.input(0));
      const value = node.operator === 'Not' ? truth(node.input(0)) : null;
      return value === null ? null : !value;
    };
    const added: string[] = [];
    graph.nodes = graph.nodes.flatMap((node) => {
      const holds = node.operator === 'If' && !node.domain ? truth(node.input(0)) : null;
      if (holds === null) return [node];
      changed = true;
      const taken = definedNames(graph, node);
      for (const name of [...node.outputs, ...added]) taken.add(name);
      const { nodes, initializers } = branchOf(node, taken, holds);
      for (const [name, tensor] of initializers) graph.initializers.set(name, tensor);
      added.push(...nodes.flatMap(({ outputs }) => outputs));
      return nodes;
    });
  }
  const copy = graph.clone();
  const read = new Set(copy.nodes.flatMap((node) => [...node.inputs, ...node.subgraphs().flatMap(readInside)]));
  copy.inputs = copy.inputs.filter(({ name }) => !known.has(name) || read.has(name));
  copy.prune();
  return { ...model, graph: copy };
}

const readInside = (graph: Graph): string[] =>
  graph.nodes.flatMap((node) => [...node.inputs, ...node.subgraphs().flatMap(readInside)]);

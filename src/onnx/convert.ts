/** Between the messages of a file and the structures that we walk. */
import { HumanError } from '../shared/errors.ts';
import { type Attribute, type Dimension, Graph, GraphNode, type ValueInfo } from './graph.ts';
import type {
  AttributeMessage,
  FunctionMessage,
  GraphMessage,
  Int64,
  ModelMessage,
  NodeMessage,
  TensorMessage,
  ValueInfoMessage,
} from './schema.ts';
import { bytesOf, dataTypeOf, dataTypes, sizeOf, type Tensor, tensorOf } from './tensor.ts';

/** A function of the file: an operator that is defined by nodes. */
export interface OnnxFunction {
  domain: string;
  name: string;
  overload: string;
  inputs: string[];
  outputs: string[];
  attributes: string[];
  defaults: Map<string, Attribute>;
  nodes: GraphNode[];
  opsets: Map<string, number>;
}

export interface OnnxModel {
  irVersion: number;
  producer: string;
  producerVersion: string;
  /** Domain → version; the default domain is ''. */
  opsets: Map<string, number>;
  metadata: Map<string, string>;
  graph: Graph;
  functions: OnnxFunction[];
}

/** A graph of our own as a model, with what a file needs around it. `change`: what is to be otherwise. */
export const modelOf = (graph: Graph, opset: number, change: Partial<OnnxModel> = {}): OnnxModel => ({
  irVersion: 8,
  producer: 'softbench',
  producerVersion: '',
  opsets: new Map([['', opset]]),
  metadata: new Map(),
  graph,
  functions: [],
  ...change,
});

const text = new TextDecoder();
const bytes = new TextEncoder();
const long = (value: Int64 | undefined): number =>
  value === undefined ? 0 : typeof value === 'number' ? value : value.toNumber();

/** An integer for the file. 2^63, which is how a number holds the largest int64, is written as that. */
function int64(value: number): Int64 {
  if (value < 2 ** 63) return value;
  return { low: -1, high: 0x7fffffff, unsigned: false, toNumber: () => value, toString: () => '9223372036854775807' };
}

function tensorFromMessage(message: TensorMessage): Tensor {
  const dtype = dataTypeOf(message.dataType);
  const dims = (message.dims ?? []).map(long);
  if (dims.some((dim) => !Number.isSafeInteger(dim) || dim < 0) || !Number.isSafeInteger(bytesOf(dtype, dims)))
    throw new HumanError('bad-input', `The tensor "${message.name}" has the impossible shape [${dims.join(', ')}].`, {
      todo: 'The file is damaged: copy or export it again.',
    });
  if (message.dataLocation === 1) {
    const entries = new Map((message.externalData ?? []).map(({ key, value }) => [key, value]));
    const location = entries.get('location');
    const offset = Number(entries.get('offset') ?? 0);
    const length = entries.has('length') ? Number(entries.get('length')) : null;
    if (!location || !Number.isSafeInteger(offset) || offset < 0 || (length !== null && !Number.isSafeInteger(length)))
      throw new HumanError('bad-input', `The tensor "${message.name}" says in a broken way where its bytes are.`, {
        todo: 'Export the model again.',
      });
    return { dtype, dims, external: { location, offset, length } };
  }
  if (dtype === 'string') return stringTensor(message, dims);
  const raw = message.rawData;
  if (raw && raw.length > 0) {
    if (raw.length !== bytesOf(dtype, dims))
      throw new HumanError(
        'bad-input',
        `The tensor "${message.name}" has ${raw.length} bytes; its shape [${dims.join(', ')}] of ${dtype} needs ${bytesOf(dtype, dims)}.`,
        { todo: 'The file is damaged: copy or export it again.' },
      );
    return { dtype, dims, data: raw };
  }
  const typed = (): number[] => {
    switch (dtype) {
      case 'float32':
        return message.floatData ?? [];
      case 'float64':
        return message.doubleData ?? [];
      case 'int64':
        return (message.int64Data ?? []).map(long);
      case 'uint64':
      case 'uint32':
        return (message.uint64Data ?? []).map(long);
      default:
        return message.int32Data ?? [];
    }
  };
  const values = typed();
  // Two 4-bit numbers stand in one field, and a complex number in two.
  const { bits } = dataTypes[dtype];
  const fields = bits < 8 ? bytesOf(dtype, dims) : dtype.startsWith('complex') ? 2 * sizeOf(dims) : sizeOf(dims);
  if (values.length !== fields)
    throw new HumanError(
      'bad-input',
      `The tensor "${message.name}" has ${values.length} values; its shape [${dims.join(', ')}] needs ${fields}.`,
      { todo: 'The file is damaged: copy or export it again.' },
    );
  // Small types stand in int32 fields: bit patterns for 16-bit floats.
  if (dtype === 'float16' || dtype === 'bfloat16' || dtype === 'uint16' || dtype === 'int16')
    return { dtype, dims, data: new Uint8Array(Uint16Array.from(values).buffer) };
  if (dtype === 'uint64') return { dtype, dims, data: new Uint8Array(BigUint64Array.from(values, BigInt).buffer) };
  if (dtype === 'uint32') return { dtype, dims, data: new Uint8Array(Uint32Array.from(values).buffer) };
  if (bits <= 8) return { dtype, dims, data: Uint8Array.from(values) };
  return { ...tensorOf(dtype, dims, values), dims };
}

function stringTensor(message: TensorMessage, dims: number[]): Tensor {
  const strings = [...(message.stringData ?? [])];
  if (strings.length !== sizeOf(dims))
    throw new HumanError(
      'bad-input',
      `The tensor "${message.name}" has ${strings.length} strings; its shape [${dims.join(', ')}] needs ${sizeOf(dims)}.`,
      { todo: 'The file is damaged: copy or export it again.' },
    );
  return { dtype: 'string', dims, strings };
}

function messageFromTensor(name: string, tensor: Tensor): TensorMessage {
  const message: TensorMessage = { name, dims: tensor.dims, dataType: dataTypes[tensor.dtype].code };
  if (tensor.external) {
    const { location, offset, length } = tensor.external;
    message.dataLocation = 1;
    message.externalData = [
      { key: 'location', value: location },
      { key: 'offset', value: String(offset) },
      { key: 'length', value: String(length ?? bytesOf(tensor.dtype, tensor.dims)) },
    ];
  } else if (tensor.strings) message.stringData = tensor.strings;
  else message.rawData = tensor.data ?? new Uint8Array();
  return message;
}

const attributeTypes = {
  float: 1,
  int: 2,
  string: 3,
  tensor: 4,
  graph: 5,
  floats: 6,
  ints: 7,
  strings: 8,
  tensors: 9,
  graphs: 10,
} as const;

function attributeFromMessage(message: AttributeMessage): Attribute {
  if (message.refAttrName) return { type: 'reference', value: message.refAttrName, kind: message.type ?? 0 };
  // Files older than IR version 4 may leave the type out: then the one field that is there decides.
  const type =
    message.type ||
    (message.t ? 4 : message.g ? 5 : message.s?.length ? 3 : message.ints?.length ? 7 : message.floats?.length ? 6 : 2);
  switch (type) {
    case attributeTypes.float:
      return { type: 'float', value: message.f ?? 0 };
    case attributeTypes.int:
      return { type: 'int', value: long(message.i) };
    case attributeTypes.string:
      return { type: 'string', value: text.decode(message.s) };
    case attributeTypes.tensor:
      return { type: 'tensor', value: tensorFromMessage(message.t ?? {}) };
    case attributeTypes.graph:
      return { type: 'graph', value: graphFromMessage(message.g ?? {}) };
    case attributeTypes.floats:
      return { type: 'floats', value: [...(message.floats ?? [])] };
    case attributeTypes.ints:
      return { type: 'ints', value: (message.ints ?? []).map(long) };
    case attributeTypes.strings:
      return { type: 'strings', value: (message.strings ?? []).map((value) => text.decode(value)) };
    case attributeTypes.tensors:
      return { type: 'tensors', value: (message.tensors ?? []).map(tensorFromMessage) };
    case attributeTypes.graphs:
      return { type: 'graphs', value: (message.graphs ?? []).map(graphFromMessage) };
    default:
      return { type: 'other', value: message };
  }
}

function messageFromAttribute(name: string, attribute: Attribute): AttributeMessage {
  switch (attribute.type) {
    case 'reference':
      return { name, refAttrName: attribute.value, type: attribute.kind };
    case 'other':
      return attribute.value as AttributeMessage;
    case 'float':
      return { name, type: 1, f: attribute.value };
    case 'int':
      return { name, type: 2, i: int64(attribute.value) };
    case 'string':
      return { name, type: 3, s: bytes.encode(attribute.value) };
    case 'tensor':
      return { name, type: 4, t: messageFromTensor('', attribute.value) };
    case 'graph':
      return { name, type: 5, g: messageFromGraph(attribute.value) };
    case 'floats':
      return { name, type: 6, floats: attribute.value };
    case 'ints':
      return { name, type: 7, ints: attribute.value.map(int64) };
    case 'strings':
      return { name, type: 8, strings: attribute.value.map((value) => bytes.encode(value)) };
    case 'tensors':
      return { name, type: 9, tensors: attribute.value.map((value) => messageFromTensor('', value)) };
    case 'graphs':
      return { name, type: 10, graphs: attribute.value.map(messageFromGraph) };
  }
}

function nodeFromMessage(message: NodeMessage): GraphNode {
  const attributes = new Map(
    (message.attribute ?? []).map((attribute) => [attribute.name ?? '', attributeFromMessage(attribute)]),
  );
  return new GraphNode(
    message.opType ?? '',
    [...(message.input ?? [])],
    [...(message.output ?? [])],
    attributes,
    message.name ?? '',
    message.domain ?? '',
    message.overload ?? '',
  );
}

function messageFromNode(node: GraphNode): NodeMessage {
  const message: NodeMessage = { input: node.inputs, output: node.outputs, opType: node.operator };
  if (node.name) message.name = node.name;
  if (node.domain) message.domain = node.domain;
  if (node.overload) message.overload = node.overload;
  if (node.attributes.size > 0)
    message.attribute = [...node.attributes].map(([name, value]) => messageFromAttribute(name, value));
  return message;
}

function valueFromMessage(message: ValueInfoMessage): ValueInfo {
  const tensor = message.type?.tensorType;
  const value: ValueInfo = {
    name: message.name ?? '',
    dtype: tensor?.elemType ? dataTypeOf(tensor.elemType) : null,
    dims: tensor?.shape
      ? (tensor.shape.dim ?? []).map(
          (dim): Dimension =>
            // A field that the file lacks reads as its default: only an own property is said.
            Object.hasOwn(dim, 'dimValue') ? long(dim.dimValue) : dim.dimParam || null,
        )
      : null,
  };
  if (message.type && !tensor) value.otherType = message.type;
  return value;
}

function messageFromValue(value: ValueInfo): ValueInfoMessage {
  if (value.otherType) return { name: value.name, type: value.otherType as ValueInfoMessage['type'] };
  if (!value.dtype) return { name: value.name };
  const shape = value.dims?.map((dim) =>
    typeof dim === 'number' ? { dimValue: dim } : dim === null ? {} : { dimParam: dim },
  );
  return {
    name: value.name,
    type: { tensorType: { elemType: dataTypes[value.dtype].code, ...(shape ? { shape: { dim: shape } } : {}) } },
  };
}

function graphFromMessage(message: GraphMessage): Graph {
  const graph = new Graph();
  graph.name = message.name ?? '';
  graph.nodes = (message.node ?? []).map(nodeFromMessage);
  graph.initializers = new Map(
    (message.initializer ?? []).map((tensor) => [tensor.name ?? '', tensorFromMessage(tensor)]),
  );
  if (graph.initializers.size !== (message.initializer ?? []).length)
    throw new HumanError('bad-input', 'The graph has two initialisers of one name, or some without a name.', {
      todo: 'The file is damaged or was edited wrongly: export the model again.',
    });
  // Before IR version 4 every initialiser was an input too; they are constants here.
  graph.inputs = (message.input ?? []).map(valueFromMessage).filter(({ name }) => !graph.initializers.has(name));
  graph.outputs = (message.output ?? []).map(valueFromMessage);
  graph.valueInfo = (message.valueInfo ?? []).map(valueFromMessage);
  return graph;
}

function messageFromGraph(graph: Graph): GraphMessage {
  return {
    name: graph.name || 'graph',
    node: graph.nodes.map(messageFromNode),
    initializer: [...graph.initializers].map(([name, tensor]) => messageFromTensor(name, tensor)),
    input: graph.inputs.map(messageFromValue),
    output: graph.outputs.map(messageFromValue),
    valueInfo: graph.valueInfo.map(messageFromValue),
  };
}

const opsetsOf = (entries: ModelMessage['opsetImport']): Map<string, number> =>
  new Map((entries ?? []).map(({ domain, version }) => [domain === 'ai.onnx' || !domain ? '' : domain, long(version)]));

function functionFromMessage(message: FunctionMessage): OnnxFunction {
  return {
    domain: message.domain ?? '',
    name: message.name ?? '',
    overload: typeof message.overload === 'string' ? message.overload : '',
    inputs: [...(message.input ?? [])],
    outputs: [...(message.output ?? [])],
    attributes: [...(message.attribute ?? [])],
    defaults: new Map((message.attributeProto ?? []).map((value) => [value.name ?? '', attributeFromMessage(value)])),
    nodes: (message.node ?? []).map(nodeFromMessage),
    opsets: opsetsOf(message.opsetImport),
  };
}

export function modelFromMessage(message: ModelMessage): OnnxModel {
  return {
    irVersion: long(message.irVersion),
    producer: message.producerName ?? '',
    producerVersion: message.producerVersion ?? '',
    opsets: opsetsOf(message.opsetImport),
    metadata: new Map((message.metadataProps ?? []).map(({ key, value }) => [key, value])),
    graph: graphFromMessage(message.graph ?? {}),
    functions: (message.functions ?? []).map(functionFromMessage),
  };
}

export function messageFromModel(model: OnnxModel): ModelMessage {
  const opsets = (map: Map<string, number>): { domain: string; version: number }[] =>
    [...map].map(([domain, version]) => ({ domain, version }));
  return {
    irVersion: model.irVersion,
    producerName: model.producer,
    producerVersion: model.producerVersion,
    opsetImport: opsets(model.opsets),
    metadataProps: [...model.metadata].map(([key, value]) => ({ key, value })),
    graph: messageFromGraph(model.graph),
    functions: model.functions.map((definition) => ({
      domain: definition.domain,
      name: definition.name,
      ...(definition.overload ? { overload: definition.overload } : {}),
      input: definition.inputs,
      output: definition.outputs,
      attribute: definition.attributes,
      attributeProto: [...definition.defaults].map(([name, value]) => messageFromAttribute(name, value)),
      node: definition.nodes.map(messageFromNode),
      opsetImport: opsets(definition.opsets),
    })),
  };
}

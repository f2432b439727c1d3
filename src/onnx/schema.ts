/**
 * The ONNX file format as a table: message → field → number, type. Numbers are those of the format's published
 * definition (IR version 13); messages that no language model uses (training info, sparse tensors, device
 * configurations) are left out and skipped by the reader.
 */
import protobuf from 'protobufjs/light.js';

type FieldRow = [id: number, type: string, rule?: 'repeated' | 'packed'];

const messages: Record<string, Record<string, FieldRow>> = {
  Model: {
    irVersion: [1, 'int64'],
    producerName: [2, 'string'],
    producerVersion: [3, 'string'],
    domain: [4, 'string'],
    modelVersion: [5, 'int64'],
    docString: [6, 'string'],
    graph: [7, 'Graph'],
    opsetImport: [8, 'OperatorSetId', 'repeated'],
    metadataProps: [14, 'StringStringEntry', 'repeated'],
    functions: [25, 'Function', 'repeated'],
  },
  OperatorSetId: { domain: [1, 'string'], version: [2, 'int64'] },
  StringStringEntry: { key: [1, 'string'], value: [2, 'string'] },
  Graph: {
    node: [1, 'Node', 'repeated'],
    name: [2, 'string'],
    initializer: [5, 'Tensor', 'repeated'],
    docString: [10, 'string'],
    input: [11, 'ValueInfo', 'repeated'],
    output: [12, 'ValueInfo', 'repeated'],
    valueInfo: [13, 'ValueInfo', 'repeated'],
  },
  Node: {
    input: [1, 'string', 'repeated'],
    output: [2, 'string', 'repeated'],
    name: [3, 'string'],
    opType: [4, 'string'],
    attribute: [5, 'Attribute', 'repeated'],
    domain: [7, 'string'],
    overload: [8, 'string'],
  },
  Attribute: {
    name: [1, 'string'],
    f: [2, 'float'],
    i: [3, 'int64'],
    s: [4, 'bytes'],
    t: [5, 'Tensor'],
    g: [6, 'Graph'],
    floats: [7, 'float', 'repeated'],
    ints: [8, 'int64', 'repeated'],
    strings: [9, 'bytes', 'repeated'],
    tensors: [10, 'Tensor', 'repeated'],
    graphs: [11, 'Graph', 'repeated'],
    tp: [14, 'Type'],
    typeProtos: [15, 'Type', 'repeated'],
    type: [20, 'int32'],
    refAttrName: [21, 'string'],
  },
  Tensor: {
    dims: [1, 'int64', 'repeated'],
    dataType: [2, 'int32'],
    floatData: [4, 'float', 'packed'],
    int32Data: [5, 'int32', 'packed'],
    stringData: [6, 'bytes', 'repeated'],
    int64Data: [7, 'int64', 'packed'],
    name: [8, 'string'],
    rawData: [9, 'bytes'],
    doubleData: [10, 'double', 'packed'],
    uint64Data: [11, 'uint64', 'packed'],
    externalData: [13, 'StringStringEntry', 'repeated'],
    dataLocation: [14, 'int32'],
  },
  ValueInfo: { name: [1, 'string'], type: [2, 'Type'] },
  Type: {
    tensorType: [1, 'TensorType'],
    sequenceType: [4, 'ElementType'],
    mapType: [5, 'MapType'],
    denotation: [6, 'string'],
    sparseTensorType: [8, 'TensorType'],
    optionalType: [9, 'ElementType'],
  },
  TensorType: { elemType: [1, 'int32'], shape: [2, 'Shape'] },
  ElementType: { elemType: [1, 'Type'] },
  MapType: { keyType: [1, 'int32'], valueType: [2, 'Type'] },
  Shape: { dim: [1, 'Dimension', 'repeated'] },
  Dimension: { dimValue: [1, 'int64'], dimParam: [2, 'string'], denotation: [3, 'string'] },
  Function: {
    name: [1, 'string'],
    input: [4, 'string', 'repeated'],
    output: [5, 'string', 'repeated'],
    attribute: [6, 'string', 'repeated'],
    node: [7, 'Node', 'repeated'],
    docString: [8, 'string'],
    opsetImport: [9, 'OperatorSetId', 'repeated'],
    domain: [10, 'string'],
    attributeProto: [11, 'Attribute', 'repeated'],
    valueInfo: [12, 'ValueInfo', 'repeated'],
    overload: [13, 'string'],
  },
};

/** A 64-bit integer as protobufjs gives and takes it. */
export type Int64 = number | { low: number; high: number; unsigned: boolean; toNumber(): number; toString(): string };

// What decoding gives: only fields that the file has, the rest undefined or an empty array.
export interface ModelMessage {
  irVersion?: Int64;
  producerName?: string;
  producerVersion?: string;
  domain?: string;
  modelVersion?: Int64;
  docString?: string;
  graph?: GraphMessage | null;
  opsetImport?: { domain?: string; version?: Int64 }[];
  metadataProps?: StringEntry[];
  functions?: FunctionMessage[];
}
export interface StringEntry {
  key: string;
  value: string;
}
export interface GraphMessage {
  node?: NodeMessage[];
  name?: string;
  initializer?: TensorMessage[];
  docString?: string;
  input?: ValueInfoMessage[];
  output?: ValueInfoMessage[];
  valueInfo?: ValueInfoMessage[];
}
export interface NodeMessage {
  input?: string[];
  output?: string[];
  name?: string;
  opType?: string;
  attribute?: AttributeMessage[];
  domain?: string;
  overload?: string;
}
export interface AttributeMessage {
  name?: string;
  f?: number;
  i?: Int64;
  s?: Uint8Array;
  t?: TensorMessage | null;
  g?: GraphMessage | null;
  floats?: number[];
  ints?: Int64[];
  strings?: Uint8Array[];
  tensors?: TensorMessage[];
  graphs?: GraphMessage[];
  tp?: TypeMessage | null;
  typeProtos?: TypeMessage[];
  type?: number;
  refAttrName?: string;
}
export interface TensorMessage {
  dims?: Int64[];
  dataType?: number;
  floatData?: number[];
  int32Data?: number[];
  stringData?: Uint8Array[];
  int64Data?: Int64[];
  name?: string;
  rawData?: Uint8Array;
  doubleData?: number[];
  uint64Data?: Int64[];
  externalData?: StringEntry[];
  dataLocation?: number;
}
export interface ValueInfoMessage {
  name?: string;
  type?: TypeMessage | null;
}
export interface TypeMessage {
  tensorType?: { elemType?: number; shape?: { dim?: DimensionMessage[] } | null } | null;
  [other: string]: unknown;
}
export interface DimensionMessage {
  dimValue?: Int64;
  dimParam?: string;
}
export interface FunctionMessage {
  name?: string;
  input?: string[];
  output?: string[];
  attribute?: string[];
  node?: NodeMessage[];
  opsetImport?: { domain?: string; version?: Int64 }[];
  domain?: string;
  attributeProto?: AttributeMessage[];
  [other: string]: unknown;
}

let modelType: protobuf.Type | undefined;

function type(): protobuf.Type {
  if (!modelType) {
    const root = new protobuf.Root();
    for (const [name, fields] of Object.entries(messages)) {
      const message = new protobuf.Type(name);
      for (const [field, [id, fieldType, rule]] of Object.entries(fields))
        message.add(
          new protobuf.Field(
            field,
            id,
            fieldType,
            rule ? 'repeated' : 'optional',
            undefined,
            rule === undefined ? undefined : { packed: rule === 'packed' },
          ),
        );
      root.add(message);
    }
    modelType = root.lookupType('Model');
  }
  return modelType;
}

/** Bytes of a file as a message; `bytes` fields are views into `bytes`, not copies. Throws on malformed bytes. */
export function decodeModel(bytes: Uint8Array): ModelMessage {
  return type().decode(bytes) as unknown as ModelMessage;
}

export function encodeModel(message: ModelMessage): Uint8Array {
  return type()
    .encode(message as Record<string, unknown>)
    .finish();
}

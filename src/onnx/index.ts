/** ONNX files in memory: open with checks, walk and edit the graph, write it with its weights left in the user's file. */
export { modelOf, type OnnxFunction, type OnnxModel } from './convert.ts';
export { computationOf, eitherWay, smallTensorText } from './equality.ts';
export {
  decodeOnnx,
  encodeOnnx,
  type OnnxFile,
  readExternal,
  readOnnxFile,
  tensorBytes,
  weightsInPlace,
} from './file.ts';
export {
  type AddOptions,
  type Attribute,
  type AttributeValues,
  attribute,
  constantNumbers,
  constantValue,
  type Dimension,
  Graph,
  GraphNode,
  readBy,
  type ValueInfo,
} from './graph.ts';
export { type Branch, branchOf, definedNames, inlineBranches, inlineFunctions } from './inline.ts';
export { raiseOpset } from './opset.ts';
export {
  bytesOf,
  type DataType,
  dataTypes,
  type ExternalData,
  float16ToNumber,
  isFloat,
  numbersOf,
  numberToFloat16,
  sizeOf,
  type Tensor,
  tensorOf,
} from './tensor.ts';

/** Opening ONNX files with checks, and writing edited graphs whose weights stay where they are. */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { asError, HumanError } from '../shared/errors.ts';
import { checkGraph } from './check.ts';
import { messageFromModel, modelFromMessage, type OnnxModel } from './convert.ts';
import { locateWeights, type WeightPlaces } from './external.ts';
import type { Graph } from './graph.ts';
import { inlineBranches, inlineFunctions } from './inline.ts';
import { decodeModel, encodeModel } from './schema.ts';
import { bytesOf, type Tensor } from './tensor.ts';

/** A model and the file that it was read from. */
export interface OnnxFile extends OnnxModel, WeightPlaces {
  /** Absolute path of the graph file. */
  file: string;
  /** The file's bytes, which embedded weights are views of; null once they are referred to by offset. */
  source: Uint8Array | null;
}

const reexport = 'Copy the file again, or export the model again.';

/** An error of the graph's, with the file that it is in. */
const atFile = (thrown: unknown, file: string): unknown =>
  thrown instanceof HumanError
    ? new HumanError(thrown.kind, thrown.message, { place: { file }, todo: reexport, ...thrown.details })
    : thrown;

/**
 * Reads a graph file. Weights beside it (external data) are not read, only checked to be there.
 * @throws HumanError where the file is missing, truncated, not ONNX, or its external data is missing or too short.
 */
export function readOnnxFile(path: string): OnnxFile {
  const file = resolve(path);
  const broken = (message: string, todo = reexport, cause?: unknown): HumanError =>
    new HumanError('bad-input', message, { place: { file }, todo, cause });
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code;
    if (code === 'ENOENT')
      throw new HumanError('missing', 'The ONNX file is not there.', {
        place: { file },
        todo: 'Check the model folder.',
        cause: thrown,
      });
    if (code === 'ERR_FS_FILE_TOO_LARGE')
      throw new HumanError('unsupported', 'The ONNX file is larger than 2 GB.', {
        place: { file },
        todo: 'Save it with its weights as external data (onnx.save_model(…, save_as_external_data=True)).',
        cause: thrown,
      });
    if (code === 'EISDIR') throw broken('This is a folder, not an ONNX file.', 'Give an .onnx file.', thrown);
    throw new HumanError('missing', `The ONNX file could not be read (${asError(thrown).message}).`, {
      place: { file },
      todo: 'Check its permissions.',
      cause: thrown,
    });
  }
  if (bytes.length === 0) throw broken('The ONNX file is empty.');
  if (bytes.subarray(0, 40).toString('latin1').startsWith('version https://git-lfs'))
    throw broken('This is a Git LFS pointer, not the ONNX file itself.', 'Run `git lfs pull` in the model folder.');
  let model: OnnxModel;
  try {
    const message = decodeModel(bytes);
    if (!message.graph) throw broken('The file has no graph in it: it is not an ONNX model.');
    model = modelFromMessage(message);
  } catch (thrown) {
    if (thrown instanceof HumanError) throw atFile(thrown, file);
    // A limit of the format's readers, ONNX Runtime's among them: three levels of messages for each level of graphs.
    if (/max depth exceeded/.test(asError(thrown).message))
      throw broken('Graphs inside graphs (If, Loop) are nested more than 30 deep in this file.');
    throw broken(
      `The file is truncated or not an ONNX model (${asError(thrown).message}; ${bytes.length} bytes).`,
      reexport,
      thrown,
    );
  }
  if (model.graph.nodes.length === 0 || model.graph.outputs.length === 0)
    throw broken('The graph in this file has no nodes or no outputs.');
  try {
    model = inlineFunctions(model);
    checkGraph(model.graph);
    model = inlineBranches(model);
  } catch (thrown) {
    throw atFile(thrown, file);
  }
  return { ...model, file, ...locateWeights(model, file), source: bytes };
}

/**
 * Makes every large initialiser external data: those embedded in the graph file by their byte offset in that file.
 * After this the file's buffer is free to go, and edited graphs are small when written.
 * Sessions need the folder of the file (`session.model_external_initializers_file_folder_path`).
 */
export function weightsInPlace(model: OnnxFile, smallest = 1024): OnnxFile {
  const { source, location } = model;
  const visit = (graph: Graph): Graph => {
    const copy = graph.clone();
    for (const [name, tensor] of copy.initializers) copy.initializers.set(name, inPlace(tensor));
    for (const node of copy.nodes)
      for (const [name, attribute] of node.attributes)
        if (attribute.type === 'graph') node.attributes.set(name, { type: 'graph', value: visit(attribute.value) });
        else if (attribute.type === 'tensor')
          node.attributes.set(name, { type: 'tensor', value: inMemory(attribute.value) });
    return copy;
  };
  const inPlace = (tensor: Tensor): Tensor => {
    if (!tensor.data || tensor.data.byteLength < smallest) return inMemory(tensor);
    if (tensor.data.buffer !== source?.buffer) return tensor;
    const offset = tensor.data.byteOffset - source.byteOffset;
    return {
      dtype: tensor.dtype,
      dims: tensor.dims,
      external: { location, offset, length: tensor.data.byteLength },
    };
  };
  return { ...model, graph: visit(model.graph), source: null };
}

/** Small tensors as copies, so that they do not keep the whole file in memory. */
const inMemory = (tensor: Tensor): Tensor =>
  tensor.data && tensor.data.buffer.byteLength > tensor.data.byteLength
    ? { ...tensor, data: Uint8Array.from(tensor.data) }
    : tensor;

/** Bytes of a model for `InferenceSession.create`. */
export function encodeOnnx(model: OnnxModel): Uint8Array {
  return encodeModel(messageFromModel(model));
}

/** A model from bytes that are not a file's (tests, graphs built in memory). */
export function decodeOnnx(bytes: Uint8Array): OnnxModel {
  return modelFromMessage(decodeModel(bytes));
}

/** The bytes of a tensor, read from its file where it is external. */
export function tensorBytes(tensor: Tensor, folder: string): Uint8Array {
  if (tensor.data) return tensor.data;
  if (!tensor.external) throw new Error('This tensor has no bytes.');
  return readExternal(tensor, folder, 0, bytesOf(tensor.dtype, tensor.dims));
}

/** Part of an external tensor's bytes: `count` bytes from `start` on. */
export function readExternal(tensor: Tensor, folder: string, start: number, count: number): Uint8Array {
  if (tensor.data) return tensor.data.subarray(start, start + count);
  if (!tensor.external) throw new Error('This tensor has no bytes.');
  const path = join(folder, tensor.external.location);
  const handle = openSync(path, 'r');
  try {
    const buffer = new Uint8Array(count);
    let done = 0;
    while (done < count) {
      const read = readSync(handle, buffer, done, count - done, tensor.external.offset + start + done);
      if (read === 0)
        throw new HumanError('bad-input', `The file with the weights ended early (${fstatSync(handle).size} bytes).`, {
          place: { file: path },
          todo: reexport,
        });
      done += read;
    }
    return buffer;
  } finally {
    closeSync(handle);
  }
}

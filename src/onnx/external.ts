/** Weights beside the graph file: that they are there, whole, and nowhere else than they may be. */
import { realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { HumanError } from '../shared/errors.ts';
import type { OnnxModel } from './convert.ts';
import type { Graph, GraphNode } from './graph.ts';
import { bytesOf, type ExternalData, type Tensor } from './tensor.ts';

/** Where the bytes of a model's tensors lie. */
export interface WeightPlaces {
  /** Absolute path, free of links, that locations of external data are relative to. */
  folder: string;
  /** The graph file, relative to `folder`. */
  location: string;
  /** Absolute paths of the files with external data, as the graph file's own folder knows them; links are not followed. */
  weightFiles: string[];
}

type ExternalTensor = Tensor & { external: ExternalData };

/** Every tensor whose bytes are in another file, with the name that the graph knows it by. */
function* externalTensors({ graph, functions }: OnnxModel): Generator<[name: string, tensor: ExternalTensor]> {
  const isExternal = (tensor: Tensor): tensor is ExternalTensor => tensor.external !== undefined;
  function* ofGraph({ initializers, nodes }: Graph): Generator<[string, ExternalTensor]> {
    for (const [name, tensor] of initializers) if (isExternal(tensor)) yield [name, tensor];
    yield* ofNodes(nodes);
  }
  function* ofNodes(nodes: readonly GraphNode[]): Generator<[string, ExternalTensor]> {
    for (const node of nodes) {
      for (const attribute of node.attributes.values()) {
        const tensors =
          attribute.type === 'tensor' ? [attribute.value] : attribute.type === 'tensors' ? attribute.value : [];
        for (const tensor of tensors) if (isExternal(tensor)) yield [node.place, tensor];
      }
      for (const inner of node.subgraphs()) yield* ofGraph(inner);
    }
  }
  yield* ofGraph(graph);
  for (const { nodes } of functions) yield* ofNodes(nodes);
}

const isWithin = (folder: string, path: string): boolean => {
  const inside = relative(folder, path);
  return inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
};

/** The deepest folder that holds both; null where there is none (two drives). */
function commonFolder(folder: string, path: string): string | null {
  for (let common = folder; ; common = dirname(common)) {
    if (isWithin(common, path)) return common;
    if (common === dirname(common)) return null;
  }
}

/**
 * Checks the external data of a model read from `file`, and makes its locations relative to one folder without links:
 * ONNX Runtime opens nothing outside the folder that it is told, links followed. In the Hugging Face cache graph and
 * weights are links to neighbours in another folder, with other names.
 * @throws HumanError where a file of weights is missing, too short, or outside of the folders of the graph file (the one
 * in which it was found and, where it is a link, the one to which that leads)
 */
export function locateWeights(model: OnnxModel, file: string): WeightPlaces {
  const real = realpathSync(file);
  const found = dirname(file);
  const allowed = [...new Set([realpathSync(found), dirname(real)])];
  const files = new Map<string, { path: string; size: number }>();
  const open = (name: string, location: string): { path: string; size: number } => {
    const known = files.get(location);
    if (known) return known;
    const outside = (): HumanError =>
      new HumanError('bad-input', `The weight "${name}" is said to be in "${location}", outside the model's folder.`, {
        place: { file },
        todo: 'For safety such files are not opened: put the weights beside the graph.',
      });
    if (isAbsolute(location) || !isWithin(found, join(found, location))) throw outside();
    const opened = openable(join(found, location), location, file);
    if (!allowed.some((folder) => isWithin(folder, opened.path)))
      throw new HumanError(
        'bad-input',
        `The file with the weights, "${location}", is a link to ${opened.path}, outside the model's folder.`,
        {
          place: { file },
          todo: 'For safety such links are not followed: put the file itself beside the graph, or make the graph a link into the same folder too.',
        },
      );
    files.set(location, opened);
    return opened;
  };
  const tensors = [...externalTensors(model)];
  let folder: string = dirname(real);
  for (const [name, tensor] of tensors) {
    const { path, size } = open(name, tensor.external.location);
    checkExtent(name, tensor, { file, path, size });
    folder = commonFolder(folder, path) ?? folder;
  }
  const locationOf = (path: string): string => relative(folder, path).split(sep).join('/');
  for (const [, tensor] of tensors) {
    const { path } = open('', tensor.external.location);
    tensor.external = { ...tensor.external, location: locationOf(path) };
  }
  return {
    folder,
    location: locationOf(real),
    weightFiles: [...files.keys()].sort().map((name) => join(found, name)),
  };
}

/** A file's path without links, and its size. */
function openable(path: string, location: string, file: string): { path: string; size: number } {
  const refuse = (message: string, todo: string, cause?: unknown): HumanError =>
    new HumanError('missing', message, { place: { file }, todo, cause });
  try {
    const opened = { path: realpathSync(path), stat: statSync(path) };
    if (opened.stat.isFile()) return { path: opened.path, size: opened.stat.size };
  } catch (thrown) {
    const reason = (thrown as NodeJS.ErrnoException).code;
    if (reason === 'ENOENT' || reason === 'ENOTDIR')
      throw refuse(
        `The file with the weights, "${location}", is not there.`,
        `Put it at ${path}: it belongs to the graph file.`,
        thrown,
      );
    throw refuse(`The file with the weights, "${location}", cannot be opened (${reason}).`, 'Check it.', thrown);
  }
  throw refuse(`"${location}", which should hold the weights, is not a file.`, `Put the file of weights at ${path}.`);
}

function checkExtent(
  name: string,
  { dtype, dims, external: { offset, length } }: ExternalTensor,
  { file, path, size }: { file: string; path: string; size: number },
): void {
  const needed = bytesOf(dtype, dims);
  if (length !== null && length < needed)
    throw new HumanError(
      'bad-input',
      `The weight "${name}" needs ${needed} bytes, but ${length} are said to be there.`,
      { place: { file }, todo: 'Copy the file again, or export the model again.' },
    );
  if (offset + needed > size)
    throw new HumanError(
      'bad-input',
      `The file with the weights is too short: "${name}" ends at byte ${offset + needed}, the file at ${size}.`,
      { place: { file: path }, todo: 'It was copied or downloaded in part: get it again.' },
    );
}

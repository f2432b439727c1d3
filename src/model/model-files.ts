/** A model folder with its graph opened: everything that is known of a model before a session exists. */
import { type OnnxFile, readOnnxFile, weightsInPlace } from '../onnx/index.ts';
import type { ModelIdentity } from '../shared/results.ts';
import { sha256 } from '../system/index.ts';
import { digestFiles } from './digest.ts';
import { type ModelFolder, readModelFolder } from './folder.ts';
import { type ModelSignature, readSignature } from './signature.ts';

export interface ModelFiles {
  folder: ModelFolder;
  file: OnnxFile;
  signature: ModelSignature;
  /** Absolute paths of the files that hold weights outside of the graph file. */
  weightFiles: string[];
}

/**
 * Opens a model folder (or an ONNX file in one, to choose a variant): reads configuration and graph, checks that the
 * weights are all there. Throws HumanError where something is missing, broken or not a decoder of text.
 */
export function openModelFiles(path: string): ModelFiles {
  const folder = readModelFolder(path);
  // Weights inside the graph file are left there too: its bytes would stay in memory as long as the model.
  const file = weightsInPlace(readOnnxFile(folder.graphPath));
  const inputs = file.graph.inputs.filter(({ name }) => !file.graph.initializers.has(name));
  return {
    folder,
    file,
    signature: readSignature(folder.graphPath, inputs, file.graph.outputs),
    weightFiles: file.weightFiles,
  };
}

/** Who a model is: a name for people and digests for machines. */
export function identify({ folder, weightFiles }: ModelFiles): ModelIdentity {
  const graph = digestFiles([folder.graphPath]);
  return {
    name: folder.name,
    folder: folder.folder,
    graphFile: folder.graphFile,
    digests: {
      graph,
      // Weights inside the graph file are part of its digest.
      weights: weightFiles.length ? digestFiles(weightFiles) : graph,
      tokenizer: digestFiles([folder.tokenizerFile]),
      config: sha256(
        JSON.stringify([folder.config, folder.generationConfig, folder.tokenizerConfig, folder.chatTemplate]),
      ),
    },
  };
}

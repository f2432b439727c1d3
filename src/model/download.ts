/** Which files of a repository of the Hub make a model folder: one graph with its weights, tokenizer, configuration. */
import { type HubFile, type HubSettings, type Listing, listRepository } from '../hub/index.ts';
import { HumanError } from '../shared/errors.ts';
import { rankGraphs } from './folder.ts';

export interface ModelPlan {
  listing: Listing;
  files: HubFile[];
  /** The graph that is fetched, within the repository. */
  graph: string;
  /** The others that could be. */
  variants: { graph: string; bytes: number }[];
}

/** What a folder needs or can use beside the graph. */
const beside = [
  'config.json',
  'generation_config.json',
  'genai_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'added_tokens.json',
  'chat_template.jinja',
];

const inFolder = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

/**
 * Weights that exporters put beside a graph: `model.onnx_data`, `model.onnx_data_1`, `model.onnx.data`; and, where the graph
 * is the only one in its folder, files that cannot belong to another.
 */
function weightsOf(graph: string, files: readonly HubFile[], isOnly: boolean): HubFile[] {
  const folder = inFolder(graph);
  return files.filter(({ path }) => {
    if (inFolder(path) !== folder || path === graph) return false;
    const name = path.slice(folder.length);
    return (
      path.startsWith(`${graph}_data`) ||
      path.startsWith(`${graph}.data`) ||
      (isOnly && /\.(?:data|weight)$/.test(name))
    );
  });
}

/** Graphs of a repository, best first, each with its bytes. */
function graphsOf(files: readonly HubFile[]): { graph: string; files: HubFile[] }[] {
  const graphs = files
    .map(({ path }) => path)
    .filter((path) => path.endsWith('.onnx') && (!path.includes('/') || inFolder(path) === 'onnx/'));
  return rankGraphs(graphs).map((graph) => {
    const only = graphs.filter((other) => inFolder(other) === inFolder(graph)).length === 1;
    return { graph, files: [...files.filter(({ path }) => path === graph), ...weightsOf(graph, files, only)] };
  });
}

const bytesOf = (files: readonly HubFile[]): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

/**
 * Asks the Hub what a model's repository holds and chooses.
 * @param variant the end of a graph's name (`q4`, `fp16`), or its path; null: the most exact
 * @throws HumanError where it has no ONNX file, no tokenizer.json, or not that variant
 */
export async function planModel(
  id: string,
  revision: string | null,
  variant: string | null,
  settings: HubSettings,
  signal?: AbortSignal,
): Promise<ModelPlan> {
  const listing = await listRepository({ kind: 'model', id }, revision ?? 'main', settings, signal);
  const paths = new Set(listing.files.map(({ path }) => path));
  const graphs = graphsOf(listing.files);
  if (graphs.length === 0)
    throw new HumanError('unsupported', `The model ${id} has no ONNX file, neither at its top nor under onnx/.`, {
      todo: `Look for an exported one (onnx-community has many), or export it: pip install optimum-onnx && optimum-cli export onnx --model ${id} --task text-generation-with-past OUT_FOLDER`,
    });
  const names = graphs.map(({ graph }) => graph);
  const chosen =
    variant === null
      ? graphs[0]
      : graphs.find(
          ({ graph }) => graph === variant || graph === `onnx/${variant}` || graph.endsWith(`_${variant}.onnx`),
        );
  if (!chosen)
    throw new HumanError('bad-input', `The model ${id} has no graph "${variant}".`, {
      todo: `It has ${names.join(', ')}.`,
    });
  for (const needed of ['config.json', 'tokenizer.json'])
    if (!paths.has(needed) && !(needed === 'config.json' && paths.has('genai_config.json')))
      throw new HumanError('unsupported', `The model ${id} has no ${needed}.`, {
        todo: 'Save it once in Python: transformers.AutoTokenizer.from_pretrained(…).save_pretrained(…), into a folder with the graph.',
      });
  return {
    listing,
    files: [...listing.files.filter(({ path }) => beside.includes(path)), ...chosen.files],
    graph: chosen.graph,
    variants: graphs.map(({ graph, files }) => ({ graph, bytes: bytesOf(files) })),
  };
}

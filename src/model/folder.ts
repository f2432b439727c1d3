/** Which files of a model folder are what: graph, tokenizer, configuration, chat template. */
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { ChatTemplates } from '../evaluate/language-model.ts';
import { HumanError } from '../shared/errors.ts';
import { readChatTemplates } from './chat-template.ts';
import { integerOf, isObject, type JsonObject, readJsonFile, stringOf } from './json.ts';

export interface ModelFolder {
  /** Absolute path. */
  folder: string;
  /** What people call it: the folder's name, with its parent where the name alone says little. */
  name: string;
  /** The graph that runs, relative to the folder, with forward slashes. */
  graphFile: string;
  graphPath: string;
  /** Other graph files that could be chosen by naming the file in place of the folder. */
  variants: string[];
  config: JsonObject;
  generationConfig: JsonObject | null;
  genaiConfig: JsonObject | null;
  tokenizerFile: string;
  tokenizerConfig: JsonObject;
  chatTemplates: ChatTemplates;
  /** The chat template that is applied where none is named; null where the model has none. */
  chatTemplate: string | null;
}

/** Names of a decoder's graph, best first; each is looked for in the folder and in `onnx/`. */
const graphNames: RegExp[] = [
  /^model\.onnx$/,
  /^decoder_model_merged\.onnx$/,
  /^decoder_with_past_model\.onnx$/,
  /^decoder_model\.onnx$/,
  // Variants: the most exact first.
  /^model_fp32\.onnx$/,
  /^model_(fp16|bf16)\.onnx$/,
  /^(model|decoder_model_merged)_\w+\.onnx$/,
  /\.onnx$/,
];

/** Files of weights that are not ONNX: they say that the folder is a model, but not yet an exported one. */
const otherWeights = /\.(safetensors|gguf|bin|pt|pth|msgpack|h5)$/;

const list = (folder: string): string[] => {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
  // A link's own entry is neither file nor folder: the Hugging Face cache holds nothing but links.
  return entries.filter((entry) => entry.isFile() || entry.isSymbolicLink()).map((entry) => entry.name);
};

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Graph files of a folder, best first, relative to it with forward slashes. */
function graphFiles(folder: string): string[] {
  const files = ['', 'onnx'].flatMap((under) =>
    list(join(folder, under))
      .filter((name) => name.endsWith('.onnx'))
      .map((name) => (under ? `${under}/${name}` : name)),
  );
  return rankGraphs(files);
}

/** Paths of graphs, best first. */
export function rankGraphs(files: readonly string[]): string[] {
  const rank = (file: string): number => graphNames.findIndex((pattern) => pattern.test(basename(file)));
  return [...files].sort((a, b) => rank(a) - rank(b) || a.length - b.length || (a < b ? -1 : 1));
}

/** The folder that a path means: itself, or for a graph file the nearest one above it that holds a model. */
function split(path: string): { folder: string; chosen: string | null } {
  const full = resolve(path);
  if (isFolder(full)) return { folder: full, chosen: null };
  if (!isFile(full))
    throw new HumanError('missing', 'There is no model here.', {
      place: { file: full },
      todo: 'Give a folder with config.json, tokenizer.json and an ONNX file, or such an ONNX file itself.',
    });
  if (!full.endsWith('.onnx'))
    throw new HumanError('bad-input', 'This is not an ONNX file.', {
      place: { file: full },
      todo: 'Give the model folder or an .onnx file in it.',
    });
  const parent = dirname(full);
  const folder = !isFile(join(parent, 'config.json')) && isFile(join(dirname(parent), 'config.json'));
  return { folder: folder ? dirname(parent) : parent, chosen: full };
}

function nameOf(folder: string): string {
  const name = basename(folder);
  // In the Hugging Face cache a folder is called by its commit: models--owner--name/snapshots/<commit>.
  const cached = folder.split(sep).find((part) => part.startsWith('models--'));
  if (cached && /^[0-9a-f]{40}$/.test(name)) return cached.slice('models--'.length).replaceAll('--', '/');
  return name === 'onnx' ? basename(dirname(folder)) : name;
}

function withoutGraph(folder: string): HumanError {
  const weights = list(folder).find((name) => otherWeights.test(name));
  if (weights?.endsWith('.gguf'))
    return new HumanError('unsupported', `This folder holds a GGUF file (${weights}) and no ONNX file.`, {
      place: { file: folder },
      todo: 'Export the original Hugging Face model: optimum-cli export onnx --model OWNER/NAME --task text-generation-with-past OUT_FOLDER',
    });
  if (weights)
    return new HumanError('unsupported', `This folder holds weights (${weights}) but no ONNX file.`, {
      place: { file: folder },
      todo: `Export it once: pip install optimum-onnx && optimum-cli export onnx --model "${folder}" --task text-generation-with-past "${folder}-onnx"`,
    });
  return new HumanError('missing', 'This folder holds no ONNX file, neither in itself nor under onnx/.', {
    place: { file: folder },
    todo: 'Choose a folder as optimum-cli export onnx writes it: config.json, tokenizer.json and model.onnx.',
  });
}

/** The graph file that genai's own configuration names. */
function genaiGraph(genai: JsonObject | null): string | null {
  const model = genai?.model;
  const decoder = isObject(model) ? model.decoder : null;
  return isObject(decoder) ? stringOf(decoder, 'filename') : null;
}

/**
 * Describes a model folder in Hugging Face layout without opening its graph. `path` is the folder, or an ONNX file in it
 * (or in its `onnx/`) to choose a variant. Nothing of the folder is run.
 * Throws HumanError: 'missing' (no folder, graph, configuration or tokenizer), 'bad-input' (broken JSON), 'unsupported'.
 */
export function readModelFolder(path: string): ModelFolder {
  const { folder, chosen } = split(path);
  const graphs = graphFiles(folder);
  const genaiConfig = readJsonFile(join(folder, 'genai_config.json'));
  const named = genaiGraph(genaiConfig);
  const graphFile = chosen
    ? relative(folder, chosen).split(sep).join('/')
    : named && graphs.includes(named)
      ? named
      : graphs[0];
  if (graphFile === undefined) throw withoutGraph(folder);
  const config = readJsonFile(join(folder, 'config.json')) ?? (isObject(genaiConfig?.model) ? genaiConfig.model : null);
  if (!config)
    throw new HumanError('missing', 'This model folder has no config.json.', {
      place: { file: folder },
      todo: 'Copy config.json from the model that was exported.',
    });
  const tokenizerFile = join(folder, 'tokenizer.json');
  if (!isFile(tokenizerFile)) {
    const slow = list(folder).find((name) => /^(tokenizer\.model|spiece\.model|vocab\.json|vocab\.txt)$/.test(name));
    throw new HumanError('missing', `This model folder has no tokenizer.json${slow ? `, only ${slow}` : ''}.`, {
      place: { file: folder },
      todo: slow
        ? `Write one once in Python: transformers.AutoTokenizer.from_pretrained("${folder}").save_pretrained("${folder}")`
        : 'Copy tokenizer.json and tokenizer_config.json from the model that was exported.',
    });
  }
  const tokenizerConfig = readJsonFile(join(folder, 'tokenizer_config.json')) ?? {};
  const chatTemplates = readChatTemplates(folder, tokenizerConfig);
  return {
    folder,
    name: nameOf(folder),
    graphFile,
    graphPath: join(folder, graphFile),
    variants: graphs.filter((file) => file !== graphFile),
    config,
    generationConfig: readJsonFile(join(folder, 'generation_config.json')),
    genaiConfig,
    tokenizerFile,
    tokenizerConfig,
    chatTemplates,
    chatTemplate: chatTemplates.templates.get('default') ?? [...chatTemplates.templates.values()][0] ?? null,
  };
}

/** The text model's part of config.json: models with several parts keep it under `text_config`. */
const textConfig = (config: JsonObject): JsonObject => (isObject(config.text_config) ? config.text_config : config);

/** Longest sequence that the positions allow, by the names that architectures give it; null where none is said. */
export function contextLengthOf(config: JsonObject): number | null {
  return integerOf(
    textConfig(config),
    'max_position_embeddings',
    'n_positions',
    'n_ctx',
    'max_sequence_length',
    'max_seq_len',
    'seq_length',
    'context_length',
  );
}

export function hiddenSizeOf(config: JsonObject): number | null {
  return integerOf(textConfig(config), 'hidden_size', 'n_embd', 'd_model', 'dim');
}

/** eos_token_id as configurations write it: a number, a list, or nothing. */
export function tokenIdsOf(object: JsonObject | null, key: string): number[] {
  const value = object?.[key];
  return (Array.isArray(value) ? value : [value]).filter((id): id is number => Number.isSafeInteger(id));
}

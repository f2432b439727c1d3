import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contextLengthOf, identify, loadTokenizer, openModelFiles, readModelFolder } from '../../src/model/index.ts';
import { HumanError } from '../../src/shared/errors.ts';
import { decodeSafetensors } from '../../src/shared/safetensors.ts';

const fixtures = join(import.meta.dirname, '../fixtures/models');
const stories = join(import.meta.dirname, '../../examples/models/stories260k');
const names = ['llama-optimum', 'gpt2-optimum', 'gptneox-optimum'];

describe('a model folder as optimum writes it', () => {
  it.each(names)('%s: cache, positions and sizes are read off the graph', (name) => {
    const { signature, folder } = openModelFiles(join(fixtures, name));
    expect(signature.inputIds.name).toBe('input_ids');
    expect(signature.positionIds?.name).toBe('position_ids');
    expect(signature.vocabularySize).toBe(512);
    expect(signature.cache).toMatchObject({
      kind: 'separate',
      layers: 2,
      heads: name === 'llama-optimum' ? 2 : 4,
      headSize: 16,
      dtype: 'float32',
    });
    expect(contextLengthOf(folder.config)).toBe(128);
  });

  it.each(names)('%s: token ids are those of the Python tokenizer', async (name) => {
    const folder = readModelFolder(join(fixtures, name));
    const tokenizer = await loadTokenizer(folder);
    const reference = JSON.parse(readFileSync(join(folder.folder, 'reference.json'), 'utf8'));
    const file = join(folder.folder, 'reference.safetensors');
    const entry = decodeSafetensors(readFileSync(file), file).tensors.get('input_ids_right');
    if (!entry) throw new Error('no input_ids_right');
    const ids = Array.from(new BigInt64Array(Uint8Array.from(entry.bytes).buffer), Number);
    const width = entry.shape[1] ?? 0;
    for (const [row, text] of (reference.prompts as string[]).entries()) {
      const all = ids.slice(row * width, row * width + reference.total_lengths[row]);
      const answer = tokenizer.encode(reference.answers[row]);
      expect([...tokenizer.encode(text), ...answer]).toEqual(all);
      expect(tokenizer.decode(all)).toBe(text + reference.answers[row]);
    }
    expect(tokenizer.eosTokenIds).toEqual([2]);
    expect(tokenizer.bosTokenId).toBe(1);
    expect(tokenizer.padTokenId).toBe(0);
  });

  it('adds what the post-processor adds only where asked to', async () => {
    const tokenizer = await loadTokenizer(readModelFolder(stories));
    // <s> is 1 in the tokenizer's own table.
    expect(tokenizer.encode('Tom', { special: true })).toEqual([1, ...tokenizer.encode('Tom')]);
    expect(tokenizer.decode([1, ...tokenizer.encode('Tom')])).toBe('Tom');
    expect(tokenizer.decode([1], { special: true })).toContain('<s>');
    expect(tokenizer.idOf('</s>')).toBe(2);
  });

  it('is the same model wherever it lies, and another one after a change of its configuration', () => {
    const copy = mkdtempSync(join(tmpdir(), 'softbench-model-'));
    try {
      cpSync(stories, copy, { recursive: true });
      const digests = (folder: string) => identify(openModelFiles(folder)).digests;
      expect(digests(copy)).toEqual(digests(stories));
      const config = JSON.parse(readFileSync(join(copy, 'config.json'), 'utf8'));
      writeFileSync(join(copy, 'config.json'), JSON.stringify({ ...config, rope_theta: 1 }));
      expect(digests(copy).config).not.toBe(digests(stories).config);
      expect(digests(copy).graph).toBe(digests(stories).graph);
    } finally {
      rmSync(copy, { recursive: true });
    }
  });
});

describe('a folder that cannot run says why and what to do', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'softbench-model-'));
    cpSync(join(fixtures, 'llama-optimum'), folder, { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const failure = (path = folder): HumanError => {
    try {
      openModelFiles(path);
    } catch (error) {
      if (error instanceof HumanError) return error;
      throw error;
    }
    throw new Error('it opened');
  };

  it('no folder', () => {
    expect(failure(join(folder, 'nowhere')).kind).toBe('missing');
  });

  it('no tokenizer', () => {
    rmSync(join(folder, 'tokenizer.json'));
    const error = failure();
    expect(error.kind).toBe('missing');
    expect(error.sentence).toContain('tokenizer.json');
    expect(error.details.todo).toBeTruthy();
  });

  it('a tokenizer without its fast form', () => {
    rmSync(join(folder, 'tokenizer.json'));
    writeFileSync(join(folder, 'tokenizer.model'), '');
    expect(failure().sentence).toMatch(/AutoTokenizer/);
  });

  it('weights that are not exported yet', () => {
    rmSync(join(folder, 'model.onnx'));
    writeFileSync(join(folder, 'model.safetensors'), '');
    rmSync(join(folder, 'reference.safetensors'));
    const error = failure();
    expect(error.kind).toBe('unsupported');
    expect(error.sentence).toContain('optimum-cli export onnx');
  });

  it('a GGUF file', () => {
    for (const name of ['model.onnx', 'reference.safetensors']) rmSync(join(folder, name));
    writeFileSync(join(folder, 'model.Q4_K_M.gguf'), '');
    expect(failure().sentence).toMatch(/GGUF.*optimum-cli/);
  });

  it('broken JSON', () => {
    writeFileSync(join(folder, 'config.json'), '{"model_type": "llama",');
    const error = failure();
    expect(error.kind).toBe('bad-input');
    expect(error.details.place?.file).toBe(join(folder, 'config.json'));
  });

  it('a broken tokenizer', async () => {
    writeFileSync(join(folder, 'tokenizer.json'), '{}');
    await expect(loadTokenizer(readModelFolder(folder))).rejects.toThrow(HumanError);
  });

  it.each([0, 100, 5000, 500_000])('model.onnx cut to %d bytes', (bytes) => {
    truncateSync(join(folder, 'model.onnx'), bytes);
    const error = failure();
    expect(error.kind).toBe('bad-input');
    expect(error.details.place?.file).toBe(join(folder, 'model.onnx'));
    expect(error.details.todo).toBeTruthy();
  });

  it('a graph that is not a decoder', () => {
    expect(() => openModelFiles(join(folder, 'config.json'))).toThrow(/not an ONNX file/);
  });

  it('chooses a variant by its file, and lists the others', () => {
    cpSync(join(folder, 'model.onnx'), join(folder, 'model_fp16.onnx'));
    expect(readModelFolder(folder)).toMatchObject({ graphFile: 'model.onnx', variants: ['model_fp16.onnx'] });
    expect(readModelFolder(join(folder, 'model_fp16.onnx'))).toMatchObject({
      folder,
      graphFile: 'model_fp16.onnx',
      variants: ['model.onnx'],
    });
  });
});

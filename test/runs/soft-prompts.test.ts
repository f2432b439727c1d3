/** Soft prompts in files: against a file of the safetensors library and an adapter folder that PEFT wrote. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportAdapter, importAdapter } from '../../src/runs/index.ts';
import { decodeSafetensors, encodeSafetensors, toFloat32 } from '../../src/shared/safetensors.ts';

const fixtures = resolve(import.meta.dirname, '../fixtures/runs');
const json = async (path: string) => JSON.parse(await readFile(path, 'utf8'));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-soft-prompts-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('safetensors', () => {
  it('reads what the safetensors library wrote, in each floating-point type', async () => {
    const bytes = await readFile(join(fixtures, 'types.safetensors'));
    const { tensors, metadata } = decodeSafetensors(bytes, 'types.safetensors');
    expect(metadata).toEqual({ 'made by': 'safetensors' });
    for (const [name, rows] of Object.entries(await json(join(fixtures, 'types.json')))) {
      const entry = tensors.get(name);
      if (!entry) throw new Error(`no tensor ${name}`);
      expect(entry.shape).toEqual([2, 3]);
      expect([...toFloat32(entry, name)]).toEqual((rows as number[][]).flat().map(Math.fround));
    }
    expect(tensors.get('empty')?.shape).toEqual([0, 4]);
    const integers = tensors.get('i64');
    expect(() => toFloat32(integers ?? raise(), 'i64')).toThrow('Tensor "i64" holds I64');
    const again = decodeSafetensors(encodeSafetensors(tensors, metadata), 'again');
    expect(again.metadata).toEqual(metadata);
    for (const [name, { dtype, shape, bytes }] of tensors)
      expect(again.tensors.get(name)).toEqual({ dtype, shape, bytes: new Uint8Array(bytes) });
  });

  it('says what is wrong with a file that is cut off or something else', async () => {
    const whole = await readFile(join(fixtures, 'types.safetensors'));
    expect(() => decodeSafetensors(whole.subarray(0, 5), 'a')).toThrow('it has 5 bytes');
    expect(() => decodeSafetensors(whole.subarray(0, 100), 'a')).toThrow('its header says');
    expect(() => decodeSafetensors(whole.subarray(0, whole.length - 1), 'a')).toThrow('lies outside the file');
    expect(() => decodeSafetensors(Buffer.from('\x04\0\0\0\0\0\0\0{{{{'), 'a')).toThrow('its header is not JSON');
  });
});

describe('a PEFT adapter', () => {
  it('that PEFT wrote is read with its values', async () => {
    const { softPrompt, baseModel } = await importAdapter(join(fixtures, 'peft-adapter'));
    const rows: number[][] = await json(join(fixtures, 'peft-adapter.json'));
    expect([softPrompt.vectors, softPrompt.hiddenSize]).toEqual([3, 8]);
    expect([...softPrompt.data]).toEqual(rows.flat());
    expect(baseModel).toBeNull();
  });

  it('that we write has the same tensor and the settings that PEFT wrote for it', async () => {
    const { softPrompt } = await importAdapter(join(fixtures, 'peft-adapter'));
    await exportAdapter(folder, softPrompt, 'org/model');
    const theirs = decodeSafetensors(
      await readFile(join(fixtures, 'peft-adapter/adapter_model.safetensors')),
      'theirs',
    );
    const ours = decodeSafetensors(await readFile(join(folder, 'adapter_model.safetensors')), 'ours');
    expect([...ours.tensors]).toEqual([...theirs.tensors]);
    const config = await json(join(folder, 'adapter_config.json'));
    const reference = await json(join(fixtures, 'peft-adapter/adapter_config.json'));
    // Keys that PEFT fills in when it loads the adapter, from the model that it is loaded for.
    const filledIn = ['base_model_name_or_path', 'num_attention_heads', 'num_layers'];
    for (const [key, value] of Object.entries(config)) {
      expect(Object.keys(reference)).toContain(key);
      if (!filledIn.includes(key)) expect([key, value]).toEqual([key, reference[key]]);
    }
    expect((await importAdapter(folder)).baseModel).toBe('org/model');
  });

  it('of another kind is refused', async () => {
    await expect(importAdapter(folder)).rejects.toThrow('is not an adapter folder');
    await writeFile(join(folder, 'adapter_config.json'), '{"peft_type": "LORA"}');
    await expect(importAdapter(folder)).rejects.toThrow('only PROMPT_TUNING adapters are soft prompts');
    await writeFile(join(folder, 'adapter_config.json'), '{"peft_type": "PROMPT_TUNING"}');
    await expect(importAdapter(folder)).rejects.toThrow('has no adapter_model.safetensors');
  });
});

function raise(): never {
  throw new Error('missing');
}

/** The yardstick of quantised files: ONNX Runtime alone, on files that PyTorch's logits are known for. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readReference, rowsOf } from '../../src/engine/reference.ts';
import { uneditedLogits } from '../../src/engine/unedited.ts';
import { openModelFiles } from '../../src/model/index.ts';

const models = join(import.meta.dirname, '../fixtures/models');

/** Largest difference from PyTorch's logits at the answer tokens; null where the file cannot be run so. */
async function difference(name: string): Promise<number | null> {
  const files = openModelFiles(join(models, name));
  const reference = readReference(join(models, name));
  const found = await uneditedLogits(
    files,
    reference.sequences.map(({ prompt, answer }) => [...prompt, ...answer]),
    reference.sequences.flatMap(({ prompt, answer }, row) =>
      answer.map((_, offset) => ({ row, position: prompt.length - 1 + offset })),
    ),
    { padTokenId: 0, threads: 1 },
  );
  const logits = reference.tensors.get('logits_n0');
  if (!found || !logits) return null;
  return Math.max(
    ...rowsOf(logits).flatMap((row, index) =>
      [...row].map((value, at) => Math.abs(value - (found[index]?.[at] ?? Number.NaN))),
    ),
  );
}

// float32, products of 4-bit weights with float32 activations, and a group-query attention that counts its rows.
it.each(['llama-optimum', 'llama-tjs-q4', 'mistral-genai-fp32'])('%s is as PyTorch says', async (name) => {
  expect(await difference(name)).toBeLessThan(1e-3);
});

it('a file that quantises activations is further off, by its own arithmetic', async () => {
  expect(await difference('llama-tjs-int8')).toBeGreaterThan(1e-3);
});

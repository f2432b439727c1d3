/** Damaged graphs all the way through the engine: refused in words, never a crash of the process, seeded. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeOnnx } from '../../src/onnx/index.ts';
import { HumanError } from '../../src/shared/errors.ts';
import { WorkerClient } from '../../src/worker/index.ts';
import { tinyDecoder } from '../gradient/tiny-decoder.ts';
import { bundle } from '../support/bundle.ts';
import { withFlippedBytes, withWrongGraph } from './damage.ts';
import type { Line } from './damaged-models.ts';

const fixtures = join(import.meta.dirname, '../fixtures/models');
const folder = mkdtempSync(join(tmpdir(), 'softbench-damaged-'));
const bundles: string[] = [];
beforeAll(() => {
  // Vocabulary and hidden size are the graph's own; the tokenizer only has to be there.
  for (const name of ['config.json', 'tokenizer.json', 'tokenizer_config.json'])
    cpSync(join(fixtures, 'llama-optimum', name), join(folder, name));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  for (const file of bundles) rmSync(dirname(file), { recursive: true, force: true });
});

async function bundled(entry: string): Promise<string> {
  const file = await bundle(entry);
  bundles.push(file);
  return file;
}

/** To try more: SOFTBENCH_DAMAGE_SEEDS=1000-2000. */
const [first = 0, last = 0] = (process.env.SOFTBENCH_DAMAGE_SEEDS ?? '0-249').split('-').map(Number);
/** Milliseconds, on a slow machine with other work. */
const longest = 60_000 + 500 * (last - first);

describe('damaged models', () => {
  it(
    `are refused or run, seeds ${first} to ${last}, in one process that lives on`,
    async () => {
      const program = await bundled('test/engine/damaged-models.ts');
      const ran = await promisify(execFile)(process.execPath, [program, folder, String(first), String(last)], {
        maxBuffer: 2 ** 28,
        timeout: longest,
        killSignal: 'SIGKILL',
      }).catch((thrown: { stdout?: string; signal?: string; code?: unknown }) => {
        const trying = thrown.stdout?.trimEnd().split('\n').at(-1);
        throw new Error(`the process ended (${thrown.signal ?? thrown.code}) at ${trying}`);
      });
      const lines = ran.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Line);
      const tried = new Map(lines.flatMap((line) => (line.kind === 'trying' ? [[line.seed, line.what]] : [])));
      const errors = lines.flatMap((line) =>
        line.kind === 'error' ? [`seed ${line.seed}, ${line.stage}: ${tried.get(line.seed)}\n${line.stack}`] : [],
      );
      expect(errors).toEqual([]);
      const counts = { ran: 0, refused: 0 };
      for (const { kind } of lines) if (kind === 'ran' || kind === 'refused') counts[kind]++;
      expect(counts.ran + counts.refused).toBe(last - first + 1);
      // Of both there are many: else the damage would be too small or too great to say anything.
      expect(counts.ran).toBeGreaterThan((last - first) / 20);
      expect(counts.refused).toBeGreaterThan((last - first) / 2);
      for (const line of lines)
        if (line.kind === 'refused') expect(line.message.length, JSON.stringify(line)).toBeGreaterThan(20);
    },
    2 * longest,
  );

  it('leave the real worker answering', async () => {
    const worker = new WorkerClient({ file: await bundled('src/worker/main.ts') });
    try {
      const path = join(folder, 'model.onnx');
      const whole = encodeOnnx(tinyDecoder());
      const engine = { executionProvider: 'cpu', threads: 1 } as const;
      for (let seed = 0; seed < 12; seed++) {
        const { bytes, what } = (seed % 2 === 0 ? withFlippedBytes : withWrongGraph)(whole, 5000 + seed);
        writeFileSync(path, bytes);
        const report = await worker.call.inspectModel({ folder });
        expect(report.ok || report.reason, what).toBeTruthy();
        // The folder has no reference, so this never succeeds: what matters is how it fails.
        const failure = await worker.call.verifyModel({ folder, engine }).catch((thrown: unknown) => thrown);
        expect(failure, what).toBeInstanceOf(HumanError);
        expect((failure as HumanError).kind, what).not.toBe('worker-lost');
      }
      writeFileSync(path, whole);
      expect(await worker.call.inspectModel({ folder })).toMatchObject({ ok: true, tunable: true, hiddenSize: 8 });
    } finally {
      await worker.dispose();
    }
  });
});

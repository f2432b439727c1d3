import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { modelFolders, tableLines } from '../../src/cli/verify.ts';
import type { VerifyReport } from '../../src/shared/protocol.ts';

const root = mkdtempSync(join(tmpdir(), 'softbench-verify-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
for (const [folder, file] of [
  ['models/b', 'reference.json'],
  ['models/a', 'reference.json'],
  ['models/make', 'notes.txt'],
  ['plain', 'config.json'],
  ['empty/inner', 'notes.txt'],
] as const) {
  mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, folder, file), '{}');
}

describe('folders to verify', () => {
  it('are model folders, or those with a reference in a folder that is none', () => {
    expect(modelFolders([join(root, 'models'), join(root, 'plain')]).map((path) => basename(path))).toEqual([
      'a',
      'b',
      'plain',
    ]);
    expect(() => modelFolders([join(root, 'empty')])).toThrow(/no folder in it has a reference\.json/);
  });
});

describe('the table', () => {
  const report = (name: string, reason: string | null): VerifyReport => ({
    folder: join(root, name),
    name,
    exporter: 'an exporter',
    ok: reason === null,
    gradient: { relative_error: 1.25e-6 },
    losses: null,
    logits: { max_abs: 2e-6 },
    log_likelihood: null,
    generation: { compared: 144, equal: 143 },
    as_run: null,
    reason,
  });

  it('is aligned, and says below it why a folder failed', () => {
    const lines = tableLines([report('short', null), report('a-longer-name', 'The logits differ.')]);
    const [head = '', first = '', second = ''] = lines;
    expect(first.indexOf('an exporter')).toBe(head.indexOf('exported by'));
    expect(second.indexOf('143/144')).toBe(first.indexOf('143/144'));
    expect(first.endsWith('ok') && second.endsWith('FAILED')).toBe(true);
    expect(lines.at(-2)).toBe('1 of 2 are not as their references say:');
    expect(lines.at(-1)).toBe('  a-longer-name: The logits differ.');
  });
});

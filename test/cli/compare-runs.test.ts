/** `softbench runs compare` and pages as files, as a person types them, over runs that a store holds. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scores } from '../../src/metrics/index.ts';
import type { ItemRecord, RunFile, RunSummary } from '../../src/shared/results.ts';
import { sampleItem, sampleRun } from '../runs/sample.ts';
import { type Outcome, runProgram, scriptedProgram } from './run-program.ts';

const built = scriptedProgram();
let folder: string;

/** A finished run whose items are right where `isRight` says so. */
async function makeRun(id: string, model: string, n: number, isRight: (index: number) => boolean): Promise<void> {
  const run: RunFile = {
    ...sampleRun(),
    id,
    created: '2026-05-01T10:00:00Z',
    updated: '2026-05-01T10:01:00Z',
    status: 'finished',
    group: `job-${id}`,
  };
  run.model = { ...run.model, name: model, folder: `/home/ada/${model}` };
  run.benchmark = { ...run.benchmark, task: 'sums', file: '/home/ada/sums.yaml', items: n };
  const records = Array.from({ length: n }, (_, index): ItemRecord => {
    const right = isRight(index);
    return { ...sampleItem(index), inFormat: true, right, lenientRight: right, cause: null };
  });
  const summary: RunSummary = {
    schema: 1,
    run: id,
    mode: 'zero-shot',
    scores: scores(records, { constantCandidates: [], isRight: () => false, chance: null }),
    seconds: 10,
    tuningSeconds: 0,
    promptTokens: 12 * n,
    outputTokens: 5 * n,
    peakMemoryBytes: 2e9,
    bestStep: null,
  };
  const to = join(folder, '.softbench', 'runs', id);
  mkdirSync(to, { recursive: true });
  writeFileSync(join(to, 'run.json'), JSON.stringify(run));
  writeFileSync(join(to, 'items.jsonl'), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  writeFileSync(join(to, 'summary.json'), JSON.stringify(summary));
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-cli-compare-'));
  mkdirSync(join(folder, 'pages'));
  writeFileSync(join(folder, 'pages', 'results.js'), 'void 0;\n');
  writeFileSync(join(folder, 'pages', 'results.css'), 'main {}\n');
  await makeRun('a', 'small', 40, (index) => index % 2 === 0);
  await makeRun('b', 'large', 40, (index) => index % 2 === 0 || index % 3 === 0);
  await makeRun('c', 'other', 30, (index) => index % 5 === 0);
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const softbench = (...args: string[]): Promise<Outcome> =>
  runProgram({ ...built, folder, environment: { ...process.env, PAGES_FOLDER: join(folder, 'pages') } }, args);

describe('runs compare', { timeout: 120_000 }, () => {
  it('says what keeps the runs from being compared, and compares them on the items of both', async () => {
    const { code, stdout } = await softbench('runs', 'compare', 'a', 'b', 'c');
    expect(code).toBe(0);
    expect(stdout).toContain('Compare with care: Items.');
    expect(stdout).toMatch(/^ {2}other: 30 items$/m);
    expect(stdout).toMatch(/^run +F in format/m);
    // 40 items: 20 are even, 7 odd ones are multiples of 3.
    expect(stdout).toContain('On the 40 items of both: +17.5 points');
    expect(stdout).toContain('7 only large has right, 0 only small');
    expect(stdout).toContain('On the 30 items of both');
    expect(stdout).toMatch(/^against small +Items +Only base +Only this +Difference/m);
    expect(stdout).toMatch(/^cost +evaluation +items\/s +tokens in +tokens out +peak memory$/m);
    expect(stdout).toMatch(/^large +10 s +4\.0 +480 +200 +2\.0 GB$/m);
  });

  it('gives the same as JSON', async () => {
    const { lastLine } = await softbench('runs', 'compare', 'a', 'b', 'c', '--json');
    const found = JSON.parse(lastLine);
    expect(found).toMatchObject({ benchmark: 'sums', base: 'a' });
    expect(found.runs.map(({ label }: { label: string }) => label)).toEqual(['small', 'large', 'other']);
    expect(found.warnings.map(({ what }: { what: string }) => what)).toContain('Items');
    const [large, other] = found.comparisons;
    // Exact McNemar of 0 and 7: 2 / 2^7; the smaller of two, doubled by Holm.
    expect(large.paired).toMatchObject({ n: 40, onlyA: 0, onlyB: 7 });
    expect(large.paired.pValue).toBeCloseTo(2 / 128, 14);
    expect(other.paired.n).toBe(30);
    expect(large.pValueHolm).toBeGreaterThanOrEqual(large.paired.pValue);
    expect(large.gain.format + large.gain.knowledge).toBeCloseTo(large.gain.total, 12);
  });

  it('explains what cannot be compared', async () => {
    const alone = await softbench('runs', 'compare', 'a');
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('needs two runs or more')]);
    const unknown = await softbench('runs', 'compare', 'a', 'zzz');
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('no run or job "zzz"')]);
  });

  it('writes pages without personal paths, as --report and as --format html', async () => {
    const report = await softbench('runs', 'compare', 'a', 'b', '--report', 'out/both.html', '--no-outputs');
    expect(report.stderr).toMatch(/Report: .*both\.html, \d+(\.\d)? KB/);
    // The benchmark file is not here: the page stands without its prompts, and that is said.
    expect(report.stderr).not.toContain('Without prompts: undefined');
    const html = readFileSync(join(folder, 'out', 'both.html'), 'utf8');
    expect(html).not.toContain('/home/ada');
    expect(html).not.toContain('with a second line');
    const { stdout, stderr } = await softbench('export', 'a', 'b', '--format', 'html', '--out', 'pages-out');
    expect(stdout).toContain(join('pages-out', 'sums-2-models.html'));
    expect(stderr).toMatch(/sums-2-models\.html: \d+/);
    expect(readFileSync(join(folder, 'pages-out', 'sums-2-models.html'), 'utf8')).toContain('with a second line');
  });
});

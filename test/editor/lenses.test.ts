import { describe, expect, it } from 'vitest';
import { type LensState, lensesOf } from '../../src/editor/lenses.ts';
import { resultWords } from '../../src/editor/words.ts';
import type { PromptMode } from '../../src/shared/modes.ts';
import type { RunSummary } from '../../src/shared/results.ts';
import { sampleSummary } from '../runs/sample.ts';

const summary = (mode: PromptMode, right: number, inFormat: number, n: number): RunSummary =>
  sampleSummary(`run-${mode}`, mode, { right, inFormat, n });
const idle: LensState = { model: { name: 'tiny', folder: '/m/tiny' }, job: null, results: [], resumable: null };
const commandsOf = (state: LensState): string[] => lensesOf(state).map(({ command }) => command);

describe('lenses above the task', () => {
  it('offer what can be done, and name the model', () => {
    expect(lensesOf(idle).map(({ title }) => title)).toEqual([
      '$(play) Evaluate',
      '$(zap) Tune soft prompt',
      '$(git-compare) Compare prompt modes',
      '$(eye) Preview prompts',
      '$(chip) tiny',
    ]);
    expect(lensesOf({ ...idle, model: null }).at(-1)?.title).toBe('$(chip) Choose model…');
  });

  it('show progress and Stop in place of starting another job', () => {
    const state: LensState = { ...idle, job: { state: 'running', text: 'soft-prompt: tuning, step 3 of 80' } };
    expect(lensesOf(state)[0]?.title).toBe('$(sync~spin) soft-prompt: tuning, step 3 of 80');
    expect(lensesOf(state)[1]).toMatchObject({ title: '■ Stop', command: 'softbench.stop' });
    expect(commandsOf(state)).not.toContain('softbench.tune');
  });

  it('do not offer to stop twice', () => {
    expect(commandsOf({ ...idle, job: { state: 'stopping', text: 'stopping' } })).not.toContain('softbench.stop');
  });

  it('offer to resume what was stopped, by its job', () => {
    const resume = lensesOf({ ...idle, resumable: { group: 'g1', text: 'It was stopped.' } }).find(
      ({ command }) => command === 'softbench.resume',
    );
    expect(resume).toMatchObject({ title: '↻ Resume', more: ['g1'] });
  });

  it('offer to score again what the file would score otherwise by now, by its runs, unless a job is on', () => {
    const rescorable = { runs: ['r1', 'r2'], modes: ['zero-shot', 'few-shot'], neverScored: false };
    const lens = lensesOf({ ...idle, rescorable }).find(({ command }) => command === 'softbench.rescore');
    expect(lens).toMatchObject({ title: '$(checklist) Re-score', more: [['r1', 'r2']] });
    expect(lens?.tooltip).toContain('The scoring has changed since the last run (zero-shot, few-shot).');
    const outputs = lensesOf({ ...idle, rescorable: { ...rescorable, neverScored: true } });
    expect(outputs.map(({ title }) => title)).toContain('$(checklist) Score outputs');
    expect(commandsOf({ ...idle, rescorable, job: { state: 'running', text: 'on' } })).not.toContain(
      'softbench.rescore',
    );
    expect(commandsOf(idle)).not.toContain('softbench.rescore');
  });

  it('tell the last result in words and open it', () => {
    const results = [summary('zero-shot', 4, 10, 100), summary('soft-prompt', 123, 200, 200)];
    const last = lensesOf({ ...idle, results }).at(-1);
    expect(last).toMatchObject({
      title: '$(graph) soft-prompt 62 % · zero-shot 4 %',
      command: 'softbench.openResults',
    });
    expect(last?.tooltip).toContain('zero-shot: score S 4 % = in the required form F 10 % × right among those K 40 %');
  });
});

describe('figures in words', () => {
  it('says nothing where nothing could be counted', () => {
    expect(resultWords([summary('zero-shot', 0, 0, 0)])).toBe('zero-shot –');
  });
});

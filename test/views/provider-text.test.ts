/** Execution providers in words. */
import { describe, expect, it } from 'vitest';
import { placementWords, providerSentences } from '../../src/shared/provider-words.ts';
import { providersText } from '../../src/views/provider-text.ts';

describe('a provider in words', () => {
  it('says what was asked, what runs and why', () => {
    expect(
      providerSentences({ asked: 'auto', running: 'cpu', reason: 'CUDA is not used: no driver.', threads: 1 }),
    ).toEqual(['Asked for auto; runs on CPU with 1 thread.', 'CUDA is not used: no driver.']);
  });

  it('says what the CPU computed all the same', () => {
    const operators = { Shape: 6, Gather: 4, Cast: 2, Concat: 1, Slice: 1, Range: 1 };
    expect(placementWords({ graph: 'training', nodes: 830, cpuNodes: 15, cpuOperators: operators, copies: 3 })).toBe(
      'training graph: 15 of 830 nodes on the CPU (Shape 6, Gather 4, Cast 2, Concat 1, others 2), 3 copies between the device and the CPU',
    );
    expect(placementWords({ graph: 'inference', nodes: 9, cpuNodes: 0, cpuOperators: {}, copies: 0 })).toBe(
      'inference graph: none of 9 nodes on the CPU',
    );
  });

  it('has a section of the document', () => {
    const text = providersText(
      [
        {
          name: 'cuda',
          title: 'CUDA',
          runs: false,
          automatic: true,
          reason: 'there is no driver',
          todo: 'Install it.',
        },
        { name: 'webgpu', title: 'WebGPU', runs: true, automatic: false, reason: null, todo: null },
        { name: 'cpu', title: 'CPU', runs: true, automatic: true, reason: null, todo: null },
      ],
      ['CUDA provider: not installed'],
    );
    expect(text).toContain('## CUDA\n\nDoes not run here: there is no driver. Install it.\n');
    expect(text).toContain(
      '## WebGPU\n\nRuns here. Only when asked for by name: `"softbench.executionProvider": "webgpu"`.',
    );
    expect(text).toContain('## CPU\n\nRuns here. `auto` takes it.');
    expect(text).toContain('- CUDA provider: not installed');
  });
});

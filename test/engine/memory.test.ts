import { describe, expect, it } from 'vitest';
import { MemoryPeak, ownBytes } from '../../src/engine/memory.ts';

/** ES2024, which every Node from 20 on has. */
const Resizable = ArrayBuffer as unknown as new (
  bytes: number,
  options: { maxByteLength: number },
) => ArrayBuffer & { resize(bytes: number): void };

describe('memory of a process', () => {
  it('leaves out the pages of files', () => {
    const status =
      'VmHWM:\t 900000 kB\nVmRSS:\t  800000 kB\nRssAnon:\t  200000 kB\nRssFile:\t  599000 kB\nRssShmem:\t    1000 kB\n';
    expect(ownBytes(status)).toBe(201_000 * 1024);
    expect(ownBytes('VmRSS:\t  800000 kB\n')).toBeNull();
  });

  // Blocks that are given back when they are made smaller, not whenever the collector comes by.
  const fullBlock = (bytes: number) => {
    const block = new Resizable(bytes, { maxByteLength: bytes });
    new Uint8Array(block).fill(1);
    return block;
  };

  it('remembers its peak', () => {
    const peak = new MemoryPeak();
    const before = peak.bytes;
    const block = fullBlock(150e6);
    const during = peak.bytes;
    expect(during).toBeGreaterThan(before + 100e6);
    block.resize(0);
    expect(peak.bytes).toBeGreaterThanOrEqual(during);
    peak.close();
  });

  it('begins anew where it is asked to: what a mode of a job took is not the next one’s', () => {
    const peak = new MemoryPeak();
    const block = fullBlock(150e6);
    const during = peak.bytes;
    block.resize(0);
    expect(peak.bytes).toBeGreaterThanOrEqual(during);
    peak.restart();
    const after = peak.bytes;
    expect(after).toBeLessThan(during - 100e6);
    expect(after).toBeGreaterThan(0);
    const next = fullBlock(200e6);
    expect(peak.bytes).toBeGreaterThan(after + 150e6);
    next.resize(0);
    peak.close();
  });
});

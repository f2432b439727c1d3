import { describe, expect, it } from 'vitest';
import { familyOf, sizeInName } from '../../src/shared/model-names.ts';

describe('what a name tells', () => {
  it.each([
    ['meta-llama/Llama-2-7b-chat-hf', 'Llama-2', 7e9],
    ['Qwen/Qwen1.5-0.5B', 'Qwen1.5', 0.5e9],
    ['Qwen/Qwen2.5-14B-Instruct', 'Qwen2.5', 14e9],
    ['HuggingFaceTB/SmolLM2-135M-Instruct', 'SmolLM2', 135e6],
    ['mistralai/Mixtral-8x7B-v0.1', 'Mixtral', 56e9],
    ['google/gemma-2-2b-it', 'gemma-2', 2e9],
    ['EleutherAI/pythia-6.9b', 'pythia', 6.9e9],
    ['EleutherAI/pythia-160m-deduped', 'pythia', 160e6],
    ['stories260K', 'stories', null],
    ['openai-community/gpt2-xl', 'gpt2', null],
    ['C:\\models\\OPT-1.3b', 'OPT', 1.3e9],
    ['imported:org/name-7b (imported 0123abcd)', 'name', 7e9],
    ['/models/opt-125m/', 'opt', 125e6],
    ['7b', '7b', 7e9],
  ])('%s: %s, %d', (name, family, size) => {
    expect([familyOf(name), sizeInName(name)]).toEqual([family, size]);
  });
});

/** What is asked of the model for an item: ConfigurableTask.construct_requests of lm-evaluation-harness 0.4.13. */
import type { Benchmark, Item, ItemRequest, RenderedPrompt } from './types.ts';

type Asked = Pick<Benchmark, 'outputType' | 'generates' | 'metricList' | 'prompt' | 'target' | 'choices'>;

/**
 * The requests of an item in the harness's order: each candidate's likelihood, each candidate's without the question where
 * `acc_mutual_info` needs it, and behind them the output that is read strictly and leniently.
 */
export async function requestsOf(benchmark: Asked, item: Item, shots: number): Promise<ItemRequest[]> {
  const { outputType } = benchmark;
  if (outputType === 'loglikelihood_rolling') return [{ kind: 'rolling', text: benchmark.target(item).text }];
  const prompt = await benchmark.prompt(item, shots);
  const output: ItemRequest = { kind: 'generate', context: prompt.text };
  if (outputType === 'generate_until') return [output];
  const { delimiter, text } = benchmark.target(item);
  if (outputType === 'loglikelihood')
    return [{ kind: 'loglikelihood', context: prompt.text, continuation: delimiter + text }];
  return [...candidates(benchmark, item, prompt), ...(benchmark.generates === false ? [] : [output])];
}

function candidates(benchmark: Asked, item: Item, { text: context, contexts }: RenderedPrompt): ItemRequest[] {
  const { delimiter, text } = benchmark.target(item);
  const texts = benchmark.choices(item)?.texts ?? [];
  const conditional = contexts
    ? contexts.map((each): ItemRequest => ({ kind: 'loglikelihood', context: each, continuation: delimiter + text }))
    : texts.map((choice): ItemRequest => ({ kind: 'loglikelihood', context, continuation: delimiter + choice }));
  if (!benchmark.metricList?.some(({ metric }) => metric === 'acc_mutual_info')) return conditional;
  return [
    ...conditional,
    ...texts.map((choice): ItemRequest => ({ kind: 'loglikelihood', context: '', continuation: delimiter + choice })),
  ];
}

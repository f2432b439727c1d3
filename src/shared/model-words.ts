/** What a model report says, in words; the command line and the editor show the same. */
import type { AttentionReport, ModelReport, PositionReport, QuantisationReport, TensorReport } from './protocol.ts';

const operatorCounts = (operators: Record<string, number>): string =>
  Object.entries(operators)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

/** `separate: 2 layers × 2 heads × 16, float32; joined by Concat` */
export function cacheInWords(cache: ModelReport['cache']): string {
  if (!cache) return 'none: every token reads the whole text again';
  const { kind, layers, heads, headSize, dtype, joinedBy, inPlace } = cache;
  const joined = joinedBy.length ? `; joined by ${joinedBy.join(', ')}, ${inPlace ? 'in place' : 'as a copy'}` : '';
  return `${kind}: ${layers} layers × ${heads} heads × ${headSize}, ${dtype}${joined}`;
}

const countedBy: Record<NonNullable<PositionReport['from']>, string> = {
  input: 'given as position_ids',
  mask: 'counted by the graph from attention_mask',
  cache: "counted by the graph from the cache's length",
  text: 'counted by the graph from 0 in every text',
};

export function positionsInWords(
  { from, kinds, rotarySize, tableLength }: PositionReport,
  headSize: number | null = null,
): string {
  const kind = kinds.map((one) => {
    if (one === 'learned') return `learned${tableLength === null ? '' : ` (${tableLength} of them)`}`;
    if (one === 'ALiBi' || rotarySize === null) return one;
    const whole = headSize === null || rotarySize >= headSize;
    return whole ? one : `rotary on ${rotarySize} of ${headSize} numbers of a head`;
  });
  return `${kind.join(' and ') || 'of a kind that was not recognised'}${from ? `, ${countedBy[from]}` : ''}`;
}

export function attentionInWords({
  form,
  operators,
  queryHeads,
  keyHeads,
  windows,
  softCaps,
}: AttentionReport): string {
  if (form === 'not found') return 'not recognised';
  const heads =
    queryHeads === null
      ? ''
      : keyHeads === null || keyHeads === queryHeads
        ? `, ${queryHeads} heads`
        : `, ${queryHeads} query heads on ${keyHeads} of keys and values`;
  const window = windows.length ? `, sliding window of ${windows.join(' and ')} tokens` : '';
  const cap = softCaps.length ? `, scores soft-capped at ${softCaps.join(' and ')}` : '';
  return `${form} (${operatorCounts(operators)})${heads}${window}${cap}`;
}

/** `11 tensors (linear layers, head): 4 bits, a scale for 32 weights, symmetric (com.microsoft.MatMulNBits)` */
export function quantisationInWords(one: QuantisationReport): string {
  const { operator, tensors, parts, bits, block, symmetric, activationBits } = one;
  const scale = typeof block === 'number' ? `a scale for ${block} weights` : `a scale a ${block}`;
  const activations = activationBits === null ? '' : `; activations rounded to ${activationBits} bits as it runs`;
  return `${tensors} ${tensors === 1 ? 'tensor' : 'tensors'} (${parts.join(', ')}): ${bits} bits, ${scale}, ${symmetric ? 'symmetric' : 'with zero points'} (${operator})${activations}`;
}

/** `input_ids int64 [batch_size, sequence_length]` */
const tensorInWords = ({ name, dtype, dims }: TensorReport): string => `${name} ${dtype} [${dims.join(', ')}]`;

/**
 * Inputs or outputs, a cache's many as one line with the number of it left open: the first tensor of each part, and how
 * many there are alike.
 */
export function tensorLines(tensors: readonly TensorReport[]): string[] {
  const groups = new Map<string, TensorReport[]>();
  for (const tensor of tensors) {
    const key = `${tensor.name.replace(/\d+/, 'N')} ${tensor.dtype} ${tensor.dims.join()}`;
    groups.set(key, [...(groups.get(key) ?? []), tensor]);
  }
  return [...groups.values()].map((group) => {
    const [first] = group;
    if (!first) return '';
    return group.length === 1
      ? tensorInWords(first)
      : `${tensorInWords({ ...first, name: first.name.replace(/\d+/, 'N') })}, N = 0 … ${group.length - 1}`;
  });
}

/** `com.microsoft.GroupQueryAttention × 2 → MatMul, Softmax` */
export const loweredInWords = ({ operator, count, to }: ModelReport['lowered'][number]): string =>
  `${operator} × ${count} → ${to.join(', ')}`;

export const tiedHeadInWords = (tied: boolean | null): string =>
  tied === null
    ? 'not known'
    : tied
      ? 'yes: the head multiplies by the table of the embedding'
      : 'no: weights of its own';

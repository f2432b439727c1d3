/** Operators that no gradient can be had through, and why: what a person reads in place of "not known". */

const decodingOnly = 'it decodes one token at a time into a shared cache and does not read whole prompts';
const packedRows = 'it reads rows packed without padding, which only servers make';
const wholeLoop = 'it holds a whole generation loop, not a model that gives logits';

/** By full operator: a clause. */
export const refusedOperators: Readonly<Record<string, string>> = {
  'com.microsoft.DecoderMaskedMultiHeadAttention': decodingOnly,
  'com.microsoft.DecoderMaskedSelfAttention': decodingOnly,
  'com.microsoft.DecoderAttention': decodingOnly,
  'com.microsoft.PackedAttention': packedRows,
  'com.microsoft.PackedMultiHeadAttention': packedRows,
  'com.microsoft.PagedAttention': packedRows,
  'com.microsoft.QAttention': 'it computes attention in 8-bit integers',
  'com.microsoft.QOrderedAttention': 'it computes attention in 8-bit integers',
  'com.microsoft.SparseAttention': 'it skips blocks of the scores by a layout of its own',
  'com.microsoft.BeamSearch': wholeLoop,
  'com.microsoft.GreedySearch': wholeLoop,
  'com.microsoft.Sampling': wholeLoop,
};

/** Operators that no gradient can be had through, and why: what a person reads in place of "not known". */

const decodingOnly = 'it decodes one token at a time into a shared cache and does not read whole prompts';
const packedRows = 'it reads rows packed without padding, which only servers make';
const integers = 'it computes in 8-bit integers';
const innerLoop = 'it runs a graph of its own over and over';
const wholeLoop = 'it holds a whole generation loop, not a model that gives logits';

/** By full operator: a clause. */
export const refusedOperators: Readonly<Record<string, string>> = {
  'com.microsoft.DecoderMaskedMultiHeadAttention': decodingOnly,
  'com.microsoft.DecoderMaskedSelfAttention': decodingOnly,
  'com.microsoft.DecoderAttention': decodingOnly,
  'com.microsoft.PackedAttention': packedRows,
  'com.microsoft.PackedMultiHeadAttention': packedRows,
  'com.microsoft.PagedAttention': packedRows,
  'com.microsoft.QOrderedAttention': 'it computes attention in 8-bit integers',
  ...Object.fromEntries(
    [
      'ConvInteger QLinearConv com.microsoft.QGemm com.microsoft.QLinearAdd com.microsoft.QLinearMul',
      'com.microsoft.QLinearSoftmax com.microsoft.QLinearSigmoid com.microsoft.QLinearConcat com.microsoft.QLinearWhere',
      'com.microsoft.QOrderedMatMul com.microsoft.QOrderedGelu com.microsoft.QOrderedLayerNormalization',
    ]
      .join(' ')
      .split(' ')
      .map((name) => [name, integers]),
  ),
  'com.microsoft.MatMulBnb4': 'its weights are codes of 4-bit floats',
  If: 'it chooses between two graphs by a value that is not known before the model runs',
  Loop: innerLoop,
  Scan: innerLoop,
  SequenceMap: innerLoop,
  'com.microsoft.SparseAttention': 'it skips blocks of the scores by a layout of its own',
  'com.microsoft.BeamSearch': wholeLoop,
  'com.microsoft.GreedySearch': wholeLoop,
  'com.microsoft.Sampling': wholeLoop,
};

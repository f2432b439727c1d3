/** Metrics of whole sets of outputs against reference texts: BLEU, chrF, chrF++, TER, with sacrebleu's defaults. */
export { bleu } from './bleu.ts';
export { chrf, chrfPlusPlus } from './chrf.ts';
export { added, type CorpusMetric, corpusScore } from './corpus-metric.ts';
export { ter } from './ter.ts';

/** Metrics of whole sets of outputs against reference texts: BLEU, chrF, chrF++, TER with sacrebleu's defaults; ROUGE. */
export { bleu, bleuInternational } from './bleu.ts';
export { chrf, chrfPlusPlus } from './chrf.ts';
export { added, type CorpusMetric, corpusScore } from './corpus-metric.ts';
export { rouge1, rouge2, rougeLsum } from './rouge.ts';
export { ter } from './ter.ts';

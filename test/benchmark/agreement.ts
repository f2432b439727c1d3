/** Compares the built-in readers and the failure causes with labels that were made by reading. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { causeOf } from '../../src/benchmark/causes.ts';
import { readers } from '../../src/benchmark/readers.ts';
import type { AnswerKind } from '../../src/benchmark/types.ts';
import type { FailureCause } from '../../src/shared/failure-causes.ts';
import type { StopReason } from '../../src/shared/results.ts';

export interface LabelledOutput {
  id: string;
  kind: AnswerKind;
  question: string;
  options: string[];
  output: string;
  stop: StopReason;
  label?: { answer: string | null; inForm: boolean; cause: FailureCause | null };
}

/** All labelled outputs of a folder with one `.jsonl` file a kind. */
export function labelledOutputs(folder: string): LabelledOutput[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean))
    .map((line) => JSON.parse(line) as LabelledOutput);
}

/** A quarter of the labels, by their ids alone: not looked at while the readers were made. */
export const isHeldOut = ({ id }: LabelledOutput): boolean => (createHash('sha256').update(id).digest()[0] ?? 0) < 64;

export type Verdict = 'agrees' | 'another answer' | 'missed' | 'invented';

export interface Comparison {
  entry: LabelledOutput;
  taken: string | null;
  lenient: Verdict;
  strict: 'agrees' | 'too strict' | 'too lenient';
  cause: FailureCause | null;
}

/** What the readers make of an output, beside its label; null without a label. */
export function compare(entry: LabelledOutput): Comparison | null {
  const { kind, question, options, output, stop, label } = entry;
  if (!label) return null;
  const reader = readers[kind];
  const context = { question, options, stop };
  const lenient = reader.lenient(output, context);
  const inForm = stop !== 'length' && reader.strict(output, context).answer !== null;
  const taken = lenient.answer;
  let verdict: Verdict = 'agrees';
  if (taken === null) verdict = label.answer === null ? 'agrees' : 'missed';
  else if (label.answer === null) verdict = 'invented';
  else if (!reader.same(taken, label.answer)) verdict = 'another answer';
  return {
    entry,
    taken,
    lenient: verdict,
    strict: inForm === label.inForm ? 'agrees' : inForm ? 'too lenient' : 'too strict',
    cause: inForm
      ? null
      : causeOf({
          output,
          stop,
          kind,
          lenient,
          options,
          question,
          accepts: (text) => reader.strict(text, context).answer !== null,
        }),
  };
}

export interface KindAgreement {
  n: number;
  lenient: Record<Verdict, number>;
  strict: Record<Comparison['strict'], number>;
  causes: number;
}

/** Counts by kind of answer, and over all kinds under `all`. */
export function agreement(comparisons: readonly Comparison[]): Map<string, KindAgreement> {
  const table = new Map<string, KindAgreement>();
  for (const { entry, lenient, strict, cause } of comparisons)
    for (const kind of [entry.kind, 'all']) {
      const row = table.get(kind) ?? {
        n: 0,
        lenient: { agrees: 0, 'another answer': 0, missed: 0, invented: 0 },
        strict: { agrees: 0, 'too strict': 0, 'too lenient': 0 },
        causes: 0,
      };
      row.n++;
      row.lenient[lenient]++;
      row.strict[strict]++;
      if (cause === entry.label?.cause) row.causes++;
      table.set(kind, row);
    }
  return table;
}

/** Made with scikit-learn and numpy: scripts/make-predictor-oracle.py. */
import { readFileSync } from 'node:fs';
import type { ScoreRecord } from '../../src/predict/index.ts';

interface Row {
  family: string;
  model: string;
  params: number;
  task: string;
  subtask: string;
  shots: number;
  score: number;
  n: number;
}

interface OracleFold {
  test: number[];
  development: number[];
}

export const oracle = JSON.parse(readFileSync('test/fixtures/predict/oracle.json', 'utf8')) as {
  records: Row[];
  splits: Record<string, OracleFold[]>;
  otherSeed: OracleFold[];
  train: number[];
  test: number[];
  additive: number[];
  ridge: Record<string, number[]>;
  fit: { r2: number; rmse: number };
  factors: { matrix: number[][]; rank: number; penalty: number; product: number[][] };
  neighbours: { residuals: number[][]; known: boolean[][]; k: number; shrinkage: number; predicted: number[][] };
  noise: { truth: number[]; items: number[]; measured: number[]; r2: number; sd: number };
};

export const record = (change: Partial<ScoreRecord> = {}): ScoreRecord => ({
  family: 'Alder',
  model: 'Alder-7B',
  parameters: { total: 7e9, nonEmbedding: null, flopMatched: null },
  trainingFlops: null,
  task: 'gsm8k',
  subtask: 'gsm8k',
  shots: 0,
  mode: null,
  metric: 'exact_match',
  preferred: true,
  score: 0.5,
  n: null,
  source: 'csv',
  ...change,
});

export const oracleRecords: ScoreRecord[] = oracle.records.map(({ params, ...row }) =>
  record({ ...row, parameters: { total: params, nonEmbedding: null, flopMatched: null } }),
);

export const pick = (positions: readonly number[]): ScoreRecord[] =>
  positions.map((at) => oracleRecords[at] as ScoreRecord);

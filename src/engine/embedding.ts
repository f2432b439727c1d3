/** The token-embedding table, as the graph itself looks it up. */
import type { ModelFiles } from '../model/index.ts';
import { HumanError } from '../shared/errors.ts';
import { embeddingGraph } from './inference-graph.ts';
import { createSession, loadOnnxRuntime, type Session, type SessionSettings } from './runtime.ts';

/** Rows that the scale is taken from: evenly spread over the vocabulary. */
const sampleRows = 2048;

/**
 * A small session of only the graph's look-up: right for plain, quantised and tied tables alike. It maps the table's part of
 * the file, and is open only where rows are looked up: evaluation without a soft prompt needs none.
 */
export class EmbeddingTable {
  #session: Promise<Session> | null = null;

  private constructor(
    private readonly open: () => Promise<Session>,
    private readonly input: string,
    private readonly integers: 'int32' | 'int64',
    readonly hiddenSize: number,
    readonly scale: number,
  ) {}

  /** Null where the graph has no look-up at its top (then it takes no soft prompt either). */
  static async open(
    { file, signature }: ModelFiles,
    vocabularySize: number,
    settings: Omit<SessionSettings, 'weightFolder'>,
  ): Promise<EmbeddingTable | null> {
    const model = embeddingGraph(file, signature);
    if (!model) return null;
    const open = (): Promise<Session> => createSession(model, { ...settings, weightFolder: file.folder });
    const session = await open();
    const integers = signature.inputIds.dtype === 'int32' ? 'int32' : 'int64';
    const look = (ids: readonly number[]): Promise<{ data: Float32Array; width: number }> =>
      lookUp(session, signature.inputIds.name, integers, ids);
    const count = Math.min(vocabularySize, sampleRows);
    const { data, width } = await look(
      Array.from({ length: count }, (_, index) => Math.floor((index * vocabularySize) / count)),
    );
    let squares = 0;
    for (const value of data) squares += value * value;
    await session.release();
    return new EmbeddingTable(open, signature.inputIds.name, integers, width, Math.sqrt(squares / data.length));
  }

  /** float32 [ids.length, hidden]. */
  async rows(ids: readonly number[]): Promise<Float32Array> {
    if (!ids.length) return new Float32Array(0);
    this.#session ??= this.open();
    return (await lookUp(await this.#session, this.input, this.integers, ids)).data;
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    await (await session?.catch(() => null))?.release();
  }
}

async function lookUp(
  session: Session,
  input: string,
  integers: 'int32' | 'int64',
  ids: readonly number[],
): Promise<{ data: Float32Array; width: number }> {
  const ort = await loadOnnxRuntime();
  const feed =
    integers === 'int32'
      ? new ort.Tensor('int32', Int32Array.from(ids), [1, ids.length])
      : new ort.Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]);
  try {
    const outputs = await session.run({ [input]: feed });
    const output = outputs[session.outputNames[0] ?? ''];
    if (!output) throw new Error('the look-up gave nothing');
    return { data: output.data as Float32Array, width: output.dims.at(-1) ?? 0 };
  } catch (error) {
    throw new HumanError('engine', `Token ids could not be looked up in the embedding: ${(error as Error).message}`, {
      todo: 'Check that tokenizer.json belongs to this model.',
      cause: error,
    });
  }
}

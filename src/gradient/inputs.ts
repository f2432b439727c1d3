/** Sizes of a language model's inputs, from the names and symbols that exporters give them. */
import type { OnnxModel } from '../onnx/index.ts';
import { softPromptInput, softPromptPlacesInput } from './splice.ts';

export interface Sizes {
  batch: number;
  /** Tokens per row, the soft prompt's placeholders included. */
  length: number;
  /** Tokens in the cache. */
  past: number;
  /** Vectors of the soft prompt, where the graph has that input. */
  vectors?: number;
  /** Rows of `answer_positions`, where the graph has that input. */
  answers?: number;
}

/** Name of the input that says whose logits are wanted: int64 [answers, 2] of (row, position). */
export const answerPositionsInput = 'answer_positions';

/** Dims of every input of a decoder for a prompt of the given sizes. */
export function inputSizes(model: OnnxModel, sizes: Sizes): Map<string, number[]> {
  const { batch, length, past } = sizes;
  const result = new Map<string, number[]>();
  for (const { name, dims } of model.graph.inputs) {
    if (name === softPromptInput) result.set(name, [sizes.vectors ?? 0, Number(dims?.[1] ?? 0)]);
    else if (name === softPromptPlacesInput) result.set(name, [batch, sizes.vectors ?? 0, 2]);
    else if (name === answerPositionsInput) result.set(name, [sizes.answers ?? 1, 2]);
    else if (name === 'attention_mask') result.set(name, [batch, past + length]);
    else if (name === 'input_ids' || name === 'position_ids' || name === 'token_type_ids')
      result.set(name, [batch, length]);
    // A cache: the first open dimension is the batch, any other the tokens in it.
    else {
      let open = 0;
      result.set(
        name,
        (dims ?? []).map((dim) => (typeof dim === 'number' && dim > 0 ? dim : open++ === 0 ? batch : past)),
      );
    }
  }
  return result;
}

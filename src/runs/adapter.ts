/** Soft prompts as PEFT prompt-tuning adapter folders: adapter_config.json + adapter_model.safetensors. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SoftPrompt } from '../evaluate/language-model.ts';
import { asError, HumanError } from '../shared/errors.ts';
import { encodeSafetensors } from '../shared/safetensors.ts';
import { jsonText, makeFolder, writeWhole } from './files.ts';
import { readSafetensors, softPromptEntry, softPromptOf, softPromptTensor } from './soft-prompt-file.ts';

const configFile = 'adapter_config.json';
const weightsFile = 'adapter_model.safetensors';

/**
 * Writes an adapter folder that `PeftModel.from_pretrained` loads.
 * @param baseModel what goes into `base_model_name_or_path`: a Hugging Face id or a folder of the PyTorch model.
 */
export async function exportAdapter(folder: string, softPrompt: SoftPrompt, baseModel: string): Promise<void> {
  if (softPrompt.position === 'suffix')
    throw new HumanError(
      'unsupported',
      'This soft prompt was tuned to stand behind the text (position: suffix); PEFT puts the vectors of a prompt-tuning adapter in front of it.',
      { todo: 'Tune one with position: prefix, or take the vectors from soft-prompt.safetensors.' },
    );
  await makeFolder(folder);
  await writeWhole(
    join(folder, weightsFile),
    encodeSafetensors([[softPromptTensor, softPromptEntry(softPrompt)]], { format: 'pt' }),
  );
  await writeWhole(
    join(folder, configFile),
    jsonText({
      peft_type: 'PROMPT_TUNING',
      task_type: 'CAUSAL_LM',
      base_model_name_or_path: baseModel,
      revision: null,
      inference_mode: true,
      num_virtual_tokens: softPrompt.vectors,
      token_dim: softPrompt.hiddenSize,
      num_transformer_submodules: 1,
      // PEFT fills these in from the base model's own configuration.
      num_attention_heads: null,
      num_layers: null,
      // The values come from the weights file; RANDOM keeps PEFT from loading a tokenizer to make initial ones.
      prompt_tuning_init: 'RANDOM',
      prompt_tuning_init_text: null,
      tokenizer_name_or_path: null,
      modules_to_save: null,
    }),
  );
}

/** Reads the soft prompt of a PEFT prompt-tuning adapter folder. Throws HumanError where it is another kind of adapter. */
export async function importAdapter(folder: string): Promise<{ softPrompt: SoftPrompt; baseModel: string | null }> {
  const file = join(folder, configFile);
  let config: Record<string, unknown>;
  try {
    config = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  } catch (thrown) {
    const { code, message } = asError(thrown) as NodeJS.ErrnoException;
    throw code === 'ENOENT'
      ? new HumanError('missing', `${folder} is not an adapter folder: it has no ${configFile}.`)
      : new HumanError('bad-input', `The adapter's configuration cannot be read: ${message}.`, { place: { file } });
  }
  if (config.peft_type !== 'PROMPT_TUNING')
    throw new HumanError(
      'unsupported',
      `The adapter is of type ${JSON.stringify(config.peft_type)}; only PROMPT_TUNING adapters are soft prompts.`,
      { place: { file } },
    );
  const weights = join(folder, weightsFile);
  const tensors = await readSafetensors(weights);
  if (!tensors)
    throw new HumanError('missing', `The adapter folder has no ${weightsFile}.`, {
      place: { file: folder },
      todo: 'An adapter_model.bin can be converted by loading and saving it with PEFT (safe_serialization=True).',
    });
  const softPrompt = softPromptOf(tensors, softPromptTensor, weights);
  const { num_virtual_tokens: vectors, num_transformer_submodules: submodules } = config;
  if (typeof vectors === 'number' && vectors * (typeof submodules === 'number' ? submodules : 1) !== softPrompt.vectors)
    throw new HumanError(
      'bad-input',
      `num_virtual_tokens is ${vectors}, but the weights hold ${softPrompt.vectors} vectors.`,
      { place: { file } },
    );
  const baseModel = config.base_model_name_or_path;
  return { softPrompt, baseModel: typeof baseModel === 'string' ? baseModel : null };
}

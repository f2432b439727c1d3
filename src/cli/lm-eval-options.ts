/** Options of lm-evaluation-harness 0.4.13 that are not here, and what does their work. */
const kept =
  'Runs keep all outputs in the --store; "softbench export RUN --format lm-eval --out DIR" writes the files of the harness.';
const nothingRun = 'Leave it out: no code of models, data sets or tasks is ever run.';

const elsewhere = 'Leave it out: runs are sent nowhere. Export them, and send the files.';

export const lmEvalOptions: ReadonlyMap<string, string> = new Map([
  ['num_fewshot', 'Use --modes few-shot --shots N.'],
  ['gen_kwargs', 'Give `generation_kwargs` in the benchmark file.'],
  ['model_args', 'Give the model folder with --model.'],
  ['device', 'Use --provider.'],
  ['max_batch_size', 'Use --batch_size auto: it holds to what memory there is.'],
  ['include_path', 'Give benchmarks by the paths of their files.'],
  ['use_cache', 'Responses are kept and used again by themselves; --no-cache turns that off.'],
  ['cache_requests', 'Prompts need no cache here.'],
  ['output_path', kept],
  ['log_samples', kept],
  ['write_out', '"softbench runs show RUN --items" shows what came of every item.'],
  ['samples', 'Use --limit for the first items; the benchmark file can name a data file with chosen ones.'],
  ['show_config', '"softbench check BENCHMARK" shows what is wrong in a file; a run keeps all settings in run.json.'],
  ['config', 'Give the options on the command line, and those of the benchmark in its file.'],
  ['metadata', 'Give `metadata` in the benchmark file.'],
  ['verbosity', 'Use --quiet for the result only, and --debug for the stack of an error.'],
  ['wandb_args', elsewhere],
  ['wandb_config_args', elsewhere],
  ['trackio_args', elsewhere],
  ['hf_hub_log_args', elsewhere],
  ['check_integrity', 'Use "softbench check BENCHMARK".'],
  ['trust_remote_code', nothingRun],
  ['confirm_run_unsafe_code', nothingRun],
]);

/** Its short options, by their letter. */
export const lmEvalLetters: ReadonlyMap<string, string> = new Map([
  ['C', 'config'],
  ['E', 'samples'],
  ['a', 'model_args'],
  ['c', 'use_cache'],
  ['f', 'num_fewshot'],
  ['o', 'output_path'],
  ['s', 'log_samples'],
  ['v', 'verbosity'],
  ['w', 'write_out'],
]);

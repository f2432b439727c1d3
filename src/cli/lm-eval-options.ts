/** Options of lm-evaluation-harness 0.4.13 that are not here, and what does their work. */
const kept =
  'Runs keep all outputs in the --store; "softbench export RUN --format lm-eval --out DIR" writes the files of the harness.';
const nothingRun = 'Leave it out: no code of models, data sets or tasks is ever run.';

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
  ['check_integrity', 'Use "softbench check BENCHMARK".'],
  ['trust_remote_code', nothingRun],
  ['confirm_run_unsafe_code', nothingRun],
]);

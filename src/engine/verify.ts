/** Checks a model folder against its PyTorch reference, through the same code that tuning and evaluation use. */
import type { SoftPrompt, TrainingExample } from '../evaluate/language-model.ts';
import { arithmeticOf } from '../gradient/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { EngineSettings, VerifyReport } from '../shared/protocol.ts';
import { holdsBfloat16 } from './exact-files.ts';
import { generate } from './generate.ts';
import { type OnnxLanguageModel, openLanguageModel } from './language-model.ts';
import { type Reference, type ReferenceTensor, readReference, rowsOf, vectorCounts } from './reference.ts';
import { uneditedLogits } from './unedited.ts';

/** What each check found: its figure for the report, and a sentence where it is outside of the tolerance. */
interface Finding<Figure> {
  figure: Figure | null;
  problem: string | null;
}

const largest = (values: Iterable<number>): number => {
  let most = 0;
  // A NaN must not hide behind a comparison that is always false.
  for (const value of values) most = Number.isNaN(value) ? Number.NaN : Math.max(most, Math.abs(value));
  return most;
};

const worse = (error: number, tolerance: number): boolean => !(error <= tolerance);
const short = (value: number): string => value.toExponential(1);

function tensor(reference: Reference, name: string): ReferenceTensor {
  const found = reference.tensors.get(name);
  if (!found)
    throw new HumanError('bad-input', `The reference has no tensor "${name}".`, { place: { file: reference.file } });
  return found;
}

/** The reference's soft prompt of that many vectors; none for 0. */
function softPromptOf(reference: Reference, vectors: number): SoftPrompt | null {
  if (vectors === 0) return null;
  const { shape, values } = tensor(reference, `P${vectors}`);
  return { vectors, hiddenSize: shape[1] ?? 0, data: Float32Array.from(values) };
}

/** Where answer tokens are predicted. */
const answerPlaces = ({ sequences }: Reference): { row: number; position: number }[] =>
  sequences.flatMap(({ prompt, answer }, row) =>
    answer.map((_, offset) => ({ row, position: prompt.length - 1 + offset })),
  );

async function checkLogits(
  model: OnnxLanguageModel,
  reference: Reference,
  tolerance = reference.tolerance.logits,
): Promise<Finding<{ max_abs: number }>> {
  const counts = vectorCounts(reference, 'logits_n');
  if (!counts.length) return { figure: null, problem: null };
  const decoder = await model.decoder();
  let error = 0;
  for (const vectors of counts) {
    const expected = rowsOf(tensor(reference, `logits_n${vectors}`));
    const distributions = await decoder.read(
      null,
      0,
      reference.sequences.map(({ prompt, answer }) => [...prompt, ...answer]),
      answerPlaces(reference),
      { softPrompt: softPromptOf(reference, vectors), logits: true },
    );
    for (const [index, row] of expected.entries()) {
      const logits = distributions[index]?.logits;
      error = Math.max(error, largest(row.map((value, token) => value - (logits?.[token] ?? Number.NaN))));
    }
  }
  return {
    figure: { max_abs: error },
    problem: worse(error, tolerance) ? `logits differ by ${short(error)} (allowed ${short(tolerance)})` : null,
  };
}

async function checkLogLikelihood(
  model: OnnxLanguageModel,
  reference: Reference,
  ofLogits = reference.tolerance.logits,
): Promise<Finding<{ max_abs: number }>> {
  const counts = vectorCounts(reference, 'seq_ll_n');
  if (!counts.length) return { figure: null, problem: null };
  let error = 0;
  for (const vectors of counts) {
    const expected = tensor(reference, `seq_ll_n${vectors}`).values;
    await model.logLikelihood(
      reference.sequences.map(({ prompt, answer }, index) => ({ index, context: prompt, continuation: answer })),
      { batchSize: reference.sequences.length, softPrompt: softPromptOf(reference, vectors) },
      {
        onResult: ({ index, sum }) => {
          error = largest([error, sum - (expected[index] ?? Number.NaN)]);
        },
      },
    );
  }
  // A sum of that many log-probabilities, each as far off as a logit may be.
  const tolerance = ofLogits * Math.max(...reference.sequences.map(({ answer }) => answer.length));
  return {
    figure: { max_abs: error },
    problem: worse(error, tolerance) ? `log-likelihoods differ by ${short(error)} (allowed ${short(tolerance)})` : null,
  };
}

async function checkGeneration(
  model: OnnxLanguageModel,
  reference: Reference,
  sureMargin = reference.tolerance.margin,
): Promise<Finding<{ compared: number; equal: number }>> {
  const counts = vectorCounts(reference, 'gen_ids_n');
  if (!counts.length) return { figure: null, problem: null };
  const decoder = await model.decoder();
  let compared = 0;
  let equal = 0;
  for (const vectors of counts) {
    const expected = rowsOf(tensor(reference, `gen_ids_n${vectors}`));
    const margins = rowsOf(tensor(reference, `gen_margin_n${vectors}`));
    // The references go on past the end token.
    const tokenizer = { ...model.tokenizer, eosTokenIds: [] };
    await generate(
      { decoder, tokenizer, contextLength: model.contextLength },
      reference.sequences.map(({ prompt }, index) => ({ index, tokens: prompt })),
      {
        until: [],
        maxNewTokens: expected[0]?.length ?? 0,
        temperature: 0,
        topP: 1,
        seed: 0,
        batchSize: reference.sequences.length,
        softPrompt: softPromptOf(reference, vectors),
      },
      {
        onResult: ({ index, tokens }) => {
          const close = margins[index]?.findIndex((margin) => margin < sureMargin) ?? 0;
          const sure = expected[index]?.subarray(0, close < 0 ? undefined : close) ?? new Float64Array();
          compared += sure.length;
          const differs = sure.findIndex((token, step) => token !== tokens[step]);
          equal += differs < 0 ? sure.length : differs;
        },
      },
    );
  }
  return {
    figure: { compared, equal },
    problem:
      equal < compared
        ? `${compared - equal} of ${compared} generated tokens come after a different one or differ`
        : null,
  };
}

/** torch.optim.Adam's update with its default betas, in float64; the parameter is kept in float32 as torch keeps it. */
function adam(learningRate: number): (parameter: Float32Array, gradient: Float32Array) => void {
  const [beta1, beta2, epsilon] = [0.9, 0.999, 1e-8];
  let first = new Float64Array();
  let second = new Float64Array();
  let step = 0;
  return (parameter, gradient) => {
    if (step++ === 0) {
      first = new Float64Array(parameter.length);
      second = new Float64Array(parameter.length);
    }
    for (const [index, value] of gradient.entries()) {
      const m = beta1 * (first[index] ?? 0) + (1 - beta1) * value;
      const v = beta2 * (second[index] ?? 0) + (1 - beta2) * value * value;
      first[index] = m;
      second[index] = v;
      const change = m / (1 - beta1 ** step) / (Math.sqrt(v / (1 - beta2 ** step)) + epsilon);
      parameter[index] = (parameter[index] ?? 0) - learningRate * change;
    }
  };
}

interface TrainingFinding {
  gradient: Finding<{ relative_error: number }>;
  losses: Finding<{ max_abs: number }>;
}

async function checkTraining(model: OnnxLanguageModel, reference: Reference): Promise<TrainingFinding> {
  const counts = vectorCounts(reference, 'dP_n');
  const none = { figure: null, problem: null };
  if (!counts.length) return { gradient: none, losses: none };
  const examples: TrainingExample[] = reference.sequences;
  const { tolerance } = reference;
  let relative = 0;
  let ofLargest = 0;
  let loss = 0;
  let parameter = 0;
  for (const vectors of counts) {
    const softPrompt = softPromptOf(reference, vectors);
    if (!softPrompt) continue;
    const expected = tensor(reference, `dP_n${vectors}`).values;
    const losses = reference.scalars[`adam_losses_n${vectors}`];
    const wanted = Array.isArray(losses) ? losses.map(Number) : [];
    const training = await model.openTraining({ vectors, batchSize: examples.length });
    try {
      const update = adam(0.05);
      for (const [step, value] of (wanted.length ? wanted : [Number.NaN]).entries()) {
        const result = await training.step(examples, softPrompt);
        if (wanted.length) loss = largest([loss, result.loss - value]);
        if (step === 0) {
          const difference = expected.map((entry, index) => entry - (result.gradient[index] ?? Number.NaN));
          relative = largest([relative, Math.hypot(...difference) / Math.hypot(...expected)]);
          ofLargest = largest([ofLargest, largest(difference) / largest(expected)]);
        }
        // The last of the losses is the one after the last update.
        if (step < wanted.length - 1) update(softPrompt.data, result.gradient);
      }
    } finally {
      await training.close();
    }
    const trained = reference.tensors.get(`adam_P_n${vectors}`);
    if (trained)
      parameter = largest([
        parameter,
        largest(trained.values.map((entry, index) => entry - (softPrompt.data[index] ?? Number.NaN))),
      ]);
  }
  const problems: string[] = [];
  if (worse(loss, tolerance.loss)) problems.push(`losses differ by ${short(loss)} (allowed ${short(tolerance.loss)})`);
  if (worse(parameter, tolerance.parameter))
    problems.push(
      `the soft prompt after the Adam steps differs by ${short(parameter)} (allowed ${short(tolerance.parameter)})`,
    );
  return {
    gradient: {
      figure: { relative_error: relative },
      problem: worse(ofLargest, tolerance.gradient)
        ? `gradients differ by ${short(ofLargest)} of their largest entry (allowed ${short(tolerance.gradient)})`
        : null,
    },
    losses: { figure: { max_abs: loss }, problem: problems.join('; ') || null },
  };
}

/**
 * How far the file as it is may be from the reference by ONNX Runtime's own arithmetic. The reference says how far it was
 * where that was made; kernels for 8-bit integers compute otherwise on other processors (without VNNI, sums of pairs
 * saturate), so the same is measured here, without a soft prompt, and what was noted grows with it. It never shrinks:
 * rows of other lengths round otherwise, too.
 */
async function uneditedDifference(model: OnnxLanguageModel, reference: Reference): Promise<number> {
  const { plain = 0, most = 0 } = reference.runtimeDifference ?? {};
  if (!vectorCounts(reference, 'logits_n').includes(0)) return most;
  const found = await uneditedLogits(
    model.files,
    reference.sequences.map(({ prompt, answer }) => [...prompt, ...answer]),
    answerPlaces(reference),
    { padTokenId: model.tokenizer.padTokenId, threads: 1 },
  );
  const expected = rowsOf(tensor(reference, 'logits_n0'));
  const here = largest(
    expected.flatMap((row, index) => [...row].map((value, token) => value - (found?.[index]?.[token] ?? value))),
  );
  return Math.max(here, plain > 0 ? (most * Math.max(here, plain)) / plain : most);
}

interface ForwardFigures {
  logits: { max_abs: number } | null;
  log_likelihood: { max_abs: number } | null;
  generation: { compared: number; equal: number } | null;
}

/** Runs a check and notes its problem; null where it could not be run or has nothing to compare with. */
type Check = <Figure>(what: string, run: () => Promise<Finding<Figure>>) => Promise<Figure | null>;

/**
 * The forward pass as the file itself computes it: activations quantised, values in half precision. As far as the
 * unedited file is from the reference in ONNX Runtime alone, and what float32 may differ, is allowed here. Tokens count
 * while the best logit leads by more than two logits may be off together.
 */
async function checkAsRun(
  path: string,
  settings: EngineSettings,
  reference: Reference,
  check: Check,
): Promise<VerifyReport['as_run']> {
  const model = await openLanguageModel(path, settings);
  try {
    const allowed = (await uneditedDifference(model, reference)) + reference.tolerance.logits;
    return {
      logits: await check('logits of the file as it runs', () => checkLogits(model, reference, allowed)),
      log_likelihood: await check('log-likelihoods of the file as it runs', () =>
        checkLogLikelihood(model, reference, allowed),
      ),
      generation: await check('tokens generated by the file as it runs', () =>
        checkGeneration(model, reference, 2 * allowed),
      ),
      allowed,
    };
  } finally {
    await model.close();
  }
}

/**
 * Runs a folder's reference.json and reference.safetensors through the engine. `ok` only where every figure that the
 * reference has is within its tolerance; `reason` says what is not, or why it could not be compared.
 */
export async function verifyModel(
  path: string,
  settings: EngineSettings,
  progress: (message: string) => void = () => {},
): Promise<VerifyReport> {
  const model = await openLanguageModel(path, settings, { exactArithmetic: true });
  try {
    const { folder, file } = model.files;
    const reference = readReference(folder.folder);
    const problems: string[] = [];
    const check: Check = async (what, run) => {
      progress(`Comparing ${what}`);
      try {
        const { figure, problem } = await run();
        if (problem) problems.push(problem);
        return figure;
      } catch (error) {
        // A graph that cannot do one thing (take a soft prompt, be tuned) still has figures for the rest.
        if (!(error instanceof HumanError)) throw error;
        problems.push(`${what} could not be compared: ${error.sentence}`);
        return null;
      }
    };
    const forward: ForwardFigures = {
      logits: await check('logits', () => checkLogits(model, reference)),
      log_likelihood: await check('log-likelihoods', () => checkLogLikelihood(model, reference)),
      generation: await check('generated tokens', () => checkGeneration(model, reference)),
    };
    const training = await check('gradients and Adam steps', async () => {
      const found = await checkTraining(model, reference);
      const parts = [found.gradient.problem, found.losses.problem].filter((problem) => problem !== null);
      return { figure: found, problem: parts.join('; ') || null };
    });
    const { quantisesActivations, half } = arithmeticOf(file);
    const differs = quantisesActivations || (half && !holdsBfloat16(file.graph));
    const as_run = differs ? await checkAsRun(path, settings, reference, check) : null;
    const report = {
      gradient: training?.gradient.figure ?? null,
      losses: training?.losses.figure ?? null,
      ...forward,
    };
    if (Object.values(report).every((figure) => figure === null) && !problems.length)
      problems.push('the reference holds nothing that could be compared');
    return {
      folder: folder.folder,
      name: folder.name,
      exporter: reference.exporter ?? ([file.producer, file.producerVersion].filter(Boolean).join(' ') || null),
      ok: problems.length === 0,
      ...report,
      as_run,
      reason: problems.length ? `The model does not agree with its reference: ${problems.join('; ')}.` : null,
    };
  } finally {
    await model.close();
  }
}

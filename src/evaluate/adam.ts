/**
 * Adam (Kingma & Ba 2015) on one flat parameter, with gradient-norm clipping and a cosine learning-rate schedule.
 * Betas 0.8 and 0.95 in place of 0.9 and 0.999: with 80 steps in all, moments that forget faster did better.
 */
export interface AdamOptions {
  beta1: number;
  beta2: number;
  epsilon: number;
  /** Largest L2 norm of a gradient; larger ones are scaled down to it. Infinity: no clipping. */
  clipNorm: number;
}

export const tuningAdam: AdamOptions = { beta1: 0.8, beta2: 0.95, epsilon: 1e-8, clipNorm: 1 };

/** Largest norm of a gradient in units of the parameter's scale: near what 1 meant to the models it was chosen on. */
const scaledClipNorm = 0.2;

/**
 * The same for a parameter whose entries are of the size `scale`, as if it were learned in units of that size: a model
 * whose embedding is written ten times as large is tuned alike. Adam's step does not depend on the gradient's size, but
 * the two thresholds do.
 */
export const scaledAdam = (scale: number): AdamOptions => ({
  ...tuningAdam,
  epsilon: tuningAdam.epsilon / scale,
  clipNorm: scaledClipNorm / scale,
});

export interface AdamState {
  firstMoment: Float32Array;
  secondMoment: Float32Array;
}

export const newAdamState = (size: number): AdamState => ({
  firstMoment: new Float32Array(size),
  secondMoment: new Float32Array(size),
});

/** L2 norm of a vector. */
export function norm(vector: Float32Array): number {
  let sum = 0;
  for (const x of vector) sum += x * x;
  return Math.sqrt(sum);
}

/**
 * One update in place; `step` counts from 1 (bias correction).
 * @returns the gradient's L2 norm before clipping
 */
export function adamStep(
  parameter: Float32Array,
  gradient: Float32Array,
  state: AdamState,
  step: number,
  learningRate: number,
  options: AdamOptions = tuningAdam,
): number {
  const { beta1, beta2, epsilon, clipNorm } = options;
  const gradientNorm = norm(gradient);
  const scale = gradientNorm > clipNorm ? clipNorm / gradientNorm : 1;
  const correction1 = 1 - beta1 ** step;
  const correction2 = 1 - beta2 ** step;
  const { firstMoment, secondMoment } = state;
  for (let i = 0; i < parameter.length; i++) {
    const g = (gradient[i] as number) * scale;
    const m = beta1 * (firstMoment[i] as number) + (1 - beta1) * g;
    const v = beta2 * (secondMoment[i] as number) + (1 - beta2) * g * g;
    firstMoment[i] = m;
    secondMoment[i] = v;
    parameter[i] =
      (parameter[i] as number) - (learningRate * (m / correction1)) / (Math.sqrt(v / correction2) + epsilon);
  }
  return gradientNorm;
}

/** Cosine decay from `peak` before the first step to 0 after the last; `step` counts from 1. */
export function cosineLearningRate(peak: number, step: number, steps: number): number {
  return 0.5 * peak * (1 + Math.cos((Math.PI * (step - 1)) / steps));
}

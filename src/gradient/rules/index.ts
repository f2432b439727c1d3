/** Gradient rules, one row per operator (`domain.Operator` outside the default domain). */
import { elementwiseRules } from './elementwise.ts';
import { linalgRules } from './linalg.ts';
import { movementRules } from './movement.ts';
import { quantisedRules } from './quantised.ts';
import { reductionRules } from './reduction.ts';
import { rotaryRules } from './rotary.ts';
import type { GradientRule } from './rule.ts';

export type { GradientRule, RuleContext } from './rule.ts';

export const gradientRules: Readonly<Record<string, GradientRule>> = {
  ...elementwiseRules,
  ...movementRules,
  ...reductionRules,
  ...linalgRules,
  ...rotaryRules,
  ...quantisedRules,
};

/** Gradient rules of rotary position embeddings: a rotation's gradient is the rotation by the opposite angle. */
import { HumanError } from '../../shared/errors.ts';
import type { GradientRule } from './rule.ts';

/** `sine` is the input that holds sines; the others stay as they are. */
const rotation =
  (sine: number): GradientRule =>
  ({ g, node, dy }) => {
    if (node.float('scale', 1) !== 1 || node.int('is_packed_batching', 0) !== 0)
      throw new HumanError(
        'unsupported',
        `The operator ${node.fullOperator} (node "${node.place}") cannot be differentiated: it scales its angles or packs rows of a batch together.`,
        { todo: 'Export the model again without this option, or without operator fusion.' },
      );
    const inputs = node.inputs.map((input, at) => (at === 0 ? dy : at === sine ? g.neg(input) : input));
    const back = g.node(node.operator, inputs, { domain: node.domain });
    for (const [name, attribute] of node.attributes) back.attributes.set(name, attribute);
    g.graph.nodes.push(back);
    return [back.output()];
  };

export const rotaryRules: Record<string, GradientRule> = {
  'com.microsoft.RotaryEmbedding': rotation(3),
  RotaryEmbedding: rotation(2),
};

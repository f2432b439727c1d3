/** Equations of Einsum: which axes of the operands and of the result are the same. */

export interface EinsumAxes {
  /** Label of each axis, by operand. */
  operands: string[][];
  output: string[];
}

/**
 * Reads an equation for operands of the given ranks. The axes of an ellipsis get the labels …0, …1 and so on, counted from
 * the last one, since they are aligned there; a missing right side holds the ellipsis and what occurs once, in order.
 * @throws Error where the equation does not fit the operands
 */
export function einsumAxes(equation: string, ranks: readonly number[]): EinsumAxes {
  const [left = '', right] = equation.replaceAll(/\s/g, '').split('->');
  const terms = left.split(',');
  if (terms.length !== ranks.length) throw new Error(`the equation "${equation}" is for ${terms.length} operands`);
  const operands = terms.map((term, at) => labelsOf(term, (named) => (ranks[at] ?? 0) - named));
  for (const [at, labels] of operands.entries())
    if (labels.length !== ranks[at])
      throw new Error(`"${terms[at]}" of the equation "${equation}" does not name ${ranks[at]} axes`);
  const all = operands.flat();
  const hidden = Math.max(0, ...operands.map((labels) => labels.filter((label) => label.startsWith('…')).length));
  const once = [...new Set(all)].filter(
    (label) => !label.startsWith('…') && all.indexOf(label) === all.lastIndexOf(label),
  );
  const output = labelsOf(right ?? `...${once.sort().join('')}`, () => hidden);
  const unknown = output.find((label) => !all.includes(label));
  if (unknown !== undefined) throw new Error(`the equation "${equation}" has "${unknown}" on its right side only`);
  return { operands, output };
}

function labelsOf(term: string, hidden: (named: number) => number): string[] {
  const [before = '', after] = term.split('...');
  if (after === undefined) return [...before];
  const count = hidden(before.length + after.length);
  return [...before, ...Array.from({ length: Math.max(count, 0) }, (_, at) => `…${count - 1 - at}`), ...after];
}

/** Size of each label: an axis of 1 is stretched to the size of another of its label. */
export function einsumSizes({ operands }: EinsumAxes, shapes: readonly (readonly number[])[]): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const [at, labels] of operands.entries())
    for (const [axis, label] of labels.entries()) {
      const dim = shapes[at]?.[axis] ?? 1;
      const known = sizes.get(label) ?? 1;
      if (dim !== known && dim !== 1 && known !== 1)
        throw new Error(`axes of sizes ${known} and ${dim} have one label`);
      sizes.set(label, known === 1 ? dim : known);
    }
  return sizes;
}

/** An equation between axes of these labels, whatever they are called. */
export function einsumEquation(operands: readonly (readonly string[])[], output: readonly string[]): string {
  const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
  const names = new Map([...new Set(operands.flat())].map((label, at) => [label, letters[at] ?? '']));
  const term = (labels: readonly string[]): string => labels.map((label) => names.get(label) ?? '').join('');
  return `${operands.map(term).join(',')}->${term(output)}`;
}

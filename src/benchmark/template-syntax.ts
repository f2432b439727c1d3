/** The syntax tree of a template. */

/** A node of the tree that `template-parser.ts` makes; each kind of node has some of the fields. */
export interface Syntax {
  type: string;
  value?: unknown;
  body?: Syntax[];
  alternate?: Syntax[];
  defaultBlock?: Syntax[];
  test?: Syntax;
  iterable?: Syntax;
  loopvar?: Syntax;
  assignee?: Syntax;
  name?: Syntax;
  args?: Syntax[];
  object?: Syntax;
  property?: Syntax;
  computed?: boolean;
  callee?: Syntax;
  call?: Syntax;
  callerArgs?: Syntax[] | null;
  operator?: { value: string };
  left?: Syntax;
  right?: Syntax;
  operand?: Syntax;
  filter?: Syntax;
  negate?: boolean;
  links?: { operator: string; right: Syntax }[];
  filters?: Syntax[];
  argument?: Syntax;
  key?: Syntax;
  start?: Syntax;
  stop?: Syntax;
  step?: Syntax;
  condition?: Syntax;
  trueExpr?: Syntax;
  falseExpr?: Syntax;
}

/** The source of a name or a member, for messages. */
export const nameOf = (node: Syntax | undefined): string => {
  if (node?.type === 'Identifier') return String(node.value);
  if (node?.type === 'MemberExpression')
    return `${nameOf(node.object)}${node.computed ? '[…]' : `.${node.property?.value ?? ''}`}`;
  return 'the expression';
};

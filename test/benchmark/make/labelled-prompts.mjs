// What was asked for the labelled outputs: one row a prompt. Forms vary on purpose (plain, examples, chat, with and
// without working, with and without a stop text), so that the outputs do.

const chat = (text, system = 'You are a helpful AI assistant named SmolLM, trained by Hugging Face') =>
  `<|im_start|>system\n${system}<|im_end|>\n<|im_start|>user\n${text}<|im_end|>\n<|im_start|>assistant\n`;

/** `(A) one\n(B) two` behind "Options:" as texts. */
export const optionTexts = (input) =>
  [...input.matchAll(/^\(([A-Z])\) ?(.*)$/gm)].map((match) => match[2].trim()).filter((text) => text !== '');

const stem = (input) => input.split(/\nOptions:/)[0];
const lettered = (options) => options.map((text, i) => `${String.fromCharCode(65 + i)}. ${text}`).join('\n');
const bare = (options) => options.map((text) => `- ${text}`).join('\n');

// Fields of every item: question, options (texts), answer (as the data set gives it), short (only the answer).
const qa = ({ question }) => `Question: ${question}\nAnswer:`;
const q = ({ question }) => `Q: ${question}\nA:`;
const withLetters = ({ question, options }) => `${question}\n${lettered(options)}\nAnswer:`;
const withBare = ({ question, options }) => `${question}\nOptions:\n${bare(options)}\nAnswer:`;
const paragraph = ['\n\n'];
const line = ['\n'];
const never = [];

/**
 * name; kind of answer; data; first item and how many; `turn`: the question as the readers see it; `chat`: put into a chat
 * turn behind these words; `shots`: examples before it, with `example` as their answer; stop texts.
 */
export const prompts = [
  // ---------------------------------------------------------------- numbers
  { name: 'gsm8k-plain', kind: 'number', data: 'gsm8k', from: 0, n: 16, turn: qa, until: never },
  { name: 'gsm8k-line', kind: 'number', data: 'gsm8k', from: 20, n: 10, turn: q, until: line },
  {
    name: 'gsm8k-short-examples',
    kind: 'number',
    data: 'gsm8k',
    from: 40,
    n: 10,
    turn: qa,
    shots: 4,
    example: 'short',
    until: never,
  },
  {
    name: 'gsm8k-working-examples',
    kind: 'number',
    data: 'gsm8k',
    from: 60,
    n: 12,
    turn: qa,
    shots: 3,
    example: 'answer',
    until: never,
  },
  {
    name: 'gsm8k-chat',
    kind: 'number',
    data: 'gsm8k',
    from: 80,
    n: 14,
    turn: ({ question }) => question,
    chat: '',
    until: never,
    tokens: 72,
  },
  {
    name: 'gsm8k-chat-number',
    kind: 'number',
    data: 'gsm8k',
    from: 100,
    n: 14,
    turn: ({ question }) => `${question}\nReply with the final number only.`,
    chat: '',
    until: never,
  },
  {
    name: 'gsm8k-chat-boxed',
    kind: 'number',
    data: 'gsm8k',
    from: 120,
    n: 14,
    turn: ({ question }) => `Solve the problem. Put the final answer in \\boxed{}.\n\n${question}`,
    chat: '',
    until: never,
    tokens: 72,
  },
  {
    name: 'gsm8k-steps',
    kind: 'number',
    data: 'gsm8k',
    from: 140,
    n: 10,
    turn: ({ question }) => `Q: ${question}\nA: Let's think step by step.`,
    until: ['Q:'],
    tokens: 72,
  },
  {
    name: 'arithmetic-chat',
    kind: 'number',
    data: 'bbh/multistep_arithmetic_two',
    from: 0,
    n: 12,
    turn: ({ question }) => `What is ${question.replace(/\s*=\s*$/, '')}?`,
    chat: '',
    until: never,
  },
  {
    name: 'arithmetic-plain',
    kind: 'number',
    data: 'bbh/multistep_arithmetic_two',
    from: 20,
    n: 8,
    turn: ({ question }) => question,
    until: never,
  },
  { name: 'counting', kind: 'number', data: 'bbh/object_counting', from: 0, n: 10, turn: q, until: paragraph },
  {
    name: 'counting-chat',
    kind: 'number',
    data: 'bbh/object_counting',
    from: 20,
    n: 12,
    turn: ({ question }) => question,
    chat: '',
    until: never,
  },
  // ---------------------------------------------------------------- letters
  { name: 'aqua-plain', kind: 'letter', data: 'aqua', from: 0, n: 14, turn: withLetters, until: never },
  {
    name: 'aqua-examples',
    kind: 'letter',
    data: 'aqua',
    from: 20,
    n: 10,
    turn: withLetters,
    shots: 3,
    example: 'short',
    until: line,
  },
  {
    name: 'aqua-chat',
    kind: 'letter',
    data: 'aqua',
    from: 40,
    n: 14,
    turn: ({ question, options }) => `${question}\n\n${lettered(options)}\n\nWhich option is right?`,
    chat: '',
    until: never,
  },
  {
    name: 'aqua-chat-says',
    kind: 'letter',
    data: 'aqua',
    from: 60,
    n: 12,
    turn: ({ question, options }) => `${question}\n${lettered(options)}\nEnd with "The answer is (X)".`,
    chat: '',
    until: never,
    tokens: 72,
  },
  {
    name: 'date-plain',
    kind: 'letter',
    data: 'bbh/date_understanding',
    from: 0,
    n: 4,
    tokens: 24,
    turn: ({ input }) => `Q: ${input}\nA:`,
    until: never,
  },
  {
    name: 'date-examples',
    kind: 'letter',
    data: 'bbh/date_understanding',
    from: 30,
    n: 8,
    turn: ({ input }) => `Q: ${input}\nA:`,
    shots: 3,
    example: 'short',
    until: never,
  },
  {
    name: 'objects-chat',
    kind: 'letter',
    data: 'bbh/logical_deduction_three_objects',
    from: 0,
    n: 12,
    turn: ({ input }) => input,
    chat: '',
    until: never,
  },
  {
    name: 'snarks-chat',
    kind: 'letter',
    data: 'bbh/snarks',
    from: 0,
    n: 12,
    turn: ({ input }) => `${input}\nAnswer with the letter only.`,
    chat: '',
    until: never,
  },
  {
    name: 'pronouns-plain',
    kind: 'letter',
    data: 'bbh/disambiguation_qa',
    from: 0,
    n: 10,
    turn: ({ input }) => `${input}\nThe answer is`,
    until: line,
  },
  {
    name: 'names-chat',
    kind: 'letter',
    data: 'bbh/ruin_names',
    from: 0,
    n: 16,
    tokens: 40,
    turn: ({ input }) => input,
    chat: '',
    until: never,
  },
  // ---------------------------------------------------------------- yes and no
  {
    name: 'causes-plain',
    kind: 'yes-no',
    data: 'bbh/causal_judgement',
    from: 0,
    n: 12,
    turn: ({ question }) => `${question}\nAnswer (Yes or No):`,
    until: never,
    tokens: 32,
  },
  {
    name: 'causes-chat',
    kind: 'yes-no',
    data: 'bbh/causal_judgement',
    from: 20,
    n: 12,
    turn: ({ question }) => question,
    chat: '',
    until: never,
  },
  {
    name: 'navigate-chat',
    kind: 'yes-no',
    data: 'bbh/navigate',
    from: 0,
    n: 18,
    tokens: 40,
    turn: ({ question }) => `${question} Say yes or no first.`,
    chat: '',
    until: never,
  },
  {
    name: 'sports-plain',
    kind: 'yes-no',
    data: 'bbh/sports_understanding',
    from: 0,
    n: 10,
    turn: qa,
    until: never,
    tokens: 24,
  },
  {
    name: 'sports-examples',
    kind: 'yes-no',
    data: 'bbh/sports_understanding',
    from: 20,
    n: 10,
    turn: qa,
    shots: 4,
    example: 'short',
    until: never,
    tokens: 24,
  },
  {
    name: 'sports-chat',
    kind: 'yes-no',
    data: 'bbh/sports_understanding',
    from: 40,
    n: 12,
    turn: ({ question }) => question,
    chat: '',
    until: never,
  },
  {
    name: 'lies-plain',
    kind: 'yes-no',
    data: 'bbh/web_of_lies',
    from: 0,
    n: 12,
    tokens: 32,
    turn: ({ question }) => `${question.replace(/^Question: /, 'Q: ')}\nA:`,
    until: never,
  },
  {
    name: 'boolean-chat',
    kind: 'yes-no',
    data: 'bbh/boolean_expressions',
    from: 0,
    n: 8,
    tokens: 40,
    turn: ({ question }) => `Is this true or false? ${question.replace(/ is$/, '')}`,
    chat: '',
    until: never,
  },
  // ---------------------------------------------------------------- choices by text
  {
    name: 'fallacies-plain',
    kind: 'choice',
    data: 'bbh/formal_fallacies',
    from: 0,
    n: 8,
    labels: ['valid', 'invalid'],
    turn: ({ question }) => `${question}\nAnswer:`,
    until: paragraph,
  },
  {
    name: 'fallacies-chat',
    kind: 'choice',
    data: 'bbh/formal_fallacies',
    from: 20,
    n: 10,
    tokens: 40,
    labels: ['valid', 'invalid'],
    turn: ({ question }) => question,
    chat: '',
    until: never,
  },
  {
    name: 'dancers-chat',
    kind: 'choice',
    data: 'bbh/tracking_shuffled_objects_three_objects',
    from: 0,
    n: 18,
    tokens: 40,
    turn: withBare,
    chat: '',
    until: never,
  },
  {
    name: 'dancers-plain',
    kind: 'choice',
    data: 'bbh/tracking_shuffled_objects_three_objects',
    from: 30,
    n: 12,
    tokens: 32,
    turn: withBare,
    until: line,
  },
  {
    name: 'movies-chat',
    kind: 'choice',
    data: 'bbh/movie_recommendation',
    from: 0,
    n: 12,
    turn: withBare,
    chat: '',
    until: never,
  },
  {
    name: 'movies-letters',
    kind: 'choice',
    data: 'bbh/movie_recommendation',
    from: 30,
    n: 8,
    turn: withLetters,
    until: never,
  },
  {
    name: 'colours-examples',
    kind: 'choice',
    data: 'bbh/reasoning_about_colored_objects',
    from: 0,
    n: 10,
    turn: withBare,
    shots: 2,
    example: 'text',
    until: paragraph,
  },
  // ---------------------------------------------------------------- texts
  {
    name: 'date-text',
    kind: 'text',
    data: 'bbh/date_understanding',
    from: 60,
    n: 12,
    tokens: 32,
    turn: qa,
    until: line,
  },
  {
    name: 'date-text-chat',
    kind: 'text',
    data: 'bbh/date_understanding',
    from: 80,
    n: 20,
    tokens: 40,
    turn: ({ question }) => question,
    chat: '',
    until: never,
  },
  {
    name: 'sorting-examples',
    kind: 'text',
    data: 'bbh/word_sorting',
    from: 0,
    n: 10,
    turn: q,
    shots: 3,
    example: 'short',
    until: never,
    tokens: 48,
  },
  {
    name: 'sorting-chat',
    kind: 'text',
    data: 'bbh/word_sorting',
    from: 20,
    n: 14,
    tokens: 40,
    turn: ({ question }) => question,
    chat: '',
    until: never,
  },
  {
    name: 'who-text-chat',
    kind: 'text',
    data: 'bbh/logical_deduction_three_objects',
    from: 40,
    n: 20,
    tokens: 40,
    turn: ({ question }) => `${question} Which one is last? Answer with its name.`,
    chat: '',
    until: never,
  },
  {
    name: 'times-plain',
    kind: 'text',
    data: 'bbh/temporal_sequences',
    from: 0,
    n: 8,
    turn: ({ question }) => `${question}\nAnswer:`,
    until: paragraph,
  },
  // ---------------------------------------------------------------- JSON
  {
    name: 'gsm8k-json-chat',
    kind: 'json',
    data: 'gsm8k',
    from: 160,
    n: 20,
    turn: ({ question }) => `${question}\nReply in JSON like {"answer": 12}.`,
    chat: '',
    until: never,
    tokens: 48,
  },
  {
    name: 'gsm8k-json-examples',
    kind: 'json',
    data: 'gsm8k',
    from: 180,
    n: 12,
    tokens: 32,
    turn: ({ question }) => `Question: ${question}\nJSON:`,
    shots: 3,
    example: 'json',
    until: never,
  },
  {
    name: 'lies-json-chat',
    kind: 'json',
    data: 'bbh/web_of_lies',
    from: 20,
    n: 18,
    turn: ({ question }) =>
      `${question.replace(/^Question: /, '')} Give a JSON object with the keys "name" and "truthful".`,
    chat: '',
    until: never,
    tokens: 48,
  },
  {
    name: 'sorting-json-plain',
    kind: 'json',
    data: 'bbh/word_sorting',
    from: 40,
    n: 10,
    turn: ({ question }) => `${question}\nOutput as a JSON array of strings:\n`,
    until: never,
  },
  // ---------------------------------------------------------------- the bundled tiny model
  {
    name: 'stories-who',
    kind: 'text',
    model: 'stories260k',
    data: 'stories-who',
    from: 0,
    n: 6,
    turn: ({ story }) => `${story}\nWho had a hat?\nAnswer:`,
    until: never,
    tokens: 32,
  },
  {
    name: 'stories-who-examples',
    kind: 'choice',
    model: 'stories260k',
    data: 'stories-who',
    from: 10,
    n: 6,
    labels: ['Tim', 'Lily', 'Tom', 'Ben', 'Sam', 'Ted', 'Mom', 'Dad'],
    turn: ({ story }) => `${story}\nWho had a hat?\nAnswer:`,
    shots: 2,
    example: 'owner',
    until: line,
    tokens: 16,
  },
  {
    name: 'stories-yes-no',
    kind: 'yes-no',
    model: 'stories260k',
    data: 'stories-yes-no',
    from: 0,
    n: 6,
    turn: ({ story, colour }) => `${story}\nWas the hat ${colour}?\nAnswer:`,
    shots: 2,
    example: 'answer',
    until: never,
    tokens: 24,
  },
].map((row) => ({ model: 'SmolLM2-135M-Instruct', tokens: 48, shots: 0, ...row }));

/**
 * Outputs that are collected, not generated by these prompts: of runs of the bundled benchmark files with
 * SmolLM2-135M-Instruct (`softbench compare`), by task and mode; and the published solutions of larger models to GSM8K.
 */
export const collected = [
  { name: 'gsm8k-run-few-shot', kind: 'number', task: 'gsm8k_local', mode: 'few-shot', n: 34 },
  { name: 'gsm8k-run-soft-prompt', kind: 'number', task: 'gsm8k_local', mode: 'soft-prompt', n: 24 },
  { name: 'capitals-run-zero-shot', kind: 'text', task: 'capitals', mode: 'zero-shot', n: 12 },
  { name: 'capitals-run-few-shot', kind: 'text', task: 'capitals', mode: 'few-shot', n: 24 },
  { name: 'capitals-run-soft-prompt', kind: 'text', task: 'capitals', mode: 'soft-prompt', n: 16 },
  { name: 'gsm8k-solutions', kind: 'number', file: 'gsm8k/example_model_solutions.jsonl', from: 20, n: 44 },
];

/** The question's turn of a collected run's item. */
export const runTurns = {
  gsm8k_local: { data: 'gsm8k.test.jsonl', turn: qa },
  capitals: {
    data: 'capitals.test.jsonl',
    turn: ({ country }) => `What is the capital of ${country}? Give the answer as [[name]].\nAnswer:`,
  },
};

/** The whole prompt: examples of the data set's own items, then the question, in a chat turn where that is asked. */
export function render(prompt, item, examples) {
  const shown = examples.map((example) => `${prompt.turn(example)} ${example[prompt.example]}\n\n`).join('');
  const text = shown + prompt.turn(item);
  return prompt.chat === undefined ? text : chat(text);
}

/** The readers' candidates: texts behind the letters, choices, labels. */
export function optionsOf(prompt, item) {
  if (prompt.labels) return prompt.labels;
  return prompt.kind === 'letter' || prompt.kind === 'choice' ? item.options : [];
}

/** Items of a data set in one form. `read`: parses a file of the folder with public data. */
export function itemsOf(data, read) {
  if (data.startsWith('stories')) return read(`${data}.test.jsonl`);
  if (data === 'gsm8k')
    return read('gsm8k/test.jsonl').map(({ question, answer }) => {
      const short = answer.split('#### ')[1];
      return {
        question,
        input: question,
        options: [],
        answer: answer.replace(/<<[^>]*>>/g, ''),
        short,
        json: `{"answer": ${short.replaceAll(',', '')}}`,
      };
    });
  if (data === 'aqua')
    return read('aqua/test.json').map(({ question, options, correct }) => ({
      question,
      input: question,
      options: options.map((text) => text.replace(/^[A-E]\)\s*/, '')),
      answer: correct,
      short: correct,
    }));
  return read(`${data}.json`).examples.map(({ input, target }) => {
    const options = optionTexts(input);
    return {
      question: stem(input),
      input,
      options,
      answer: target,
      short: target,
      text: options[target.charCodeAt(1) - 65] ?? target,
    };
  });
}

/**
 * Lists that others have chosen, for comparison: names of subtasks as in BIG-bench, `task:subtask` where a task has several.
 * Source: INK-USC/predicting-big-bench (Apache-2.0), code/search/fixed_lists.py and data/smallbench; see NOTICE.
 */
import type { ScoreTable } from './table.ts';

export interface FixedSubtasks {
  name: string;
  title: string;
  subtasks: readonly string[];
}

export const fixedLists: readonly FixedSubtasks[] = [
  {
    name: 'bblite',
    title: 'BIG-bench Lite',
    subtasks: [
      'bbq_lite_json:bbq_lite_json_age_ambig',
      'bbq_lite_json:bbq_lite_json_age_disambig',
      'bbq_lite_json:bbq_lite_json_disability_status_ambig',
      'bbq_lite_json:bbq_lite_json_disability_status_disambig',
      'bbq_lite_json:bbq_lite_json_gender_identity_ambig',
      'bbq_lite_json:bbq_lite_json_gender_identity_disambig',
      'bbq_lite_json:bbq_lite_json_nationality_ambig',
      'bbq_lite_json:bbq_lite_json_nationality_disambig',
      'bbq_lite_json:bbq_lite_json_physical_appearance_ambig',
      'bbq_lite_json:bbq_lite_json_physical_appearance_disambig',
      'bbq_lite_json:bbq_lite_json_race_ethnicity_ambig',
      'bbq_lite_json:bbq_lite_json_race_ethnicity_disambig',
      'bbq_lite_json:bbq_lite_json_religion_ambig',
      'bbq_lite_json:bbq_lite_json_religion_disambig',
      'bbq_lite_json:bbq_lite_json_ses_ambig',
      'bbq_lite_json:bbq_lite_json_ses_disambig',
      'bbq_lite_json:bbq_lite_json_sexual_orientation_ambig',
      'bbq_lite_json:bbq_lite_json_sexual_orientation_disambig',
      'code_line_description',
      'conceptual_combinations:emergent_properties',
      'formal_fallacies_syllogisms_negation',
      'hindu_knowledge',
      'language_identification',
      'linguistics_puzzles',
      'logic_grid_puzzle',
      'logical_deduction:five_objects',
      'logical_deduction:seven_objects',
      'logical_deduction:three_objects',
      'novel_concepts',
      'operators',
      'parsinlu_reading_comprehension',
      'play_dialog_same_or_different',
      'strange_stories:boolean',
      'strange_stories:multiple_choice',
      'strategyqa',
      'symbol_interpretation:adversarial',
      'symbol_interpretation:emoji_agnostic',
      'symbol_interpretation:name_agnostic',
      'symbol_interpretation:plain',
      'symbol_interpretation:tricky',
      'vitaminc_fact_verification',
      'winowhy',
    ],
  },
  {
    name: 'bbhard',
    title: 'BIG-bench Hard',
    subtasks: [
      'causal_judgment',
      'date_understanding',
      'disambiguation_qa',
      'dyck_languages',
      'formal_fallacies_syllogisms_negation',
      'geometric_shapes',
      'hyperbaton',
      'logical_deduction:five_objects',
      'logical_deduction:seven_objects',
      'logical_deduction:three_objects',
      'movie_recommendation',
      'navigate',
      'object_counting',
      'penguins_in_a_table',
      'reasoning_about_colored_objects',
      'ruin_names',
      'salient_translation_error_detection',
      'snarks',
      'sports_understanding',
      'temporal_sequences',
      'tracking_shuffled_objects:five_objects',
      'tracking_shuffled_objects:seven_objects',
      'tracking_shuffled_objects:three_objects',
      'word_sorting',
    ],
  },
  {
    name: 'smallbench24',
    title: 'small-bench of the study (24)',
    subtasks: [
      'anachronisms',
      'arithmetic:2_digit_division',
      'arithmetic:3_digit_division',
      'arithmetic:4_digit_subtraction',
      'bbq_lite_json:bbq_lite_json_physical_appearance_ambig',
      'dyck_languages',
      'elementary_math_qa:question_with_language_hint',
      'gem:asset',
      'implicatures',
      'linguistic_mappings:plural_json',
      'mathematical_induction',
      'mnist_ascii',
      'natural_instructions:subtask014_mctaco_wrong_answer_generation_absolute_timepoint',
      'natural_instructions:subtask017_mctaco_wrong_answer_generation_frequency',
      'natural_instructions:subtask044_essential_terms_identifying_essential_words',
      'natural_instructions:subtask060_ropes_question_generation',
      'natural_instructions:subtask061_ropes_answer_generation',
      'navigate',
      'nonsense_words_grammar',
      'persian_idioms',
      'social_iqa',
      'strange_stories:multiple_choice',
      'unnatural_in_context_learning:dates',
      'winowhy',
    ],
  },
];

/** Suites put their name in front: `bbh_fewshot_navigate`, `leaderboard_bbh_navigate`, `bigbench_navigate`. */
const suite = /^(?:leaderboard_)?(?:bbh|bigbench)(?:_cot)?(?:_(?:few|zero)shot)?[_:]/;

const normal = (name: string): string =>
  name
    .toLowerCase()
    .replace(suite, '')
    .replace(/[^a-z0-9]+/g, '_')
    .replaceAll('judgement', 'judgment');

/** Positions of the list's subtasks among those of the table; a table may write them in one of several ways. */
export function knownOf(table: Pick<ScoreTable, 'subtasks'>, list: FixedSubtasks): number[] {
  const wanted = new Set(list.subtasks.map(normal));
  return table.subtasks.flatMap(({ name, task, subtask }, at) =>
    [name, subtask, `${task}:${subtask}`].some((one) => wanted.has(normal(one))) ? [at] : [],
  );
}

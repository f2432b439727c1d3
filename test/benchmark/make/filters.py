"""What the filters of lm-evaluation-harness make of outputs: `pip install lm-eval==0.4.13`, then run it."""
import json
from pathlib import Path

from lm_eval.filters import build_filter_ensemble

outputs = [
    ["The answer is 18. #### 18"],
    ["#### 1,234.50 and then #### -7"],
    ["no number here"],
    [""],
    ["  Paris \n"],
    ["The best answer is: B", "(C) because it is so", "B", "Guilty of Romance"],
    ["answer (A)", "answer (B)", "answer (B)", "answer (A)"],
    ["7", "7", "8", "9", "8"],
    ["x", "y", "z"],
    ["$12 or 13 or 14.5"],
    ["[('Hund', 'NOUN'), ('bellt', 'VERB')]", "nothing"],
    ["PERSON: Ann, Bob $$ location: Nairobi\norganization: none $$ date: 5 May", "person: none", "time: noon$$", "Per: A : b; LOC:x, None"],
    ["straße ÄÖ ǅ İ", "ﬁn"],
    ["final: NYC!", "it is nyc", "New  York"],
    ["yes", "no", "maybe", "Yes"],
    [": A", "therefore:B.", "Option  D", "C"],
]
choices = [["18", "Guilty", "Guilty of Romance", "NYC"], ["Paris.", "paris", "New York"]]
first = ["take_first", {}]
pipelines = {
    "none": [first],
    "regex": [["regex", {}], first],
    "regex list": [["regex", {}]],
    "regex of two groups": [["regex", {"regex_pattern": r"(-?[$0-9.,]{2,})|(-?[0-9]+)", "group_select": -1}], first],
    "regex, fallback": [["regex", {"regex_pattern": r"answer \((\w)\)", "fallback": "?"}], ["remove_whitespace", {}], first],
    "optional groups": [["regex", {"regex_pattern": r"(x)?(y)?$"}], first],
    "regex_pos": [["regex_pos", {}], first],
    "regex_pos, fallback": [["regex_pos", {"fallback": "none"}], first],
    "multi_choice_regex": [["multi_choice_regex", {}], first],
    "multi_choice_regex, options": [
        ["multi_choice_regex", {"regex_pattern": r"\(([A-Z])\)", "group_select": 0, "ignore_case": True, "ignore_punctuation": True, "regexes_to_ignore": [r"it\s", "!"], "fallback": "[no]"}]
    ],
    "remove_whitespace": [["remove_whitespace", {}], first],
    "cases": [["lowercase", {}], first],
    "upper": [["uppercase", {}]],
    "map": [["map", {"mapping_dict": {"yes": 1, "no": 0, "x": "letter", "7": [1, 2]}, "default_value": -1}], first],
    "map without default": [["lowercase", {}], ["map", {"mapping_dict": {"yes": "Y"}}]],
    "take_first_k": [["take_first_k", {"k": 1}]],
    "vote": [["regex", {"regex_pattern": r"\((\w)\)|(\d)"}], ["majority_vote", {}], first],
    "vote, list": [["majority_vote", {}]],
    "format_span": [["format_span", {}], first],
    "format_span list": [["format_span", {}]],
}
# What stands behind a filter that took one output works on its characters.
characters = {
    "take_first twice": [first, first],
    "behind take_first": [first, ["uppercase", {}]],
    "vote of characters": [first, ["majority_vote", {}]],
}
letters = [["abcbc"], ["  x"], ["ÄB😀"], ["yes", "no"]]


def apply(components, responses, document):
    resps = [responses]
    for make in build_filter_ensemble("x", components).filters:
        resps = make().apply(resps, [document])
    return list(resps)[0]


rows = []
for name, components in pipelines.items():
    filters = [{"function": function, **options} for function, options in components]
    cases = [[responses, listed, apply(components, responses, {"choices": listed})] for responses in outputs for listed in choices]
    rows.append({"name": name, "filter": filters, "cases": cases})
for name, components in characters.items():
    filters = [{"function": function, **options} for function, options in components]
    rows.append({"name": name, "filter": filters, "cases": [[responses, [], apply(components, responses, {"choices": []})] for responses in letters]})
for k in (1, 2, 3):
    cases = [[responses, [], apply([["take_first_k", {"k": k}], ["majority_vote", {}], first], responses, {"choices": []})] for responses in outputs if len(responses) >= k]
    rows.append({"name": f"vote of the first {k}", "filter": [{"function": "take_first_k", "k": k}, {"function": "majority_vote"}, {"function": "take_first"}], "cases": cases})
(Path(__file__).parent.parent / "filters.json").write_text(json.dumps(rows, indent=1) + "\n")

"""
Requests, per-item metrics, scores and standard errors of lm-evaluation-harness on small tasks with made-up responses:
`pip install lm-eval==0.4.13`, then run it.
"""
import json
import os
import random
import tempfile
from collections import defaultdict
from pathlib import Path

os.environ["DISABLE_MULTIPROC"] = "1"
os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"

import numpy as np
from lm_eval.api.task import ConfigurableTask
from lm_eval.evaluator_utils import _compute_task_aggregations

iterations = 300
random.seed(3)
base = {"dataset_path": "json", "test_split": "test", "doc_to_text": "Q: {{q}}\nA:", "doc_to_target": "{{a}}"}
colours = ["red", "grün", "日本 blue", "yellowish"]
chosen = [{"q": f"Colour {i}?", "c": colours[: 2 + i % 3], "label": i % 2} for i in range(14)]
pairs = [{"q": f"Is {i} even?", "label": (i + 1) % 2} for i in range(16)]
sums = [{"q": f"{i} and {i * 3}?", "a": str(i * 4), "choices": ["one", "two words", "Two"]} for i in range(12)]
lines = ["the cat sat on the mat", "a dog ran over it", "Zürich is a town , it is said", "we know 3.14 well"]
spoken = [{"q": lines[i % 4], "a": lines[(i * 3 + 1) % 4] + (" indeed" if i % 5 == 0 else "")} for i in range(10)]
several = [{"q": f"Name {i}", "a": ["Ann", "Ann Lee", f"A{i}"]} for i in range(10)]
schemas = [{"label": i % 2, "options": [f"The cup {i}", f"The vase {i}"], "rest": f"is full of tea {i}."} for i in range(10)]
words = [{"text": f"Once upon a time {i} there was a small fox who said hello"} for i in range(11)]
pages = [{"page": f" = Title {i} = \n\nA page\u00a0with  blanks,\ttabs \u2003 and {'more ' * i}words. \n"} for i in range(9)]

accuracies = ["acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match", "mcc", "brier_score"]
flexible = [
    {"name": "strict", "filter": [{"function": "regex", "regex_pattern": r"#### (\-?\d+)"}, {"function": "take_first"}]},
    {"name": "flexible", "filter": [{"function": "regex", "regex_pattern": r"\d+", "group_select": -1, "fallback": "none"}, {"function": "take_first"}]},
]
tasks = [
    ("candidates", {"output_type": "multiple_choice", "doc_to_choice": "c", "doc_to_target": "label", "metric_list": [{"metric": name} for name in accuracies if name != "brier_score"]}, chosen, 0),
    ("two candidates", {"output_type": "multiple_choice", "doc_to_choice": ["no", "yes"], "doc_to_target": "label", "metric_list": [{"metric": name} for name in ["acc", "f1", "mcc", "brier_score"]]}, pairs, 2),
    ("median of candidates", {"output_type": "multiple_choice", "doc_to_choice": ["no", "yes"], "doc_to_target": "{{['no', 'yes'][label]}}", "target_delimiter": "\n", "metric_list": [{"metric": "acc", "aggregation": "median"}, {"metric": "acc_norm", "aggregation": "nanmean"}]}, pairs, 0),
    ("default metrics of candidates", {"output_type": "multiple_choice", "doc_to_choice": "{{c}}", "doc_to_target": "{{label}}"}, chosen, 1),
    ("several right candidates", {"output_type": "multiple_choice", "doc_to_choice": ["a", "bb", "ccc"], "doc_to_target": "{{[0, 2] if label else [1]}}", "metric_list": [{"metric": name} for name in ["acc", "acc_norm", "acc_bytes", "exact_match"]]}, pairs, 0),
    ("whole contexts", {"output_type": "multiple_choice", "doc_to_text": "label", "doc_to_target": "rest", "doc_to_choice": "options", "metric_list": [{"metric": name} for name in ["acc", "acc_norm"]]}, schemas, 0),
    ("target by likelihood", {"output_type": "loglikelihood", "doc_to_text": "{{text.split(' ')[:-1]|join(' ')}}", "doc_to_target": "{{' ' + text.split(' ')[-1]}}", "metric_list": [{"metric": "perplexity"}, {"metric": "acc"}]}, words, 1),
    ("whole texts", {"output_type": "loglikelihood_rolling", "doc_to_text": "", "doc_to_target": "{{page}}"}, pages, 0),
    ("sums", {"output_type": "generate_until", "generation_kwargs": {"until": ["\n"]}, "filter_list": flexible, "metric_list": [{"metric": "exact_match", "regexes_to_ignore": [",", r"\$"], "ignore_case": True, "ignore_punctuation": True}]}, sums, 0),
    ("plain outputs", {"output_type": "generate_until", "generation_kwargs": {"until": ["\n"]}}, sums, 2),
    ("numbers ignored", {"output_type": "generate_until", "generation_kwargs": {"until": ["\n"]}, "doc_to_target": "{{a}} cat", "metric_list": [{"metric": "exact_match", "ignore_numbers": True}, {"metric": "bypass"}]}, sums, 0),
    ("translation", {"output_type": "generate_until", "generation_kwargs": {"until": ["\n"]}, "metric_list": [{"metric": name} for name in ["bleu", "chrf", "chrf++", "ter"]]}, spoken, 0),
    ("several right answers", {"output_type": "generate_until", "generation_kwargs": {"until": ["\n"]}, "doc_to_target": "a", "metric_list": [{"metric": "exact_match", "ignore_case": True}]}, several, 0),
    ("numbered candidates generated", {"output_type": "generate_until", "generation_kwargs": {"until": ["\n"]}, "doc_to_choice": ["no", "yes"], "doc_to_target": "label"}, pairs, 0),
    ("votes", {"output_type": "generate_until", "repeats": 4, "generation_kwargs": {"until": ["\n"], "do_sample": True, "temperature": 0.7}, "filter_list": [
        {"name": "first", "filter": [{"function": "regex", "regex_pattern": r"(\d+)"}, {"function": "take_first"}]},
        {"name": "maj@4", "filter": [{"function": "regex", "regex_pattern": r"(\d+)"}, {"function": "majority_vote"}, {"function": "take_first"}]},
        {"name": "maj@3", "filter": [{"function": "take_first_k", "k": 3}, {"function": "regex", "regex_pattern": r"(\d+)"}, {"function": "majority_vote"}, {"function": "take_first"}]},
        {"name": "all", "filter": [{"function": "regex", "regex_pattern": r"(\d+)"}]},
    ]}, sums, 0),
    ("mapped", {"output_type": "generate_until", "generation_kwargs": {"until": ["\n"]}, "doc_to_target": "label", "filter_list": [{"name": "number", "filter": [{"function": "lowercase"}, {"function": "remove_whitespace"}, {"function": "map", "mapping_dict": {"yes": 1, "no": 0}, "default_value": -1}, {"function": "take_first"}]}]}, pairs, 0),
]


def output(doc):
    gold = doc.get("a", ["no", "yes"][doc.get("label", 0)])
    gold = random.choice(gold) if isinstance(gold, list) else gold
    return random.choice([f" {gold}", f"{gold}", f"{gold}", "sum 12", "sum 3", f" #### {gold}", f" It is {gold}.", f" {gold} or 7", " sum 99", " YES ", "", f" ${gold}", gold.upper(), gold.lower() + " cat", " ".join(gold.split()[:-1])])


def plain(value):
    if isinstance(value, (np.floating, np.integer, np.bool_)):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [plain(entry) for entry in value] if isinstance(value, (list, tuple)) else value


fixture = []
with tempfile.TemporaryDirectory() as folder:
    for name, keys, rows, shots in tasks:
        data = Path(folder) / f"{name.replace(' ', '-')}.jsonl"
        data.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n")
        config = {"task": name, **base, **keys}
        task = ConfigurableTask(config={**config, "num_fewshot": shots, "dataset_kwargs": {"data_files": {"test": str(data)}}})
        task.set_fewshot_seed(1234)
        task.build_all_requests()
        instances = sorted(task.instances, key=lambda one: (one.doc_id, one.idx))
        for instance in instances:
            for _ in range(instance.repeats):
                if instance.request_type == "generate_until":
                    instance.resps.append(output(instance.doc))
                elif instance.request_type == "loglikelihood":
                    instance.resps.append((-round(random.random() * 30, 3), random.random() < 0.4))
                else:
                    instance.resps.append(-round(100 + random.random() * 300, 3))
        task.apply_filters()
        by_doc = defaultdict(list)
        for instance in instances:
            by_doc[instance.doc_id].append(instance)
        raw = defaultdict(list)
        items = []
        for doc_id, requests in by_doc.items():
            measured = []
            for filter_name in requests[0].filtered_resps:
                values = task.process_results(requests[0].doc, [one.filtered_resps[filter_name] for one in requests])
                for metric, value in values.items():
                    raw[(metric, filter_name)].append(value)
                measured.append({"filter": filter_name, "values": {metric: plain(value) for metric, value in values.items()}})
            items.append({"requests": [[part for part in one.args if isinstance(part, str)] for one in requests], "responses": [one.resps for one in requests], "measured": measured})
        scores, count = _compute_task_aggregations(task, raw, iterations)
        fixture.append({"name": name, "config": config, "rows": rows, "shots": shots, "items": items, "higher": dict(task.higher_is_better()), "scores": {key: value if isinstance(value, str) else float(value) for key, value in scores.items()}, "n": count})
(Path(__file__).parent.parent / "metrics.json").write_text(json.dumps({"iterations": iterations, "tasks": fixture}, indent=1, ensure_ascii=False) + "\n")

"""Renders prompts of the tasks in the lm-eval package with the harness's own code, on data made up for each task.

    pip install lm-eval==0.4.13 datasets
    python scripts/render-lm-eval.py OUT.jsonl [--part 0/4] [--only PATTERN]
    node scripts/check-lm-eval-prompts.mjs OUT.jsonl

The real data of most tasks cannot be had without a network, but what a task does with it can: the fields that its templates
name are found in their syntax trees, rows are made up that the templates accept, and the harness renders three items with
0 and 5 examples, as plain text and as a conversation. One line a task: its file, the rows, and all requests.
Tasks whose prompts or data come from Python functions are left out; functions of metrics do not matter here.
"""
import argparse
import json
import logging
import os
import random
import re
import sys
import warnings
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
warnings.filterwarnings("ignore")
import datasets
import jinja2
import yaml
from jinja2 import nodes
from lm_eval import tasks as package
from lm_eval.api.task import ConfigurableTask
from lm_eval.utils import env

rows_a_split, items = 9, 3
own_metrics = {
    "generate_until": {"exact_match", "bleu", "chrf", "ter"},
    "multiple_choice": {"acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match", "f1", "mcc", "brier_score"},
    "loglikelihood": {"acc", "perplexity"},
    "loglikelihood_rolling": {"word_perplexity", "byte_perplexity", "bits_per_byte"},
}
plain_aggregations = {"mean", "bleu", "chrf", "ter", "f1", "matthews_corrcoef", "brier_score", "perplexity", "weighted_perplexity", "bits_per_byte"}


class Function(str):
    """What stands behind `!function`."""


class Loader(yaml.CSafeLoader):
    pass


Loader.add_constructor("!function", lambda loader, node: Function(loader.construct_scalar(node)))


def load(path):
    """A task file with its includes, as the harness merges them; functions by name."""
    values = yaml.load(path.read_text(encoding="utf-8"), Loader) or {}
    includes = values.pop("include", None) or []
    merged = {}
    for name in [includes] if isinstance(includes, str) else includes:
        file = Path(name) if Path(name).is_absolute() else path.parent / name
        merged.update(load(file))
    merged.update(values)
    return merged


def functions(value, path=""):
    if isinstance(value, Function):
        yield path
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from functions(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from functions(inner, path)


# ---------------------------------------------------------------- what fields a template needs


class Spec:
    """What is known of a value: its fields, the kind that its uses ask for, and constants it is compared with."""

    def __init__(self):
        self.kind, self.fields, self.element, self.constants, self.most = None, {}, None, set(), None
        # The list that this is an element of, and the value made last.
        self.member_of, self.last, self.answers, self.required = None, None, None, False

    def field(self, name):
        self.kind = "dict"
        return self.fields.setdefault(name, Spec())

    def item(self):
        if self.kind not in ("text", "dict"):
            self.kind = "list"
        self.element = self.element or Spec()
        return self.element

    def as_(self, kind):
        self.kind = self.kind or kind


text_methods = set(dir(str)) - {"index", "count", "__getitem__"}
list_filters = {"join", "first", "last", "sort", "reverse", "map", "select", "reject", "unique", "sum", "max", "min", "random"}
text_filters = {"trim", "lower", "upper", "replace", "title", "capitalize", "regex_replace", "striptags", "escape", "e", "wordcount"}
built_in = {"range", "zip", "enumerate", "len", "dict", "namespace", "loop", "lipsum", "cycler", "joiner", "true", "false", "none"}


class Finder:
    def __init__(self, fields):
        self.fields = fields

    def read(self, source):
        self.block(env.parse(source), {})

    def bind(self, target, spec, names):
        if isinstance(target, nodes.Name):
            names[target.name] = spec or Spec()
        elif isinstance(target, nodes.Tuple):
            for part in target.items:
                self.bind(part, None, names)

    def block(self, node, names):
        if isinstance(node, nodes.For):
            of = self.value(node.iter, names)
            inner = dict(names)
            call = node.iter
            if isinstance(call, nodes.Call) and isinstance(call.node, nodes.Name) and call.node.name in ("zip", "enumerate") and isinstance(node.target, nodes.Tuple):
                parts = [self.value(argument, names) for argument in call.args]
                lists = [part.item() if part else None for part in parts]
                targets = node.target.items[1:] if call.node.name == "enumerate" else node.target.items
                for target, spec in zip(targets, lists):
                    self.bind(target, spec, inner)
                if call.node.name == "enumerate":
                    self.bind(node.target.items[0], None, inner)
            else:
                self.bind(node.target, of.item() if of and not (isinstance(call, nodes.Call)) else None, inner)
            inner["loop"] = Spec()
            for child in [node.test, *node.body, *node.else_]:
                if child is not None:
                    self.block(child, inner)
        elif isinstance(node, nodes.Assign):
            self.bind(node.target, self.value(node.node, names), names)
        elif isinstance(node, nodes.Macro):
            inner = dict(names)
            for argument in node.args:
                inner[argument.name] = Spec()
            for child in node.body:
                self.block(child, inner)
            names[node.name] = Spec()
        elif isinstance(node, nodes.Expr):
            self.value(node, names)
        else:
            for child in node.iter_child_nodes():
                self.block(child, names)

    def value(self, node, names):
        """Visits an expression; the spec of what it names, or None where it computes something."""
        if isinstance(node, nodes.Name):
            if node.name in names:
                return names[node.name]
            return None if node.name in built_in else self.fields.setdefault(node.name, Spec())
        if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr):
            base, method = self.value(node.node.node, names), node.node.attr
            given = [self.value(argument, names) for argument in node.args]
            if base and method == "index" and given and given[0]:
                given[0].member_of, given[0].required = base, True
            if base:
                if method in ("items", "keys", "values", "get"):
                    base.as_("dict")
                elif method in text_methods:
                    base.as_("text")
                elif method == "index":
                    base.as_("list")
                    base.item()
            if base and method in text_methods - {"split", "splitlines", "find", "rfind"}:
                return None
            return None
        if isinstance(node, nodes.Getattr):
            base = self.value(node.node, names)
            return base.field(node.attr) if base else None
        if isinstance(node, nodes.Getitem):
            base, key = self.value(node.node, names), node.arg
            if isinstance(key, nodes.Const):
                if not base:
                    return None
                if isinstance(key.value, str):
                    return base.field(key.value)
                base.most = max(base.most or 0, key.value + 1 if isinstance(key.value, int) and key.value >= 0 else 1)
                return base.item()
            index = self.value(key, names) if not isinstance(key, nodes.Slice) else None
            if isinstance(key, nodes.Slice):
                return base
            if index and index.kind is None:
                if isinstance(node.node, (nodes.List, nodes.Tuple)):
                    index.kind, index.most = "number", len(node.node.items)
                elif isinstance(node.node, nodes.Dict):
                    index.constants |= {pair.key.value for pair in node.node.items if isinstance(pair.key, nodes.Const)}
                else:
                    index.kind = "number"
            return base.item() if base else None
        if isinstance(node, nodes.Compare):
            left = self.value(node.expr, names)
            for operand in node.ops:
                right = self.value(operand.expr, names)
                for spec, other in ((left, operand.expr), (right, node.expr)):
                    if spec and isinstance(other, nodes.Const) and other.value is not None:
                        spec.constants.add(other.value)
                    elif spec and operand.op in ("in", "notin") and isinstance(other, (nodes.List, nodes.Tuple)):
                        spec.constants |= {part.value for part in other.items if isinstance(part, nodes.Const)}
            return None
        if isinstance(node, nodes.Filter):
            spec = self.value(node.node, names) if node.node is not None else None
            for argument in node.args:
                self.value(argument, names)
            if spec:
                if node.name in list_filters:
                    spec.item()
                elif node.name in text_filters:
                    spec.as_("text")
                elif node.name in ("int", "float", "round", "abs"):
                    spec.as_("number")
                elif node.name in ("list", "length", "count"):
                    pass
                elif node.name in ("default", "d"):
                    return spec
            return None
        for child in node.iter_child_nodes():
            self.value(child, names)
        return None


# ---------------------------------------------------------------- rows

words = "river stone lamp Paris seven green music if why under apple 42 3.5 O'Neil naïve 東京 “quoted” half-life e.g. x=1 [note] {brace} <b> 50% a_b".split()


def a_text(rng, plain):
    count = rng.choice([1, 2, 3, 6])
    text = " ".join(rng.choice(words[:10] if plain else words) for _ in range(count))
    if not plain:
        text = rng.choice([text] * 6 + [text + ".", text + "?", f" {text}", f"{text} ", f"{text}\n", f"{text}\n\n{rng.choice(words)}", text.capitalize(), f'"{text}"', f"{text}\\n", f"1. {text}"])
    return text


def make(spec, *rest):
    spec.last = made(spec, *rest)
    return spec.last


def made(spec, rng, kinds, path, plain, size):
    """A value. `kinds` remembers what was chosen for leaves of which nothing is known, so that all rows agree."""
    if spec.answers:
        by_number = kinds.setdefault(path, rng.choice(["number", "text"])) == "number"
        return rng.randrange(len(spec.answers)) if by_number else rng.choice(spec.answers)
    if spec.member_of and isinstance(spec.member_of.last, list):
        number = kinds.setdefault(path, rng.choice(["number", "text"])) == "number" and not spec.required
        return rng.randrange(len(spec.member_of.last)) if number else rng.choice(spec.member_of.last)
    if spec.constants and rng.random() < 0.9:
        return rng.choice(sorted(spec.constants, key=str))
    kind = spec.kind or kinds.setdefault(path, rng.choice(["text", "text", "text", "number", "list", "letter", "digit", "yes-no"]))
    if kind == "dict":
        return {key: make(inner, rng, kinds, f"{path}.{key}", plain, size) for key, inner in spec.fields.items()} or {"a": a_text(rng, plain)}
    if kind == "list":
        element = spec.element or Spec()
        if element.kind is None and not element.constants:
            kinds.setdefault(path + "[]", rng.choice(["text", "text", "text", "letters"]))
            if kinds[path + "[]"] == "letters":
                return list("ABCDEFGHIJ"[: max(size, spec.most or 0)])
        return [make(element, rng, kinds, path + "[]", plain, size) for _ in range(max(size, spec.most or 0))]
    if kind == "number":
        return rng.randrange(spec.most or min(size, 4))
    if kind == "letter":
        return rng.choice("ABCD"[: max(2, size)])
    if kind == "digit":
        return str(rng.randrange(1, 3))
    if kind == "yes-no":
        return rng.choice([True, False])
    return a_text(rng, plain)


def templates_of(config):
    fewshot = config.get("fewshot_config") or {}
    for holder in (config, fewshot):
        for key in ("doc_to_text", "doc_to_target", "doc_to_choice", "gen_prefix", "description"):
            if isinstance(holder.get(key), str):
                yield key, holder[key]


def specs_of(config):
    fields = {}
    finder = Finder(fields)
    for key, source in templates_of(config):
        # A bare word is the name of a field, where there is one.
        if re.fullmatch(r"\w+", source) and key != "description":
            spec = fields.setdefault(source, Spec())
            if key == "doc_to_choice":
                spec.kind = "list"
        else:
            finder.read(source)
    # A right answer that is a field of its own is the number of a choice or one of the choices.
    target, choice = config.get("doc_to_target"), config.get("doc_to_choice")
    if choice is not None and isinstance(target, str) and target in fields and fields[target].kind is None and not fields[target].constants:
        if isinstance(choice, (list, dict)):
            fields[target].answers = list(choice.values()) if isinstance(choice, dict) else choice
        elif choice in fields:
            fields[target].member_of = fields[choice]
        else:
            fields[target].kind, fields[target].most = "number", 2
    # `multi_choice_regex` reads this field.
    if "multi_choice_regex" in json.dumps(config.get("filter_list") or []):
        fields.setdefault("choices", Spec()).item()
    # What is taken from another field comes after it.
    return dict(sorted(fields.items(), key=lambda entry: entry[1].member_of is not None))


def splits_of(config):
    fewshot = config.get("fewshot_config") or {}
    named = [config.get(key) for key in ("training_split", "validation_split", "test_split", "fewshot_split")] + [fewshot.get("split")]
    return list(dict.fromkeys(name for name in named if isinstance(name, str)))


def chat(messages, add_generation_prompt=True):
    """A template that shows exactly what it is given."""
    return json.dumps([messages, add_generation_prompt], ensure_ascii=False)


settings = {
    "0": dict(shots=0),
    "5": dict(shots=5),
    "5-system": dict(shots=5, system="Be brief."),
    "0-chat": dict(shots=0, chat=True),
    "5-chat": dict(shots=5, chat=True, system="Be brief."),
    "5-turns": dict(shots=5, chat=True, turns=True),
}


def render(config):
    task = ConfigurableTask(config=json.loads(json.dumps(config)))
    found = {}
    for label, setting in settings.items():
        if task.OUTPUT_TYPE == "loglikelihood_rolling" and label != "0":
            continue
        samples = (config.get("fewshot_config") or {}).get("samples")
        shots = min(setting["shots"], len(samples)) if isinstance(samples, list) else setting["shots"]
        task.config.num_fewshot = shots
        task.set_fewshot_seed(1234)
        task.build_all_requests(
            limit=items,
            apply_chat_template=setting.get("chat", False),
            chat_template=chat if setting.get("chat") else None,
            system_instruction=setting.get("system"),
            fewshot_as_multiturn=setting.get("turns", False),
        )
        by_item = {}
        for request in task.instances:
            arguments = [part for part in request.args if isinstance(part, str)]
            assert len(arguments) == len(request.args) - (task.OUTPUT_TYPE == "generate_until"), "a request that is not text"
            by_item.setdefault(request.doc_id, []).append(arguments)
        if label == "0":
            judged = judge(task, random.Random(7))
        found[label] = dict(shots=shots, items=[by_item[item] for item in sorted(by_item)])
    return found, judged


openings = ["", "", " ", "The answer is ", "the answer is (", "Answer: ", "#### ", "So the answer is: ", "\n\n", "**", "I think it is ", "$", "ANSWER ", "\\boxed{", "A. ", "(B) "]
closings = ["", "", ".", "\n", "!", ")", ".\n\nQuestion: what?", "**", "}", " because 3 is more than 2.", ", or (C)", " dollars", "</s>"]
fillers = ["", "42", "1,234.50", "-7", "yes", "No", "(A)", "B", "c", "True", "$18.00", "3/4", "ÄÖ", "A and B", "the second one"]


def judge(task, rng):
    """What filters and metrics make of made-up responses: by item and filter."""
    by_item = {}
    for request in task.instances:
        by_item.setdefault(request.doc_id, []).append(request)
    judged = []
    for item, requests in by_item.items():
        doc = requests[0].doc
        for request in requests:
            if request.request_type == "generate_until":
                target = task.doc_to_target(doc)
                choices = task.doc_to_choice(doc) if task.config.doc_to_choice is not None else []
                golds = [choices[target]] if isinstance(target, int) and choices else target if isinstance(target, list) else [target]
                cores = [str(rng.choice(golds)) if golds else "", rng.choice(fillers), str(rng.choice(choices)) if choices else rng.choice(fillers)]
                request.resps = [rng.choice(openings) + rng.choice(cores) + rng.choice(closings) for _ in range(request.repeats)]
            elif request.request_type == "loglikelihood":
                request.resps = [(round(-rng.random() * 9 - 0.1, 4), rng.random() < 0.4)] * request.repeats
            else:
                request.resps = [round(-rng.random() * 900 - 1, 4)] * request.repeats
    task.apply_filters()
    for item, requests in by_item.items():
        filters = {}
        for name in requests[0].filtered_resps:
            values = task.process_results(requests[0].doc, [request.filtered_resps[name] for request in requests])
            filters[name] = json.loads(json.dumps(values, default=lambda value: value.tolist()))
        judged.append(dict(item=item, responses=[request.resps for request in requests], filters=filters))
    return judged


def attempt(config, specs, splits, seed, plain):
    rng, kinds = random.Random(seed), {}
    size = rng.choice([2, 3, 4, 4, 5])
    made = {}
    for split in splits:
        rows = [{name: make(spec, rng, kinds, name, plain, size) for name, spec in specs.items()} or {"text": a_text(rng, plain)} for _ in range(rows_a_split)]
        made[split] = datasets.Dataset.from_list(rows)
    data = datasets.DatasetDict(made)
    datasets.load_dataset = lambda *_, **__: data
    requests, judged = render(config)
    return {split: [dict(row) for row in rows] for split, rows in made.items()}, requests, judged


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=0, help="of the rows")
    arguments = parser.parse_args()
    part, parts = map(int, arguments.part.split("/"))
    logging.disable(logging.CRITICAL)
    root = Path(package.__file__).parent
    counts = {}
    seen = {}
    with open(arguments.out, "w", encoding="utf-8") as out:
        for number, path in enumerate(sorted(root.rglob("*.yaml"))):
            name = str(path.relative_to(root))
            if not re.search(arguments.only, name):
                continue
            try:
                config = load(path)
            except Exception as error:
                counts["unreadable"] = counts.get("unreadable", 0) + 1
                continue
            if not isinstance(config.get("task"), str) or "doc_to_text" not in config and config.get("output_type") != "loglikelihood_rolling":
                counts["no task"] = counts.get("no task", 0) + 1
                continue
            python = list(functions(config))
            if "class" in config or any(re.match(r"process_docs|doc_to|custom_dataset|fewshot_config|dataset|gen_prefix|description", key) for key in python):
                counts["Python functions"] = counts.get("Python functions", 0) + 1
                continue
            # Files that differ in name, data and description only are rendered once.
            same = json.dumps({key: value for key, value in config.items() if key not in ("task", "task_alias", "dataset_name", "dataset_path", "description", "tag", "metadata", "group", "metric_list")}, sort_keys=True, default=str)
            if same in seen:
                seen[same].append(name)
                counts["same but for data"] = counts.get("same but for data", 0) + 1
                continue
            seen[same] = [name]
            if len(seen) % parts != part:
                continue
            config = {key: value for key, value in config.items() if key not in ("group", "unsafe_code", "doc_to_decontamination_query", "should_decontaminate")}
            kind = config.get("output_type", "generate_until")
            known = own_metrics.get(kind, set())
            listed = [entry.get("metric") for entry in config.get("metric_list") or []]
            # Metrics that are Python functions, or that need a network, give way to one that always is there.
            replaced = bool(python) or not set(listed) <= known or any(entry.get("hf_evaluate") or entry.get("aggregation", "mean") not in plain_aggregations for entry in config.get("metric_list") or [])
            if replaced:
                config.pop("process_results", None)
                config["metric_list"] = [dict(metric={"generate_until": "exact_match"}.get(kind, "acc"), aggregation="mean", higher_is_better=True)] if kind != "loglikelihood_rolling" else [dict(metric="bits_per_byte")]
                if any(re.match("filter_list", key) for key in python):
                    config.pop("filter_list", None)
            config["dataset_path"], config["dataset_name"] = "made-up", None
            config.pop("dataset_kwargs", None)
            reason = None
            try:
                specs = specs_of(config)
            except Exception as error:
                reason = f"template: {error}"
            for seed in range(arguments.seed, arguments.seed + 60) if reason is None else ():
                try:
                    rows, requests, judged = attempt(config, specs, splits_of(config), seed, plain=seed % 2 == 1)
                    out.write(json.dumps(dict(file=str(path), name=name, python=python, metrics=config["metric_list"] if replaced else None, rows=rows, requests=requests, judged=judged), ensure_ascii=False) + "\n")
                    reason = "rendered"
                    break
                except Exception as error:
                    last = f"{type(error).__name__}: {error}"[:150]
            if reason is None:
                print(name, last, file=sys.stderr)
                reason = "no rows found"
            counts[reason[:40]] = counts.get(reason[:40], 0) + 1
    print(json.dumps(counts))


if __name__ == "__main__":
    main()

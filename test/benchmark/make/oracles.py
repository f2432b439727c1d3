"""Writes what Python makes of the benchmark tests' inputs: lm-evaluation-harness 0.4.13, Jinja2, CPython's random and re.

    python -m venv oracle && oracle/bin/pip install --no-deps lm-eval==0.4.13
    oracle/bin/pip install datasets evaluate numpy tqdm sacrebleu scikit-learn more_itertools jinja2 pyyaml
    oracle/bin/python test/benchmark/make/oracles.py
"""
import json
import os
import random
import re
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HOME"] = os.environ.get("ORACLE_CACHE", "/tmp/oracle-cache")
here = Path(__file__).parent
fixtures = here.parent.parent / "fixtures" / "benchmarks"


def write(name, value):
    (fixtures / name).write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def harness():
    from lm_eval.api.instance import Instance
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.tasks._yaml_loader import load_yaml

    outputs = json.loads((here / "outputs.json").read_text())
    os.chdir(fixtures)
    results = {}
    for name, shot_counts in {
        "gsm8k": [0, 1, 5, 8],
        "same-split": [0, 1, 3],
        "validation-only": [0, 4],
        "bbh": [0, 3],
        "aqua": [0, 2],
        "cities": [0, 2],
        "cloze": [0, 2],
    }.items():
        result = {"contexts": {}, "items": [], "filtered": {}}
        for shots in shot_counts:
            config = load_yaml(f"{name}.yaml")
            config.pop("include", None)
            task = ConfigurableTask(config=config)
            task.config.num_fewshot = shots
            task.set_fewshot_seed(1234)
            task.build_all_requests()
            by_doc = {}
            for instance in task.instances:
                by_doc.setdefault(instance.doc_id, instance.args[0])
            result["contexts"][str(shots)] = [by_doc[i] for i in sorted(by_doc)]
        docs = list(task.eval_docs)
        for doc in docs:
            result["items"].append(
                {
                    "target": task.doc_to_target(doc),
                    "choices": task.doc_to_choice(doc) if config.get("doc_to_choice") else None,
                }
            )
        if config.get("output_type", "generate_until") == "generate_until":
            texts = outputs.get(name, outputs["any"])
            rows = []
            for i, text in enumerate(texts):
                doc = docs[i % len(docs)]
                instance = Instance("generate_until", doc, ("", {}), 0, metadata=(name, i % len(docs), 1))
                instance.resps = [text]
                row = {"item": i % len(docs), "output": text, "filters": {}}
                for ensemble in task._filters:
                    ensemble.apply([instance])
                    value = instance.filtered_resps[ensemble.name]
                    row["filters"][ensemble.name] = {
                        "answer": value,
                        "exact_match": float(task.process_results(doc, [value])["exact_match"]),
                    }
                rows.append(row)
            result["filtered"] = rows
        results[name] = result
    write("lm-eval.json", results)


def templates():
    from jinja2 import BaseLoader, Environment, StrictUndefined
    from jinja2.defaults import DEFAULT_FILTERS, DEFAULT_NAMESPACE, DEFAULT_TESTS

    environment = Environment(loader=BaseLoader, undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters["regex_replace"] = lambda string, pattern, repl, count=0: re.sub(pattern, repl, string, count=count)
    cases = json.loads((here / "templates.json").read_text())
    results = []
    for template in cases["templates"]:
        try:
            results.append({"template": template, "text": environment.from_string(template).render(**cases["fields"])})
        except Exception as error:
            results.append({"template": template, "error": f"{type(error).__name__}: {error}"})
    built_in = {"filters": DEFAULT_FILTERS, "tests": DEFAULT_TESTS, "globals": DEFAULT_NAMESPACE}
    names = {kind: sorted(table) for kind, table in built_in.items()}
    write("jinja.json", {"fields": cases["fields"], "cases": results, **names})


def python():
    cases = json.loads((here / "patterns.json").read_text())
    samples = []
    for seed, n, k, draws in [(1234, 40, 5, 6), (1234, 7473, 5, 6), (0, 30, 1, 5), (42, 64, 21, 2), (42, 65, 21, 2), (7, 300, 22, 2), (2**40 + 5, 100, 3, 3), (-9, 21, 5, 3), (1, 22, 5, 3), (3, 6, 6, 2)]:
        generator = random.Random(seed)
        samples.append({"seed": seed, "n": n, "k": k, "draws": [generator.sample(range(n), k) for _ in range(draws)]})
    generator = random.Random(5489)
    found = []
    for pattern in cases["patterns"]:
        row = {"pattern": pattern, "texts": []}
        for text in cases["texts"]:
            matches = re.findall(pattern, text)
            row["texts"].append([list(m) if isinstance(m, tuple) else m for m in matches])
        found.append(row)
    substitutions = [
        {"pattern": p, "replacement": r, "text": t, "count": c, "result": re.sub(p, r, t, count=c)}
        for p, r, t, c in cases["substitutions"]
    ]
    refused = []
    for pattern in cases["refused"]:
        try:
            re.compile(pattern)
            sys.exit(f"Python accepts {pattern}")
        except re.error as error:
            refused.append({"pattern": pattern, "error": str(error)})
    values = [1.0, 0.1, 1e16, 1e15, 123456789012345680.0, 1e-4, 1e-5, 1.5e300, -0.0, 3.14, 2.5e-8, 100.0]
    texts = ["a", "it's", 'say "x"', "both ' and \"", "tab\t nl\n", "é", "\u200b", "\x00", "\\", "🐦", "\xa0"]
    write(
        "python.json",
        {
            "bits": [generator.getrandbits(32) for _ in range(700)],
            "samples": samples,
            "texts": cases["texts"],
            "patterns": found,
            "substitutions": substitutions,
            "refused": refused,
            "floats": [{"value": repr(v), "repr": repr(v)} for v in values],
            "strings": [{"value": t, "repr": repr(t)} for t in texts],
        },
    )


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["harness", "templates", "python"]
    for name in wanted:
        globals()[name]()

"""Writes what the Python functions of a task file make of its data, so that Softbench can read it in their place.

    python scripts/lm-eval-processed-docs.py TASK OUT_FOLDER [--limit N]

TASK is a task's name or YAML file. Needs lm-eval (0.4.13 was tested) and the task's data set. Writes one .jsonl file a split
and TASK.yaml, a benchmark file that includes the task's own and names those files.
"""
import argparse
import json
import os
from pathlib import Path

from lm_eval.tasks import TaskManager
from lm_eval.tasks._yaml_loader import load_yaml

parser = argparse.ArgumentParser()
parser.add_argument("task")
parser.add_argument("folder", type=Path)
parser.add_argument("--limit", type=int, help="rows of each split")
args = parser.parse_args()

manager = TaskManager()
task = next(iter(manager.load(args.task)["tasks"].values()))
config, few_shot = task.config, task.fewshot_cfg
entry = manager.task_index.get(args.task)
source = Path(entry.yaml_path if entry else args.task).resolve()
# As the file writes them: few-shot keys that it leaves out take over those of the task.
written = load_yaml(source).get("fewshot_config") or {}
args.folder.mkdir(parents=True, exist_ok=True)

splits = {}
for split, docs in [
    (config.training_split, task.training_docs),
    (config.validation_split, task.validation_docs),
    (config.test_split, task.test_docs),
]:
    if split is not None:
        splits[split] = docs
if few_shot.split is not None and few_shot.split not in splits:
    splits[few_shot.split] = task.fewshot_docs

# key → field, and what gives the field's value
fields = {}
for key in ("doc_to_text", "doc_to_target", "doc_to_choice"):
    if callable(getattr(config, key)):
        fields[key] = (f"softbench_{key}", getattr(config, key))
    own = written.get(key)
    if callable(own):
        fields[f"fewshot_config.{key}"] = (f"softbench_fewshot_{key}", own)


def write(name, docs):
    path = args.folder / f"{name}.jsonl"
    with path.open("w") as file:
        for at, doc in enumerate(docs):
            if args.limit is not None and at >= args.limit:
                break
            row = dict(doc)
            for field, function in fields.values():
                row[field] = function(doc)
            file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
    return path.name


softbench = {"processed_docs": {split: write(split, docs()) for split, docs in splits.items()}}
if callable(few_shot.samples):
    softbench["fewshot_samples"] = write("fewshot_samples", few_shot.samples())
if fields:
    softbench["function_fields"] = {key: field for key, (field, _) in fields.items()}
if callable(config.process_results) or any(
    callable(value) for metric in config.metric_list or [] for value in metric.values()
):
    softbench["own_scoring"] = True
name = str(config.task)
target = args.folder / f"{name}.yaml"
# JSON is YAML: no other package is needed to write it.
target.write_text(f"include: {os.path.relpath(source, args.folder.resolve())}\ntask: {name}\nmetadata: {json.dumps({'softbench': softbench}, indent=2)}\n")
print(target)

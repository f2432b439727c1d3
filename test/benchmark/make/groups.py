"""Writes what lm-evaluation-harness 0.4.13 makes of the groups in test/fixtures/benchmarks/groups: members, keys, prompts, aggregates.

    python -m venv oracle && oracle/bin/pip install torch transformers==4.57.6 lm-eval==0.4.13
    oracle/bin/python test/benchmark/make/groups.py
"""
import json
import os
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HOME"] = os.environ.get("ORACLE_CACHE", "/tmp/oracle-cache")
from lm_eval.api.group import Group
from lm_eval.tasks import TaskManager

fixtures = Path(__file__).parent.parent.parent / "fixtures" / "benchmarks"
os.chdir(fixtures / "groups")

def prompts(task):
    task.set_fewshot_seed(1234)
    task.build_all_requests(limit=2)
    return [instance.args[0] for instance in task.instances]

def shape(member):
    if isinstance(member, Group):
        return {"group": member.name, "alias": member.alias, "members": [shape(child) for child in member]}
    return {"task": member.task_name, "shots": member.config.num_fewshot, "prompts": prompts(member)}

# What tasks might have scored.
scores = {
    "facts_fire": {"acc,none": 0.5, "acc_stderr,none": 0.1, "sample_len": 40},
    "facts_wet": {"acc,none": 0.25, "acc_stderr,none": 0.05, "sample_len": 10},
    "facts_open": {"exact_match,none": 0.75, "exact_match_stderr,none": 0.2, "sample_len": 7},
}
out = {}
for file, name in (("all", "all_facts"), ("more/inner", "inner")):

    manager = TaskManager(include_path=str(fixtures / "groups"), include_defaults=False)
    loaded = manager.load([name])
    group = loaded["groups"][name]
    out[file] = {
        "shape": shape(group),
        "tasks": list(loaded["tasks"]),
        "aggregates": {each.name: each.aggregate(scores) for each in loaded["groups"].values()},
    }
(fixtures / "groups.json").write_text(json.dumps({"scores": scores, "groups": out}, ensure_ascii=False, indent=1) + "\n")
print(json.dumps(out, indent=1)[:3500])

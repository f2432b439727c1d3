"""Writes the requests that lm-evaluation-harness 0.4.13 builds with chat templates, system instructions and examples as turns.

    python -m venv oracle && oracle/bin/pip install torch transformers==4.57.6 lm-eval==0.4.13
    oracle/bin/python scripts/lm-eval-processed-docs.py ...   (test/fixtures/benchmarks/functions: see its README)
    oracle/bin/python test/benchmark/make/conversations.py
"""
import json
import os
from functools import partial
from pathlib import Path
from types import SimpleNamespace

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HOME"] = os.environ.get("ORACLE_CACHE", "/tmp/oracle-cache")
from lm_eval.api.task import ConfigurableTask
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks._yaml_loader import load_yaml
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

here = Path(__file__).parent
fixtures = here.parent.parent / "fixtures" / "benchmarks"
shapes = {row["name"]: row["template"] for row in json.loads((here / "chat_templates.json").read_text())["templates"]}
templates = {
    "none": None,
    "plain": shapes["turns with marks"],
    "trims": shapes["no system turn"],
    "strict": shapes["system inside the first question, roles must alternate"],
}
tokens = {"bos_token": "<s>", "eos_token": "</s>"}
settings = [
    {"template": "none", "system": None, "turns": False},
    {"template": "none", "system": "Answer.", "turns": False},
    {"template": "plain", "system": None, "turns": True},
    {"template": "plain", "system": "Answer.", "turns": False},
    {"template": "trims", "system": "Answer.", "turns": True},
    {"template": "strict", "system": "Answer.\n", "turns": True},
    {"template": "strict", "system": None, "turns": False},
]
results = []
for name, folder in [
    ("gsm8k", ""),
    ("cities", ""),
    ("cloze", ""),
    ("contexts", ""),
    ("prefix", ""),
    ("several-targets", ""),
    ("functions", "functions"),
]:
    os.chdir(fixtures / folder)
    for shots in (0, 2):
        for setting in settings:
            config = load_yaml(f"{name}.yaml")
            task = ConfigurableTask(config=config)
            task.config.num_fewshot = shots
            task.set_fewshot_seed(1234)
            source = templates[setting["template"]]
            tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"<s>": 0, "</s>": 1}, unk_token="<s>")), **tokens)
            tokenizer.chat_template = source
            render = partial(HFLM.apply_chat_template, SimpleNamespace(tokenizer=tokenizer, chat_template_args={}))
            row = {"task": f"{folder}/processed/{name}" if folder else name, "shots": shots, **setting}
            try:
                task.build_all_requests(
                    limit=4,
                    system_instruction=setting["system"],
                    apply_chat_template=source is not None,
                    fewshot_as_multiturn=setting["turns"],
                    chat_template=render if source is not None else None,
                )
            except Exception as error:
                results.append({**row, "error": f"{type(error).__name__}: {error}"})
                continue
            requests = {}
            for instance in task.instances:
                requests.setdefault(instance.doc_id, []).append([arg for arg in instance.args if isinstance(arg, str)])
            results.append({**row, "requests": [requests[i] for i in sorted(requests)]})
out = {"templates": templates, "tokens": tokens, "rows": results}
(fixtures / "conversations.json").write_text(json.dumps(out, ensure_ascii=False, indent=1) + "\n")
print(len(results), sum("error" in row for row in results), {row["error"] for row in results if "error" in row})

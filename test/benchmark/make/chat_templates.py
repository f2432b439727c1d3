"""Writes what transformers makes of chat templates, by way of lm-evaluation-harness's own call (HFLM.apply_chat_template).

    python -m venv oracle && oracle/bin/pip install torch transformers==4.57.6 lm-eval==0.4.13
    oracle/bin/python test/benchmark/make/chat_templates.py

The templates and conversations of chat_templates.json were written for these tests; they have the shapes that published
models' templates have.
"""
import datetime
import json
from pathlib import Path
from types import SimpleNamespace

import transformers.utils.chat_template_utils as chat_template_utils
from lm_eval.models.huggingface import HFLM
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

here = Path(__file__).parent
cases = json.loads((here / "chat_templates.json").read_text())


class FixedDate(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.fromisoformat(cases["date"])


chat_template_utils.datetime = FixedDate
rows = []
for entry in cases["templates"]:
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"<s>": 0, "</s>": 1}, unk_token="<s>")), **cases["tokens"])
    tokenizer.chat_template = entry["template"]
    model = SimpleNamespace(tokenizer=tokenizer, chat_template_args={})
    results = []
    for conversation in cases["conversations"]:
        prefix = conversation[-1]["role"] == "assistant"
        try:
            results.append({"text": HFLM.apply_chat_template(model, conversation, add_generation_prompt=not prefix)})
        except Exception as error:
            results.append({"error": f"{type(error).__name__}: {error}"})
    rows.append({**entry, "results": results})
formats = "%a %A %b %B %d %e %f %H %I %j %m %M %p %S %u %w %y %Y %D %F %T %R %x %X %c %% %-d %-m %-H %-I %-j".split(" ")
moments = ["2024-02-05T09:07:03", "2023-12-31T23:59:59", "2024-03-01T00:00:00", "2025-10-26T12:30:09"]
dates = [
    {"date": moment, "format": form, "text": datetime.datetime.fromisoformat(moment).strftime(form)}
    for moment in moments
    for form in formats
]
out = {"date": cases["date"], "tokens": cases["tokens"], "conversations": cases["conversations"], "templates": rows, "dates": dates}
(here.parent.parent / "fixtures" / "benchmarks" / "chat-templates.json").write_text(json.dumps(out, ensure_ascii=False, indent=1) + "\n")

"""Results and samples files of lm-evaluation-harness itself, for the tests of import and export.

usage: python lm_eval_results.py SMOLLM2_FOLDER OUT_FOLDER
needs: pip install "lm_eval[hf]==0.4.13" torch

SMOLLM2_FOLDER is HuggingFaceTB/SmolLM2-135M-Instruct (PyTorch); the other model is the bundled stories260k. The files are written as lm-eval writes them, but for what it
notes about the machine (pretty_env_info), which is left out.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

smollm2, out = (Path(argument).resolve() for argument in sys.argv[1:3])
fixtures = Path(__file__).resolve().parents[2] / "fixtures"
smollm2_name, tiny_name = "HuggingFaceTB/SmolLM2-135M-Instruct", "softbench/stories260k"
models = {smollm2_name: smollm2, tiny_name: fixtures.parents[1] / "examples" / "models" / "stories260k"}

# (model, tasks, further arguments); each is a run of its own, with files of its own
runs = [
    (tiny_name, "exchange_gsm8k", ["--num_fewshot", "2", "--limit", "8", "--gen_kwargs", "max_gen_toks=96"]),
    (smollm2_name, "exchange_capitals", ["--num_fewshot", "0", "--limit", "12"]),
    (tiny_name, "exchange_group,exchange_cloze,exchange_text", ["--num_fewshot", "1", "--limit", "4"]),
    (tiny_name, "exchange_capitals", ["--num_fewshot", "2", "--limit", "4", "--apply_chat_template", "--system_instruction", "Be brief.", "--fewshot_as_multiturn"]),
]

with tempfile.TemporaryDirectory() as temporary:
    work = Path(temporary)
    for source in (fixtures / "benchmarks", fixtures / "exchange" / "tasks"):
        shutil.copytree(source, work, dirs_exist_ok=True)
    examples = fixtures.parents[1] / "examples" / "benchmarks"
    for file in ("capitals.yaml", "data/capitals.train.jsonl", "data/capitals.test.jsonl"):
        shutil.copy(examples / file, work / file)
    # lm-eval has tasks of these names itself.
    for task in ("gsm8k", "aqua", "cities", "capitals"):
        file = work / f"{task}.yaml"
        file.write_text(re.sub(rf"(?m)^task: {task}$", f"task: exchange_{task}", file.read_text(encoding="utf-8")), encoding="utf-8")
    for name, folder in models.items():
        shutil.copytree(folder, work / name)
    # The tiny model has no chat template.
    chat = work / tiny_name / "tokenizer_config.json"
    template = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}"
    chat.write_text(json.dumps({**json.loads(chat.read_text(encoding="utf-8")), "chat_template": template}), encoding="utf-8")
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_DATASETS_CACHE": str(work / "cache"), "TOKENIZERS_PARALLELISM": "false"}
    for number, (name, tasks, arguments) in enumerate(runs, start=1):
        target = work / "out" / str(number)
        command = [sys.executable, "-m", "lm_eval", "run", "--model", "hf", "--model_args", f"pretrained={name},dtype=float32", "--device", "cpu", "--batch_size", "4", "--tasks", tasks, "--include_path", ".", "--output_path", str(target), "--log_samples", *arguments]
        subprocess.run(command, cwd=work, env=environment, check=True)
        for file in target.rglob("results_*.json"):
            results = json.loads(file.read_text(encoding="utf-8"))
            results["pretty_env_info"] = ""
            text = json.dumps(results, indent=2, ensure_ascii=False)
            file.write_text(text.replace(str(work) + "/", ""), encoding="utf-8")
        shutil.rmtree(out / str(number), ignore_errors=True)
        for file in target.rglob("*.json*"):
            place = out / str(number) / file.parent.name / file.name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
            assert not re.search(re.escape(str(work)), place.read_text(encoding="utf-8")), place

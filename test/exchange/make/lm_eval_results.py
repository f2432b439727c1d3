"""Results and samples files of lm-evaluation-harness itself, for the tests of import and export.

usage: python lm_eval_results.py MODEL_FOLDER OUT_FOLDER
needs: pip install "lm_eval[hf]==0.4.13" torch

MODEL_FOLDER is HuggingFaceTB/SmolLM2-135M-Instruct (PyTorch). The files are written as lm-eval writes them, but for what it
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

model, out = (Path(argument).resolve() for argument in sys.argv[1:3])
fixtures = Path(__file__).resolve().parents[2] / "fixtures"
name = "HuggingFaceTB/SmolLM2-135M-Instruct"

# (tasks, further arguments); each is a run of its own, with files of its own
runs = [
    ("exchange_gsm8k", ["--num_fewshot", "2", "--limit", "8", "--gen_kwargs", "max_gen_toks=96"]),
    ("exchange_capitals", ["--num_fewshot", "0", "--limit", "12"]),
    ("exchange_group,exchange_cloze,exchange_text", ["--num_fewshot", "1", "--limit", "4"]),
    ("exchange_capitals", ["--num_fewshot", "2", "--limit", "4", "--apply_chat_template", "--system_instruction", "Be brief.", "--fewshot_as_multiturn"]),
]

with tempfile.TemporaryDirectory() as folder:
    work = Path(folder)
    for source in (fixtures / "benchmarks", fixtures / "exchange" / "tasks"):
        shutil.copytree(source, work, dirs_exist_ok=True)
    examples = fixtures.parents[1] / "examples" / "benchmarks"
    for file in ("capitals.yaml", "data/capitals.train.jsonl", "data/capitals.test.jsonl"):
        shutil.copy(examples / file, work / file)
    # lm-eval has tasks of these names itself.
    for task in ("gsm8k", "aqua", "cities", "capitals"):
        file = work / f"{task}.yaml"
        file.write_text(re.sub(rf"(?m)^task: {task}$", f"task: exchange_{task}", file.read_text(encoding="utf-8")), encoding="utf-8")
    (work / name).parent.mkdir(parents=True)
    (work / name).symlink_to(model)
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_DATASETS_CACHE": str(work / "cache"), "TOKENIZERS_PARALLELISM": "false"}
    for number, (tasks, arguments) in enumerate(runs, start=1):
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

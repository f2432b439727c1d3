"""
Files that lm-evaluation-harness writes with --predict_only, of the bundled model on tasks of test/fixtures/parity:
`pip install lm-eval==0.4.13 torch transformers`, then run it from the repository's root.
"""
import json
import os
import shutil
import tempfile
from pathlib import Path

os.environ["DISABLE_MULTIPROC"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.models.huggingface import HFLM

root = Path(__file__).resolve().parents[3]
tasks = ["gen_sums", "gen_vote", "mc_letter", "ll_word", "ppl_texts"]
out = root / "test/fixtures/exchange/predict-only"
os.chdir(root / "test/fixtures/parity/tasks")
with tempfile.TemporaryDirectory() as work:
    weights = Path(work) / "stories260k"
    shutil.copytree(root / "examples/models/stories260k", weights, ignore=shutil.ignore_patterns("*.onnx*"))
    model = HFLM(pretrained=str(weights), device="cpu", dtype="float32", batch_size=8)
    tracker = EvaluationTracker(output_path=work)
    results = simple_evaluate(model=model, tasks=[str(Path(f"{task}.yaml").resolve()) for task in tasks], limit=6, predict_only=True, evaluation_tracker=tracker)
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for name in samples:
        tracker.save_results_samples(task_name=name, samples=samples[name])
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for file in sorted(Path(work).rglob("*.json*")):
        if file.name.startswith("samples_"):
            shutil.copy(file, out / (file.name.rsplit("_", 1)[0] + ".jsonl"))
        elif file.name.startswith("results_"):
            # Without the machine.
            kept = {key: value for key, value in json.loads(file.read_text()).items() if key not in ("pretty_env_info", "config", "model_name", "model_name_sanitized", "git_hash", "date")}
            (out / "results.json").write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n")

"""Evaluation with lm-evaluation-harness (its Hugging Face backend), as a program to be measured beside Softbench's.

usage: lm_eval_child.py HF_FOLDER TASK_FOLDER THREADS BATCH      (needs torch, transformers and lm-eval)

Answers each line of JSON on standard input with one on standard output:
{"do": "open"} -> {}
{"do": "evaluate", "task": "bench_boolq", "shots": 5, "items": 16}
    -> {"seconds": ..., "wallSeconds": ..., "cpuSeconds": ..., "peak": ..., "items": ..., "outputs": [...]}

`seconds` is the time inside of the backend's generate_until and loglikelihood, tokens of the prompts included; rendering
prompts and scoring, which lm-eval does outside of them, is left out in its favour. `outputs`: by item the text, or
the log-likelihood of each choice. `peak`: the most memory in bytes that was resident since the request came, the
model's included; null where the system does not tell.
"""

import json
import os
import sys
import time

folder, tasks, threads, batch = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
os.environ["OMP_NUM_THREADS"] = str(threads)
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_OFFLINE"] = "1"
os.environ.update(TQDM_DISABLE="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1", LMEVAL_LOG_LEVEL="ERROR")
os.environ["HF_DATASETS_CACHE"] = os.path.join(tasks, "cache")
# Replies go to a copy of standard output; whatever libraries print goes to standard error.
replies = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import lm_eval  # noqa: E402  (the number of threads has to be set before)
import torch  # noqa: E402
from lm_eval.models.huggingface import HFLM  # noqa: E402
from lm_eval.tasks import TaskManager  # noqa: E402

torch.set_num_threads(threads)
backend = None
manager = TaskManager(include_path=tasks, include_defaults=False)
spent = 0.0


def timed(method):
    def call(*arguments, **named):
        global spent
        started = time.perf_counter()
        try:
            return method(*arguments, **named)
        finally:
            spent += time.perf_counter() - started

    return call


def open_model(_request):
    global backend
    backend = HFLM(pretrained=folder, device="cpu", dtype="float32", batch_size=batch)
    for name in ("generate_until", "loglikelihood"):
        setattr(backend, name, timed(getattr(backend, name)))
    return {}


def forget_peak():
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        return True
    except OSError:
        return False


def resident_peak():
    with open("/proc/self/status") as file:
        return next((1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM")), None)


def evaluate(request):
    global spent
    spent = 0.0
    watched = forget_peak()
    started, used = time.perf_counter(), time.process_time()
    found = lm_eval.simple_evaluate(
        model=backend,
        tasks=[request["task"]],
        num_fewshot=request["shots"],
        limit=request["items"],
        task_manager=manager,
        bootstrap_iters=0,
        log_samples=True,
    )
    wall, used = time.perf_counter() - started, time.process_time() - used
    samples = sorted(found["samples"][request["task"]], key=lambda sample: sample["doc_id"])
    outputs = [
        sample["resps"][0][0] if isinstance(sample["resps"][0][0], str) else [float(resp[0][0]) for resp in sample["resps"]]
        for sample in samples
    ]
    return {
        "seconds": spent,
        "wallSeconds": wall,
        "cpuSeconds": used,
        "peak": resident_peak() if watched else None,
        "items": len(samples),
        "outputs": outputs,
    }


def say(value):
    replies.write(json.dumps(value) + "\n")
    replies.flush()


say({"ready": True, "version": lm_eval.__version__})
for line in sys.stdin:
    request = json.loads(line)
    try:
        say({"open": open_model, "evaluate": evaluate}[request["do"]](request))
    except Exception as error:  # noqa: BLE001  (the other side reports it)
        say({"error": f"{type(error).__name__}: {error}"})

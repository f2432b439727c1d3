"""Runs lm-evaluation-harness on the tasks of test/fixtures/parity and writes what test/parity compares with.

    pip install lm-eval==0.4.13 torch==2.15.0 transformers==4.57.6 datasets onnx==1.23.2 onnxruntime==1.32.0
    python scripts/make-parity.py                          # the small models, whose weights are in the repository
    python scripts/make-parity.py --smollm2 FOLDER         # SmolLM2-135M-Instruct as a Hugging Face folder: a digest only

A run is one model, one task and one setting (shots, chat template, system instruction, turns). For each the harness's own
files are kept (samples_*.jsonl as it writes them, results.json without the machine), and beside them tokens.json: for
every request the number of tokens of context and continuation, a digest of their ids, and for generated text the margin
of each token that was chosen by little (the gap between the two largest logits), which tells near-ties from disagreements.
The PyTorch weights are those of the ONNX files: logits of both are compared before anything is run.
"""
import argparse
import hashlib
import json
import logging
import os
import shutil
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# Resamples in one process: the same numbers as in several.
os.environ["DISABLE_MULTIPROC"] = "1"

import numpy as np
import torch
from lm_eval import simple_evaluate, utils
from lm_eval.loggers import EvaluationTracker
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager
from transformers import AutoModelForCausalLM, AutoTokenizer

root = Path(__file__).resolve().parent.parent
fixtures = root / "test" / "fixtures"
parity = fixtures / "parity"
tasks = sorted(path.stem for path in (parity / "tasks").glob("*.yaml"))
bootstrap_iters = 1000
# Two logits closer than this may change places in another implementation of the same network.
near_tie = 5e-3

# Items of a task whose digest is kept.
digest_items = 8
system = "You tell short stories."
settings = {
    "zero-shot": dict(few=False),
    "few-shot": dict(few=True),
    "zero-shot-chat": dict(few=False, chat=True),
    "few-shot-chat": dict(few=True, chat=True, system=system),
    "few-shot-chat-turns": dict(few=True, chat=True, system=system, turns=True),
}
small_context = ["gen_names", "ll_word", "mc_blank", "mc_many", "mc_text", "ppl_texts"]
# For a model with which every task takes long.
larger_tasks = ["ll_word", "mc_text", "gen_sums", "mc_letter", "mc_blank", "gen_choice", "ppl_texts", "mc_many", "gen_names"]
models = {
    # A real model with BOS before every text. The chat template is ours: it writes BOS and EOS itself.
    "stories260k": dict(folder="examples/models/stories260k", chat="stories.jinja", tasks=tasks),
    # Random weights; no BOS; the template is in its tokenizer_config.json.
    "llama": dict(folder="test/fixtures/models/llama-genai-fp32", make=("llama", 0.3), tasks=small_context),
    # Learned positions; no BOS; a template that refuses a system message.
    "gpt2": dict(folder="test/fixtures/models/gpt2-optimum", make=("gpt2", 0.15), chat="no-system.jinja", tasks=small_context),
}


def digest(ids):
    """Of token ids, as text: the same in every language."""
    return hashlib.sha256(",".join(map(str, ids)).encode()).hexdigest()[:16]


class RecordingLM(HFLM):
    """The harness's own model, which also notes what it gives to the network."""

    def start(self):
        self.pairs, self.contexts, self.generated = [], {}, {}

    def _loglikelihood_tokens(self, requests, **rest):
        self.pairs += [(context, continuation) for _, context, continuation in requests]
        return super()._loglikelihood_tokens(requests, **rest)

    def tok_batch_encode(self, strings, **rest):
        ids, mask = super().tok_batch_encode(strings, **rest)
        for text, row, kept in zip(strings, ids.tolist(), mask.tolist()):
            self.contexts[text] = [token for token, keep in zip(row, kept) if keep]
        return ids, mask

    def _model_generate(self, context, max_length, stop, **rest):
        out = super()._model_generate(context=context, max_length=max_length, stop=stop, **rest)
        mask = rest["attention_mask"]
        for row, kept, whole in zip(context.tolist(), mask.tolist(), out.tolist()):
            prompt = [token for token, keep in zip(row, kept) if keep]
            self.generated[tuple(prompt)] = whole[len(row) :]
        return out


def margins(lm, prompt, answer):
    """Gap between the two largest logits at each token of a greedy answer."""
    ids = torch.tensor([prompt + answer])
    with torch.no_grad():
        logits = lm.model(ids).logits[0, len(prompt) - 1 : -1].float()
    best = logits.topk(2).values
    return (best[:, 0] - best[:, 1]).tolist()


def pytorch_of(name, spec, work):
    """A Hugging Face folder with the same weights as the ONNX file."""
    source = root / spec["folder"]
    folder = work / name
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.onnx*", "reference*", "genai_config.json"))
    if "make" in spec:
        sys.path.insert(0, str(fixtures / "models" / "make"))
        import archs
        import fixlib

        arch, scale = spec["make"]
        fixlib.build_model(archs.config(arch), seed=1, emb_std=scale).save_pretrained(folder)
        for file in ["config.json", "generation_config.json"]:
            shutil.copy(source / file, folder / file)
    return folder


def check_weights(lm, source):
    """The ONNX file's own logits, by ONNX Runtime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(source / "model.onnx"), providers=["CPUExecutionProvider"])
    ids = np.array([[1, 300, 301, 302, 17, 44, 399, 9, 77, 123, 256, 4, 5]], dtype=np.int64)
    length = ids.shape[1]
    feeds = {}
    for entry in session.get_inputs():
        if entry.name == "input_ids":
            feeds[entry.name] = ids
        elif entry.name == "attention_mask":
            feeds[entry.name] = np.ones_like(ids)
        elif entry.name == "position_ids":
            feeds[entry.name] = np.arange(length, dtype=np.int64)[None]
        else:
            shape = [1 if i == 0 else 0 if isinstance(size, str) else size for i, size in enumerate(entry.shape)]
            feeds[entry.name] = np.zeros(shape, np.float32)
    theirs = session.run([session.get_outputs()[0].name], feeds)[0]
    with torch.no_grad():
        ours = lm.model(torch.from_numpy(ids)).logits.numpy()
    apart = float(np.abs(theirs - ours).max())
    print(f"logits of PyTorch and ONNX Runtime: {apart:.1e} apart")
    assert apart < 1e-4


def requests_of(lm, samples, output_type):
    """Tokens of every request, in the order of items and requests."""
    seen, rows = set(), []
    pairs = iter(lm.pairs)
    by_item = {}
    for sample in samples:
        if sample["doc_id"] in seen:
            continue
        seen.add(sample["doc_id"])
        for index, arguments in enumerate(sample["arguments"]):
            by_item[(sample["doc_id"], index)] = (arguments, len(sample["resps"][index]))
    pending = list(by_item.items())
    windows_left = list(lm.pairs)
    for (item, index), (arguments, repeats) in pending:
        row = dict(item=item, request=index)
        if output_type == "generate_until":
            prompt = lm.contexts[arguments[0]]
            # Up to its own end: behind it stands what the batch went on with.
            answer = lm.generated[tuple(prompt)]
            eos = lm.eot_token_id
            answer = answer[: answer.index(eos) + 1] if eos in answer else answer
            close = {str(at): round(margin, 7) for at, margin in enumerate(margins(lm, prompt, answer)) if margin < near_tie}
            row |= dict(context=len(prompt), ids=digest(prompt), output=answer, close=close)
        elif output_type == "loglikelihood_rolling":
            # A text begins with the window that has the prefix alone as context.
            windows = [windows_left.pop(0)]
            while windows_left and windows_left[0][0] != [lm.prefix_token_id]:
                windows.append(windows_left.pop(0))
            row |= dict(windows=[dict(context=len(c), continuation=len(k), ids=digest(c + k)) for c, k in windows])
        else:
            context, continuation = next(pairs)
            for _ in range(repeats - 1):
                next(pairs)
            # What is longer than the context loses its beginning on the way to the network.
            context = (context + continuation)[-(lm.max_length + 1) :][: -len(continuation)]
            row |= dict(context=len(context), continuation=len(continuation), ids=digest(context + continuation))
        rows.append(row)
    return rows


def run(lm, task, shots, *, chat=False, system=None, turns=False, limit=None, out=None):
    lm.start()
    tracker = EvaluationTracker(output_path=str(out)) if out else None
    os.chdir(parity / "tasks")
    results = simple_evaluate(
        model=lm,
        tasks=[str(parity / "tasks" / f"{task}.yaml")],
        num_fewshot=shots,
        limit=limit,
        bootstrap_iters=bootstrap_iters,
        apply_chat_template=chat,
        system_instruction=system,
        fewshot_as_multiturn=turns,
        evaluation_tracker=tracker,
        task_manager=TaskManager(include_defaults=False),
        log_samples=True,
    )
    (name,) = results["samples"]
    samples = results.pop("samples")[name]
    rows = requests_of(lm, samples, results["configs"][name]["output_type"])
    return results, name, samples, rows, tracker


def room(lm, task_file, shots, chat, system, turns):
    """Do all prompts of the task fit into the context? (The harness would cut them on the left.)"""
    os.chdir(parity / "tasks")
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.tasks._yaml_loader import load_yaml

    task = ConfigurableTask(config=load_yaml(task_file))
    if task.OUTPUT_TYPE == "loglikelihood_rolling" or task_file.endswith("_long.yaml"):
        return shots == 0
    task.config.num_fewshot = shots
    task.set_fewshot_seed(1234)
    try:
        task.build_all_requests(apply_chat_template=chat, system_instruction=system, fewshot_as_multiturn=turns, chat_template=lm.apply_chat_template if chat else None)
    except AssertionError:
        return False
    new = (task.config.generation_kwargs or {}).get("max_gen_toks", 256) if task.OUTPUT_TYPE == "generate_until" else 0
    for request in task.instances:
        length = len(lm.tok_encode(request.args[0] + (request.args[1] if new == 0 else "")))
        if length + new + 2 > lm.max_length:
            return False
    return True


def shots_for(lm, task, setting):
    rest = (setting.get("chat", False), setting.get("system"), setting.get("turns", False))
    return next((shots for shots in ([5, 3, 2, 1] if setting["few"] else [0]) if room(lm, f"{task}.yaml", shots, *rest)), None)


def keep(out, target, results, name, tracker, samples):
    """The harness's files, under names that do not change, without what says where and when they were made."""
    tracker.save_results_aggregated(results=results, samples={name: samples})
    tracker.save_results_samples(task_name=name, samples=samples)
    target.mkdir(parents=True, exist_ok=True)
    (found,) = out.rglob("samples_*.jsonl")
    shutil.copy(found, target / f"samples_{name}.jsonl")
    (found,) = out.rglob("results_*.json")
    whole = json.loads(found.read_text())
    kept = ["results", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better", "n-samples", "task_hashes", "chat_template", "system_instruction", "fewshot_as_multiturn", "lm_eval_version", "transformers_version", "max_length"]
    return {key: whole[key] for key in kept if key in whole}


def merge(into, more):
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            into[key].update(value)
        else:
            into[key] = value


def write_runs(name, lm, names, labels, scratch):
    """Whole sample files of every task in every setting."""
    for label in labels:
        target = parity / "runs" / name / label
        shutil.rmtree(target, ignore_errors=True)
        tokens, results = {}, {}
        for task, shots, options in runs_of(lm, names, settings[label]):
            out = Path(tempfile.mkdtemp(dir=scratch))
            found, task_name, samples, rows, tracker = run(lm, task, shots, out=out, **options)
            merge(results, keep(out, target, found, task_name, tracker, samples))
            tokens[task] = dict(shots=shots, requests=rows)
            report(name, label, task, shots, found["results"][task_name])
        # The files were read relative to the tasks' folder; no-one else's folders belong in the fixture.
        text = json.dumps(results, ensure_ascii=False, indent=1).replace(str(parity) + "/", "")
        (target / "results.json").write_text(text + "\n")
        write_rows(target / "tokens.json", tokens)


def write_digest(name, lm, names, labels):
    """For a model whose weights are not in the repository: hashes, counts, likelihoods and verdicts."""
    for label in labels:
        target = parity / "runs" / name / label
        target.mkdir(parents=True, exist_ok=True)
        digests = {}
        for task, shots, options in runs_of(lm, names, settings[label]):
            found, task_name, samples, rows, _ = run(lm, task, shots, limit=digest_items, **options)
            first = {}
            for sample in samples:
                first.setdefault(sample["doc_id"], sample)
            for row in rows:
                sample, at = first[row["item"]], row["request"]
                row["texts"] = [hashlib.sha256(part.encode()).hexdigest()[:16] for part in sample["arguments"][at] if isinstance(part, str)]
                response = sample["resps"][at][0]
                row["response"] = response if isinstance(response, str) else [round(part, 5) if isinstance(part, float) else part for part in np.atleast_1d(response).tolist()]
            verdicts = [
                dict(item=sample["doc_id"], filter=sample["filter"], values={metric: plain(sample[metric]) for metric in sample["metrics"]})
                for sample in samples
            ]
            scores = {key: plain(value) for key, value in found["results"][task_name].items() if "," in key}
            digests[task] = dict(shots=shots, requests=rows, verdicts=verdicts, results=scores)
            report(name, label, task, shots, scores)
            write_rows(target / "digest.json", digests)


def plain(value):
    """A number or text as JSON has it; likelihoods to the fifth place."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(part) for part in value]
    value = value.item() if isinstance(value, np.generic) else value
    return round(value, 5) if isinstance(value, float) else value


def report(name, label, task, shots, scores):
    print(name, label, task, shots, {key: value for key, value in scores.items() if "," in key and "stderr" not in key}, flush=True)


def runs_of(lm, names, setting):
    for task in names:
        shots = shots_for(lm, task, setting)
        if shots is not None:
            yield task, shots, dict(chat=setting.get("chat", False), system=setting.get("system"), turns=setting.get("turns", False))


def write_rows(file, tasks):
    """JSON with one request a line."""
    blocks = []
    for task, entry in tasks.items():
        lists = {key: value for key, value in entry.items() if isinstance(value, list)}
        head = json.dumps({key: value for key, value in entry.items() if key not in lists})[1:-1]
        lines = [f"{json.dumps(key)}: [\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]" for key, rows in lists.items()]
        blocks.append(f"{json.dumps(task)}: {{{', '.join([head, *lines])}}}")
    file.write_text("{\n" + ",\n".join(blocks) + "\n}\n")


def load(folder, chat=None, batch_size=8):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    if chat:
        tokenizer.chat_template = (parity / "chat" / chat).read_text()
    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32)
    return RecordingLM(pretrained=model, tokenizer=tokenizer, batch_size=batch_size, device="cpu")


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smollm2", help="folder of SmolLM2-135M-Instruct (model.safetensors)")
    parser.add_argument("--models", nargs="*", help="names of small models; default: all")
    parser.add_argument("--settings", nargs="*", default=list(settings), choices=list(settings))
    arguments = parser.parse_args()
    if arguments.smollm2:
        write_digest("smollm2-135m", load(Path(arguments.smollm2).resolve()), larger_tasks, arguments.settings)
        sys.exit()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        for name, spec in models.items():
            if arguments.models and name not in arguments.models:
                continue
            lm = load(pytorch_of(name, spec, Path(scratch)), spec.get("chat"))
            check_weights(lm, root / spec["folder"])
            write_runs(name, lm, spec["tasks"], arguments.settings, scratch)

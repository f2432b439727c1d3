"""Prompts and readings of BIG-bench's own code for the tests of JSON tasks.

Get the sources of bigbench 1.0.0 (`pip download bigbench==1.0.0 --no-deps --no-binary :all:`, unpack), install numpy,
scipy, scikit-learn, rouge-score and typing_extensions, and run: python big_bench.py FOLDER_OF_THE_SOURCES
What json_task imports and does not use for prompts (TensorFlow, T5) is replaced by empty modules.
"""
import importlib.util
import json
import sys
import types
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np

source = Path(sys.argv[1]) / "bigbench"
here = Path(__file__).parent
fixtures = here.parent.parent / "fixtures" / "big-bench"

for name in ["tensorflow", "tensorflow.compat", "tensorflow.compat.v1", "tensorflow.compat.v2", "t5", "t5.evaluation", "datasets"]:
    sys.modules[name] = MagicMock()


def package(name, path):
    module = types.ModuleType(name)
    module.__path__ = [str(path)]
    sys.modules[name] = module
    return module


bigbench = package("bigbench", source)
bigbench.api = package("bigbench.api", source / "api")
bigbench.models = package("bigbench.models", source / "models")
bigbench.benchmark_tasks = package("bigbench.benchmark_tasks", fixtures)

import bigbench.api.json_task as json_task  # noqa: E402
import bigbench.api.task_metrics as task_metrics  # noqa: E402
import bigbench.models.model_utils as model_utils  # noqa: E402
from bigbench.api import json_utils  # noqa: E402


class Files(json_utils.GFileUtils):
    """Plain files in place of TensorFlow's."""

    def load_json_file(self, filepath):
        with open(filepath, "rb") as file:
            return json.load(file, object_pairs_hook=json_utils.collections.OrderedDict)


class Recorder:
    """A model that keeps what it is asked."""

    def __init__(self):
        self.inputs, self.choices = None, None

    def cond_log_prob(self, inputs, targets, absolute_normalization=None):
        self.inputs, self.choices = list(inputs), [list(t) for t in targets]
        return [list(np.log(np.full(len(t), 1 / len(t)))) for t in targets]

    def generate_text(self, inputs, **_):
        self.inputs = list(inputs)
        return ["" for _ in inputs]


outputs = ["4", " 4 legs", "It has 4 legs. Sure", "2 2 3", "\n\nten. or so", "France.", "france. Rome", "France", ".France.", "", "...", "red", "10\nQ: What", "a 12 b 13"]
result = {"tasks": {}, "readings": {}}
for name in ["sums", "all_fields", "both_kinds", "stop_text", "subtasks/first"]:
    task = json_task.JsonTask(str(fixtures / name / "task.json"), shot_list=[0], task_json_utils=Files())
    for position, sample in enumerate(task._ds):
        # An attribute, no entry: it does not take part in comparisons, and copies carry it along.
        sample.position = position
    rows = {}
    seeds = {"0": [42], "1": [42, 7], "2": [42], "3": [42]}
    for shots, of in seeds.items():
        if int(shots) + 1 > len(task._ds):
            continue
        for seed in of:
            model = Recorder()
            try:
                task.evaluate_fixed_shot(model, int(shots), score=False, random_seed=seed, generate_probs_for_targets=False)
            except ValueError as error:
                rows[f"{shots}/{seed}"] = {"error": str(error)}
                continue
            samples = task.shot_examples[int(shots)]
            ordered = [None] * len(task._ds)
            for sample, text in zip(samples, model.inputs):
                ordered[sample.position] = text
            rows[f"{shots}/{seed}"] = ordered
    result["tasks"][name] = {
        "name": task.name,
        "prompts": rows,
        "targets": [sample["target"] for sample in task._ds],
        "choices": [sample.get("choice") for sample in task._ds],
        "scores": [list(sample["target_scores"].values()) if "target_scores" in sample else None for sample in task._ds],
    }
    if task.generative_metrics:
        read = []
        for output in outputs:
            # The value that is compared: without outer spaces, which adapters of models remove.
            answer = model_utils.postprocess_output(output, None, task.stop_string, task.output_regex).strip()
            metric = task_metrics.GENERATIVE_FN[task.preferred_score]
            right = [metric([[t.strip() for t in sample["target"]]], [answer])[task.preferred_score] for sample in task._ds]
            read.append({"output": output, "answer": answer, "right": right})
        result["readings"][name] = read
# The scores of choices by given log-likelihoods.
result["choices"] = {}
for name in ["all_fields", "both_kinds"]:
    task = json_task.JsonTask(str(fixtures / name / "task.json"), shot_list=[0], task_json_utils=Files())
    random = np.random.RandomState(0)
    for sample in task._ds:
        log_prob = np.round(-random.random_sample(len(sample["choice"])) * 4, 3)
        sample["absolute_log_prob"] = list(log_prob)
        sample["log_prob"] = list(log_prob - json_task.logsumexp(log_prob))
    scores = {}
    for metric, measure in task_metrics.MULTIPLE_CHOICE_FN.items():
        try:
            scores[metric] = float(measure(task._ds))
        except ValueError:  # macro_f1 where choices are graded
            scores[metric] = None
    result["choices"][name] = {"log_probs": [list(map(float, sample["absolute_log_prob"])) for sample in task._ds], "scores": scores}
# numpy's legacy stream.
streams = []
for seed in [0, 1, 42, 4294967295]:
    random = np.random.RandomState(seed)
    streams.append(
        {
            "seed": seed,
            "permutations": [random.permutation(n).tolist() for n in [0, 1, 2, 3, 7, 64, 65, 700]],
            "choices": [[n, k, random.choice(n, k, replace=False).tolist()] for n, k in [(1, 1), (5, 2), (33, 33), (1000, 4)]],
            "ones": [[n, int(random.choice(n))] for n in [1, 2, 3, 4, 5, 100, 257, 70000] for _ in range(3)],
            "after": random.permutation(10).tolist(),
        }
    )
result["numpy"] = streams
path = fixtures / "oracle.json"
path.write_text(json.dumps(result, indent=1) + "\n")
print({name: list(task["prompts"]) for name, task in result["tasks"].items()}, path.stat().st_size)

"""
What lm-evaluation-harness makes of every aggregation with what each kind of metric adds, and of F1 with more or other
classes than 0 and 1: `pip install lm-eval[sacrebleu]==0.4.13 scikit-learn`, then run it.
"""
import json
import warnings
from pathlib import Path

import numpy as np
from lm_eval.api.metrics import f1_score
from lm_eval.api.registry import AGGREGATION_REGISTRY

warnings.simplefilter("ignore")
added = {
    "acc": [1.0, 0.0, 1.0, 1.0],
    "f1": [(0, 1), (1, 1), (1, 0), (0, 0)],
    "word_perplexity": [(-12.5, 4), (-3.25, 2), (-8.0, 5), (-1.5, 1)],
    "bleu": [["the cat sat", "the cat sat"], ["a dog ran over it", "a dog ran"], ["we know", "know we"], ["is it so", "it is"]],
    "brier_score": [(0, np.array([0.7, 0.3])), (1, np.array([0.4, 0.6])), (1, np.array([0.9, 0.1])), (0, np.array([0.5, 0.5]))],
}
names = ["mean", "nanmean", "median", "perplexity", "weighted_perplexity", "bits_per_byte", "f1", "matthews_corrcoef",
         "brier_score", "bleu", "chrf", "chrf++", "ter", "bypass"]


def outcome(of, values):
    try:
        value = of(values)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return float(value) if isinstance(value, (int, float, np.floating)) else f"no number: {type(value).__name__}"


plain = lambda values: [[part.tolist() if isinstance(part, np.ndarray) else part for part in value] if isinstance(value, (tuple, list)) else value for value in values]
table = {metric: {name: outcome(AGGREGATION_REGISTRY[name], values) for name in names} for metric, values in added.items()}
classes = [
    [(0, 1), (1, 1)],
    [(0, 0), (0, 0)],
    [(2, 2), (2, 2)],
    [(0, 2), (2, 2)],
    [(1, 2), (2, 1), (1, 1)],
    [(0, 1), (1, 2), (2, 2)],
    [(-100, 1), (1, 1), (0, 0)],
    [(-100, 0), (-100, 0)],
    [([0, 1], 1), ([1], 1)],
]
out = {
    "added": {metric: plain(values) for metric, values in added.items()},
    "table": table,
    "classes": [{"values": [list(pair) for pair in values], "f1": outcome(f1_score, values)} for values in classes],
}
Path(__file__).parent.parent.joinpath("without-value.json").write_text(json.dumps(out, indent=1) + "\n")

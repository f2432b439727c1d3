"""Likeness of columns by names, what a covariance is drawn to, and a Gaussian process over models and columns, written out with
dense matrices. `pip install numpy scipy scikit-learn`, then run it; writes products.json."""
import json
from pathlib import Path

import numpy as np
from scipy.optimize import nnls
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics.pairwise import cosine_similarity

draw = np.random.default_rng(5)
ROUND = 6

# Two prompts of five tasks, two of which have names alike; one of them by another metric too.
tasks = ["tracking_objects_three", "tracking_objects_five", "word_sorting", "web_of_lies", "Objects named"]
columns = [
    {"task": task, "subtask": f"bench {prompt} {task}", "shots": 3, "mode": None, "metric": "acc"}
    for prompt in ("", "cot")
    for task in tasks
] + [{"task": "word_sorting", "subtask": "bench word_sorting", "shots": 3, "mode": None, "metric": "f1"}]
n = len(columns)
counts = CountVectorizer(binary=True, token_pattern=r"[^\W_]+").fit_transform([c["task"] for c in columns]).toarray()
by_task = cosine_similarity(counts * np.sqrt(np.log(n / counts.sum(0))))
setting = np.array(["cot" in c["subtask"] for c in columns])
metric = np.array([c["metric"] for c in columns])
likenesses = [by_task, by_task * (setting[:, None] == setting), by_task * (metric[:, None] == metric)]
assert all(np.linalg.eigvalsh(one).min() > -1e-9 for one in likenesses)

# A covariance of the columns and of one that is like none of them: two shared functions and a rest that goes by names.
width = n + 1
loadings = draw.normal(size=(width, 2)) * [1.5, 1]
rest = np.eye(width)
rest[:n, :n] = 0.45 * np.eye(n) + 0.25 * likenesses[0] + 0.3 * likenesses[1]
whole = loadings @ loadings.T + 0.5 * rest
samples = draw.multivariate_normal(np.zeros(width), whole, 40)
covariance = samples.T @ samples / len(samples)


def shared_part(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors[:, -2:] * values[-2:]) @ vectors[:, -2:].T


shared = shared_part(covariance)
scale = np.sqrt(np.maximum(0.02, np.diag(covariance - shared)))
correlation = (covariance - shared) / np.outer(scale, scale)
off = ~np.eye(n, dtype=bool)
coefficients, _ = nnls(np.stack([one[off] for one in likenesses], 1), correlation[:n, :n][off])
assert coefficients.sum() < 0.95
alike = np.eye(width)
alike[:n, :n] = sum(c * one for c, one in zip(coefficients, likenesses)) + (1 - coefficients.sum()) * np.eye(n)
target = shared + np.outer(scale, scale) * alike

# Scores of eight models on the columns, some missing.
rows = 8
place = draw.normal(size=(rows + 1, 2))
kernel = np.exp(-((place[:, None] - place[None]) ** 2).sum(-1) / 2)
common = target[:n, :n]
single = 0.25 * (common - shared_part(common)) + 0.05 * np.eye(n)
noise = draw.uniform(0.01, 0.1, n)
scales = draw.uniform(0.3, 4, rows)
values = draw.normal(size=(rows, n))
missing = draw.uniform(size=(rows, n)) < 0.25
m, t = np.argwhere(~missing).T
dense = common[t][:, t] * kernel[m][:, m] + (m[:, None] == m) * scales[m] * single[t][:, t] + np.diag(noise[t])
solved = np.linalg.solve(dense, values[m, t])
predicted = np.array(
    [
        [(common[u, t] * kernel[row, m] + (m == row) * scales[m] * single[u, t]) @ solved for u in range(n)]
        for row in range(rows + 1)
    ]
)

# How far rows are off their two leading directions, by a projection.
many = samples[:, :n] @ np.diag(np.linspace(1, 2, n))
_, vectors = np.linalg.eigh(np.cov(many.T))
leading = vectors[:, -2:]
off_mean = many - many.mean(0)
squares = ((off_mean @ (np.eye(n) - leading @ leading.T)) ** 2).mean(1)

flat = lambda array: np.round(array, ROUND + 3).ravel().tolist()
Path(__file__).parent.parent.joinpath("learn", "products.json").write_text(
    json.dumps(
        {
            "columns": columns,
            "likenesses": [flat(one) for one in likenesses],
            "structure": {
                "width": width,
                "covariance": flat(covariance),
                "coefficients": flat(coefficients),
                "target": flat(target),
            },
            "scales": {
                "rows": np.round(many, 9).tolist(),
                "directions": leading.T.tolist(),
                "expected": flat(np.clip(squares / squares.mean(), 0.3, 4)),
            },
            "process": {
                "rows": rows,
                "values": [None if gap else value for gap, value in zip(missing.ravel(), flat(values))],
                "itemNoise": flat(noise),
                "kernel": flat(kernel[:rows, :rows]),
                "asked": flat(kernel[:, :rows]),
                "common": flat(common),
                "single": flat(single),
                "scale": flat(scales),
                "predicted": flat(predicted),
            },
        },
        indent=1,
    )
    + "\n"
)

"""Correlations of lm-harmony's base and post-trained models, and ranks of models whose items are drawn again:
`pip install numpy scipy`, then run it."""
import json
import re
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau, rankdata, spearmanr

here = Path(__file__).parent
harmony = json.loads((here / "../../fixtures/lm-harmony/scores.json").read_text())
models, tasks = harmony["models"], harmony["tasks"]
post_trained = [m for m in models if re.search(r"-(Chat|Instruct|it)$", m)]
pairs = [(re.sub(r"-(Chat|Instruct|it)$", "", m), m) for m in post_trained]
base, tuned_model = [[models.index(p[side]) for p in pairs] for side in (0, 1)]


def correlations(of_base, of_post_trained):
    a, b = np.array(of_base)[:, base], np.array(of_post_trained)[:, tuned_model]
    rows = {
        task: [kendalltau(a[i], b[i]).statistic, spearmanr(a[i], b[i]).statistic] for i, task in enumerate(tasks)
    }
    averaged = [kendalltau(a.mean(0), b.mean(0)).statistic, spearmanr(a.mean(0), b.mean(0)).statistic]
    return {"tasks": rows, "mean": np.mean(list(rows.values()), 0).tolist(), "averaged": averaged}


def likely_ranks(scores):
    """[draws, models] to 2.5 % and 97.5 % of the ranks, ties at their best and at their worst place."""
    best = np.apply_along_axis(lambda s: rankdata(-s, method="min"), 1, scores)
    worst = np.apply_along_axis(lambda s: rankdata(-s, method="max"), 1, scores)
    low = np.quantile(best, 0.025, axis=0, method="inverted_cdf")
    high = np.quantile(worst, 0.975, axis=0, method="inverted_cdf")
    return [[int(x), int(y)] for x, y in zip(low, high)]


random = np.random.default_rng(7)
# Hard and easy items that all models share: what a paired draw must see.
difficulty = random.random(240)
abilities = [0.85, 0.8, 0.62, 0.58, 0.57, 0.3]
items = np.array([(random.random(240) * 0.25 + difficulty * 0.75 < ability) for ability in abilities]).astype(int)
draws = 100_000
scores = np.stack([items[:, random.integers(0, 240, 240)].mean(1) for _ in range(draws)])
independent = np.stack(
    [[items[m, random.integers(0, 240, 240)].mean() for m in range(len(items))] for _ in range(draws // 4)]
)
# K of two models: right among those in the format.
formats = (random.random((3, 240)) < np.array([[0.2], [0.9], [0.95]])).astype(int)
right = formats * (random.random((3, 240)) < np.array([[0.9], [0.6], [0.55]])).astype(int)
ratio = []
for _ in range(draws // 4):
    at = random.integers(0, 240, 240)
    ratio.append(right[:, at].sum(1) / formats[:, at].sum(1))
benchmarks = np.round(random.random((5, 12)) * 0.3 + np.array([[0.5], [0.48], [0.42], [0.4], [0.1]]), 3)
over = np.stack([benchmarks[:, random.integers(0, 12, 12)].mean(1) for _ in range(draws)])
(here.parent / "rankings.json").write_text(
    json.dumps(
        {
            "direct": correlations(harmony["direct"], harmony["direct"]),
            "tuned": correlations(harmony["tuned"], harmony["direct"]),
            "pairs": pairs,
            "items": items.tolist(),
            "paired": likely_ranks(scores),
            "independent": likely_ranks(independent),
            "formats": formats.tolist(),
            "right": right.tolist(),
            "ratio": likely_ranks(np.stack(ratio)),
            "benchmarks": benchmarks.tolist(),
            "over": likely_ranks(over),
        }
    )
)

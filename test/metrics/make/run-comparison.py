"""Figures for test/metrics/run-comparison.test.ts, by scipy: python3 test/metrics/make/run-comparison.py (needs numpy, scipy).

Percentile intervals of the paired bootstrap as infinitely many draws give them: the difference of a draw of n items is
X - Y with (X, Y, rest) trinomial, and its distribution is a sum over Y ~ Bin(n, a) of X ~ Bin(n - Y, b / (1 - a)).
McNemar's exact p-value by scipy's binomial test.
"""

import json
from pathlib import Path

import numpy as np
from scipy import stats

CASES = [(12, 54, 200), (3, 1, 10), (0, 7, 25), (40, 44, 300), (5, 5, 60), (1, 0, 2), (30, 90, 1000), (0, 9, 9)]


def differences(only_a: int, only_b: int, n: int) -> np.ndarray:
    """Chance of each difference -n ... n of a draw."""
    a, b = only_a / n, only_b / n
    chances = np.zeros(2 * n + 1)
    for y in range(n + 1):
        weight = stats.binom.pmf(y, n, a)
        if weight < 1e-25:
            continue
        x = np.arange(n - y + 1)
        share = 1.0 if a == 1 else min(1.0, b / (1 - a))
        chances[x - y + n] += weight * stats.binom.pmf(x, n - y, share)
    return chances


rows = []
for only_a, only_b, n in CASES:
    below = np.cumsum(differences(only_a, only_b, n))
    low, high = (int(np.searchsorted(below, share - 1e-12)) - n for share in (0.025, 0.975))
    p = stats.binomtest(min(only_a, only_b), only_a + only_b, 0.5).pvalue
    rows.append([only_a, only_b, n, low / n, high / n, p])
Path(__file__).parent.parent.joinpath("run-comparison.json").write_text(json.dumps(rows) + "\n")

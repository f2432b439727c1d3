"""Figures of scipy and statsmodels for the metrics tests: `pip install scipy statsmodels`, then run it."""
import json
from pathlib import Path

from scipy.stats import binomtest, norm
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

wilson = []
for n in [1, 2, 5, 10, 37, 60, 100, 1319, 100_000]:
    for count in sorted({0, 1, n // 3, n // 2, n - 1, n}):
        for confidence in [0.9, 0.95, 0.99]:
            low, high = proportion_confint(count, n, alpha=1 - confidence, method="wilson")
            exact = binomtest(count, n).proportion_ci(confidence, method="wilson")
            assert abs(exact.low - low) < 1e-9 and abs(exact.high - high) < 1e-9
            wilson.append([count, n, confidence, low, high])
pairs = []
for only_a, only_b in [(0, 0), (1, 0), (0, 5), (3, 9), (12, 54), (20, 20), (21, 20), (400, 520), (1500, 1610), (0, 1200)]:
    table = [[10, only_a], [only_b, 10]]
    pairs.append([only_a, only_b, float(mcnemar(table, exact=True).pvalue)])
differences = []
for both, only_a, only_b, neither in [(10, 3, 9, 20), (0, 0, 5, 5), (50, 12, 54, 84), (700, 20, 35, 564), (5, 5, 5, 5), (1, 0, 0, 1)]:
    # Tango's interval, by solving its score equation: the oracle for the product's closed form of the same method.
    from scipy.optimize import brentq

    n = both + only_a + only_b + neither
    z = norm.ppf(0.975)

    def score(delta):
        # Restricted maximum likelihood of P(only A) under P(only B) − P(only A) = delta (Tango 1998).
        a, b = 2 * n, -only_a - only_b + (2 * n - only_b + only_a) * delta
        c = -only_a * delta * (1 - delta)
        q = (-b + (b * b - 4 * a * c) ** 0.5) / (2 * a)
        variance = n * (2 * q + delta * (1 - delta))
        numerator = only_b - only_a - n * delta
        if variance <= 0:
            return 0.0 if numerator == 0 else float("inf") * (1 if numerator > 0 else -1)
        return numerator / variance**0.5

    estimate = (only_b - only_a) / n
    edge = 1 - 1e-12
    low = -1.0 if score(-edge) <= z else brentq(lambda d: score(d) - z, -edge, estimate - 1e-15, xtol=1e-14)
    high = 1.0 if score(edge) >= -z else brentq(lambda d: score(d) + z, estimate + 1e-15, edge, xtol=1e-14)
    differences.append([both, only_a, only_b, neither, estimate, low, high])
quantiles = [[c, float(norm.ppf((1 + c) / 2))] for c in [0.5, 0.8, 0.9, 0.95, 0.99, 0.999]]
path = Path(__file__).parent.parent / "oracle.json"
path.write_text(json.dumps({"wilson": wilson, "mcnemar": pairs, "differences": differences, "quantiles": quantiles}, indent=1) + "\n")

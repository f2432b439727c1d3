"""Reference figures for test/metrics. Needs scipy and statsmodels.  usage: python oracle.py > ../oracle.json"""
import json
import scipy
import statsmodels
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

wilson = []
for count, n in [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (1, 100), (50, 100), (99, 100), (612, 1000), (1319, 1319), (7, 7473)]:
    low, high = proportion_confint(count, n, alpha=0.05, method="wilson")
    assert abs(low - max(0, binomtest(count, n).proportion_ci(0.95, method="wilson").low)) < 1e-12
    wilson.append({"count": count, "n": n, "low": max(0.0, float(low)), "high": min(1.0, float(high))})

pairs = []
for b, c in [(0, 0), (0, 1), (1, 0), (5, 5), (54, 12), (12, 54), (3, 10), (700, 640), (2000, 2200)]:
    result = mcnemar([[10, b], [c, 20]], exact=True)
    pairs.append({"onlyA": b, "onlyB": c, "p": 1.0 if b + c == 0 else float(result.pvalue)})

# paired difference of shares: by the definition of the variance of a mean of differences
import numpy as np
differences = []
rng = np.random.default_rng(0)
for n in (20, 200):
    a = rng.random(n) < 0.4
    b = rng.random(n) < 0.6
    d = b.astype(float) - a.astype(float)
    se = d.std(ddof=0) / np.sqrt(n)
    differences.append({"a": a.astype(int).tolist(), "b": b.astype(int).tolist(), "mean": float(d.mean()), "low": float(d.mean() - 1.959963984540054 * se), "high": float(d.mean() + 1.959963984540054 * se)})

print(json.dumps({"scipy": scipy.__version__, "statsmodels": statsmodels.__version__, "wilson": wilson, "mcnemar": pairs, "differences": differences}))

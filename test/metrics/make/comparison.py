"""Rank correlations, Holm's correction and the power of McNemar's test: `pip install scipy statsmodels`, then run it."""
import json
import random
from pathlib import Path

from scipy.optimize import brentq
from scipy.stats import binom, kendalltau, rankdata, spearmanr
from statsmodels.stats.multitest import multipletests

draw = random.Random(5)
correlations = []
for n in [2, 3, 5, 8, 24, 61]:
    for digits in [1, 2, 6]:  # few digits make ties
        a = [round(draw.random(), digits) for _ in range(n)]
        b = [round(0.5 * x + 0.5 * draw.random(), digits) for x in a]
        tau, rho = kendalltau(a, b, variant="b").statistic, spearmanr(a, b).statistic
        if tau == tau and rho == rho:
            correlations.append([a, b, float(tau), float(rho), rankdata(a).tolist()])
holm = []
for n in [1, 2, 3, 6, 20]:
    p = [draw.random() ** 4 for _ in range(n)]
    holm.append([p, multipletests(p, method="holm")[1].tolist()])
p = [0.01, 0.01, 0.04, 0.04, 1.0]
holm.append([p, multipletests(p, method="holm")[1].tolist()])


def power(n, discordant, difference):
    """Of the exact test: by all numbers of discordant items, and all ways in which they may fall."""
    share = (discordant + difference) / (2 * discordant)
    total = 0.0
    for m in range(n + 1):
        weight = binom.pmf(m, n, discordant)
        if weight < 1e-12:
            continue
        # Largest k for which the two-sided exact test of k against m - k rejects.
        k = int(binom.ppf(0.025, m, 0.5))
        while k >= 0 and 2 * binom.cdf(k, m, 0.5) > 0.05:
            k -= 1
        if k >= 0:
            total += weight * (binom.cdf(k, m, share) + binom.sf(m - k - 1, m, share))
    return total


smallest = []
for n, discordant in [(200, 0.3), (400, 0.2), (1000, 0.3), (1319, 0.1), (3000, 0.25)]:
    # Where the exact test sees the difference in 80 of 100 experiments.
    smallest.append([n, discordant, brentq(lambda d: power(n, discordant, d) - 0.8, 0.005, discordant, xtol=1e-4)])
Path(__file__).parent.parent.joinpath("comparison.json").write_text(
    json.dumps({"correlations": correlations, "holm": holm, "smallest": smallest}) + "\n"
)

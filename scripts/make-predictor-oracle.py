"""Splits, ridge regression, matrix factors, neighbours and noise, computed with scikit-learn and numpy.

    pip install numpy scikit-learn pandas
    python scripts/make-predictor-oracle.py > test/fixtures/predict/oracle.json

The records are made up here: 24 models of 4 families on 15 subtasks of 5 tasks, with 0 and 2 examples, a tenth of them missing.
"""
import json

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.model_selection import KFold, train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler

random = np.random.RandomState(7)
rows = []
families = ["Alder", "Birch", "Cedar", "Dogwood"]
skill = random.normal(size=(24, 2))
need = random.normal(size=(15, 2))
for m in range(24):
    family, size = families[m % 4], 6 + m // 4
    for s in range(15):
        for shots in (0, 2):
            if random.rand() < 0.1:
                continue
            level = 0.4 * (size - 8) + 0.2 * shots + 0.6 * skill[m] @ need[s] + 0.1 * random.normal()
            rows.append(
                dict(
                    family=family,
                    model=f"{family}-{size}",
                    params=10.0**size,
                    task=f"task {s % 5}",
                    subtask=f"subtask {s}",
                    shots=shots,
                    score=round(1 / (1 + np.exp(-level)), 6),
                    n=100 + 10 * s,
                )
            )
df = pd.DataFrame(rows)

SPLITS = {
    "L1": ["subtask", "family", "params", "model", "shots"],
    "L2.1": ["subtask", "family", "params", "model"],
    "L2.2": ["subtask", "family", "shots"],
    "L3": ["subtask", "family"],
    "L4": ["task", "family"],
}


def folds(keys, seed):
    """Positions of test and development records, as the study cuts them."""
    groups = list(df.groupby(keys).groups.keys())
    of_group = df.groupby(keys).ngroup().to_numpy()
    out = []
    for train, test in KFold(n_splits=10, shuffle=True, random_state=seed).split(groups):
        _, dev = train_test_split(train, test_size=0.1 / 0.9, random_state=seed)
        out.append(
            dict(
                test=np.flatnonzero(np.isin(of_group, test)).tolist(),
                development=np.flatnonzero(np.isin(of_group, dev)).tolist(),
            )
        )
    return out


y = df.score.to_numpy()
train = np.arange(len(df)) % 5 != 0
test = ~train

# The additive baseline: one-hot of each level, general and particular.
df["c1"] = df.family + df.model
df["c2"] = df.task + df.subtask
df["c3"] = df.task + df.subtask + df.shots.astype(str)
additive = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(df[train][["family", "c1", "task", "c2", "c3"]])
X = additive.transform(df[["family", "c1", "task", "c2", "c3"]])
fit = Ridge(alpha=0.5).fit(X[train], y[train])
additive_predicted = fit.predict(X[test])

# Ridge regression over the study's features.
df["log_params"] = np.log(df.params)
hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(df[train][["task", "subtask", "family", "model"]])
scale = StandardScaler().fit(df[train][["params", "log_params", "shots"]])
X = np.hstack([hot.transform(df[["task", "subtask", "family", "model"]]), scale.transform(df[["params", "log_params", "shots"]])])
ridge_predicted = {str(alpha): Ridge(alpha=alpha).fit(X[train], y[train]).predict(X[test]).tolist() for alpha in (0.1, 10.0)}

# Matrix factors with all cells known: the SVD with singular values lowered by the penalty.
matrix = random.normal(size=(12, 9)) @ np.diag(np.linspace(3, 0.5, 9)) / 3
U, S, V = np.linalg.svd(matrix, full_matrices=False)
rank, penalty = 3, 0.4
lowered = (U[:, :rank] * np.maximum(S[:rank] - penalty, 0)) @ V[:rank]

# Neighbours among rows of residuals about 0, some missing.
residuals = random.normal(size=(10, 8)) @ random.normal(size=(8, 8)) * 0.1
known = random.rand(10, 8) < 0.8
K, SHRINK = 3, 10


def neighbour(row, column):
    similar = []
    for other in range(10):
        if other == row or not known[other, column]:
            continue
        both = known[row] & known[other]
        a, b = residuals[row, both], residuals[other, both]
        if not both.any():
            continue
        similarity = a @ b / np.sqrt((a @ a) * (b @ b)) * both.sum() / (both.sum() + SHRINK)
        if similarity > 0:
            similar.append((similarity, residuals[other, column]))
    similar.sort(reverse=True)
    similar = similar[:K]
    return sum(s * r for s, r in similar) / sum(s for s, _ in similar) if similar else 0.0


# Noise: many measurements of known shares.
truth = random.uniform(0.05, 0.95, size=400)
items = random.randint(50, 300, size=400)
draws = random.binomial(items, truth, size=(2000, 400)) / items
r2 = [r2_score(measured, truth) for measured in draws]

print(
    json.dumps(
        dict(
            records=df[["family", "model", "params", "task", "subtask", "shots", "score", "n"]].to_dict("records"),
            splits={name: folds(keys, 42) for name, keys in SPLITS.items()},
            otherSeed=folds(SPLITS["L3"], 3),
            train=np.flatnonzero(train).tolist(),
            test=np.flatnonzero(test).tolist(),
            additive=additive_predicted.tolist(),
            ridge=ridge_predicted,
            fit=dict(
                r2=r2_score(y[test], additive_predicted), rmse=root_mean_squared_error(y[test], additive_predicted)
            ),
            factors=dict(matrix=matrix.tolist(), rank=rank, penalty=penalty, product=lowered.tolist()),
            neighbours=dict(
                residuals=residuals.tolist(),
                known=known.tolist(),
                k=K,
                shrinkage=SHRINK,
                predicted=[[neighbour(r, c) for c in range(8)] for r in range(10)],
            ),
            noise=dict(
                truth=truth.tolist(),
                items=items.tolist(),
                measured=draws[0].tolist(),
                r2=float(np.mean(r2)),
                sd=float(np.std(r2)),
            ),
        )
    )
)

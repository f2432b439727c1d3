"""Trees, forests and boosted trees of scikit-learn on a fixed set. `pip install scikit-learn`, then run it; writes trees.json."""
import json
from pathlib import Path

import numpy as np
import sklearn
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

draw = np.random.default_rng(11)


def data(rows):
    """Two informative numbers, two of noise, and a name with 5 values."""
    numbers = draw.normal(size=(rows, 4)).round(3)
    name = draw.integers(0, 5, rows)
    target = np.sin(2 * numbers[:, 0]) + 0.5 * numbers[:, 1] ** 2 + 0.4 * (name == 3) - 0.7 * (name == 1)
    return numbers, name, (target + 0.2 * draw.normal(size=rows)).round(4)


one_hot = lambda numbers, name: np.c_[numbers, np.eye(5)[name]]
numbers, name, target = data(60)
# leaves of few rows could be made by several columns alike
tree = DecisionTreeRegressor(random_state=0, min_samples_leaf=5).fit(numbers, target)
limited = DecisionTreeRegressor(random_state=0, max_depth=3, min_samples_leaf=4).fit(one_hot(numbers, name), target)
small = {"numbers": numbers.T.tolist(), "name": name.tolist(), "target": target.tolist()}
asked_numbers, asked_name, asked_target = data(40)
trees = []
for settings, one, columns in [
    ({"names": False, "depth": 1000, "leastLeaf": 5}, tree, asked_numbers),
    ({"names": True, "depth": 3, "leastLeaf": 4}, limited, one_hot(asked_numbers, asked_name)),
]:
    trees.append(
        settings
        | {
            "leaves": int(one.get_n_leaves()),
            "thresholds": sorted(float(t) for t, f in zip(one.tree_.threshold, one.tree_.feature) if 0 <= f < 4),
            "predictions": one.predict(columns).tolist(),
        }
    )

train, test = data(800), data(800)
r2 = {}
for title, make in {
    "forest": lambda seed: RandomForestRegressor(100, max_features=1.0, random_state=seed),
    "extra": lambda seed: ExtraTreesRegressor(100, max_features=1.0, random_state=seed),
    "boosted": lambda seed: GradientBoostingRegressor(
        n_estimators=200, learning_rate=0.1, max_depth=4, min_samples_leaf=4, max_features=0.6, random_state=seed
    ),
}.items():
    r2[title] = [
        float(make(seed).fit(one_hot(*train[:2]), train[2]).score(one_hot(*test[:2]), test[2])) for seed in range(8)
    ]
pack = lambda part: {"numbers": part[0].T.tolist(), "name": part[1].tolist(), "target": part[2].tolist()}
Path(__file__).parent.parent.joinpath("learn", "trees.json").write_text(
    json.dumps(
        {
            "made_with": f"scikit-learn {sklearn.__version__}",
            "small": small,
            "asked": {"numbers": asked_numbers.T.tolist(), "name": asked_name.tolist()},
            "trees": trees,
            "train": pack(train),
            "test": pack(test),
            "r2": r2,
        }
    )
    + "\n"
)

"""Windows over long texts as lm-evaluation-harness makes them: `pip install lm-eval==0.4.13`, then run it."""
import json
from pathlib import Path

from lm_eval.utils import get_rolling_token_windows, make_disjoint_window

cases = []
for count in [0, 1, 2, 5, 6, 7, 11, 12, 13, 25]:
    for most in [1, 2, 5, 6, 12, 30]:
        tokens = list(range(100, 100 + count))
        windows = [make_disjoint_window(pair) for pair in get_rolling_token_windows(tokens, 1, most, 1)]
        cases.append({"count": count, "most": most, "windows": [[list(a), list(b)] for a, b in windows]})
(Path(__file__).parent.parent / "windows.json").write_text(json.dumps(cases) + "\n")

"""
BLEU and sequence_f1 as bigbench.api.task_metrics of BIG-bench 1.0.0 computes them with T5's metrics (sacrebleu, tokeniser
`intl`, exponential smoothing; labels compared place by place): `pip install sacrebleu numpy regex`, then run it.
"""
import json
import random
from pathlib import Path

import numpy as np
import sacrebleu

random.seed(17)
words = "the a cat dog sat on mat, ran quickly. over it's 3.14 well-known Zürich 東京。 U.S. «but» and then €5 a+b ¿qué? x=1 1,000 O B-PER I-PER".split()


def text(least=0, most=14):
    return " ".join(random.choice(words) for _ in range(random.randint(least, most)))


def bleu(targets, responses):
    most = max(len(target) for target in targets)
    # The harness fills up with the first reference, so that all have as many.
    columns = [[target[i] if i < len(target) else target[0] for target in targets] for i in range(most)]
    return sacrebleu.corpus_bleu(responses, columns, smooth_method="exp", smooth_value=0.0, force=False, lowercase=False, tokenize="intl", use_effective_order=False).score


def sequence_f1(targets, responses):
    shares = []
    for target, response in zip(targets, responses):
        found, labels = response.split(" "), target[0].split(" ")
        found = (found + ["O"] * len(labels))[: len(labels)]
        shares.append(100 * np.mean([a == b for a, b in zip(labels, found)]))
    return float(np.mean(shares))


corpora = []
for n in [1, 2, 5, 12, 30, 30]:
    targets = [[text(1) for _ in range(random.randint(1, 3))] for _ in range(n)]
    # Part of the outputs share much with a target.
    responses = [random.choice(target) if random.random() < 0.4 else " ".join(random.choice(target).split()[: random.randint(0, 9)] + [text(0, 3)]).strip() for target in targets]
    corpora.append((targets, responses))
corpora.append(([["one two three four five"]], [""]))
rows = [{"targets": t, "responses": r, "bleu": bleu(t, r), "sequence_f1": sequence_f1(t, r)} for t, r in corpora]
Path(__file__).parent.parent.joinpath("big-bench-texts.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")

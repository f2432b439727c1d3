"""Figures of sacrebleu, scikit-learn and lm-evaluation-harness for the metrics tests: `pip install lm-eval==0.4.13`, then run it."""
import json
import os
import random
from pathlib import Path

import lm_eval.api.metrics as lm
import numpy as np
import sacrebleu
import sklearn
from lm_eval.api.metrics import bootstrap_stderr
from sacrebleu.metrics.lib_ter import translation_edit_rate
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sklearn.metrics import f1_score, matthews_corrcoef

random.seed(7)
words = "the a cat dog sat on mat , . ran quickly over it's 3.14 1,000 well-known (yes) x-ray 50% Zürich 東京 naïve &amp; \"quoted\" U.S. no-one 7-8".split()


def sentence(most=24):
    return " ".join(random.choice(words) for _ in range(random.randint(1, most)))


def noisy(text):
    """The text with words dropped, replaced, and runs of them moved."""
    tokens = text.split()
    for _ in range(random.randint(0, 4)):
        kind = random.random()
        at = random.randrange(len(tokens)) if tokens else 0
        if kind < 0.25 and tokens:
            tokens.pop(at)
        elif kind < 0.5:
            tokens.insert(at, random.choice(words))
        elif kind < 0.6 and tokens:
            tokens[at] = random.choice(words).upper()
        else:
            run = tokens[at : at + random.randint(1, 5)]
            del tokens[at : at + len(run)]
            place = random.randint(0, len(tokens))
            tokens[place:place] = run
    return " ".join(tokens)


def figures(outputs, references):
    streams = list(zip(*references))
    return {
        "outputs": outputs,
        "references": references,
        "bleu": sacrebleu.corpus_bleu(outputs, streams).score,
        "chrf": sacrebleu.corpus_chrf(outputs, streams).score,
        "chrf++": sacrebleu.corpus_chrf(outputs, streams, word_order=2).score,
        "ter": sacrebleu.corpus_ter(outputs, streams).score,
    }


corpora = []
for size, count in [(1, 1), (8, 1), (20, 1), (12, 3), (30, 2)]:
    golds = [sentence() for _ in range(size)]
    corpora.append(figures([noisy(gold) for gold in golds], [[gold] + [noisy(gold) for _ in range(count - 1)] for gold in golds]))
# Ends of the range: nothing right, everything right, empty outputs, too short for an order, blanks and line breaks.
corpora.append(figures(["zzz qqq"], [["the cat sat on the mat"]]))
corpora.append(figures(["the cat sat on the mat"], [["the cat sat on the mat"]]))
corpora.append(figures(["", "a"], [["the cat"], ["a"]]))
corpora.append(figures(["The cat\nsat-\ndown", "  x\u00a0y  "], [["the cat sat down"], ["x y"]]))
corpora.append(figures(["😀 smile", "日本語 テキスト"], [["smile 😀"], ["テキスト 日本語"]]))
corpora.append(figures(["a b c d e f g h " * 12], [["h g f e d c b a " * 3]]))
corpora.append(figures(["one"], [["w " * 80]]))

edits = []
for _ in range(150):
    gold = [random.choice("abcdef") for _ in range(random.randint(0, 18))]
    output = noisy(" ".join(gold)).split() if gold else ["a"]
    edits.append([output, gold, int(translation_edit_rate(output, gold)[0])])

tokenise = Tokenizer13a()
lines = [sentence() for _ in range(20)] + ["a.b", "3.5.", "x,y 1,2", "don't-stop", "5-6", "<skipped>&lt;b&gt;", "end.-\nnext", "(a[b]{c})", "…—“q”", "A.B.C."]
tokens = [[line, tokenise(line.rstrip()).split()] for line in lines]

binary = []
for n in [5, 40, 300]:
    gold = [random.randint(0, 1) for _ in range(n)]
    found = [value if random.random() < 0.7 else 1 - value for value in gold]
    binary.append({"gold": gold, "found": found, "f1": float(f1_score(gold, found)), "mcc": float(matthews_corrcoef(gold, found))})
many = [random.randint(0, 3) for _ in range(60)]
guessed = [value if random.random() < 0.6 else random.randint(0, 3) for value in many]
multi = {"gold": many, "found": guessed, "mcc": float(matthews_corrcoef(many, guessed))}
constant = {"gold": [0, 1, 1], "found": [1, 1, 1], "mcc": float(matthews_corrcoef([0, 1, 1], [1, 1, 1]))}

rng = np.random.default_rng(3)
probabilities = rng.dirichlet(np.ones(4), size=25)
golds = rng.integers(0, 4, size=25)
brier = float(np.mean(np.sum((probabilities - np.eye(4)[golds]) ** 2, axis=1)))

# lm-evaluation-harness: bootstrapped standard errors, and groups.
os.environ["DISABLE_MULTIPROC"] = "1"
pairs = list(zip(binary[1]["gold"], binary[1]["found"]))
likelihoods = [-random.random() * 3 for _ in range(30)]
small = corpora[2]
errors = {
    "mcc": bootstrap_stderr(lm.matthews_corrcoef, pairs, 100),
    "f1": bootstrap_stderr(lm.f1_score, pairs, 100),
    "likelihoods": likelihoods,
    "perplexity": lm.perplexity(likelihoods),
    "perplexity_stderr": bootstrap_stderr(lm.perplexity, likelihoods, 2000),
    "mean_stderr": lm.mean_stderr(likelihoods),
    "bleu": bootstrap_stderr(lm.bleu, [(refs, out) for refs, out in zip(small["references"], small["outputs"])], 20),
    "weights": (weights := [random.randint(1, 40) for _ in likelihoods]),
    "weighted_perplexity": lm.weighted_perplexity(list(zip(likelihoods, weights))),
    "bits_per_byte": lm.bits_per_byte(list(zip(likelihoods, weights))),
    "median": [lm.median([3, 1, 2, 5]), lm.median([4, 1, 9])],
    "groups": [
        {"scores": s, "errors": e, "sizes": n, "weighted": float(lm.aggregate_subtask_metrics(s, n, True)), "unweighted": float(lm.aggregate_subtask_metrics(s, n, False)), "pooled": float(lm.pooled_sample_stderr(e, n)), "unweighted_error": float(lm.unweighted_mean_stderr(e))}
        for s, e, n in [([0.2, 0.6], [0.01, 0.03], [100, 20]), ([0.5, 0.25, 0.9], [0.1, 0.05, 0.02], [11, 5, 400])]
    ],
}
path = Path(__file__).parent.parent / "translation.json"
path.write_text(
    json.dumps(
        {
            "versions": {"lm_eval": "0.4.13", "sacrebleu": sacrebleu.__version__, "scikit-learn": sklearn.__version__},
            "corpora": corpora,
            "edits": edits,
            "tokens": tokens,
            "binary": binary,
            "multi": [multi, constant],
            "errors": errors,
            "brier": {"probabilities": probabilities.tolist(), "gold": golds.tolist(), "score": brier},
        },
        ensure_ascii=False,
    )
    + "\n"
)

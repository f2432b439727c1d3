"""Figures of rouge_score for the metrics tests: `pip install rouge-score`, then run it."""
import json
import random
from pathlib import Path

from rouge_score import rouge_scorer

random.seed(11)
words = "the a cat dog sat on mat ran quickly over it's 3.14 well-known Zürich 東京 U.S. İstanbul and but Then".split()
kinds = ["rouge1", "rouge2", "rougeLsum"]
scorer = rouge_scorer.RougeScorer(kinds)


def text(most=25):
    parts = []
    for _ in range(random.randint(0, most)):
        parts.append(random.choice(words))
        if random.random() < 0.15:
            parts.append(random.choice([".", "\n", "\n\n", "!", ". \n"]))
    return " ".join(parts)


def prepared(line):
    """As t5.evaluation.metrics.rouge of T5 0.9 prepares a text, so that lines are sentences."""
    return line.replace(" . ", " .\n")


pairs = [(text(), [text() for _ in range(random.randint(1, 3))]) for _ in range(150)]
pairs += [("", [""]), ("a", [""]), ("", ["a"]), ("...", ["a b"]), ("same words here", ["same words here"]), ("a\nb\nc", ["c\nb\na"]), ("a . b . c", ["a b c"]), ("a a a a", ["a a"]), ("b a", ["a b", "b a c"])]
rows = []
for output, references in pairs:
    scores = [scorer.score(prepared(reference), prepared(output)) for reference in references]
    rows.append({"output": output, "references": references, **{kind: max(100 * score[kind].fmeasure for score in scores) for kind in kinds}})
path = Path(__file__).parent.parent / "rouge.json"
path.write_text(json.dumps(rows, indent=1) + "\n")

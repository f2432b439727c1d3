"""References for soft prompts behind the text: rows [text, P, answer], computed by PyTorch in float64.

    python test/engine/make/suffix_reference.py > test/engine/suffix-reference.json

Versions as in test/fixtures/models/README.md. The models, the batch of three rows and P5 are those of the fixtures
(test/fixtures/models/make); that they are the same is checked by the loss with P in front, which the fixtures' own
reference.json holds. One entry per architecture, which serves for every export of it with float32 weights.
"""
import json, sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "fixtures" / "models"
sys.path.insert(0, str(ROOT / "make"))
import archs, fixlib as F  # noqa: E402
import numpy as np, torch  # noqa: E402

VECTORS = 5
STEPS = 4
# architecture -> (spread of the embedding that its fixtures were made with, a folder of theirs)
MODELS = {
    "llama": (0.3, "llama-optimum"),
    "gpt2": (0.15, "gpt2-optimum"),
    "gptneox": (0.3, "gptneox-optimum"),
    "qwen2": (0.15, "qwen2-optimum-external"),
    "gemma": (0.06, "gemma-optimum"),
}


def row_logits(model, tokens, at, P):
    """Logits [length, vocabulary] of one row without padding, P standing before tokens[at]."""
    weight, scale = F.raw_embed(model)
    x = weight[torch.as_tensor(tokens)]
    x = torch.cat([x[:at], P, x[at:]])[None] * scale
    mask = torch.ones(x.shape[:2], dtype=torch.int64)
    return model(inputs_embeds=x, attention_mask=mask, use_cache=False).logits[0]


def log_probabilities(model, P):
    """Per row, the log-probability of each answer token behind [text, P]."""
    prompts, answers, _, _ = F.make_batch()
    rows = []
    for prompt, answer in zip(prompts, answers):
        logits = row_logits(model, prompt + answer[:-1], len(prompt), P)
        start = len(prompt) + len(P) - 1
        rows.append(torch.log_softmax(logits[start:], -1)[torch.arange(len(answer)), torch.as_tensor(answer)])
    return rows


def loss_and_gradient(model, P):
    P = P.clone().requires_grad_(True)
    loss = -torch.cat(log_probabilities(model, P)).mean()
    return loss.item(), torch.autograd.grad(loss, P)[0]


def greedy(model, P, new=24):
    prompts, _, _, _ = F.make_batch()
    ids, margins = [], []
    for prompt in prompts:
        seq, margin = list(prompt), []
        for _ in range(new):
            with torch.no_grad():
                top = torch.topk(row_logits(model, seq, len(prompt), P)[-1], 2)
            margin.append(float(top.values[0] - top.values[1]))
            seq.append(int(top.indices[0]))
        ids.append(seq[len(prompt):])
        margins.append(margin)
    return ids, margins


def rounded(values):
    return [float(f"{v:.10g}") for v in np.asarray(values, np.float64).ravel()]


def main():
    result = {}
    for arch, (spread, folder) in MODELS.items():
        model = F.build_model(archs.config({"gptneox": "gpt_neox"}.get(arch, arch)), seed=1, emb_std=spread)
        with F.real_float64():
            model = model.double()
            P5, _, _ = F.first_prompts(model)
            known = json.loads((ROOT / folder / "reference.json").read_text())["scalars"]["adam_losses_n5"][0]
            in_front = float(F.run_batch(model, P5, VECTORS)["loss"])
            assert abs(in_front - known) < 1e-9, (arch, in_front, known)
            loss, gradient = loss_and_gradient(model, P5)
            with torch.no_grad():
                sums = [float(row.sum()) for row in log_probabilities(model, P5)]
            P, losses = P5.clone().requires_grad_(True), []
            optimiser = torch.optim.Adam([P], lr=0.05, betas=(0.9, 0.999), eps=1e-8)
            for _ in range(STEPS):
                each, P.grad = loss_and_gradient(model, P.detach())
                losses.append(each)
                optimiser.step()
            ids, margins = greedy(model, P5)
        result[arch] = dict(loss=loss, gradient=rounded(gradient), log_likelihoods=sums, adam_losses=losses,
                            generated=ids, margins=[rounded(m) for m in margins])
        print(arch, loss, file=sys.stderr)
    print(json.dumps(result))


main()

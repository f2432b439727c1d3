"""Reference figures for test/evaluate/optimiser.test.ts. Needs torch.  usage: python optimiser.py > ../optimiser.json

Adam with gradients of length 1 and cosine decay as PyTorch computes them in float64, and xoshiro128** written from its
authors' public-domain description (splitmix32 as the seeding).
"""
import json, math
import torch

M = 0xFFFFFFFF


def splitmix_state(seed):
    x, out = seed & M, []
    for _ in range(4):
        x = (x + 0x9E3779B9) & M
        z = x
        z = ((z ^ (z >> 16)) * 0x85EBCA6B) & M
        z = ((z ^ (z >> 13)) * 0xC2B2AE35) & M
        out.append(z ^ (z >> 16))
    return out


def xoshiro(seed, n):
    rotl = lambda v, k: ((v << k) | (v >> (32 - k))) & M
    s, out = splitmix_state(seed), []
    for _ in range(n):
        out.append((rotl((s[1] * 5) & M, 7) * 9) & M)
        t = (s[1] << 9) & M
        s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3]; s[2] ^= t
        s[3] = rotl(s[3], 11)
    return out


def adam():
    torch.set_default_dtype(torch.float64)
    p = torch.nn.Parameter(torch.tensor([0.5, -1.0, 2.0, 0.0]))
    gradients = [[3.0, -4.0, 0.5, 0.0], [0.1, 0.2, -0.3, 0.05], [-2.0, 1.0, 0.0, 0.7], [0.01, 0.0, 0.02, -0.03]]
    steps, peak = len(gradients), 0.3
    optimiser = torch.optim.Adam([p], lr=peak, betas=(0.8, 0.95), eps=1e-8)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda done: 0.5 * (1 + math.cos(math.pi * done / steps)))
    rows = []
    for g in gradients:
        p.grad = torch.tensor(g)
        norm = p.grad.norm()
        p.grad /= norm
        rate = schedule.get_last_lr()[0]
        optimiser.step(); schedule.step()
        rows.append({"gradient": g, "norm": norm.item(), "rate": rate, "parameter": p.detach().tolist()})
    return {"start": [0.5, -1.0, 2.0, 0.0], "peak": peak, "steps": rows}


print(json.dumps({"torch": torch.__version__, "adam": adam(), "xoshiro": {str(s): xoshiro(s, 6) for s in (0, 1, 1234, 4294967295)}}, indent=1))

"""The study's MLP in PyTorch, as a program to be measured beside Softbench's.

usage: mlp_child.py THREADS      (needs torch)

{"do": "train", "records": 50000, "names": [[...], ...], "numbers": 8, "epochs": 30} -> {"seconds": ..., "cpuSeconds": ...}

`names`: how many values each name feature has. Inputs are one dense float32 matrix that is made before the clock starts, in
its favour: batches are slices of it in a shuffled order.
"""

import json
import sys
import time

import torch

torch.set_num_threads(int(sys.argv[1]) or torch.get_num_threads())


def train(records, names, numbers, epochs):
    torch.manual_seed(0)
    values = [torch.randint(0, n, (records,)) for n in names]
    one_hot = [torch.nn.functional.one_hot(of, n).float() for of, n in zip(values, names)]
    inputs = torch.cat([torch.randn(records, numbers)] + one_hot, 1)
    targets = 0.5 + 0.4 * torch.sin(values[3] / 10 + values[1]) + 0.05 * (torch.rand(records) - 0.5)
    widths = [inputs.shape[1], 128, 64, 32, 16]
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(a, b), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(16, 1))
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-5)
    begun, cpu = time.perf_counter(), time.process_time()
    for _ in range(epochs):
        for rows in torch.randperm(records).split(128):
            optimiser.zero_grad()
            torch.nn.functional.mse_loss(model(inputs[rows])[:, 0], targets[rows]).backward()
            optimiser.step()
    return {"seconds": time.perf_counter() - begun, "cpuSeconds": time.process_time() - cpu}


print(json.dumps({}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(train(request["records"], request["names"], request["numbers"], request["epochs"])), flush=True)

"""An MLP over one-hot names and numbers in PyTorch: initial weights, losses of steps with Adam, weights afterwards, predictions.
`pip install torch`, then run it; writes network.json beside the tests."""
import json
from pathlib import Path

import torch

torch.manual_seed(3)
torch.set_num_threads(1)
cardinalities, numbers, hidden, rows, batch, steps = [3, 7, 4], 5, [16, 8], 48, 20, 5
names = torch.stack([torch.randint(-1, c, (rows,)) for c in cardinalities], 1)  # -1: a name that is not known
columns = sum(cardinalities)
starts = [sum(cardinalities[:i]) for i in range(len(cardinalities))]
values = torch.randn(rows, numbers)
dense = torch.zeros(rows, columns)
for row in range(rows):
    for feature, start in enumerate(starts):
        if names[row, feature] >= 0:
            dense[row, start + names[row, feature]] = 1
inputs = torch.cat([values, dense], 1)
targets = torch.rand(rows)

layers = []
width = numbers + columns
for outputs in hidden:
    layers += [torch.nn.Linear(width, outputs), torch.nn.ReLU()]
    width = outputs
model = torch.nn.Sequential(*layers, torch.nn.Linear(width, 1))
linear = [layer for layer in model if isinstance(layer, torch.nn.Linear)]
tables = lambda: [{"weights": layer.weight.detach().T.tolist(), "bias": layer.bias.detach().tolist()} for layer in linear]
initial = tables()
optimiser = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-2)
losses, gradients = [], None
for step in range(steps):
    order = [(step * 13 + i * 7) % rows for i in range(batch - step)]  # batches that are no multiple of 4 too
    optimiser.zero_grad()
    loss = torch.nn.functional.mse_loss(model(inputs[order])[:, 0], targets[order])
    loss.backward()
    if gradients is None:
        gradients = [{"weights": layer.weight.grad.T.tolist(), "bias": layer.bias.grad.tolist()} for layer in linear]
    optimiser.step()
    losses.append({"order": order, "loss": loss.item()})
Path(__file__).parent.parent.joinpath("learn", "network.json").write_text(
    json.dumps(
        {
            "made_with": f"torch {torch.__version__}",
            "columns": columns,
            "hidden": hidden,
            "names": [[int(n) + starts[f] if n >= 0 else -1 for f, n in enumerate(row)] for row in names],
            "numbers": values.tolist(),
            "targets": targets.tolist(),
            "initial": initial,
            "gradients": gradients,
            "losses": losses,
            "final": tables(),
            "predictions": model(inputs)[:, 0].tolist(),
        }
    )
    + "\n"
)

"""Writes mlp_step.h: losses and gradients of a small MLP trained by PyTorch in float64.

    python3 tests/golden/mlp_step.py > tests/golden/mlp_step.h

Network 12-16-8-5 with ReLU, batch 6, cross-entropy with label smoothing 0.1, plain SGD at rate 0.5. Inputs, labels and
weights come from formulas that the test repeats.
"""

import math
import sys

import torch

SIZES = [12, 16, 8, 5]
BATCH = 6
STEPS = 8
RATE = 0.5


def weight(layer, out, features):
    values = [[0.5 * math.sin(1.3 * (layer + 1) + 0.37 * k + 0.11 * c * (k + 1)) for c in range(features)]
              for k in range(out)]
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def bias(layer, out):
    return torch.tensor([0.1 * math.cos(0.9 * (layer + 1) + 0.7 * k) for k in range(out)], dtype=torch.float64,
                        requires_grad=True)


def flat(tensor):
    return ", ".join(f"{v:.17g}" for v in tensor.flatten().tolist())


def main():
    x = torch.tensor([[math.sin(0.7 * (12 * i + c)) for c in range(SIZES[0])] for i in range(BATCH)],
                     dtype=torch.float64)
    labels = torch.tensor([i % SIZES[-1] for i in range(BATCH)])
    layers = range(len(SIZES) - 1)
    weights = [weight(i, SIZES[i + 1], SIZES[i]) for i in layers]
    biases = [bias(i, SIZES[i + 1]) for i in layers]
    optimizer = torch.optim.SGD([*weights, *biases], lr=RATE)
    losses = []
    first = []
    for step in range(STEPS):
        y = x
        for i in layers:
            y = torch.nn.functional.linear(y, weights[i], biases[i])
            if i < len(SIZES) - 2:
                y = torch.relu(y)
        loss = torch.nn.functional.cross_entropy(y, labels, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            first = [(w.grad.clone(), b.grad.clone()) for w, b in zip(weights, biases)]
        losses.append(loss.item())
        optimizer.step()

    out = sys.stdout
    out.write(f"// Made by tests/golden/mlp_step.py with PyTorch {torch.__version__}; do not edit.\n#pragma once\n\n")
    out.write("#include <array>\n#include <vector>\n\nnamespace tr::golden {\n\n")
    out.write(f"inline constexpr std::array<double, {STEPS}> mlp_losses{{{', '.join(f'{v:.17g}' for v in losses)}}};\n\n")
    for i, (w, b) in enumerate(first):
        out.write(f"inline const std::vector<double> mlp_weight_gradient_{i}{{{flat(w)}}};\n\n")
        out.write(f"inline const std::vector<double> mlp_bias_gradient_{i}{{{flat(b)}}};\n\n")
    out.write("}  // namespace tr::golden\n")


main()

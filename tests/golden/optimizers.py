"""Writes optimizers.h: what PyTorch's optimizers make of seven weights in twenty steps.

    python3 tests/golden/optimizers.py > tests/golden/optimizers.h

The inputs are exact binary32 numbers; everything is computed in binary64.
"""

import numpy
import torch

STEPS = 20
VALUES = 7


def inputs():
    generator = numpy.random.Generator(numpy.random.PCG64(7))
    weights = generator.normal(0.0, 0.5, VALUES)
    gradients = generator.normal(0.0, 0.3, (STEPS, VALUES))
    gradients[:, 3] = 0.0  # Only decay moves this weight.
    gradients[:, 4] *= 1e-8  # Comparable to epsilon, so that its place in the formula shows.
    gradients[:, 5] *= 1e3
    gradients[5:9, 6] = 0.0  # A pause: only momentum and decay act.
    rates = 0.01 * (1.0 + numpy.cos(numpy.pi * numpy.arange(STEPS) / STEPS)) / 2.0
    rates[4] = 0.0  # A step that must still advance the moments.
    return [a.astype(numpy.float32).astype(numpy.float64) for a in (weights, gradients, rates)]


WEIGHTS, GRADIENTS, RATES = inputs()


def run(make, decoupled_decay=0.0):
    weights = torch.nn.Parameter(torch.tensor(WEIGHTS, dtype=torch.float64))
    optimizer = make([weights])
    after_first = None
    for gradient, rate in zip(GRADIENTS, RATES):
        if decoupled_decay:  # PyTorch's SGD has no such switch; this is the rule of its AdamW.
            with torch.no_grad():
                weights.mul_(1.0 - rate * decoupled_decay)
        optimizer.param_groups[0]["lr"] = rate
        weights.grad = torch.tensor(gradient, dtype=torch.float64)
        optimizer.step()
        if after_first is None:
            after_first = weights.detach().numpy().copy()
    return after_first, weights.detach().numpy()


SGD = [
    # name, momentum, dampening, weight_decay, nesterov, decoupled
    ("plain", 0.0, 0.0, 0.0, False, False),
    ("plain with decay", 0.0, 0.0, 0.05, False, False),
    ("plain with decoupled decay", 0.0, 0.0, 0.05, False, True),
    ("momentum", 0.9, 0.0, 0.0, False, False),
    ("momentum with decay", 0.9, 0.0, 0.05, False, False),
    ("momentum with decoupled decay", 0.9, 0.0, 0.05, False, True),
    ("momentum with dampening", 0.9, 0.5, 0.0, False, False),
    ("momentum with dampening and decay", 0.9, 0.5, 0.05, False, False),
    ("nesterov", 0.9, 0.0, 0.0, True, False),
    ("nesterov with decay", 0.9, 0.0, 0.05, True, False),
    ("nesterov with decoupled decay", 0.9, 0.0, 0.05, True, True),
]

ADAMW = [
    # name, beta1, beta2, epsilon, weight_decay
    ("without decay", 0.9, 0.999, 1e-8, 0.0),
    ("with decay", 0.9, 0.999, 1e-8, 0.01),
    ("other betas and epsilon", 0.8, 0.95, 1e-3, 0.1),
]


def sgd(momentum, dampening, weight_decay, nesterov, decoupled):
    def make(parameters):
        return torch.optim.SGD(parameters, lr=0.0, momentum=momentum, dampening=dampening, nesterov=nesterov,
                               weight_decay=0.0 if decoupled else weight_decay)
    return run(make, weight_decay if decoupled else 0.0)


def adamw(beta1, beta2, epsilon, weight_decay):
    def make(parameters):
        return torch.optim.AdamW(parameters, lr=0.0, betas=(beta1, beta2), eps=epsilon, weight_decay=weight_decay)
    return run(make)


def floats(values):
    """The shortest decimals that give the binary32 numbers back."""
    return "{" + ", ".join(f"{numpy.format_float_scientific(numpy.float32(v))}F" for v in values) + "}"


def doubles(values):
    return "{" + ", ".join(repr(float(v)) for v in values) + "}"


def flag(value):
    return "true" if value else "false"


HEADER = f"""// Made by tests/golden/optimizers.py with PyTorch {torch.__version__.split("+")[0]}; do not edit.
// clang-format off
#pragma once

namespace tr::golden {{

inline constexpr int optimizer_values = {VALUES};
inline constexpr int optimizer_steps = {STEPS};

/// Binary64 results of PyTorch from the same exact binary32 inputs: `optimizer_weights` before the first step, then in
/// step i (from 0) the gradients optimizer_gradients[i] at the learning rate optimizer_rates[i].
struct SgdGolden {{
  const char* name;
  double momentum;
  double dampening;  ///< As in PyTorch the very first step takes the gradient undampened into the momentum.
  double weight_decay;
  bool nesterov;
  bool decoupled;  ///< w is multiplied by 1 - rate * weight_decay before the step, instead of g + weight_decay * w.
  double after_first[optimizer_values];
  double after_last[optimizer_values];
}};

struct AdamwGolden {{
  const char* name;
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;
  double after_first[optimizer_values];
  double after_last[optimizer_values];
}};
"""


def main():
    print(HEADER)
    print(f"inline constexpr float optimizer_weights[optimizer_values] = {floats(WEIGHTS)};\n")
    print("inline constexpr float optimizer_gradients[optimizer_steps][optimizer_values] = {")
    for row in GRADIENTS:
        print(f"    {floats(row)},")
    print("};\n")
    print(f"inline constexpr float optimizer_rates[optimizer_steps] = {floats(RATES)};\n")
    print("inline constexpr SgdGolden sgd_goldens[] = {")
    for name, momentum, dampening, decay, nesterov, decoupled in SGD:
        first, last = sgd(momentum, dampening, decay, nesterov, decoupled)
        print(f'    {{"{name}", {momentum}, {dampening}, {decay}, {flag(nesterov)}, {flag(decoupled)},')
        print(f"     {doubles(first)},\n     {doubles(last)}}},")
    print("};\n")
    print("inline constexpr AdamwGolden adamw_goldens[] = {")
    for name, *settings in ADAMW:
        first, last = adamw(*settings)
        print(f'    {{"{name}", {", ".join(repr(s) for s in settings)},')
        print(f"     {doubles(first)},\n     {doubles(last)}}},")
    print("};\n")
    print("}  // namespace tr::golden")


if __name__ == "__main__":
    main()

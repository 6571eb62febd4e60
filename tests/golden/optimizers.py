"""Writes optimizers.h: what PyTorch's optimizers make of 24 parameters in twenty steps.

    python3 tests/golden/optimizers.py > tests/golden/optimizers.h

The inputs are exact binary32 numbers; everything is computed in binary64.
"""

import numpy
import torch

STEPS = 20
VALUES = 24
SHOWN = (8, 20)  # After how many steps the parameters are written down.
AVERAGE_DECAY = 0.9


def inputs():
    generator = numpy.random.Generator(numpy.random.PCG64(7))
    weights = generator.normal(0.0, 0.5, VALUES)
    gradients = generator.normal(0.0, 0.3, (STEPS, VALUES))
    gradients[:, 3] = 0.0  # Only decay moves this weight.
    gradients[:, 4] *= 1e-8  # Comparable to epsilon, so that its place in the formula shows.
    gradients[:, 5] *= 5.0
    gradients[5:9, 6] = 0.0  # A pause: only momentum and decay act.
    gradients[11:14] *= 0.1  # Below all limits, so clipping must leave them alone.
    rates = 0.01 * (1.0 + numpy.cos(numpy.pi * numpy.arange(STEPS) / STEPS)) / 2.0
    rates[4] = 0.0  # A step that must still advance the moments.
    return [a.astype(numpy.float32).astype(numpy.float64) for a in (weights, gradients, rates)]


WEIGHTS, GRADIENTS, RATES = inputs()


class Model(torch.nn.Module):
    """The parameters, in two tensors of different shapes: the norm to clip by is that of both."""

    def __init__(self):
        super().__init__()
        values = torch.tensor(WEIGHTS, dtype=torch.float64)
        self.first = torch.nn.Parameter(values[:10].clone())
        self.second = torch.nn.Parameter(values[10:].reshape(2, 7).clone())

    def values(self):
        return torch.cat([p.detach().flatten() for p in self.parameters()]).numpy()


def run(make, clip_norm, clip_value, decoupled_decay=0.0):
    """The parameters after the SHOWN steps, then their average after the last."""
    model = Model()
    average = torch.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(AVERAGE_DECAY))
    optimizer = make(list(model.parameters()))
    shown = []
    for step, (gradient, rate) in enumerate(zip(GRADIENTS, RATES), start=1):
        if decoupled_decay:  # PyTorch's SGD has no such switch; this is the rule of its AdamW.
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.mul_(1.0 - rate * decoupled_decay)
        optimizer.param_groups[0]["lr"] = rate
        values = torch.tensor(gradient, dtype=torch.float64)
        model.first.grad = values[:10].clone()
        model.second.grad = values[10:].reshape(2, 7).clone()
        if clip_value:
            torch.nn.utils.clip_grad_value_(model.parameters(), clip_value)
        if clip_norm:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
        optimizer.step()
        average.update_parameters(model)
        if step in SHOWN:
            shown.append(model.values())
    return shown + [average.module.values()]


SGD = [
    # name, momentum, dampening, weight_decay, nesterov, decoupled, clip_norm, clip_value
    ("plain", 0.0, 0.0, 0.0, False, False, 0.0, 0.0),
    ("plain with decay", 0.0, 0.0, 0.05, False, False, 0.0, 0.0),
    ("plain with decoupled decay", 0.0, 0.0, 0.05, False, True, 0.0, 0.0),
    ("momentum", 0.9, 0.0, 0.0, False, False, 0.0, 0.0),
    ("momentum with decay", 0.9, 0.0, 0.05, False, False, 0.0, 0.0),
    ("momentum with decoupled decay", 0.9, 0.0, 0.05, False, True, 0.0, 0.0),
    ("momentum with dampening", 0.9, 0.5, 0.0, False, False, 0.0, 0.0),
    ("momentum with dampening and decay", 0.9, 0.5, 0.05, False, False, 0.0, 0.0),
    ("nesterov", 0.9, 0.0, 0.0, True, False, 0.0, 0.0),
    ("nesterov with decay", 0.9, 0.0, 0.05, True, False, 0.0, 0.0),
    ("nesterov with decoupled decay", 0.9, 0.0, 0.05, True, True, 0.0, 0.0),
    ("plain, clipped by norm", 0.0, 0.0, 0.0, False, False, 1.5, 0.0),
    ("momentum with decay, clipped by norm", 0.9, 0.0, 0.05, False, False, 1.5, 0.0),
    ("momentum with decay, clipped by value", 0.9, 0.0, 0.05, False, False, 0.0, 0.25),
    ("nesterov with decay, clipped by both", 0.9, 0.0, 0.05, True, False, 0.8, 0.25),
]

ADAM = [
    # name, beta1, beta2, epsilon, weight_decay, decoupled, clip_norm, clip_value
    ("Adam", 0.9, 0.999, 1e-8, 0.0, False, 0.0, 0.0),
    ("Adam with decay", 0.9, 0.999, 1e-8, 0.01, False, 0.0, 0.0),
    ("Adam with other betas and epsilon", 0.8, 0.95, 1e-3, 0.1, False, 0.0, 0.0),
    ("Adam with decay, clipped by norm", 0.9, 0.999, 1e-8, 0.01, False, 1.5, 0.0),
    ("Adam with decay, clipped by value", 0.9, 0.999, 1e-8, 0.01, False, 0.0, 0.25),
    ("AdamW without decay", 0.9, 0.999, 1e-8, 0.0, True, 0.0, 0.0),
    ("AdamW", 0.9, 0.999, 1e-8, 0.01, True, 0.0, 0.0),
    ("AdamW with other betas and epsilon", 0.8, 0.95, 1e-3, 0.1, True, 0.0, 0.0),
    ("AdamW, clipped by norm", 0.9, 0.999, 1e-8, 0.01, True, 1.5, 0.0),
    ("AdamW, clipped by value", 0.9, 0.999, 1e-8, 0.01, True, 0.0, 0.25),
]


def sgd(momentum, dampening, weight_decay, nesterov, decoupled, clip_norm, clip_value):
    def make(parameters):
        return torch.optim.SGD(parameters, lr=0.0, momentum=momentum, dampening=dampening, nesterov=nesterov,
                               weight_decay=0.0 if decoupled else weight_decay)
    return run(make, clip_norm, clip_value, weight_decay if decoupled else 0.0)


def adam(beta1, beta2, epsilon, weight_decay, decoupled, clip_norm, clip_value):
    kind = torch.optim.AdamW if decoupled else torch.optim.Adam
    def make(parameters):
        return kind(parameters, lr=0.0, betas=(beta1, beta2), eps=epsilon, weight_decay=weight_decay)
    return run(make, clip_norm, clip_value)


def floats(values):
    """The shortest decimals that give the binary32 numbers back."""
    return "{" + ", ".join(f"{numpy.format_float_scientific(numpy.float32(v))}F" for v in values) + "}"


def doubles(values):
    return "{" + ", ".join(f"{float(v):.12g}" for v in values) + "}"


def literal(value):
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else repr(value)


def print_goldens(kind, name, settings, run_one):
    print(f"inline constexpr {kind} {name}[] = {{")
    for setting in settings:
        *shown, average = run_one(*setting[1:])
        print(f"    {{{', '.join(literal(s) for s in setting)},")
        print("     {" + ",\n      ".join(doubles(v) for v in shown) + "},")
        print(f"     {doubles(average)}}},")
    print("};\n")


HEADER = f"""// Made by tests/golden/optimizers.py with PyTorch {torch.__version__.split("+")[0]}; do not edit.
// clang-format off
#pragma once

namespace tr::golden {{

inline constexpr int optimizer_values = {VALUES};
inline constexpr int optimizer_steps = {STEPS};
inline constexpr int optimizer_shown_steps[] = {{{", ".join(str(s) for s in SHOWN)}}};
inline constexpr double optimizer_average_decay = {AVERAGE_DECAY};

/// Binary64 results of PyTorch from the same exact binary32 inputs: `optimizer_weights` before the first step, then in
/// step i (from 0) the gradients optimizer_gradients[i] at the learning rate optimizer_rates[i]. `after` are the
/// parameters after optimizer_shown_steps, `average` is what AveragedModel makes of them with
/// get_ema_multi_avg_fn(optimizer_average_decay) until the last step; its first update copies the parameters.
struct SgdGolden {{
  const char* name;
  double momentum;
  double dampening;  ///< As in PyTorch the very first step takes the gradient undampened into the momentum.
  double weight_decay;
  bool nesterov;
  bool decoupled;  ///< w is multiplied by 1 - rate * weight_decay before the step, instead of g + weight_decay * w.
  double clip_norm;  ///< clip_grad_norm_ after clip_grad_value_; 0 for none.
  double clip_value;
  double after[{len(SHOWN)}][optimizer_values];
  double average[optimizer_values];
}};

struct AdamGolden {{
  const char* name;
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;
  bool decoupled;  ///< AdamW, else Adam.
  double clip_norm;  ///< clip_grad_norm_ after clip_grad_value_; 0 for none.
  double clip_value;
  double after[{len(SHOWN)}][optimizer_values];
  double average[optimizer_values];
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
    print_goldens("SgdGolden", "sgd_goldens", SGD, sgd)
    print_goldens("AdamGolden", "adam_goldens", ADAM, adam)
    print("}  // namespace tr::golden")


if __name__ == "__main__":
    main()

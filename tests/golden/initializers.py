"""Writes initializers.h: the standard deviations and bounds that PyTorch's torch.nn.init draws with, and the normal
distribution that it cuts off.

    python3 tests/golden/initializers.py > tests/golden/initializers.h
"""

import math
from unittest import mock

import torch

SHAPES = [  # K, R, S, C; PyTorch's weights are K, C, R, S.
    (1024, 1, 1, 784),
    (10, 1, 1, 256),
    (64, 7, 7, 3),
    (128, 3, 3, 64),
    (32, 1, 5, 16),
    (96, 3, 3, 1),  # Of a depthwise convolution, but for fan_out, where PyTorch forgets the groups.
]

PROBABILITIES = [2.0**-25, 2.0**-16, 0.001, 0.01, 0.05, 0.1, 0.25, 0.4, 0.5, 0.75, 0.9, 0.99, 0.999, 1 - 2.0**-25]


def spread(initialize, shape):
    """The standard deviation or the bound with which `initialize` fills a weight."""
    k, r, s, c = shape
    weight = torch.empty(k, c, r, s)
    seen = []
    uniform = mock.patch.object(torch.Tensor, "uniform_", lambda self, low, high, **_: seen.append(high))
    normal = mock.patch.object(torch.Tensor, "normal_", lambda self, mean, std, **_: seen.append(std))
    with uniform, normal:
        initialize(weight)
    assert len(seen) == 1
    return seen[0]


def kinds():
    for slope in (0.0, 0.25, math.sqrt(5.0)):  # The last is what PyTorch's layers start with.
        for mode in ("fan_in", "fan_out"):
            yield ("kaiming_normal", mode, slope, 1.0,
                   lambda w, a=slope, m=mode: torch.nn.init.kaiming_normal_(w, a=a, mode=m))
            yield ("kaiming_uniform", mode, slope, 1.0,
                   lambda w, a=slope, m=mode: torch.nn.init.kaiming_uniform_(w, a=a, mode=m))
        # PyTorch has no fan_avg for these kinds, but Xavier's formulas are theirs with the mean of both fans.
        gain = torch.nn.init.calculate_gain("leaky_relu", slope)
        yield ("kaiming_normal", "fan_avg", slope, 1.0, lambda w, g=gain: torch.nn.init.xavier_normal_(w, gain=g))
        yield ("kaiming_uniform", "fan_avg", slope, 1.0, lambda w, g=gain: torch.nn.init.xavier_uniform_(w, gain=g))
    for gain in (1.0, 1.5):
        yield ("xavier_normal", "fan_in", 0.0, gain, lambda w, g=gain: torch.nn.init.xavier_normal_(w, gain=g))
        yield ("xavier_uniform", "fan_in", 0.0, gain, lambda w, g=gain: torch.nn.init.xavier_uniform_(w, gain=g))


def truncated():
    """Quantiles of the standard normal distribution cut off at two deviations, and its standard deviation."""
    p = torch.tensor(PROBABILITIES, dtype=torch.float64)
    below = torch.special.ndtr(torch.tensor(-2.0, dtype=torch.float64))
    mass = 1.0 - 2.0 * below
    quantiles = torch.special.ndtri(below + p * mass)
    density = math.exp(-2.0) / math.sqrt(2.0 * math.pi)
    return quantiles.tolist(), math.sqrt(1.0 - 4.0 * density / float(mass))


HEADER = f"""// Made by tests/golden/initializers.py with PyTorch {torch.__version__.split("+")[0]}; do not edit.
// clang-format off
#pragma once

namespace tr::golden {{

struct InitializerGolden {{
  const char* kind;
  const char* fan;
  double kaiming_a;
  double scale;
  int krsc[4];
  double spread;  ///< The standard deviation of the normal kinds, the bound of the uniform ones.
}};

inline constexpr InitializerGolden initializers[] = {{"""


def main():
    print(HEADER)
    for kind, mode, slope, scale, initialize in kinds():
        for shape in SHAPES:
            dimensions = ", ".join(str(d) for d in shape)
            value = float(spread(initialize, shape))
            print(f'    {{"{kind}", "{mode}", {slope!r}, {scale}, {{{dimensions}}}, {value!r}}},')
    print("};\n")
    quantiles, deviation = truncated()
    print("/// The quantiles of the standard normal distribution cut off at -2 and 2, and its standard deviation.")
    print("struct QuantileGolden {\n  double probability;\n  double quantile;\n};\n")
    print("inline constexpr QuantileGolden truncated_quantiles[] = {")
    for p, z in zip(PROBABILITIES, quantiles):
        print(f"    {{{p!r}, {z!r}}},")
    print("};\n")
    print(f"inline constexpr double truncated_deviation = {deviation!r};")
    print("\n}  // namespace tr::golden")


if __name__ == "__main__":
    main()

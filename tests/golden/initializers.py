"""Writes initializers.h: the standard deviations and bounds that PyTorch's torch.nn.init draws with.

    python3 tests/golden/initializers.py > tests/golden/initializers.h
"""

from unittest import mock

import torch

SHAPES = [  # K, R, S, C; PyTorch's weights are K, C, R, S.
    (1024, 1, 1, 784),
    (10, 1, 1, 256),
    (64, 7, 7, 3),
    (128, 3, 3, 64),
    (32, 1, 5, 16),
]


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
    for slope in (0.0, 0.25):
        for mode in ("fan_in", "fan_out"):
            yield ("kaiming_normal", mode, slope, 1.0,
                   lambda w, a=slope, m=mode: torch.nn.init.kaiming_normal_(w, a=a, mode=m))
            yield ("kaiming_uniform", mode, slope, 1.0,
                   lambda w, a=slope, m=mode: torch.nn.init.kaiming_uniform_(w, a=a, mode=m))
    for gain in (1.0, 1.5):
        yield ("xavier_normal", "fan_in", 0.0, gain, lambda w, g=gain: torch.nn.init.xavier_normal_(w, gain=g))
        yield ("xavier_uniform", "fan_in", 0.0, gain, lambda w, g=gain: torch.nn.init.xavier_uniform_(w, gain=g))


HEADER = f"""// Made by tests/golden/initializers.py with PyTorch {torch.__version__.split("+")[0]}; do not edit.
// clang-format off
#pragma once

namespace tr::golden {{

struct InitializerGolden {{
  const char* kind;
  bool fan_out;
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
            flag = "true" if mode == "fan_out" else "false"
            value = float(spread(initialize, shape))
            print(f'    {{"{kind}", {flag}, {slope}, {scale}, {{{dimensions}}}, {value!r}}},')
    print("};\n\n}  // namespace tr::golden")


if __name__ == "__main__":
    main()

"""Writes schedulers.h: what PyTorch's schedulers give, step by step.

    python3 tests/golden/schedulers.py > tests/golden/schedulers.h
"""

import torch


def rates(base, steps, make):
    parameter = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))
    optimizer = torch.optim.SGD([parameter], lr=base)
    scheduler = make(optimizer)
    result = []
    for _ in range(steps):
        result.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return result


def cosine(base, eta_min, t_max):
    return rates(base, t_max + 1, lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, t_max, eta_min))


def print_array(name, comment, values):
    print(f"/// {comment}")
    print(f"inline constexpr double {name}[] = {{")
    for value in values:
        print(f"    {value!r},")
    print("};\n")


def main():
    print(f"// Made by tests/golden/schedulers.py with PyTorch {torch.__version__.split('+')[0]}; do not edit.")
    print("// clang-format off\n#pragma once\n\nnamespace tr::golden {\n")
    print_array("cosine_7", "CosineAnnealingLR, T_max 7, from 1e-3 to 1e-6.", cosine(1e-3, 1e-6, 7))
    print_array("cosine_9", "CosineAnnealingLR, T_max 9, from 0.5 to 0.", cosine(0.5, 0.0, 9))
    print_array("cosine_100", "CosineAnnealingLR, T_max 100, from 1e-3 to 0.", cosine(1e-3, 0.0, 100))
    print("}  // namespace tr::golden")


if __name__ == "__main__":
    main()

"""Writes schedulers.h: what PyTorch's schedulers give, step by step.

    python3 tests/golden/schedulers.py > tests/golden/schedulers.h
"""

import torch
from torch.optim import lr_scheduler


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
    return rates(base, t_max + 1, lambda o: lr_scheduler.CosineAnnealingLR(o, t_max, eta_min))


def restarts(base, steps, t_0, t_mult, eta_min):
    return rates(base, steps, lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, t_0, t_mult, eta_min))


def polynomial(base, total_iters, power):
    return rates(base, total_iters, lambda o: lr_scheduler.PolynomialLR(o, total_iters, power))


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
    step = rates(0.7, 20, lambda o: lr_scheduler.StepLR(o, 3, 0.3))
    print_array("step_3", "StepLR, step_size 3, gamma 0.3, from 0.7.", step)
    multi_step = rates(0.7, 20, lambda o: lr_scheduler.MultiStepLR(o, [2, 5, 6, 11], 0.3))
    print_array("multi_step_2_5_6_11", "MultiStepLR, milestones 2, 5, 6, 11, gamma 0.3, from 0.7.", multi_step)
    exponential = rates(0.7, 60, lambda o: lr_scheduler.ExponentialLR(o, 0.93))
    print_array("exponential_93", "ExponentialLR, gamma 0.93, from 0.7.", exponential)
    print_array("polynomial_2", "PolynomialLR, total_iters 11, power 2, from 0.7.", polynomial(0.7, 11, 2.0))
    print_array("polynomial_09", "PolynomialLR, total_iters 31, power 0.9, from 1.", polynomial(1.0, 31, 0.9))
    print_array("restarts_5", "CosineAnnealingWarmRestarts, T_0 5, from 0.7 to 1e-3.", restarts(0.7, 32, 5, 1, 1e-3))
    doubled = restarts(0.7, 66, 3, 2, 0.01)
    print_array("restarts_3_2", "CosineAnnealingWarmRestarts, T_0 3, T_mult 2, from 0.7 to 0.01.", doubled)
    print("}  // namespace tr::golden")


if __name__ == "__main__":
    main()

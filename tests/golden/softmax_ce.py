"""Writes softmax_ce.h: PyTorch's cross_entropy and its gradient for a few batches.

    python3 tests/golden/softmax_ce.py > tests/golden/softmax_ce.h

Logits are exact binary32 numbers; everything is computed in binary64.
"""

import numpy
import torch

ROWS = 4
CLASSES = (3, 10, 17)
SMOOTHINGS = (0.0, 0.1, 0.2)


def literal(value):
    return repr(float(value))


def batch(classes, scale, generator):
    logits = generator.normal(0.0, scale, (ROWS, classes)).astype(numpy.float32)
    labels = generator.integers(0, classes, ROWS)
    return logits, labels


def golden(logits, labels, smoothing):
    z = torch.tensor(logits.astype(numpy.float64), requires_grad=True)
    target = torch.tensor(labels)
    losses = torch.nn.functional.cross_entropy(z, target, label_smoothing=smoothing, reduction="none")
    losses.mean().backward()
    return losses.detach().numpy(), z.grad.numpy()


def array(values):
    return "{" + ", ".join(literal(v) for v in values) + "}"


def main():
    generator = numpy.random.Generator(numpy.random.PCG64(11))
    print(f"// Made by tests/golden/softmax_ce.py with PyTorch {torch.__version__.split('+')[0]}; do not edit.")
    print("// clang-format off")
    print("#pragma once\n")
    print("#include <vector>\n")
    print("namespace tr::golden {\n")
    print("/// A batch of 4 rows, the loss of each row and the gradient of the mean loss. The smoothing is the binary32 number")
    print("/// nearest to what is written.")
    print("struct SoftmaxCeGolden {")
    print("  int classes;\n  float smoothing;\n  std::vector<float> logits;\n  std::vector<int> labels;")
    print("  std::vector<double> losses;\n  std::vector<double> gradient;\n};\n")
    print(f"inline constexpr int softmax_ce_rows = {ROWS};\n")
    print("inline const SoftmaxCeGolden softmax_ce_goldens[] = {")
    for classes in CLASSES:
        for scale in (1.0, 20.0):
            logits, labels = batch(classes, scale, generator)
            for smoothing in SMOOTHINGS:
                exact = float(numpy.float32(smoothing))
                losses, gradient = golden(logits, labels, exact)
                print(f"    {{{classes}, {literal(smoothing)}F,")
                print("     {" + ", ".join(literal(v) + "F" for v in logits.ravel()) + "},")
                print("     {" + ", ".join(str(v) for v in labels) + "},")
                print(f"     {array(losses)},")
                print(f"     {array(gradient.ravel())}}},")
    print("};\n")
    print("}  // namespace tr::golden")


main()

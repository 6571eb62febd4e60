#!/usr/bin/env bash
# The program that the README shows is the example, and its commands are those of this repository.
set -euo pipefail
shown=$(awk '/^```cpp$/ {inside = 1; next} /^```$/ {inside = 0} inside' README.md)
code=$(sed -n '/^#include/,$p' examples/mlp_mnist.cc)
if [[ $shown != "$code" ]]; then
  echo 'the program in README.md is not examples/mlp_mnist.cc:'
  diff <(echo "$shown") <(echo "$code")
  exit 1
fi
lines=$(grep -cvE '^ *(//.*)?$' examples/mlp_mnist.cc)
if ((lines > 40)); then
  echo "examples/mlp_mnist.cc has $lines lines of code; 40 are allowed"
  exit 1
fi

#pragma once

#include "tests/cuda_sim/src/block.h"
#include "tests/cuda_sim/src/watch.h"

namespace cuda_sim {

/// What the functions that kernels call have to know, and get no argument for. The simulator sets it.
struct Hooks {
  BlockRunner* runner = nullptr;
  Watch* watch = nullptr;
  Range stacks;
  bool instrumented = false;
};

extern Hooks hooks;

}  // namespace cuda_sim

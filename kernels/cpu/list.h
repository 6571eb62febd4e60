#pragma once

#include "kernels/cpu/kernel.h"

namespace tr::cpu {

/// Prepares an operation on the CPU. Throws DeviceError, naming it, if the CPU has no kernel for the operation or for
/// the types of its operands, and ShapeError if the operands do not fit each other.
Kernel make_kernel(const Operation& operation, Scratch& scratch);

}  // namespace tr::cpu

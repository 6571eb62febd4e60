#pragma once

#include <string>

#include "tr/base/dtype.h"

namespace tr {

/// Throws DeviceError, naming what the processor has and the remedy, if it cannot compute in this precision.
void require_precision(Precision precision);

/// The widest instruction set that the matrix library uses here, such as "AVX-512 BF16": its bits depend on it. Less
/// than the processor's where ONEDNN_MAX_CPU_ISA says so.
std::string widest_instructions();

/// Once on each new rank thread, before anything is prepared or computed on it: the matrix library gets one thread of
/// its own a rank, and denormal numbers count as zero.
void set_up_rank_thread();

}  // namespace tr

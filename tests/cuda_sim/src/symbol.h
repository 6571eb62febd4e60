#pragma once

#include <string>

namespace cuda_sim {

/// The name of the function at the address, without namespaces and parameters; local functions have one too, unless the
/// program is stripped.
std::string function_name(const void* address);

}  // namespace cuda_sim

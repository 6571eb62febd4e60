#pragma once

#include <cstdint>

namespace tr {

/// Whether this process could map so many more bytes now; `ulimit -v` may forbid it. Nothing stays mapped. That they
/// can be mapped does not mean that the machine has them.
bool has_address_space(std::int64_t bytes);

/// Bytes of the stack of a thread that is started with the settings of the process.
std::int64_t stack_bytes();

}  // namespace tr

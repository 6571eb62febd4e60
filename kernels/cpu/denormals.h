#pragma once

namespace tr::cpu {

/// Whether this thread, from now on, takes denormal numbers for zero and writes zero in their place (DAZ and FTZ):
/// moments that fade away would otherwise cost a hundred cycles an operation. Only x86 has the switch; elsewhere it
/// does nothing.
void flush_denormals(bool on);

}  // namespace tr::cpu

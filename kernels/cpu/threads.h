#pragma once

namespace tr::cpu {

/// The number of threads that the matrix library uses for calls from this thread, and for nobody else's. To be called
/// before a kernel is made: a product is prepared for a number of threads.
void set_threads(int count);

}  // namespace tr::cpu

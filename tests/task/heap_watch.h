#pragma once

#include <cstdint>

namespace tr {

/// What the process took from the heap while the watch was on. The program that links heap_watch.cc has every malloc of
/// every thread counted, and every call of dnnl_primitive_execute marked, by taking the place of both.
struct HeapReport {
  /// Blocks taken outside the library.
  std::int64_t ours = 0;
  /// Calls of the library, and the most blocks and bytes that one of them took.
  std::int64_t library_calls = 0;
  std::int64_t most_blocks = 0;
  std::int64_t most_bytes = 0;
  /// Calls that returned without freeing all they took.
  std::int64_t calls_that_kept = 0;
  /// Bytes in use at the end more than at the beginning; what another thread's call of the library holds just then is
  /// not among them, since that call answers for itself.
  std::int64_t growth = 0;
};

/// Neither allocates.
void start_heap_watch();
HeapReport stop_heap_watch();

}  // namespace tr

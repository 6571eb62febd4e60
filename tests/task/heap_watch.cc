#include "tests/task/heap_watch.h"

#include <dlfcn.h>
#include <malloc.h>
#include <oneapi/dnnl/dnnl.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

extern "C" {
void* __libc_malloc(std::size_t size);
void __libc_free(void* block);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

// The replaced functions run before any constructor and on every thread, so their counters can only be static.
std::atomic<bool> watching{false};
std::atomic<std::int64_t> live_bytes{0};
std::atomic<std::int64_t> ours{0};
std::atomic<std::int64_t> library_calls{0};
std::atomic<std::int64_t> most_blocks{0};
std::atomic<std::int64_t> most_bytes{0};
std::atomic<std::int64_t> calls_that_kept{0};
std::int64_t live_at_start = 0;

struct LibraryCall {
  bool inside = false;
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;
  std::int64_t balance = 0;
};
thread_local LibraryCall call;

void raise(std::atomic<std::int64_t>& most, std::int64_t value) {
  std::int64_t seen = most.load();
  while (seen < value && !most.compare_exchange_weak(seen, value)) {
  }
}

void* taken(void* block) {
  if (block == nullptr) return block;
  const auto size = static_cast<std::int64_t>(malloc_usable_size(block));
  if (call.inside) {
    ++call.blocks;
    call.bytes += size;
    call.balance += size;
  } else {
    live_bytes += size;
    ours += watching ? 1 : 0;
  }
  return block;
}

void given_back(void* block) {
  if (block == nullptr) return;
  const auto size = static_cast<std::int64_t>(malloc_usable_size(block));
  if (call.inside) {
    call.balance -= size;
  } else {
    live_bytes -= size;
  }
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) { return taken(__libc_malloc(size)); }
void* calloc(std::size_t count, std::size_t size) { return taken(__libc_calloc(count, size)); }
void* memalign(std::size_t alignment, std::size_t size) { return taken(__libc_memalign(alignment, size)); }
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  *block = memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}
void* realloc(void* block, std::size_t size) {
  given_back(block);
  return taken(__libc_realloc(block, size));
}
void free(void* block) {
  given_back(block);
  __libc_free(block);
}

dnnl_status_t dnnl_primitive_execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream, int count,
                                     const dnnl_exec_arg_t* arguments) {
  static const auto execute =
      reinterpret_cast<decltype(&dnnl_primitive_execute)>(dlsym(RTLD_NEXT, "dnnl_primitive_execute"));
  call = {.inside = true};
  const dnnl_status_t status = execute(primitive, stream, count, arguments);
  call.inside = false;
  if (watching) {
    ++library_calls;
    raise(most_blocks, call.blocks);
    raise(most_bytes, call.bytes);
    calls_that_kept += call.balance != 0 ? 1 : 0;
  }
  return status;
}

}  // extern "C"

namespace tr {

void start_heap_watch() {
  for (auto* counter : {&ours, &library_calls, &most_blocks, &most_bytes, &calls_that_kept}) counter->store(0);
  live_at_start = live_bytes;
  watching = true;
}

HeapReport stop_heap_watch() {
  watching = false;
  return {.ours = ours,
          .library_calls = library_calls,
          .most_blocks = most_blocks,
          .most_bytes = most_bytes,
          .calls_that_kept = calls_that_kept,
          .growth = live_bytes - live_at_start};
}

}  // namespace tr

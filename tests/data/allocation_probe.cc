#include "tests/data/allocation_probe.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> allocation_count{0};
std::atomic<std::size_t> all_bytes{0};
std::atomic<std::size_t> largest_block{0};

}  // namespace

// What operator new and delete are made of.
// NOLINTBEGIN(cppcoreguidelines-no-malloc)
void* operator new(std::size_t bytes) {
  allocation_count.fetch_add(1);
  all_bytes.fetch_add(bytes);
  std::size_t largest = largest_block.load();
  while (bytes > largest && !largest_block.compare_exchange_weak(largest, bytes)) {
  }
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND(cppcoreguidelines-no-malloc)

namespace tr {

AllocationProbe::AllocationProbe() {
  allocation_count = 0;
  all_bytes = 0;
  largest_block = 0;
}

std::size_t AllocationProbe::count() const { return allocation_count; }
std::size_t AllocationProbe::bytes() const { return all_bytes; }
std::size_t AllocationProbe::largest() const { return largest_block; }

}  // namespace tr

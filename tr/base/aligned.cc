#include "tr/base/aligned.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "tr/base/error.h"

namespace tr {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

}  // namespace

AlignedBuffer::AlignedBuffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  const bool large = bytes >= 2 * huge_page;
  void* data = nullptr;
  if (posix_memalign(&data, large ? huge_page : alignment, bytes) != 0) {
    throw Error(fmt::format("cannot allocate {} bytes; use a smaller batch or model", bytes));
  }
  // A wish: a step walks through all of an arena, and with pages of 4 KiB would wait for their addresses. Before the
  // first touch, which decides.
  if (large) madvise(data, bytes, MADV_HUGEPAGE);
  data_ = static_cast<std::byte*>(data);
  std::memset(data_, 0, bytes);
}

AlignedBuffer::~AlignedBuffer() { std::free(data_); }

}  // namespace tr

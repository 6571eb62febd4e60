#include "tr/base/aligned.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "tr/base/error.h"

namespace tr {

AlignedBuffer::AlignedBuffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  const auto rounded = static_cast<std::size_t>(align_up(static_cast<std::int64_t>(bytes)));
  data_ = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
  if (data_ == nullptr) throw Error(fmt::format("cannot allocate {} bytes; use a smaller batch or model", bytes));
  std::memset(data_, 0, rounded);
}

AlignedBuffer::~AlignedBuffer() { std::free(data_); }

}  // namespace tr

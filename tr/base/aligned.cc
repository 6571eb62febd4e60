#include "tr/base/aligned.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "tr/base/error.h"

namespace tr {

AlignedBuffer::AlignedBuffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  const auto rounded = static_cast<std::size_t>(align_up(static_cast<std::int64_t>(bytes)));
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
  if (!data_) throw Error(fmt::format("cannot allocate {} bytes; use a smaller batch or model", bytes));
  std::memset(data_.get(), 0, rounded);
}

void AlignedBuffer::Free::operator()(std::byte* memory) const { std::free(memory); }

}  // namespace tr

#include "tr/tensor/tensor.h"

#include <fmt/format.h>

#include <cstring>

#include "tr/base/error.h"

namespace tr {

Tensor::Tensor(Shape shape, DType dtype)
    : shape_(shape), dtype_(dtype), buffer_(static_cast<std::size_t>(shape.size()) * bytes_of(dtype)) {}

void Tensor::assign(const std::byte* values, std::size_t count, std::size_t element_bytes) {
  if (count != static_cast<std::size_t>(shape_.size())) {
    throw ShapeError(fmt::format("{} values for a tensor of {}x{}x{}x{}, which holds {}", count, shape_.n, shape_.h,
                                 shape_.w, shape_.c, shape_.size()));
  }
  if (count > 0) std::memcpy(buffer_.data(), values, count * element_bytes);
}

void Tensor::require(DType wanted) const {
  if (wanted != dtype_) {
    throw ValueError(fmt::format("a tensor of {} is read as {}", name_of(dtype_), name_of(wanted)));
  }
}

}  // namespace tr

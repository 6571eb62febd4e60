#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tr/base/aligned.h"
#include "tr/base/bf16.h"
#include "tr/base/dtype.h"
#include "tr/base/shape.h"

namespace tr {

/// The DType that stands for a C++ type; only the types below have one.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::fp32;
};
template <>
struct DTypeOf<Bf16> {
  static constexpr DType value = DType::bf16;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::fp64;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::int32;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::uint8;
};

/// A tensor in host memory that owns its bytes: contiguous, NHWC, starting on an `alignment` boundary; move-only.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Shape shape, DType dtype);

  /// Copies `values`, in memory order; throws ShapeError when their number is not that of the shape.
  template <class T>
  static Tensor of(Shape shape, std::span<const T> values) {
    Tensor tensor(shape, DTypeOf<T>::value);
    tensor.assign(reinterpret_cast<const std::byte*>(values.data()), values.size(), sizeof(T));
    return tensor;
  }
  template <class T>
  static Tensor of(Shape shape, const std::vector<T>& values) {
    return of(shape, std::span<const T>(values));
  }

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  std::span<std::byte> bytes() { return buffer_.bytes(); }
  std::span<const std::byte> bytes() const { return buffer_.bytes(); }

  /// The elements; throws ValueError when T is not the tensor's type.
  template <class T>
  std::span<const T> values() const {
    require(DTypeOf<T>::value);
    return {reinterpret_cast<const T*>(buffer_.data()), static_cast<std::size_t>(shape_.size())};
  }

 private:
  void assign(const std::byte* values, std::size_t count, std::size_t element_bytes);
  void require(DType wanted) const;

  Shape shape_{0, 1, 1, 1};
  DType dtype_ = DType::fp32;
  AlignedBuffer buffer_;
};

}  // namespace tr

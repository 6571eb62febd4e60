#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "tr/base/aligned.h"
#include "tr/base/dtype.h"
#include "tr/base/shape.h"
#include "tr/op/operation.h"

namespace tr::cpu {

/// One tensor as a kernel sees it; `data` is null where an optional operand is absent.
struct Operand {
  std::byte* data = nullptr;
  Shape shape{};
  DType dtype = DType::fp32;

  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
  explicit operator bool() const { return data != nullptr; }
};

/// A node of a graph, bound to memory.
struct Operation {
  static constexpr int max_operands = 6;

  OpKind kind = OpKind::meet;
  OpAttributes attributes{};
  std::array<Operand, max_operands> in{};
  std::array<Operand, max_operands> out{};
};

/// Memory that kernels of one rank use one after another; its size is known only when the last of them was made.
class Scratch {
 public:
  void reserve(std::size_t bytes) { wanted_ = bytes > wanted_ ? bytes : wanted_; }
  void allocate() { buffer_ = AlignedBuffer(wanted_); }
  std::byte* data() const { return buffer_.data(); }
  std::size_t size() const { return buffer_.size(); }

 private:
  std::size_t wanted_ = 0;
  AlignedBuffer buffer_;
};

/// A prepared operation: calling it does the work and allocates nothing of ours. It must be made, and later called, on
/// the thread of its rank; `Scratch` must outlive it and be allocated before the first call.
using Kernel = std::function<void()>;

}  // namespace tr::cpu

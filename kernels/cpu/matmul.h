#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "tr/base/dtype.h"

namespace tr::cpu {

/// C [m, n] = A [m, k]·B [k, n], all row-major and without gaps.
struct MatmulSpec {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  /// A lies in memory as [k, m], B as [n, k].
  bool transpose_a = false;
  bool transpose_b = false;
  /// fp32 or bf16; sums are taken in fp32 either way.
  DType input = DType::fp32;
  DType output = DType::fp32;
};

/// A matrix product prepared for one size, by oneDNN. It must be made and run on one thread, after set_threads().
class Matmul {
 public:
  /// Throws DeviceError if the processor cannot do it.
  explicit Matmul(const MatmulSpec& spec);
  ~Matmul();
  Matmul(Matmul&&) noexcept;
  Matmul& operator=(Matmul&&) noexcept;

  std::size_t scratch_bytes() const;
  /// `scratch` has scratch_bytes() bytes and starts on a cache line. An empty C is left alone; k = 0 makes C zero.
  void run(const void* a, const void* b, void* c, std::byte* scratch) const;
  /// The library's name of the implementation it chose; a name with "ref" is a slow one. Empty where nothing is
  /// multiplied.
  std::string_view implementation() const;

 private:
  struct Prepared;

  MatmulSpec spec_;
  std::unique_ptr<Prepared> prepared_;
};

}  // namespace tr::cpu

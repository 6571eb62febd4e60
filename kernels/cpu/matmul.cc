#include "kernels/cpu/matmul.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

#include <array>
#include <cstring>
#include <string>

#include "tr/base/error.h"

namespace tr::cpu {
namespace {

void check(dnnl_status_t status, const MatmulSpec& spec) {
  if (status == dnnl_success) return;
  if (status == dnnl_out_of_memory) {
    throw DeviceError(fmt::format(
        "oneDNN has not enough memory to multiply [{}, {}] by [{}, {}]; use a smaller batch or model, or fewer "
        "--threads",
        spec.m, spec.k, spec.k, spec.n));
  }
  throw DeviceError(fmt::format("oneDNN cannot multiply [{}, {}] by [{}, {}] in {} (status {})", spec.m, spec.k, spec.k,
                                spec.n, name_of(spec.input), static_cast<int>(status)));
}

template <auto destroy>
struct Destroy {
  template <class T>
  void operator()(T* object) const {
    destroy(object);
  }
};
using Engine = std::unique_ptr<dnnl_engine, Destroy<dnnl_engine_destroy>>;
using Stream = std::unique_ptr<dnnl_stream, Destroy<dnnl_stream_destroy>>;
using Attributes = std::unique_ptr<dnnl_primitive_attr, Destroy<dnnl_primitive_attr_destroy>>;
using Description = std::unique_ptr<dnnl_primitive_desc, Destroy<dnnl_primitive_desc_destroy>>;
using Primitive = std::unique_ptr<dnnl_primitive, Destroy<dnnl_primitive_destroy>>;
using Memory = std::unique_ptr<dnnl_memory, Destroy<dnnl_memory_destroy>>;

dnnl_memory_desc_t matrix(const MatmulSpec& spec, std::int64_t rows, std::int64_t columns, bool transposed,
                          DType dtype) {
  const dnnl_dims_t sizes = {rows, columns};
  const dnnl_dims_t strides = {transposed ? 1 : columns, transposed ? rows : 1};
  dnnl_memory_desc_t result;
  check(dnnl_memory_desc_init_by_strides(&result, 2, sizes, dtype == DType::bf16 ? dnnl_bf16 : dnnl_f32, strides),
        spec);
  return result;
}

Memory memory_for(const MatmulSpec& spec, const dnnl_memory_desc_t& description, dnnl_engine_t engine) {
  dnnl_memory_t memory = nullptr;
  check(dnnl_memory_create(&memory, &description, engine, DNNL_MEMORY_NONE), spec);
  return Memory(memory);
}

}  // namespace

// The C interface: its arguments are an array prepared once, where the C++ one takes a map at each call.
struct Matmul::Prepared {
  explicit Prepared(const MatmulSpec& spec);

  Engine engine;
  Stream stream;
  Primitive primitive;
  Memory a, b, c, scratch;
  std::array<dnnl_exec_arg_t, 4> arguments{};
  std::size_t scratch_bytes = 0;
  std::string implementation;
};

Matmul::Prepared::Prepared(const MatmulSpec& spec) {
  dnnl_engine_t new_engine = nullptr;
  check(dnnl_engine_create(&new_engine, dnnl_cpu, 0), spec);
  engine.reset(new_engine);
  dnnl_stream_t new_stream = nullptr;
  check(dnnl_stream_create(&new_stream, new_engine, dnnl_stream_default_flags), spec);
  stream.reset(new_stream);

  const dnnl_memory_desc_t a_shape = matrix(spec, spec.m, spec.k, spec.transpose_a, spec.input);
  const dnnl_memory_desc_t b_shape = matrix(spec, spec.k, spec.n, spec.transpose_b, spec.input);
  const dnnl_memory_desc_t c_shape = matrix(spec, spec.m, spec.n, false, spec.output);
  dnnl_matmul_desc_t operation;
  check(dnnl_matmul_desc_init(&operation, &a_shape, &b_shape, nullptr, &c_shape), spec);
  dnnl_primitive_attr_t new_attributes = nullptr;
  check(dnnl_primitive_attr_create(&new_attributes), spec);
  const Attributes attributes(new_attributes);
  check(dnnl_primitive_attr_set_scratchpad_mode(new_attributes, dnnl_scratchpad_mode_user), spec);
  dnnl_primitive_desc_t new_description = nullptr;
  check(dnnl_primitive_desc_create(&new_description, &operation, new_attributes, new_engine, nullptr), spec);
  const Description description(new_description);
  dnnl_primitive_t new_primitive = nullptr;
  check(dnnl_primitive_create(&new_primitive, new_description), spec);
  primitive.reset(new_primitive);

  const char* name = nullptr;
  check(dnnl_primitive_desc_query(new_description, dnnl_query_impl_info_str, 0, &name), spec);
  implementation = name;
  const dnnl_memory_desc_t* scratch_shape = dnnl_primitive_desc_query_md(new_description, dnnl_query_scratchpad_md, 0);
  scratch_bytes = dnnl_memory_desc_get_size(scratch_shape);
  a = memory_for(spec, a_shape, new_engine);
  b = memory_for(spec, b_shape, new_engine);
  c = memory_for(spec, c_shape, new_engine);
  scratch = memory_for(spec, *scratch_shape, new_engine);
  arguments = {{{DNNL_ARG_SRC, a.get()},
                {DNNL_ARG_WEIGHTS, b.get()},
                {DNNL_ARG_DST, c.get()},
                {DNNL_ARG_SCRATCHPAD, scratch.get()}}};
}

Matmul::Matmul(const MatmulSpec& spec) : spec_(spec) {
  if (spec.m > 0 && spec.n > 0 && spec.k > 0) prepared_ = std::make_unique<Prepared>(spec);
}

Matmul::~Matmul() = default;
Matmul::Matmul(Matmul&&) noexcept = default;
Matmul& Matmul::operator=(Matmul&&) noexcept = default;

std::size_t Matmul::scratch_bytes() const { return prepared_ ? prepared_->scratch_bytes : 0; }

std::string_view Matmul::implementation() const {
  return prepared_ ? std::string_view(prepared_->implementation) : std::string_view();
}

void Matmul::run(const void* a, const void* b, void* c, std::byte* scratch) const {
  if (!prepared_) {
    const auto elements = static_cast<std::size_t>(spec_.m * spec_.n);
    if (elements > 0) std::memset(c, 0, elements * bytes_of(spec_.output));
    return;
  }
  const Prepared& p = *prepared_;
  // The library's handles are not const, but it only reads A and B.
  check(dnnl_memory_set_data_handle_v2(p.a.get(), const_cast<void*>(a), p.stream.get()), spec_);
  check(dnnl_memory_set_data_handle_v2(p.b.get(), const_cast<void*>(b), p.stream.get()), spec_);
  check(dnnl_memory_set_data_handle_v2(p.c.get(), c, p.stream.get()), spec_);
  check(dnnl_memory_set_data_handle_v2(p.scratch.get(), scratch, p.stream.get()), spec_);
  check(dnnl_primitive_execute(p.primitive.get(), p.stream.get(), static_cast<int>(p.arguments.size()),
                               p.arguments.data()),
        spec_);
}

}  // namespace tr::cpu

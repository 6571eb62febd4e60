#include "tr/exec/cuda_arenas.h"

#include <fmt/format.h>

#include <string_view>

#include "kernels/cuda/collective.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/range.h"
#include "tr/base/error.h"
#include "tr/exec/cuda_handles.h"
#include "tr/exec/cuda_working_copies.h"
#include "tr/exec/initialize.h"

namespace tr {

struct CudaArenas::Impl {
  Impl(const MemoryPlan& plan, int index)
      : layout(plan),
        device(cuda::require_device(index, static_cast<std::size_t>(plan.shared_bytes + plan.local_bytes)).index),
        stream(make_cuda_stream()),
        shared(static_cast<std::size_t>(plan.shared_bytes)),
        local(static_cast<std::size_t>(plan.local_bytes)) {}

  void copy(const void* from, void* to, std::size_t bytes, std::string_view what) const {
    if (bytes == 0) return;
    cuda::check(cudaSetDevice(device), what);
    cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.get()), what);
    finish(what);
  }
  void finish(std::string_view what) const { cuda::check(cudaStreamSynchronize(stream.get()), what); }

  MemoryPlan layout;
  int device;
  CudaStream stream;
  DeviceBuffer shared;
  DeviceBuffer local;
};

namespace {

void require_bytes(std::string_view what, std::int64_t needed, std::size_t given) {
  if (static_cast<std::size_t>(needed) == given) return;
  throw ShapeError(fmt::format("{} has {} bytes, those to copy are {}", what, needed, given));
}

}  // namespace

CudaArenas::CudaArenas(const MemoryPlan& layout, int device) : impl_(std::make_unique<Impl>(layout, device)) {
  for (const DeviceBuffer* arena : {&impl_->shared, &impl_->local}) {
    cuda::clear(arena->data(), static_cast<std::int64_t>(arena->size()), impl_->stream.get());
  }
  impl_->finish("clearing the arenas");
}

CudaArenas::~CudaArenas() = default;
CudaArenas::CudaArenas(CudaArenas&&) noexcept = default;
CudaArenas& CudaArenas::operator=(CudaArenas&&) noexcept = default;

int CudaArenas::device() const { return impl_->device; }

void CudaArenas::make_current() const { cuda::check(cudaSetDevice(impl_->device), "cudaSetDevice"); }

const MemoryPlan& CudaArenas::layout() const { return impl_->layout; }

std::byte* CudaArenas::address(const DTensor& tensor) const {
  return (tensor.arena() == Arena::shared ? impl_->shared : impl_->local).data() + tensor.offset;
}

std::byte* CudaArenas::address(Region region) const {
  return (arena_of(region) == Arena::shared ? impl_->shared : impl_->local).data() + impl_->layout.offset_of(region);
}

void CudaArenas::upload(const DTensor& tensor, std::span<const std::byte> from) const {
  require_bytes(name_of(tensor.region), tensor.bytes(), from.size());
  impl_->copy(from.data(), address(tensor), from.size(), "copying a tensor to the GPU");
}

void CudaArenas::download(const DTensor& tensor, std::span<std::byte> to) const {
  require_bytes(name_of(tensor.region), tensor.bytes(), to.size());
  impl_->copy(address(tensor), to.data(), to.size(), "copying a tensor from the GPU");
}

void CudaArenas::upload_shared(std::span<const std::byte> from) const {
  require_bytes("the shared arena", impl_->layout.shared_bytes, from.size());
  impl_->copy(from.data(), impl_->shared.data(), from.size(), "copying the shared arena to the GPU");
}

void CudaArenas::download_shared(std::span<std::byte> to) const {
  require_bytes("the shared arena", impl_->layout.shared_bytes, to.size());
  impl_->copy(impl_->shared.data(), to.data(), to.size(), "copying the shared arena from the GPU");
}

void CudaArenas::share(const cuda::DeviceGroup& group, int rank) const {
  constexpr std::string_view what = "sharing the first weights";
  make_current();
  // By bits, not by values: not everything in the arena is fp32.
  group.broadcast({.rank = rank,
                   .data = impl_->shared.data(),
                   .count = impl_->layout.shared_bytes / static_cast<std::int64_t>(sizeof(std::int32_t)),
                   .type = cuda::CollectiveType::int32},
                  what, impl_->stream.get());
  impl_->finish(what);
}

namespace {

/// The plan's shared arena on the host, without a local one.
Arenas host_arenas(const Plan& plan) {
  MemoryPlan layout = plan.memory;
  layout.local_bytes = 0;
  return Arenas(std::span(&layout, 1));
}

}  // namespace

void init_all(const Plan& plan, const CudaArenas& arenas, std::uint64_t seed) {
  const Arenas host = host_arenas(plan);
  init_all(plan, host, seed);
  arenas.upload_shared(host.shared());
  // The host makes those in bf16 alone.
  if (plan.spec.precision != Precision::fp16) return;
  const CudaStream stream = make_cuda_stream();
  make_working_copies(plan, arenas, WeightSource::current, stream.get());
  cuda::check(cudaStreamSynchronize(stream.get()), "making the working copies");
}

Arenas download_shared(const Plan& plan, const CudaArenas& arenas) {
  Arenas host = host_arenas(plan);
  arenas.download_shared(host.shared());
  return host;
}

}  // namespace tr

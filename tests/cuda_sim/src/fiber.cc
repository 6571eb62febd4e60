#include "tests/cuda_sim/src/fiber.h"

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>
#include <new>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace cuda_sim {
namespace {

// Boost's own fiber class unwinds the stack of a fiber that it gives up; a kernel that failed has to stay where it is.
using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

constexpr std::size_t guard_bytes = 4096;

void* pointer(Address address) { return reinterpret_cast<void*>(address); }  // NOLINT(performance-no-int-to-ptr)

void start_switch([[maybe_unused]] void** save, [[maybe_unused]] const void* to, [[maybe_unused]] std::size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(save, to, bytes);
#endif
}

void finish_switch([[maybe_unused]] void* restore, [[maybe_unused]] const void** from,
                   [[maybe_unused]] std::size_t* bytes) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(restore, from, bytes);
#endif
}

void enter(transfer_t transfer) {
  Fiber* fiber = static_cast<Fiber*>(transfer.data);
  fiber->entered(transfer.fctx);
  fiber->function()(fiber->argument());
  __builtin_trap();
}

}  // namespace

Stacks::Stacks(std::size_t count) {
  void* reserved = mmap(nullptr, count * stack_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (reserved == MAP_FAILED) throw std::bad_alloc();
  all_ = range_of(reserved, count * stack_bytes);
}

Stacks::~Stacks() { munmap(pointer(all_.begin), all_.bytes()); }

Range Stacks::stack(std::size_t i) const {
  const Address begin = all_.begin + i * stack_bytes;
  mprotect(pointer(begin), guard_bytes, PROT_NONE);
  return {begin + guard_bytes, begin + stack_bytes};
}

Fiber::Fiber(const Range& stack, Function run, void* argument)
    : stack_(stack),
      function_(run),
      argument_(argument),
      context_(make_fcontext(pointer(stack.end), stack.bytes(), enter)) {
#ifdef __SANITIZE_ADDRESS__
  // An earlier fiber may have been forgotten in the middle of its functions.
  __asan_unpoison_memory_region(pointer(stack.begin), stack.bytes());
#endif
}

void Fiber::resume() {
  void* fake_stack = nullptr;
  start_switch(&fake_stack, pointer(stack_.begin), stack_.bytes());
  context_ = jump_fcontext(context_, this).fctx;
  finish_switch(fake_stack, nullptr, nullptr);
}

void Fiber::entered(void* caller) {
  caller_ = caller;
  finish_switch(nullptr, &caller_stack_, &caller_stack_bytes_);
}

void Fiber::suspend() {
  start_switch(&fake_stack_, caller_stack_, caller_stack_bytes_);
  caller_ = jump_fcontext(caller_, nullptr).fctx;
  finish_switch(fake_stack_, &caller_stack_, &caller_stack_bytes_);
}

}  // namespace cuda_sim

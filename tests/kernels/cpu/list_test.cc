#include "kernels/cpu/list.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

#include "kernels/cpu/threads.h"
#include "tests/kernels/cpu/testing.h"
#include "tr/base/error.h"

namespace {

// Counts every allocation of the program, the libraries' included.
long allocations = 0;

}  // namespace

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tr::cpu {

using testing::operand;
using testing::random_values;

TEST_CASE("an operation that is not computed by a kernel is refused by name") {
  Scratch scratch;
  for (OpKind kind : {OpKind::advance_step, OpKind::meet, OpKind::update}) {
    const std::string message = "the CPU has no kernel for " + std::string(name_of(kind));
    CHECK_THROWS_WITH_AS(make_kernel({.kind = kind}, scratch), message.c_str(), DeviceError);
  }
}

TEST_CASE("a call allocates nothing, but for a few blocks inside the matrix library") {
  set_threads(1);
  constexpr int rows = 3, in = 20, out = 10;
  auto x = random_values(rows * in, 1);
  auto weight = random_values(out * in, 2);
  auto bias = random_values(out, 3);
  auto y = random_values(rows * out, 4);
  auto dx = random_values(rows * in, 5);
  auto dweight = random_values(out * in, 6);
  std::vector<float> smoothing(1), loss(rows);
  std::vector<std::int32_t> labels(rows), rank(rows);
  std::vector<double> result(5), accumulated(5);
  const Shape xs{rows, 1, 1, in}, ys{rows, 1, 1, out}, ws{out, 1, 1, in}, bs{1, 1, 1, out}, ones{rows, 1, 1, 1};
  const Operation operations[] = {
      {OpKind::fc_forward, {}, {operand(x, xs), operand(weight, ws), operand(bias, bs)}, {operand(y, ys)}},
      {OpKind::fc_backward_weight, {}, {operand(x, xs), operand(y, ys)}, {operand(dweight, ws)}},
      {OpKind::fc_backward_data, {}, {operand(y, ys), operand(weight, ws)}, {operand(dx, xs)}},
      {OpKind::fc_backward_bias, {}, {operand(y, ys)}, {Operand{}, operand(bias, bs)}},
      {OpKind::relu_forward, {}, {operand(x, xs)}, {operand(x, xs)}},
      {OpKind::relu_backward, {}, {operand(dx, xs), operand(x, xs)}, {operand(dx, xs)}},
      {OpKind::softmax_ce_evaluate,
       {},
       {operand(y, ys), operand(labels, ones), operand(smoothing, {})},
       {Operand{}, operand(loss, ones), operand(rank, ones)}},
      {OpKind::softmax_ce,
       {},
       {operand(y, ys), operand(labels, ones), operand(smoothing, {})},
       {operand(y, ys), operand(loss, ones), operand(rank, ones)}},
      {OpKind::accumulate_metrics,
       {},
       {operand(loss, ones), operand(rank, ones)},
       {operand(result, {1, 1, 1, 5}), operand(accumulated, {1, 1, 1, 5})}},
  };
  Scratch scratch;
  std::vector<Kernel> kernels;
  for (const Operation& operation : operations) kernels.push_back(make_kernel(operation, scratch));
  scratch.allocate();
  for (const Kernel& kernel : kernels) kernel();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const long before = allocations;
    kernels[i]();
    const long made = allocations - before;
    CAPTURE(std::string(name_of(operations[i].kind)));
    const bool is_product = i < 3;
    CHECK(made <= (is_product ? 6 : 0));
  }
}

}  // namespace tr::cpu

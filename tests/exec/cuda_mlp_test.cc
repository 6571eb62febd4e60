#include "tests/exec/cuda_mlp.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace tr {
namespace {

using namespace small_mlp;

/// Trains for some steps, the host up to two steps ahead, on batches that differ from step to step; gives the losses.
std::vector<double> train(CudaRig& rig, int steps, int last_rows = 0, int first = 0) {
  std::vector<double> losses;
  const auto wait = [&](int step) {
    const CudaStep done = rig.wait(step % 2);
    REQUIRE(done.status == StepStatus::ok);
    losses.push_back(done.metrics[Metric::loss]);
  };
  for (int step = first; step < first + steps; ++step) {
    if (step >= first + 2) wait(step - 2);
    const bool last = last_rows > 0 && step % 5 == 4;
    rig.fill([&](int sample, int feature) { return image(sample + 7 * step, feature); },
             [&](int sample) { return label(sample + step); }, step % 2, last ? last_rows : 0);
    rig.start(rate_of(step), step % 2, last ? CudaRig::train_last : CudaRig::train);
  }
  for (int step = first + std::max(0, steps - 2); step < first + steps; ++step) wait(step);
  return losses;
}

}  // namespace

TEST_CASE("losses, gradients and weights of 20 steps are the CPU's") {
  for (const bool graph : {true, false}) {
    for (const bool fuse : {true, false}) {
      CAPTURE(graph);
      CAPTURE(fuse);
      cuda_sim::reset();
      CudaRig gpu(model, {.rows = rows, .fuse = fuse, .graph = graph, .loss = CrossEntropyLoss().label_smoothing(0.1)});
      Rig cpu(model, {.rows = rows, .fuse = fuse, .loss = CrossEntropyLoss().label_smoothing(0.1)});
      compare_with_cpu(gpu, cpu, 1e-5, true);
      check_findings();
    }
  }
}

TEST_CASE("a step in bf16 is the CPU's but for what rounding allows" * doctest::skip(!has_bf16())) {
  cuda_sim::reset();
  CudaRig gpu(model, {.rows = rows, .precision = Precision::bf16});
  Rig cpu(model, {.rows = rows, .precision = Precision::bf16});
  // Sums in another order can round an operand to the other side: one unit in 256 of one term.
  compare_with_cpu(gpu, cpu, 1e-2, true);
  check_findings();
}

TEST_CASE("a replayed graph and its operations one by one give the same bits, whatever the rate and the rows") {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    std::vector<std::vector<std::byte>> states;
    std::vector<std::vector<double>> losses;
    for (const bool graph : {true, false}) {
      cuda_sim::reset();
      CudaRig rig(model, {.rows = rows,
                          .last_rows = 4,
                          .precision = precision,
                          .graph = graph,
                          .optimizer = AdamW().weight_decay(0.1),
                          .clipping = GradientClipping().by_norm(0.5)});
      losses.push_back(train(rig, 12, 4));
      states.push_back(rig.state());
      CHECK(rig.steps() == 12);
      check_findings();
      check_waits();
    }
    CHECK(losses[0] == losses[1]);
    CHECK(states[0] == states[1]);
  }
}

TEST_CASE("twenty orders in which streams may run give the same bits") {
  for (const int ranks : {1, 2}) {
    std::vector<std::byte> first;
    for (int seed = 1; seed <= 20; ++seed) {
      cuda_sim::reset(static_cast<std::uint64_t>(seed), {.devices = ranks});
      CudaRig rig(model, {.ranks = ranks, .rows = rows, .graph = seed % 2 == 0, .optimizer = Adam()});
      train(rig, 5);
      if (first.empty()) first = rig.state();
      CHECK(rig.state() == first);
      check_findings();
    }
  }
}

TEST_CASE("no wait between streams is missing, none is of no use") {
  for (const bool graph : {true, false}) {
    for (const int ranks : {1, 2}) {
      for (const bool share_memory : {true, false}) {
        for (const auto progress : {cuda_sim::Progress::eager, cuda_sim::Progress::lazy}) {
          CAPTURE(graph);
          CAPTURE(ranks);
          CAPTURE(share_memory);
          cuda_sim::reset(3, {.devices = ranks}, progress);
          CudaRig rig(model, {.ranks = ranks, .rows = rows, .share_memory = share_memory, .graph = graph});
          train(rig, 6);
          check_findings();
          check_waits();
        }
      }
    }
  }
}

// W4
TEST_CASE("two and three GPUs train as one, and keep the same weights to the bit, also where one has no rows") {
  cuda_sim::reset();
  CudaRig one(model, {.rows = rows, .last_rows = 2, .optimizer = SGD()});
  const std::vector<double> right = train(one, 20, 2);
  std::vector<std::vector<float>> parameters;
  for (const PlanTensor& t : one.plan().tensors) {
    if (is_parameter(t.tensor.region)) parameters.push_back(one.values(t.tensor.id));
  }
  for (const int ranks : {2, 3}) {
    cuda_sim::reset(1, {.devices = ranks});
    CudaRig rig(model, {.ranks = ranks, .rows = rows, .last_rows = 2, .optimizer = SGD()});
    const auto check_equal = [&] {
      for (int rank = 1; rank < ranks; ++rank) CHECK(rig.state(rank) == rig.state(0));
    };
    check_equal();
    std::vector<double> losses = train(rig, 1, 2);
    for (const double loss : train(rig, 19, 2, 1)) losses.push_back(loss);
    check_equal();
    REQUIRE(losses.size() == right.size());
    for (std::size_t i = 0; i < losses.size(); ++i) CHECK(std::fabs(losses[i] - right[i]) <= 1e-5 * right[i]);
    std::size_t p = 0;
    for (const PlanTensor& t : rig.plan().tensors) {
      if (is_parameter(t.tensor.region)) check_close(rig.values(t.tensor.id), parameters[p++], 1e-5);
    }
    check_findings();
  }
}

}  // namespace tr

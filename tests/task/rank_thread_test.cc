#include <doctest/doctest.h>
#include <xmmintrin.h>

#include <vector>

#include "tests/task/small_run.h"
#include "tr/task/engine.h"

namespace tr {
namespace {

constexpr unsigned flushing = 0x8040;  // FTZ and DAZ of MXCSR.

unsigned mode() { return _mm_getcsr() & flushing; }

TaskSpec spec() {
  using View = StaticPlan<SmallNet, Spots, SmallRun::batch, Precision::fp32>;
  return {.model_name = "small",
          .data_name = Spots::name,
          .model = {.layers = {SmallNet::blueprint.layers.data(), SmallNet::blueprint.layers.size()},
                    .sample = Spots::sample,
                    .classes = Spots::classes},
          .normalization = Spots::normalization,
          .batch = SmallRun::batch,
          .compiled = {View::view(), View::view()},
          .open = [](const std::string& directory) { return Spots::open(directory); }};
}

}  // namespace

TEST_CASE("O8: denormals count as zero on every rank's thread of a compiled run, and on no other") {
  for (int ranks : {1, 2, 5}) {
    TrainingSettings settings;
    settings.optimizer = SGD();
    Engine engine(spec(), settings, small_options(ranks));
    std::vector<unsigned> modes(static_cast<std::size_t>(ranks), 0);
    for (int job = 0; job < 2; ++job) {
      engine.pool().run(
          [&](ThreadCommunicator& communicator) { modes[static_cast<std::size_t>(communicator.rank())] = mode(); });
      for (unsigned found : modes) CHECK(found == flushing);
    }
    CHECK(mode() == 0);
  }
}

TEST_CASE("O8: a run gives its caller's thread back as it was") {
  DeepLearningTask<SmallRun> task(small_options(2));
  set_up(task, small_options(2)).compile();
  task.run();
  CHECK(mode() == 0);
}

}  // namespace tr

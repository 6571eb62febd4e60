#include "tr/exec/cpu_rank.h"

#include <doctest/doctest.h>
#include <xmmintrin.h>

#include <vector>

#include "tests/task/small_run.h"
#include "tr/dist/rank_pool.h"

namespace tr {
namespace {

constexpr unsigned denormals_off = 0x8040;  // FTZ and DAZ of MXCSR.

unsigned mode() { return _mm_getcsr() & denormals_off; }

/// A schedule that looks at the thread which asks it; the flag lies outside, since a schedule is copied.
struct Looking {
  bool* all_off = nullptr;

  Looking prepare(int, int) const { return *this; }
  float lr(int, int) const {
    *all_off = *all_off && mode() == denormals_off;
    return 0.01F;
  }
};

}  // namespace

TEST_CASE("O8: denormals count as zero on every rank's thread while it computes, and on no other") {
  for (int ranks : {1, 2, 5}) {
    RankPool pool(ranks, set_up_rank_thread);
    std::vector<unsigned> before(static_cast<std::size_t>(ranks), 1);
    std::vector<unsigned> inside(static_cast<std::size_t>(ranks), 0);
    pool.run([&](ThreadCommunicator& communicator) {
      const auto rank = static_cast<std::size_t>(communicator.rank());
      before[rank] = mode();
      const RankScope scope;
      inside[rank] = mode();
    });
    for (unsigned found : before) CHECK(found == 0);
    for (unsigned found : inside) CHECK(found == denormals_off);
    CHECK(mode() == 0);
  }
}

TEST_CASE("O8: a run computes without denormals and gives its caller's thread back as it was") {
  bool all_off = true;
  DeepLearningTask<SmallRun> task(small_options(2));
  task.optimizer(SGD()).scheduler(Looking{&all_off}).total_epochs(2).compile();
  // The first epoch's rates were asked for by this thread.
  all_off = true;
  task.run();
  CHECK(all_off);
  CHECK(mode() == 0);
}

}  // namespace tr

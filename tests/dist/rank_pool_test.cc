#include "tr/dist/rank_pool.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <vector>

#include "tr/base/error.h"
#include "tr/dist/slice.h"

namespace tr {

TEST_CASE("what a rank wrote before a meeting point is seen by all behind it") {
  for (int ranks : {1, 2, 3, 5}) {
    RankPool pool(ranks, [] {});
    std::vector<int> written(ranks, 0);
    std::atomic<int> wrong = 0;
    pool.run([&](ThreadCommunicator& communicator) {
      for (int step = 1; step <= 300; ++step) {
        written[communicator.rank()] = step;
        communicator.meet();
        for (int value : written) wrong += value != step;
        communicator.meet();
      }
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("a pool runs job after job on the same threads") {
  std::atomic<int> setups = 0;
  RankPool pool(3, [&] { ++setups; });
  std::array<std::thread::id, 3> first{};
  std::array<std::thread::id, 3> second{};
  pool.run([&](ThreadCommunicator& c) { first[c.rank()] = std::this_thread::get_id(); });
  pool.run([&](ThreadCommunicator& c) { second[c.rank()] = std::this_thread::get_id(); });
  CHECK(first == second);
  CHECK(setups == 3);
}

TEST_CASE("a rank that fails frees those who wait for it, and its exception reaches the caller") {
  RankPool pool(3, [] {});
  const auto job = [](ThreadCommunicator& communicator) {
    communicator.meet();
    if (communicator.rank() == 1) throw std::runtime_error("rank 1 broke");
    communicator.meet();
    communicator.meet();
  };
  for (int i = 0; i < 50; ++i) CHECK_THROWS_WITH_AS(pool.run(job), "rank 1 broke", std::runtime_error);
  int done = 0;
  pool.run([&](ThreadCommunicator& communicator) {
    communicator.meet();
    if (communicator.rank() == 0) ++done;
  });
  CHECK(done == 1);
}

// The sanitizers map far more memory than the limit that this test sets.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a pool whose threads cannot all be started says so and leaves none behind") {
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const rlimit tight{400U << 20U, before.rlim_max};
  setrlimit(RLIMIT_AS, &tight);
  CHECK_THROWS_AS(RankPool(1000, [] {}), Error);
  setrlimit(RLIMIT_AS, &before);
  RankPool pool(2, [] {});
  std::atomic<int> ran = 0;
  pool.run([&](ThreadCommunicator&) { ++ran; });
  CHECK(ran == 2);
}
#endif

TEST_CASE("shares follow each other, cover everything and differ by at most one") {
  for (std::int64_t total : {0, 1, 2, 3, 66, 200, 1'000'003}) {
    for (std::int64_t parts : {1, 2, 3, 7, 300}) {
      std::int64_t at = 0;
      for (std::int64_t part = 0; part < parts; ++part) {
        const Slice slice = slice_of(total, part, parts);
        CHECK(slice.first == at);
        CHECK(slice.count >= total / parts);
        CHECK(slice.count <= total / parts + 1);
        at += slice.count;
      }
      CHECK(at == total);
    }
  }
}

}  // namespace tr

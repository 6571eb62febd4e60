#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "tests/data/allocation_probe.h"
#include "tests/data/tiny_splits.h"
#include "tr/data/pipeline.h"

namespace tr {

TEST_CASE("a running pipeline allocates nothing") {
  const DataSplits data = tiny_splits(43, 11);
  const SampleSource source = normalized_source(data, {}, DType::fp32);
  for (int workers : {0, 1, 2}) {
    std::vector<std::byte> images(2 * 8 * source.row_bytes);
    std::array<std::int32_t, 16> labels{};
    const RankInput input{{images.data(), images.data() + 8 * source.row_bytes}, {labels.data(), labels.data() + 8}};
    const StreamConfig stream{
        .train_size = 43, .eval_size = 11, .batch = 8, .eval_batch = 8, .drop_last = false, .epochs = 20};
    BatchPipeline pipeline({.stream = stream, .seed = 1, .workers = workers}, source, {&input, 1});
    std::int64_t number = 0;
    REQUIRE(pipeline.wait(number, 0));  // From here on every worker is known to have started.
    pipeline.release(number++);
    const AllocationProbe probe;
    for (; pipeline.wait(number, 0); ++number) pipeline.release(number);
    CHECK(probe.count() == 0);
    CHECK(number == pipeline.stream().size());
  }
}

TEST_CASE("workers share one epoch's order") {
  const SampleSource source{.train_size = 100'000, .eval_size = 1, .row_bytes = 0, .write = [](const Row&) {}};
  const StreamConfig stream{.train_size = 100'000, .eval_size = 1, .batch = 8, .eval_batch = 8, .epochs = 2};
  const RankInput input;
  const auto bytes_with = [&](int workers) {
    const AllocationProbe probe;
    const BatchPipeline pipeline({.stream = stream, .seed = 1, .workers = workers}, source, {&input, 1});
    return probe.bytes();
  };
  CHECK(bytes_with(8) < bytes_with(1) + 400'000);
}

}  // namespace tr

#include "tr/plan/chunks.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/plan/random_model.h"
#include "tr/plan/runtime.h"

namespace tr {

TEST_CASE("chunks cover every element of every parameter once, in the order of memory") {
  std::mt19937 random(3);
  for (int i = 0; i < 50; ++i) {
    const RandomModel model = random_model(random);
    const Plan plan = make_plan(model.spec(), {.train_rows = 2, .norms = true});
    std::int64_t count = 0;
    for (const RegionRange& range : {bias_range, weight_range}) {
      std::int64_t last_end = -1;
      std::int64_t elements = 0;
      for (const Chunk& chunk : chunks_of(plan.tensors, range)) {
        const DTensor& tensor = plan.tensors[chunk.tensor].tensor;
        CHECK(range.contains(tensor.region));
        CHECK(chunk.count > 0);
        CHECK(chunk.count <= chunk_size);
        CHECK(chunk.first % chunk_size == 0);
        CHECK(chunk.first + chunk.count <= tensor.shape.size());
        const std::int64_t begin = tensor.offset / 4 + chunk.first;
        CHECK(begin > last_end);
        last_end = begin + chunk.count - 1;
        elements += chunk.count;
        ++count;
      }
      std::int64_t all = 0;
      for (const PlanTensor& t : plan.tensors) all += range.contains(t.tensor.region) ? t.tensor.shape.size() : 0;
      CHECK(elements == all);
    }
    CHECK(plan.tensors[plan.fixed.square_sums].tensor.shape == Shape{static_cast<int>(count), 1, 1, 2});
  }
}

TEST_CASE("a plan has images and sums for what its optimizer needs, and for nothing else") {
  std::mt19937 random(4);
  const RandomModel model = random_model(random);
  for (int moments : {0, 1, 2}) {
    for (bool norms : {false, true}) {
      for (bool average : {false, true}) {
        const Plan plan =
            make_plan(model.spec(), {.train_rows = 2, .moments = moments, .norms = norms, .average = average});
        const auto bytes = [&](Image image) { return plan.memory.bytes_of(image_of(parameter_range, image)); };
        const std::int64_t all = plan.memory.bytes_of(parameter_range);
        CHECK(bytes(Image::gradient) == all);
        CHECK(bytes(Image::moment1) == (moments > 0 ? all : 0));
        CHECK(bytes(Image::moment2) == (moments > 1 ? all : 0));
        CHECK(bytes(Image::average) == (average ? all : 0));
        CHECK((plan.fixed.square_sums >= 0) == norms);
        int meetings = 0;
        int reductions = 0;
        for (const Node& node : plan.atlas[GraphKind::train].nodes) {
          meetings += node.is_fence() ? 1 : 0;
          reductions += node.op == OpKind::reduce_gradients ? 1 : 0;
        }
        CHECK(meetings == (norms ? 3 : 2));
        CHECK(reductions == (norms ? 2 : 0));
        for (const PlanTensor& t : plan.tensors) {
          if (!average || !is_parameter(t.tensor.region)) continue;
          const int image = image_of(plan, t.tensor.id, Image::average);
          REQUIRE(image >= 0);
          CHECK(plan.tensors[image].tensor.shape == t.tensor.shape);
          const std::int64_t from_weights = t.tensor.offset - plan.memory.offset_of(parameter_range.first);
          CHECK(plan.tensors[image].tensor.offset - plan.memory.offset_of(first_region(Image::average)) ==
                from_weights);
        }
      }
    }
  }
}

}  // namespace tr

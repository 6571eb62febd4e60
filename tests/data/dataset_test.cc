#include "tr/data/dataset.h"

#include <doctest/doctest.h>

#include "tr/base/error.h"

namespace tr {
namespace {

struct Flowers {
  static constexpr const char* name = "flowers";
  static constexpr Shape sample{1, 4, 4, 3};
  static constexpr int classes = 5;
  static constexpr Normalization normalization{};
  static DataSplits open(const std::string&) { return {}; }
};
static_assert(DatasetType<Flowers>);

struct NoClasses : Flowers {
  static constexpr int classes = 0;
};
static_assert(!DatasetType<NoClasses>);

struct FlatSample : Flowers {
  static constexpr int sample = 48;
};
static_assert(!DatasetType<FlatSample>);

struct NothingToOpen : Flowers {
  static void open(const std::string&) {}
};
static_assert(!DatasetType<NothingToOpen>);

Dataset valid() {
  return {.source = "somewhere", .sample = {1, 1, 2, 1}, .classes = 3, .images = {1, 2, 3, 4}, .labels = {0, 2}};
}

}  // namespace

TEST_CASE("a label that the classes do not cover is refused with its sample, at both ends") {
  const std::vector<std::int32_t> labels{1, 2, 3, 4, 7, 8, 9, 10};
  CHECK_THROWS_WITH_AS(check_labels("birds", labels, 8),
                       "birds: the label of sample 5 is 8, legal is [0, 7] for 8 classes", DataError);
  CHECK_THROWS_WITH_AS(check_labels("birds", std::vector<std::int32_t>{0, -1}, 8),
                       "birds: the label of sample 1 is -1, legal is [0, 7] for 8 classes", DataError);
  CHECK_NOTHROW(check_labels("birds", labels, 11));
}

TEST_CASE("a data set is refused when it is empty, inconsistent or labelled beyond its classes") {
  CHECK_NOTHROW(check_dataset(valid()));
  Dataset empty = valid();
  empty.labels.clear();
  empty.images.clear();
  CHECK_THROWS_WITH_AS(check_dataset(empty), "0 samples in somewhere", DataError);
  Dataset cut = valid();
  cut.images.pop_back();
  CHECK_THROWS_WITH_AS(check_dataset(cut), "somewhere: 2 labels need 4 bytes of images of 2 bytes each, there are 3",
                       DataError);
  Dataset mislabelled = valid();
  mislabelled.labels[0] = 3;
  CHECK_THROWS_AS(check_dataset(mislabelled), DataError);
}

}  // namespace tr

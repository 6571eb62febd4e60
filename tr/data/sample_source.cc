#include "tr/data/sample_source.h"

#include <span>

#include "tr/base/error.h"
#include "tr/data/fused_normalization.h"

namespace tr {

SampleSource normalized_source(const DataSplits& data, const Normalization& normalization, DType type) {
  const auto sample_size = static_cast<std::size_t>(data.train.sample.sample_size());
  if (data.train.sample != data.test.sample) throw ValueError("training and test images differ in shape");
  return {.train_size = data.train.size(),
          .eval_size = data.test.size(),
          .row_bytes = sample_size * bytes_of(type),
          .write = [&data, sample_size,
                    normalize = FusedNormalization(normalization, data.train.sample.c, type)](const Row& row) {
            const Dataset& set = row.training ? data.train : data.test;
            const auto sample = static_cast<std::size_t>(row.sample);
            normalize.apply(std::span(set.images).subspan(sample * sample_size, sample_size), row.image);
            *row.label = set.labels[sample];
          }};
}

}  // namespace tr

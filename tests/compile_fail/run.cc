#include "tr/tr.h"

constexpr int sizes[] = {TOKEN};

struct Net {
  static constexpr auto blueprint = tr::seq(tr::flatten(), tr::fc(sizes[0]));
};

struct Run {
  using model = Net;
  using data = tr::Mnist;
  static constexpr int batch = sizes[1];
};

tr::DeepLearningTask<Run> task{tr::Options{}};

#include "tr/tr.h"

struct Net {
  static constexpr auto blueprint = tr::seq(tr::flatten(), tr::fc(10));
};

struct Run {
  TOKEN
};

tr::DeepLearningTask<Run> task{tr::Options{}};

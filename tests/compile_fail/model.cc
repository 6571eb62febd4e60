#include "tr/plan/static_plan.h"

struct Digits {
  static constexpr std::string_view name = "digits";
  static constexpr tr::Shape sample{1, 28, 28, 1};
  static constexpr int classes = 10;
};

struct Net {
  static constexpr auto blueprint = TOKEN;
};

constexpr auto plan = tr::StaticPlan<Net, Digits, 200, tr::Precision::fp32>::view();

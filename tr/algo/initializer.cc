#include "tr/algo/initializer.h"

#include <fmt/format.h>

#include <string>

#include "tr/algo/init_policy.h"

namespace tr::detail {
namespace {

/// A number that was cast to InitKind has no name.
std::string text_of(InitKind kind) {
  return static_cast<int>(kind) < init_kind_count ? std::string(name_of(kind))
                                                  : fmt::format("InitKind {}", static_cast<int>(kind));
}

}  // namespace

void reject_kind(const char* layer, InitKind kind, const char* legal) {
  throw ValueError(fmt::format("{} is {}, legal is {}", layer, text_of(kind), legal));
}

void reject_missing_value(const char* layer, InitKind kind) {
  throw ValueError(fmt::format("{0}({1}) needs a value, as in {0}(InitKind::{1}, 0.01)", layer, name_of(kind)));
}

void reject_needless_value(const char* layer, InitKind kind, double value) {
  throw ValueError(
      fmt::format("{}({}) is given the value {}, which only constants and fixed_normal take; leave it out, "
                  "or use scale()",
                  layer, name_of(kind), value));
}

void reject_config(Region region, InitConfig config) {
  if (config.kind >= InitKind::standard) {
    throw ValueError(fmt::format("a policy starts {} with {}, which is no way to fill a tensor; legal is none to {}",
                                 name_of(region), text_of(config.kind), name_of(InitKind::fixed_normal)));
  }
  if (config.fan > FanMode::fan_avg) {
    throw ValueError(fmt::format("a policy starts {} with the fan {}, legal is fan_in, fan_out or fan_avg",
                                 name_of(region), static_cast<int>(config.fan)));
  }
  throw ValueError(fmt::format("a policy starts {} with {} of scale {}, legal is {}", name_of(region),
                               name_of(config.kind), config.scale, legal_scales(config.kind)));
}

}  // namespace tr::detail

#include "tests/cuda_sim/src/order.h"

#include <algorithm>

namespace cuda_sim {
namespace {

void join(std::vector<std::uint32_t>& clock, const std::vector<std::uint32_t>& other) {
  if (clock.size() < other.size()) clock.resize(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

bool covers(const std::vector<std::uint32_t>& clock, int chain, std::uint32_t time) {
  const auto at = static_cast<std::size_t>(chain);
  return at < clock.size() && clock[at] >= time;
}

}  // namespace

int Order::add_wait(std::string text) {
  waits_.push_back({.text = std::move(text)});
  return static_cast<int>(waits_.size()) - 1;
}

Point Order::add(int chain, const std::vector<After>& after) {
  const auto at = static_cast<std::size_t>(chain);
  if (times_.size() <= at) times_.resize(at + 1);
  Event event{.chain = chain, .time = ++times_[at]};
  for (const After& each : after) {
    if (each.point == no_point) continue;
    event.after.push_back(each);
    join(event.clock, events_[each.point].clock);
    if (each.wait >= 0) waits_[static_cast<std::size_t>(each.wait)].used = true;
  }
  if (event.clock.size() <= at) event.clock.resize(at + 1);
  event.clock[at] = event.time;
  events_.push_back(std::move(event));
  return static_cast<Point>(events_.size() - 1);
}

bool Order::before(Point first, Point second) const {
  return covers(events_[second].clock, events_[first].chain, events_[first].time);
}

void Order::need(Point first, Point second) {
  if (events_[first].chain == events_[second].chain) return;
  const std::uint64_t key = (std::uint64_t{first} << 32) | second;
  if (known_needs_.insert(key).second) needs_.emplace_back(first, second);
}

bool Order::needed(int wait) const {
  std::vector<Clock> clocks;
  clocks.reserve(events_.size());
  for (const Event& event : events_) {
    Clock clock;
    for (const After& each : event.after) {
      if (each.wait != wait) join(clock, clocks[each.point]);
    }
    const auto at = static_cast<std::size_t>(event.chain);
    if (clock.size() <= at) clock.resize(at + 1);
    clock[at] = event.time;
    clocks.push_back(std::move(clock));
  }
  return std::any_of(needs_.begin(), needs_.end(), [&](const auto& need) {
    const Event& first = events_[need.first];
    return !covers(clocks[need.second], first.chain, first.time);
  });
}

std::vector<std::string> Order::redundant_waits() const {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < waits_.size(); ++i) {
    const Wait& wait = waits_[i];
    if (wait.used && !wait.structural && !needed(static_cast<int>(i))) result.push_back(wait.text);
  }
  return result;
}

}  // namespace cuda_sim

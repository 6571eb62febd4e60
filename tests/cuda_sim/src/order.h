#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace cuda_sim {

/// Something that happens once: an operation runs, an event is recorded, the host waits.
using Point = std::uint32_t;
inline constexpr Point no_point = ~Point{0};

/// Why a point comes after another: through the wait (of Order::add_wait) if one is named, else because its stream, its
/// graph or the host has that order anyway.
struct After {
  Point point = no_point;
  int wait = -1;
};

/// The partial order in which points happen, by vector clocks: points on one chain happen one after another.
class Order {
 public:
  int add_chain() { return static_cast<int>(chains_++); }
  /// A place of the program that makes a stream wait for an event; a structural one is needed for the form of a graph.
  int add_wait(std::string text);
  void set_structural(int wait) { waits_[static_cast<std::size_t>(wait)].structural = true; }
  void set_text(int wait, std::string text) { waits_[static_cast<std::size_t>(wait)].text = std::move(text); }

  /// A point of the chain, after those named.
  Point add(int chain, const std::vector<After>& after);
  bool before(Point first, Point second) const;
  bool same_chain(Point a, Point b) const { return events_[a].chain == events_[b].chain; }
  /// Something depends on the first happening before the second, which it does.
  void need(Point first, Point second);

  /// The texts of the waits that the needed order does without: for each, all its edges are taken out, and what is
  /// needed still holds.
  std::vector<std::string> redundant_waits() const;

 private:
  using Clock = std::vector<std::uint32_t>;

  struct Event {
    int chain;
    std::uint32_t time;
    std::vector<After> after;
    Clock clock;
  };
  struct Wait {
    std::string text;
    bool structural = false;
    bool used = false;
  };

  bool needed(int wait) const;

  std::size_t chains_ = 0;
  std::vector<std::uint32_t> times_;  // of each chain, so far
  std::vector<Event> events_;
  std::vector<Wait> waits_;
  std::vector<std::pair<Point, Point>> needs_;
  std::unordered_set<std::uint64_t> known_needs_;
};

}  // namespace cuda_sim

#pragma once

#include <functional>
#include <map>
#include <vector>

#include "tests/cuda_sim/src/order.h"
#include "tests/cuda_sim/src/range.h"

namespace cuda_sim {

/// Who last wrote each byte, and who has read it since: finds accesses that nothing orders.
class History {
 public:
  /// Told of two points that conflict: the earlier one found, the bytes, and whether it wrote them.
  using Report = std::function<void(Point earlier, const Range& bytes, bool earlier_wrote)>;

  explicit History(Order& order) : order_(order) {}

  void read(Point by, const Range& range, const Report& report);
  void write(Point by, const Range& range, const Report& report);
  /// The bytes no longer exist.
  void forget(const Range& range);

 private:
  struct Segment {
    Address end;
    Point writer = no_point;
    std::vector<Point> readers;
  };
  using Segments = std::map<Address, Segment>;

  void split(Address at);
  /// Makes segments end at both ends of the range and leave no gap in it; returns the first.
  Segments::iterator isolate(const Range& range);
  void check(Point earlier, Point by, const Range& bytes, bool earlier_wrote, const Report& report);

  Order& order_;
  Segments segments_;
};

}  // namespace cuda_sim

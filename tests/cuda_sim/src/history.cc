#include "tests/cuda_sim/src/history.h"

#include <algorithm>

namespace cuda_sim {

void History::split(Address at) {
  auto next = segments_.upper_bound(at);
  if (next == segments_.begin()) return;
  const auto holder = std::prev(next);
  if (holder->first == at || holder->second.end <= at) return;
  segments_.emplace_hint(next, at, holder->second);
  holder->second.end = at;
}

History::Segments::iterator History::isolate(const Range& range) {
  split(range.begin);
  split(range.end);
  for (Address at = range.begin; at < range.end;) {
    const auto next = segments_.lower_bound(at);
    if (next != segments_.end() && next->first == at) {
      at = next->second.end;
      continue;
    }
    const Address end = next == segments_.end() ? range.end : std::min(next->first, range.end);
    segments_.emplace_hint(next, at, Segment{.end = end});
    at = end;
  }
  return segments_.find(range.begin);
}

void History::check(Point earlier, Point by, const Range& bytes, bool earlier_wrote, const Report& report) {
  if (earlier == no_point || earlier == by) return;
  if (order_.before(earlier, by)) {
    order_.need(earlier, by);
  } else {
    report(earlier, bytes, earlier_wrote);
  }
}

void History::read(Point by, const Range& range, const Report& report) {
  if (range.begin >= range.end) return;
  for (auto at = isolate(range); at != segments_.end() && at->first < range.end; ++at) {
    Segment& segment = at->second;
    check(segment.writer, by, {at->first, segment.end}, true, report);
    // Who comes after this read comes after all earlier ones of its chain.
    const auto same = [&](Point reader) { return order_.same_chain(reader, by); };
    const auto found = std::find_if(segment.readers.begin(), segment.readers.end(), same);
    if (found == segment.readers.end()) {
      segment.readers.push_back(by);
    } else {
      *found = by;
    }
  }
}

void History::write(Point by, const Range& range, const Report& report) {
  if (range.begin >= range.end) return;
  const auto first = isolate(range);
  auto at = first;
  for (; at != segments_.end() && at->first < range.end; ++at) {
    const Segment& segment = at->second;
    check(segment.writer, by, {at->first, segment.end}, true, report);
    for (const Point reader : segment.readers) check(reader, by, {at->first, segment.end}, false, report);
  }
  segments_.erase(std::next(first), at);
  first->second = {.end = range.end, .writer = by};
}

void History::forget(const Range& range) {
  if (range.begin >= range.end) return;
  split(range.begin);
  split(range.end);
  segments_.erase(segments_.lower_bound(range.begin), segments_.lower_bound(range.end));
}

}  // namespace cuda_sim

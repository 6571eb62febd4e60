#include "tr/data/shuffle.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace tr {
namespace {

using Order = std::vector<std::int32_t>;

Order order_of(std::uint64_t seed, int epoch, std::size_t size) {
  Order order(size, -1);
  EpochShuffle(seed, epoch, order).finish();
  return order;
}

Order identity(std::size_t size) {
  Order order(size);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Order copy(std::span<const std::int32_t> order) { return {order.begin(), order.end()}; }

}  // namespace

TEST_CASE("an epoch's order holds each index once") {
  for (std::size_t size : {1, 2, 3, 42, 60'000}) {
    for (int epoch : {0, 1, 1000}) {
      Order order = order_of(7, epoch, size);
      std::sort(order.begin(), order.end());
      CHECK(order == identity(size));
    }
  }
}

TEST_CASE("epochs and seeds differ, and the same seed and epoch repeat") {
  const Order order = order_of(7, 3, 1000);
  CHECK(order == order_of(7, 3, 1000));
  CHECK(order != order_of(7, 4, 1000));
  CHECK(order != order_of(8, 3, 1000));
  CHECK(order != order_of(7 + (std::uint64_t{1} << 32), 3, 1000));
  CHECK(order != identity(1000));
}

TEST_CASE("the first orders of seed 1 are these, on every machine") {
  CHECK(order_of(1, 0, 10) == Order{0, 7, 5, 6, 1, 8, 3, 9, 4, 2});
  CHECK(order_of(1, 1, 10) == Order{0, 2, 5, 8, 4, 7, 1, 3, 6, 9});
}

TEST_CASE("all orders of four are equally likely") {
  constexpr int draws = 24'000;
  std::map<Order, int> counts;
  for (int epoch = 0; epoch < draws; ++epoch) ++counts[order_of(5, epoch, 4)];
  CHECK(counts.size() == 24);
  double chi_squared = 0.0;
  for (const auto& [order, count] : counts) chi_squared += (count - 1000.0) * (count - 1000.0) / 1000.0;
  CHECK(chi_squared < 49.7);  // Exceeded by chance once in a thousand seeds, with 23 degrees of freedom.
}

TEST_CASE("every sample comes equally often to the front, the middle and the end") {
  constexpr std::size_t size = 200;
  constexpr int epochs = 5000;
  for (std::size_t place : {std::size_t{0}, size / 2, size - 1}) {
    std::vector<int> counts(size, 0);
    for (int epoch = 0; epoch < epochs; ++epoch) ++counts[static_cast<std::size_t>(order_of(9, epoch, size)[place])];
    double chi_squared = 0.0;
    for (const int count : counts) chi_squared += (count - 25.0) * (count - 25.0) / 25.0;
    CHECK(chi_squared < 267.5);  // Once in a thousand seeds, with 199 degrees of freedom.
  }
}

TEST_CASE("an order does not depend on the pieces it was shuffled in") {
  const Order whole = order_of(3, 5, 1001);
  for (std::int64_t piece : {1, 7, 500, 5000}) {
    Order order(1001);
    EpochShuffle shuffle(3, 5, order);
    for (std::int64_t done = 0; done < 1001; done += piece) shuffle.advance(piece);
    CHECK(order == whole);
  }
}

TEST_CASE("orders follow each other whether they were prepared in part, in whole or not at all") {
  EpochOrder orders(11, 500);
  for (int epoch = 0; epoch < 9; ++epoch) {
    CHECK(copy(orders.of(epoch)) == order_of(11, epoch, 500));
    orders.prepare_next(epoch % 3 * 250);
    CHECK(copy(orders.of(epoch)) == order_of(11, epoch, 500));
  }
  CHECK(copy(orders.of(42)) == order_of(11, 42, 500));
  CHECK(copy(orders.of(43)) == order_of(11, 43, 500));
  CHECK(copy(orders.of(2)) == order_of(11, 2, 500));
}

TEST_CASE("orders that were moved elsewhere go on") {
  EpochOrder first(11, 500);
  first.of(1);
  first.prepare_next(100);
  EpochOrder second = std::move(first);
  CHECK(copy(second.of(2)) == order_of(11, 2, 500));
}

}  // namespace tr

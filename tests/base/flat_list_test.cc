#include "tr/base/flat_list.h"

#include <doctest/doctest.h>

#include <utility>

namespace tr {
namespace {

constexpr int sum_of_first(int n) {
  FlatList<int> list;
  for (int i = 0; i < n; ++i) list.push(i);
  FlatList<int> moved = std::move(list);
  int sum = 0;
  for (int v : moved) sum += v;
  return sum;
}
static_assert(sum_of_first(100) == 4950);

}  // namespace

TEST_CASE("a list keeps its order while it grows, and gives positions") {
  FlatList<int> list;
  for (int i = 0; i < 1000; ++i) CHECK(list.push(3 * i) == i);
  CHECK(list.size() == 1000);
  CHECK(list[999] == 2997);
}

TEST_CASE("inserting moves what follows") {
  FlatList<int> list;
  for (int i = 0; i < 20; ++i) list.insert(0, i);
  for (int i = 0; i < 20; ++i) CHECK(list[i] == 19 - i);
  list.insert(20, 99);
  CHECK(list[20] == 99);
}

TEST_CASE("a moved list is empty and can be used again") {
  FlatList<int> list(3, 7);
  const FlatList<int> other = std::move(list);
  CHECK(other.size() == 3);
  CHECK(other[2] == 7);
  list.clear();
  CHECK(list.push(1) == 0);
}

}  // namespace tr

#include "tr/base/address_space.h"

#include <doctest/doctest.h>

#include <fstream>

namespace tr {
namespace {

long mapped_pages() {
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
}

}  // namespace

TEST_CASE("there is room for a little, not for more than a processor can address, and asking maps nothing") {
  CHECK(has_address_space(0));
  const long before = mapped_pages();
  CHECK(has_address_space(std::int64_t{1} << 30));
  CHECK(mapped_pages() < before + (1 << 18));
  CHECK_FALSE(has_address_space(std::int64_t{1} << 60));
}

TEST_CASE("a thread has a stack") {
  CHECK(stack_bytes() >= 16384);
  CHECK(stack_bytes() < std::int64_t{1} << 40);
}

}  // namespace tr

#include "tools/bench/requests.h"

#include <cstdio>
#include <iostream>

namespace tr::bench {

void announce_ready() { answer("{}"); }

bool next_request() {
  std::string line;
  return static_cast<bool>(std::getline(std::cin, line));
}

void answer(const std::string& json) {
  std::puts(json.c_str());
  std::fflush(stdout);
}

}  // namespace tr::bench

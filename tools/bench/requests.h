#pragma once

#include <string>

namespace tr::bench {

/// A measured program's end of its pipe: it says once that it is ready, then each line on stdin asks for one
/// measurement and is answered by one line of JSON on stdout. The other end is processes.py.

void announce_ready();
/// Blocks until a measurement is asked for; false when there will be none any more.
bool next_request();
void answer(const std::string& json);

}  // namespace tr::bench

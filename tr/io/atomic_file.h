#pragma once

#include <string>
#include <string_view>

namespace tr {

/// Writes a whole file or nothing: to a temporary name in the same directory, synced, then renamed over `path`. A file
/// that was there stays as it is until the new one is complete, which then has its mode and, as far as the process may
/// give files away, its group and owner. A symbolic link stays a link and its target is replaced or made. Throws Error
/// naming the path and the reason.
void write_file(const std::string& path, std::string_view contents);

/// Throws the Error that write_file(path) would meet now, so that a wrong path is found before the work whose result is
/// to be written. Leaves nothing behind.
void check_writable(const std::string& path);

}  // namespace tr

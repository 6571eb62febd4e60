#pragma once

#include <cstdio>
#include <string_view>

namespace tr {

/// Writes a text and hands it on at once. False, with the reason in errno, where not all of it could be written: a full
/// disk, a closed descriptor, or a reader that has gone, which raises no SIGPIPE here, so that whoever prints can go on
/// with what matters more. The stream remembers it (std::ferror), report() tells it.
bool print(std::FILE* out, std::string_view text);

/// "warning: TEXT" on stderr.
void warn(std::string_view text);

}  // namespace tr

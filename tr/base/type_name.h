#pragma once

#include <string_view>

namespace tr {

/// The name of a type as the compiler writes it, without the namespaces around it: "Mlp".
template <class T>
constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t begin = text.find("T = ") + 4;
  const std::size_t end = text.find_first_of(";]", begin);
  text = text.substr(begin, end - begin);
  // Template arguments may hold colons of their own.
  const std::size_t arguments = text.find('<');
  const std::size_t colon = text.substr(0, arguments).rfind("::");
  return colon == std::string_view::npos ? text : text.substr(colon + 2);
}

}  // namespace tr

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tr {

/// Text of at most N - 1 characters, zero-terminated, usable in constant expressions and, being structural, as a
/// template argument: that is how the reason of a model error reaches the compiler's first line.
template <std::size_t N>
struct FixedText {
  char chars[N]{};

  constexpr FixedText() = default;
  constexpr FixedText(const char (&text)[N]) {  // NOLINT: a literal converts, as for std::string
    for (std::size_t i = 0; i < N; ++i) chars[i] = text[i];
  }

  constexpr std::size_t size() const {
    std::size_t n = 0;
    while (n + 1 < N && chars[n] != '\0') ++n;
    return n;
  }
  constexpr bool empty() const { return size() == 0; }
  constexpr std::string_view view() const { return {chars, size()}; }
};

/// Collects a message, at compile time or at run time; what does not fit is cut off.
class TextBuilder {
 public:
  static constexpr std::size_t capacity = 320;

  constexpr TextBuilder& operator<<(std::string_view text) {
    for (char c : text) {
      if (size_ + 1 < capacity) text_.chars[size_++] = c;
    }
    return *this;
  }
  constexpr TextBuilder& operator<<(std::int64_t number) {
    char digits[20]{};
    int n = 0;
    // Negative remainders are taken as they come: negating the smallest integer would overflow.
    for (std::int64_t rest = number; n == 0 || rest != 0; rest /= 10) {
      const auto digit = rest % 10;
      digits[n++] = static_cast<char>('0' + (digit < 0 ? -digit : digit));
    }
    if (number < 0) *this << "-";
    while (n > 0) *this << std::string_view(&digits[--n], 1);
    return *this;
  }
  constexpr TextBuilder& operator<<(int number) { return *this << static_cast<std::int64_t>(number); }

  constexpr bool empty() const { return size_ == 0; }
  constexpr std::size_t size() const { return size_; }
  constexpr std::string_view view() const { return {text_.chars, size_}; }

  /// The text as a value of exactly N characters, the terminator included.
  template <std::size_t N>
  constexpr FixedText<N> fixed() const {
    FixedText<N> result;
    for (std::size_t i = 0; i + 1 < N && i < size_; ++i) result.chars[i] = text_.chars[i];
    return result;
  }

 private:
  FixedText<capacity> text_{};
  std::size_t size_ = 0;
};

}  // namespace tr

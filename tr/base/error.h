#pragma once

#include <stdexcept>

namespace tr {

/// The root of all that this library throws on purpose. A message says what was wrong, where, and what is legal.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A setting outside its legal range.
class ValueError : public Error {
 public:
  using Error::Error;
};

/// Shapes that do not fit each other, or a layer that cannot take its input.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// A call in the wrong phase, such as a setter after compile().
class StateError : public Error {
 public:
  using Error::Error;
};

/// A file that is missing, truncated or not what it claims to be.
class DataError : public Error {
 public:
  using Error::Error;
};

/// The processor or the accelerator cannot do what is asked of it.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// A checkpoint that does not belong to this model, or is damaged.
class CheckpointError : public Error {
 public:
  using Error::Error;
};

/// Throws ValueError: "`parameter` is `value`, legal is `legal`". Not constexpr on purpose: reaching it while a
/// constant is evaluated is the compile-time form of the same error, and the compiler prints the call.
[[noreturn]] void value_error(const char* parameter, double value, const char* legal);

}  // namespace tr

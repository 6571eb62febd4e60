#pragma once

#include <csignal>

namespace tr {

/// What SIGINT does while the object lives; doctest has a handler of its own.
class Disposition {
 public:
  explicit Disposition(void (*handler)(int)) : before_(std::signal(SIGINT, handler)) {}
  ~Disposition() { std::signal(SIGINT, before_); }
  Disposition(const Disposition&) = delete;
  Disposition& operator=(const Disposition&) = delete;

 private:
  void (*before_)(int);
};

inline bool is_handled_by(void (*handler)(int)) {
  struct sigaction action {};
  sigaction(SIGINT, nullptr, &action);
  return action.sa_handler == handler;
}

}  // namespace tr

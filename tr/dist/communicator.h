#pragma once

#include <concepts>

namespace tr {

/// What a rank knows of the others. `meet` returns when every rank has called it; all that a rank wrote before is then
/// visible to all. It throws when a rank has failed, so that nobody waits for ever.
template <class C>
concept Communicator = requires(C communicator) {
  { communicator.rank() } -> std::same_as<int>;
  { communicator.size() } -> std::same_as<int>;
  communicator.meet();
};

}  // namespace tr

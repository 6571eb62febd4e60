#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/cuda_sim/src/range.h"

namespace cuda_sim {

/// Where an allocation lies: a device's number, or host for pinned memory.
using Space = int;
inline constexpr Space host_space = -1;
/// Its place among all: the host comes first.
inline std::size_t place(Space space) { return static_cast<std::size_t>(space) + 1; }

struct Allocation {
  int id;
  Space space;
  Range range;
};

/// A stretch of addresses, reserved at once, from which one space allocates. An address is never given out twice, so
/// one that was freed is known for ever.
class Window {
 public:
  explicit Window(Space space);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  Space space() const { return space_; }
  Address begin() const { return begin_; }
  /// The first address that was never given out.
  Address used_end() const { return used_end_; }
  bool contains(Address address) const { return address - begin_ < window_bytes; }

  /// Memory filled with the bytes 0xff: a NaN in every floating-point type.
  Allocation& allocate(std::size_t bytes, int id, std::size_t gap);
  void free(Address begin);
  /// The live allocation that holds the address, or nullptr.
  const Allocation* find(Address address) const { return find_in(live_, address); }
  const std::map<Address, Allocation>& live() const { return live_; }
  /// Whether the address was in an allocation that is freed.
  bool was_freed(Address address) const { return find_in(freed_, address) != nullptr; }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t window_bytes = std::size_t{1} << 36;

  static const Allocation* find_in(const std::map<Address, Allocation>& all, Address address);

  Space space_;
  Address begin_ = 0, used_end_ = 0;
  std::map<Address, Allocation> live_, freed_;
  std::size_t bytes_ = 0;
};

/// All memory that a device can reach.
class Memory {
 public:
  Memory(int devices, std::uint64_t seed);

  const Allocation& allocate(Space space, std::size_t bytes);
  /// False if no allocation of the space begins there.
  bool free(Space space, const void* begin);
  /// The window, and in it the live allocation if there is one, that holds the address.
  const Window* window_of(Address address) const;
  Window& window(Space space) { return *windows_[place(space)]; }
  const Allocation* find(Address address) const;
  /// The range lies inside one live allocation.
  bool holds(const Range& range) const;
  /// "bytes [16, 80) of allocation 3 (device 0, 256 bytes)", or what else stands there.
  std::string describe(const Range& range) const;
  /// What was ever allocated, by id: whether it still lives.
  bool alive(int id) const { return alive_[static_cast<std::size_t>(id)]; }
  /// Ids of the allocations that words of the bytes point into. Those that point into freed ones are put into `stale`.
  std::vector<int> pointers_in(const void* data, std::size_t bytes, std::vector<Address>& stale) const;
  const std::vector<std::unique_ptr<Window>>& windows() const { return windows_; }

 private:
  std::vector<std::unique_ptr<Window>> windows_;  // of the host, then of each device
  std::vector<bool> alive_;
  std::mt19937_64 random_;
};

std::string space_name(Space space);

}  // namespace cuda_sim

#include "tests/cuda_sim/src/memory.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace cuda_sim {
namespace {

constexpr std::size_t granule = 256;  // what cudaMalloc's addresses are a multiple of, and no more
constexpr std::size_t page = 4096;

Address round_up(Address value, std::size_t to) { return (value + to - 1) / to * to; }

void* pointer(Address address) { return reinterpret_cast<void*>(address); }  // NOLINT(performance-no-int-to-ptr)

}  // namespace

std::string space_name(Space space) {
  return space == host_space ? "pinned host memory" : "device " + std::to_string(space);
}

Window::Window(Space space) : space_(space) {
  void* reserved = mmap(nullptr, window_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) throw std::bad_alloc();
  begin_ = used_end_ = reinterpret_cast<Address>(reserved);
}

Window::~Window() { munmap(pointer(begin_), window_bytes); }

Allocation& Window::allocate(std::size_t bytes, int id, std::size_t gap) {
  const Address begin = round_up(used_end_ + gap, granule);
  if (bytes > window_bytes || begin + bytes > begin_ + window_bytes) throw std::bad_alloc();
  const Address first_page = begin / page * page;
  if (mprotect(pointer(first_page), round_up(begin + bytes, page) - first_page, PROT_READ | PROT_WRITE) != 0) {
    throw std::bad_alloc();
  }
  std::memset(pointer(begin), 0xff, bytes);
  used_end_ = begin + bytes;
  bytes_ += bytes;
  return live_.emplace(begin, Allocation{id, space_, {begin, begin + bytes}}).first->second;
}

void Window::free(Address begin) {
  const Range range = live_.at(begin).range;
  freed_.insert(live_.extract(begin));
  bytes_ -= range.bytes();
  // Whole pages go back, and touching them faults; at the edges other allocations may lie in the same page.
  const Address first = round_up(range.begin, page), last = range.end / page * page;
  if (first < last) {
    void* const at =
        mmap(pointer(first), last - first, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
  }
}

const Allocation* Window::find_in(const std::map<Address, Allocation>& all, Address address) {
  const auto next = all.upper_bound(address);
  if (next == all.begin()) return nullptr;
  const Allocation& candidate = std::prev(next)->second;
  return candidate.range.contains(address) ? &candidate : nullptr;
}

Memory::Memory(int devices, std::uint64_t seed) : random_(seed) {
  for (Space space = host_space; space < devices; ++space) windows_.push_back(std::make_unique<Window>(space));
}

const Allocation& Memory::allocate(Space space, std::size_t bytes) {
  const std::size_t gap = granule * (1 + random_() % 4);
  const int id = static_cast<int>(alive_.size());
  const Allocation& made = window(space).allocate(bytes, id, gap);
  alive_.push_back(true);
  return made;
}

bool Memory::free(Space space, const void* begin) {
  Window& of = window(space);
  const auto found = of.live().find(reinterpret_cast<Address>(begin));
  if (found == of.live().end()) return false;
  alive_[static_cast<std::size_t>(found->second.id)] = false;
  of.free(found->first);
  return true;
}

const Window* Memory::window_of(Address address) const {
  for (const auto& window : windows_) {
    if (window->contains(address)) return window.get();
  }
  return nullptr;
}

const Allocation* Memory::find(Address address) const {
  const Window* window = window_of(address);
  return window == nullptr ? nullptr : window->find(address);
}

bool Memory::holds(const Range& range) const {
  const Allocation* allocation = find(range.begin);
  return allocation != nullptr && allocation->range.contains(range);
}

std::string Memory::describe(const Range& range) const {
  const auto text = [](auto value) { return std::to_string(value); };
  if (const Allocation* at = find(range.begin)) {
    const Address first = range.begin - at->range.begin;
    return "bytes [" + text(first) + ", " + text(first + range.bytes()) + ") of allocation " + text(at->id) + " (" +
           space_name(at->space) + ", " + text(at->range.bytes()) + " bytes)";
  }
  const std::string bytes = text(range.bytes()) + " bytes at " + text(range.begin);
  const Window* window = window_of(range.begin);
  if (window == nullptr) return bytes + ", which no device can reach";
  const auto next = window->live().upper_bound(range.begin);
  if (next != window->live().begin()) {
    const Allocation& before = std::prev(next)->second;
    return bytes + ", " + text(range.begin - before.range.end) + " bytes behind the end of allocation " +
           text(before.id) + " (" + space_name(before.space) + ", " + text(before.range.bytes()) + " bytes)";
  }
  return bytes + " of " + space_name(window->space()) + ", where nothing is allocated";
}

std::vector<int> Memory::pointers_in(const void* data, std::size_t bytes, std::vector<Address>& stale) const {
  std::vector<int> ids;
  for (std::size_t at = 0; at + sizeof(Address) <= bytes; at += sizeof(Address)) {
    Address word = 0;
    std::memcpy(&word, static_cast<const char*>(data) + at, sizeof word);
    const Window* window = window_of(word);
    if (window == nullptr) continue;
    // A pointer to the end of an array belongs to the array.
    const Allocation* allocation = window->find(word);
    if (allocation == nullptr) allocation = window->find(word - 1);
    if (allocation != nullptr) {
      ids.push_back(allocation->id);
    } else if (window->was_freed(word)) {
      // Padding between arguments holds anything, so an address that was never given out says nothing.
      stale.push_back(word);
    }
  }
  return ids;
}

}  // namespace cuda_sim

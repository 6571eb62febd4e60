#include "tr/base/address_space.h"

#include <pthread.h>
#include <sys/mman.h>

#include <cstddef>

namespace tr {

bool has_address_space(std::int64_t bytes) {
  if (bytes <= 0) return true;
  const auto size = static_cast<std::size_t>(bytes);
  void* const place = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return false;
  munmap(place, size);
  return true;
}

std::int64_t stack_bytes() {
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  pthread_attr_init(&attributes);
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return static_cast<std::int64_t>(bytes);
}

}  // namespace tr

#include "tests/cuda_sim/src/collective.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace cuda_sim {
namespace {

/// In the order of the ranks; each step rounds to the type, as a ring does.
template <class T>
void reduce(const Rendezvous& rendezvous, std::size_t count, ncclRedOp_t op) {
  std::vector<T> total(count);
  for (std::size_t rank = 0; rank < rendezvous.parts.size(); ++rank) {
    const T* send = static_cast<const T*>(rendezvous.parts[rank]->collective->send);
    for (std::size_t i = 0; i < count; ++i) {
      if (rank == 0) {
        total[i] = send[i];
      } else if (op == ncclSum) {
        total[i] = static_cast<T>(total[i] + send[i]);
      } else {
        total[i] = total[i] < send[i] ? send[i] : total[i];
      }
    }
  }
  for (const Operation* part : rendezvous.parts) {
    std::copy(total.begin(), total.end(), static_cast<T*>(part->collective->receive));
  }
}

void reduce(const Rendezvous& rendezvous, const CollectiveCall& call) {
  switch (call.type) {
    case ncclInt32: return reduce<std::int32_t>(rendezvous, call.count, call.op);
    case ncclInt64: return reduce<std::int64_t>(rendezvous, call.count, call.op);
    case ncclFloat16: return reduce<__half>(rendezvous, call.count, call.op);
    case ncclBfloat16: return reduce<__nv_bfloat16>(rendezvous, call.count, call.op);
    case ncclFloat32: return reduce<float>(rendezvous, call.count, call.op);
    case ncclFloat64: return reduce<double>(rendezvous, call.count, call.op);
  }
}

void broadcast(const Rendezvous& rendezvous, const CollectiveCall& call) {
  const auto* root = rendezvous.parts[static_cast<std::size_t>(call.root)];
  const std::size_t bytes = call.count * element_bytes(call.type);
  const char* from = static_cast<const char*>(root->collective->send);
  const std::vector<char> data(from, from + bytes);
  for (const Operation* part : rendezvous.parts) std::memcpy(part->collective->receive, data.data(), bytes);
}

}  // namespace

std::size_t element_bytes(ncclDataType_t type) {
  switch (type) {
    case ncclFloat16:
    case ncclBfloat16: return 2;
    case ncclInt32:
    case ncclFloat32: return 4;
    case ncclInt64:
    case ncclFloat64: return 8;
  }
  return 0;
}

std::shared_ptr<Rendezvous> join(const CollectiveCall& call) {
  Clique& clique = *call.clique;
  const std::uint64_t number = clique.next[static_cast<std::size_t>(call.rank)]++;
  std::shared_ptr<Rendezvous>& rendezvous = clique.open[number];
  if (rendezvous == nullptr) {
    rendezvous = std::make_shared<Rendezvous>();
    rendezvous->clique = &clique;
    rendezvous->parts.resize(static_cast<std::size_t>(clique.ranks));
  }
  std::shared_ptr<Rendezvous> result = rendezvous;
  // All ranks have it: nobody will ask again.
  if (std::all_of(clique.next.begin(), clique.next.end(), [=](std::uint64_t next) { return next > number; })) {
    clique.open.erase(number);
  }
  return result;
}

std::string run(const Rendezvous& rendezvous) {
  const CollectiveCall& first = *rendezvous.parts.front()->collective;
  for (const Operation* part : rendezvous.parts) {
    const CollectiveCall& call = *part->collective;
    if (call.reduces == first.reduces && call.count == first.count && call.type == first.type && call.op == first.op &&
        call.root == first.root) {
      continue;
    }
    return "ranks 0 and " + std::to_string(call.rank) + " meet in different collectives: '" +
           rendezvous.parts.front()->name + "' of " + std::to_string(first.count) + " elements and '" + part->name +
           "' of " + std::to_string(call.count);
  }
  if (first.reduces) {
    reduce(rendezvous, first);
  } else {
    broadcast(rendezvous, first);
  }
  return {};
}

}  // namespace cuda_sim

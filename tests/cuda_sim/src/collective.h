#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "nccl.h"
#include "tests/cuda_sim/src/stream.h"

namespace cuda_sim {

struct Rendezvous;

/// The communicators that were made together, one a rank. The k-th call of each rank belongs to the k-th of the others.
struct Clique {
  int ranks = 0;
  bool aborted = false;
  std::vector<std::uint64_t> next;  // call, of each rank
  std::map<std::uint64_t, std::shared_ptr<Rendezvous>> open;
  /// Calls that were made outside a group.
  struct Alone {
    std::uint64_t number;
    std::thread::id thread;
    int rank;
  };
  std::vector<Alone> alone;
};

/// One rank's part in a collective.
struct CollectiveCall {
  std::shared_ptr<Clique> clique;
  int rank = 0;
  bool reduces = false;  // an all-reduce, else a broadcast
  std::size_t count = 0;
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t op = ncclSum;
  int root = 0;
  const void* send = nullptr;
  void* receive = nullptr;
};

/// The parts of one collective, as they come to the heads of their streams.
struct Rendezvous {
  const Clique* clique = nullptr;       // which the calls keep alive
  std::vector<const Operation*> parts;  // of each rank, nullptr before it is there
  std::vector<After> after;
  std::size_t there = 0;
  int chain = 0;
  bool done = false;
  Point point = no_point;

  bool can_run() const { return done || clique->aborted || there == parts.size(); }
};

/// The next rendezvous for this call.
std::shared_ptr<Rendezvous> join(const CollectiveCall& call);
/// Moves the data. Returns what does not fit together, or nothing: then the sums are made in the order of the ranks.
std::string run(const Rendezvous& rendezvous);
/// Bytes of an element; 0 if the stand-in does not have the type.
std::size_t element_bytes(ncclDataType_t type);

}  // namespace cuda_sim

#pragma once

#include <map>
#include <memory>
#include <thread>

#include "tests/cuda_sim/src/collective.h"

/// One rank of a clique.
struct ncclComm {  // NOLINT(readability-identifier-naming)
  std::shared_ptr<cuda_sim::Clique> clique;
  int rank = 0;
  int device = 0;
  ncclResult_t async_error = ncclSuccess;
};

namespace cuda_sim {

struct Communicators {
  std::map<ncclComm_t, std::unique_ptr<ncclComm>> live;
};

}  // namespace cuda_sim

#include "kernels/cuda/sgd.h"
#include "kernels/cuda/update-inl.h"

namespace tr::cuda {
namespace {

struct SgdRule {
  struct Constants {
    float decoupled;
    float coupled;
    float lr;
    float momentum;
    float undampened;
    bool nesterov;
    bool first_step;
  };

  SgdScalars scalars;
  const std::int32_t* step_number;
  bool decay;
  bool nesterov;
  bool decoupled;

  // Products of scalars are formed in fp64 and rounded once, as on the CPU.
  __device__ Constants constants() const {
    const double rate = *scalars.lr;
    const double shrink = decay ? *scalars.weight_decay : 0.0;
    return {static_cast<float>(decoupled ? rate * shrink : 0.0),
            static_cast<float>(decoupled ? 0.0 : shrink),
            *scalars.lr,
            *scalars.momentum,
            static_cast<float>(1.0 - static_cast<double>(*scalars.dampening)),
            nesterov,
            *step_number == 1};
  }

  static __device__ bool writes_moment1(const Constants& c) { return c.momentum != 0.0F; }

  static __device__ float step(const Constants& c, float weight, float gradient, float& momentum, float&) {
    float change = fmaf(c.coupled, weight, gradient);
    if (c.momentum != 0.0F) {
      momentum = c.first_step ? change : fmaf(c.momentum, momentum, c.undampened * change);
      change = c.nesterov ? fmaf(c.momentum, momentum, change) : momentum;
    }
    return weight - fmaf(c.lr, change, c.decoupled * weight);
  }
};

}  // namespace

void sgd_update(const SgdUpdate& sgd, cudaStream_t stream) {
  const SgdRule rule{sgd.scalars, sgd.range.step, sgd.range.decay, sgd.nesterov, sgd.decoupled};
  update("sgd_update", sgd.range, rule, stream);
}

}  // namespace tr::cuda

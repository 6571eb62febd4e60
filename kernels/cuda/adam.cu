#include "kernels/cuda/adam.h"
#include "kernels/cuda/update-inl.h"

namespace tr::cuda {
namespace {

struct AdamRule {
  struct Constants {
    float decoupled;
    float coupled;
    float beta1;
    float rest1;
    float beta2;
    float rest2;
    float step;
    float root;
    float eps;
  };

  AdamScalars scalars;
  bool decay;
  bool decoupled;

  // Products of scalars are formed in fp64 and rounded once, as on the CPU.
  __device__ Constants constants() const {
    const double lr = *scalars.lr;
    const double shrink = decay ? *scalars.weight_decay : 0.0;
    return {static_cast<float>(decoupled ? lr * shrink : 0.0),
            static_cast<float>(decoupled ? 0.0 : shrink),
            *scalars.beta1,
            static_cast<float>(1.0 - static_cast<double>(*scalars.beta1)),
            *scalars.beta2,
            static_cast<float>(1.0 - static_cast<double>(*scalars.beta2)),
            static_cast<float>(lr / static_cast<double>(*scalars.bias_correction1)),
            static_cast<float>(1.0 / sqrt(static_cast<double>(*scalars.bias_correction2))),
            *scalars.eps};
  }

  static __device__ bool writes_moment1(const Constants&) { return true; }

  static __device__ float step(const Constants& c, float weight, float gradient, float& m, float& v) {
    const float decayed = fmaf(c.coupled, weight, gradient);
    m = fmaf(c.beta1, m, c.rest1 * decayed);
    v = fmaf(c.beta2, v, c.rest2 * (decayed * decayed));
    const float change = c.step * m / fmaf(sqrtf(v), c.root, c.eps);
    return weight - fmaf(c.decoupled, weight, change);
  }
};

}  // namespace

void adam_update(const AdamUpdate& adam, cudaStream_t stream) {
  update("adam_update", adam.range, AdamRule{adam.scalars, adam.range.decay, adam.decoupled}, stream);
}

}  // namespace tr::cuda

#include "kernels/cuda/launch.h"
#include "kernels/cuda/relu.h"
#include "kernels/cuda/vector-inl.h"

namespace tr::cuda {
namespace {

__global__ void relu_forward_kernel(ReluForward relu, bool aligned) {
  // Preconditions: blockDim = (block_threads), gridDim · block_elements >= count; y is x, or they do not overlap.
  const Place place = place_of_thread(relu.count, aligned);  // (width) of (count)
  Four four = load(relu.x, place);
  for (float& v : four.v) v = cuda::relu(v);
  store(four, relu.y, place);
}

__global__ void relu_backward_kernel(ReluBackward relu, bool aligned) {
  // Preconditions: blockDim = (block_threads), gridDim · block_elements >= count; dx is dy, or overlaps neither input.
  const Place place = place_of_thread(relu.count, aligned);  // (width) of (count)
  const Bits dy = load_bits(relu.dy, place);
  const Four y = load(relu.y, place);
  Four gradient = to_four(dy, relu.dy.type);
  for (int i = 0; i < width; ++i) gradient.v[i] = relu_gradient(gradient.v[i], y.v[i]);
  store(gradient, relu.dx, place);
}

}  // namespace

void relu_forward(const ReluForward& relu, cudaStream_t stream) {
  if (relu.count == 0) return;
  launch("relu_forward", relu_forward_kernel, blocks_for(relu.count, block_elements, "relu_forward"), block_threads,
         stream, relu, is_aligned(relu.x) && is_aligned(relu.y));
}

void relu_backward(const ReluBackward& relu, cudaStream_t stream) {
  if (relu.count == 0) return;
  launch("relu_backward", relu_backward_kernel, blocks_for(relu.count, block_elements, "relu_backward"), block_threads,
         stream, relu, is_aligned(relu.dy) && is_aligned(relu.y) && is_aligned(relu.dx));
}

}  // namespace tr::cuda

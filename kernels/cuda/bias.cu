#include <algorithm>
#include <bit>

#include "kernels/cuda/bias.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/vector-inl.h"

namespace tr::cuda {
namespace {

/// Rows that each thread takes. All of them are loaded before the first is worked on: where matrices are small, it is
/// the wait for memory that counts. Backward takes more, since each block leaves a row of partial sums to be read
/// again.
constexpr int forward_rows = 4;
constexpr int backward_rows = 8;

/// How a block lies over a matrix: its threads as (column lanes, row lanes), each thread `width` columns by
/// `rows_per_thread` rows, one in every row_lanes. Narrow matrices get few column lanes and more row lanes. All of
/// it depends on the matrix's size alone, so that sums are always taken in the same order.
struct Tiling {
  int column_lanes = 0;
  int row_lanes = 0;
  /// Blocks along the columns and along the rows.
  std::int64_t column_blocks = 0;
  std::int64_t row_blocks = 0;
};

Tiling tiling_of(std::int64_t rows, std::int64_t columns, int rows_per_thread) {
  const auto vectors = static_cast<std::uint64_t>((columns + width - 1) / width);
  Tiling tiling;
  tiling.column_lanes = static_cast<int>(std::min<std::uint64_t>(std::bit_ceil(vectors), warp_threads));
  tiling.row_lanes = block_threads / tiling.column_lanes;
  const std::int64_t block_columns = tiling.column_lanes * width;
  const std::int64_t block_rows = std::int64_t{tiling.row_lanes} * rows_per_thread;
  tiling.column_blocks = (columns + block_columns - 1) / block_columns;
  tiling.row_blocks = (rows + block_rows - 1) / block_rows;
  return tiling;
}

/// Blocks that share rows are neighbours.
unsigned grid_of(const Tiling& tiling, const char* operation) {
  return blocks_for(tiling.column_blocks * tiling.row_blocks, 1, operation);
}

dim3 block_of(const Tiling& tiling) {
  return {static_cast<unsigned>(tiling.column_lanes), static_cast<unsigned>(tiling.row_lanes)};
}

/// The elements of this thread in `Rows` rows of (rows, columns).
template <int Rows>
struct Places {
  Place columns;
  Place row[Rows];
};

template <int Rows>
__device__ Places<Rows> places_of_thread(std::int64_t rows, std::int64_t columns, std::int64_t column_blocks,
                                         bool aligned) {
  const std::int64_t column_block = blockIdx.x % column_blocks;
  const std::int64_t row_block = blockIdx.x / column_blocks;
  Places<Rows> places;
  places.columns = place_at(width * (column_block * blockDim.x + threadIdx.x), columns, aligned);
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
    const std::int64_t row = (row_block * Rows + i) * blockDim.y + threadIdx.y;
    places.row[i] = row < rows ? places.columns : Place{};
    places.row[i].at = row * columns + places.columns.at;
  }
  return places;
}

__global__ void bias_forward_kernel(BiasForward bias, std::int64_t column_blocks, bool aligned) {
  // Preconditions: blockDim = (column_lanes, row_lanes), gridDim = (column_blocks · row_blocks) of tiling_of(); aligned
  // only if columns % width = 0; y is z, or they do not overlap.
  const auto places = places_of_thread<forward_rows>(bias.rows, bias.columns, column_blocks, aligned);
  Four added{};  // (width) of (columns)
  if (bias.bias != nullptr) added = load(bias.bias, places.columns);
  Bits z[forward_rows];  // (forward_rows, width) of (rows, columns)
#pragma unroll
  for (int i = 0; i < forward_rows; ++i) z[i] = load_bits(bias.z, places.row[i]);
#pragma unroll
  for (int i = 0; i < forward_rows; ++i) {
    Four y = to_four(z[i], bias.z.type);
    for (int j = 0; j < width; ++j) {
      if (bias.bias != nullptr) y.v[j] += added.v[j];
      if (bias.activation == Activation::relu) y.v[j] = relu(y.v[j]);
    }
    store(y, bias.y, places.row[i]);
  }
}

/// Sums over the row lanes of a block; the result is right in the threads with threadIdx.y = 0.
__device__ Four sum_over_row_lanes(Four sum) {
  __shared__ float sums[width][block_threads];
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  for (int j = 0; j < width; ++j) sums[j][thread] = sum.v[j];
  for (unsigned lanes = blockDim.y / 2; lanes > 0; lanes /= 2) {
    __syncthreads();
    if (threadIdx.y < lanes) {
      for (int j = 0; j < width; ++j) sums[j][thread] += sums[j][thread + static_cast<int>(lanes * blockDim.x)];
    }
  }
  for (int j = 0; j < width; ++j) sum.v[j] = sums[j][thread];
  return sum;
}

__global__ void bias_backward_kernel(BiasBackward bias, float* partial, std::int64_t column_blocks, bool aligned) {
  // Preconditions: blockDim = (column_lanes, row_lanes), powers of two; gridDim = (column_blocks · row_blocks) of
  // tiling_of(); aligned only if columns % width = 0; dz is dy, or overlaps neither input; partial is null, or
  // (row_blocks, columns).
  const auto places = places_of_thread<backward_rows>(bias.rows, bias.columns, column_blocks, aligned);
  Bits dy[backward_rows];  // (backward_rows, width) of (rows, columns)
  Bits y[backward_rows];   // (backward_rows, width) of (rows, columns)
#pragma unroll
  for (int i = 0; i < backward_rows; ++i) {
    dy[i] = load_bits(bias.dy, places.row[i]);
    if (bias.y.data != nullptr) y[i] = load_bits(bias.y, places.row[i]);
  }
  Four sum{};  // (width) of (columns)
#pragma unroll
  for (int i = 0; i < backward_rows; ++i) {
    Four gradient = to_four(dy[i], bias.dy.type);
    if (bias.y.data != nullptr) {
      const Four output = to_four(y[i], bias.y.type);
      for (int j = 0; j < width; ++j) gradient.v[j] = relu_gradient(gradient.v[j], output.v[j]);
    }
    if (bias.dz.data != nullptr) store(gradient, bias.dz, places.row[i]);
    for (int j = 0; j < width; ++j) sum.v[j] += gradient.v[j];
  }
  if (partial == nullptr) return;
  sum = sum_over_row_lanes(sum);
  if (threadIdx.y > 0) return;
  Place place = places.columns;  // (width) of (row_blocks, columns)
  place.at += blockIdx.x / column_blocks * bias.columns;
  store(sum, partial, place);
}

/// Lanes along the columns and along the partial sums.
constexpr int sum_columns = 32;
constexpr int sum_lanes = 8;

__global__ void sum_partials_kernel(const float* partial, std::int64_t row_blocks, std::int64_t columns, float* db) {
  // Preconditions: blockDim = (sum_columns, sum_lanes), gridDim · sum_columns >= columns.
  __shared__ float sums[sum_lanes][sum_columns];
  const std::int64_t column = std::int64_t{blockIdx.x} * sum_columns + threadIdx.x;
  float sum = 0.0F;
  if (column < columns) {
    for (std::int64_t i = threadIdx.y; i < row_blocks; i += sum_lanes) sum += partial[i * columns + column];
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || column >= columns) return;
  for (int i = 1; i < sum_lanes; ++i) sum += sums[i][threadIdx.x];
  db[column] = sum;
}

}  // namespace

void bias_forward(const BiasForward& bias, cudaStream_t stream) {
  if (bias.rows == 0 || bias.columns == 0) return;
  const Tiling tiling = tiling_of(bias.rows, bias.columns, forward_rows);
  const bool aligned = bias.columns % width == 0 && is_aligned(bias.z) && is_aligned(bias.bias) && is_aligned(bias.y);
  launch("bias_forward", bias_forward_kernel, grid_of(tiling, "bias_forward"), block_of(tiling), stream, bias,
         tiling.column_blocks, aligned);
}

std::int64_t bias_backward_workspace(const BiasBackward& bias) {
  const std::int64_t row_blocks = tiling_of(bias.rows, bias.columns, backward_rows).row_blocks;
  if (bias.db == nullptr || row_blocks < 2) return 0;
  return row_blocks * bias.columns * static_cast<std::int64_t>(sizeof(float));
}

void bias_backward(const BiasBackward& bias, cudaStream_t stream) {
  if (bias.columns == 0) return;
  if (bias.rows == 0) {
    if (bias.db == nullptr) return;
    const auto bytes = static_cast<std::size_t>(bias.columns) * sizeof(float);
    return check(cudaMemsetAsync(bias.db, 0, bytes, stream), "bias_backward");
  }
  const Tiling tiling = tiling_of(bias.rows, bias.columns, backward_rows);
  const bool in_two = bias.db != nullptr && tiling.row_blocks > 1;
  float* partial = in_two ? bias.workspace : bias.db;
  const bool aligned = bias.columns % width == 0 && is_aligned(bias.dy) && is_aligned(bias.y) && is_aligned(bias.dz) &&
                       is_aligned(partial);
  launch("bias_backward", bias_backward_kernel, grid_of(tiling, "bias_backward"), block_of(tiling), stream, bias,
         partial, tiling.column_blocks, aligned);
  if (!in_two) return;
  launch("bias_backward", sum_partials_kernel, blocks_for(bias.columns, sum_columns, "bias_backward"),
         dim3(sum_columns, sum_lanes), stream, partial, tiling.row_blocks, bias.columns, bias.db);
}

}  // namespace tr::cuda

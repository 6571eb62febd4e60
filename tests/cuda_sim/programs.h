#pragma once

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/cuda_sim/control.h"

/// What tests of the stand-in write over and over.
namespace cuda_sim_test {

template <class... P, class... A>
cudaError_t launch(void (*kernel)(P...), dim3 grid, dim3 block, cudaStream_t stream, A&&... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, std::forward<A>(arguments)...);
}

inline cudaStream_t make_stream() {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  return stream;
}

inline cudaEvent_t make_event() {
  cudaEvent_t event = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
  return event;
}

/// The one stream goes on when the other has come to this place.
inline void join(cudaStream_t before, cudaStream_t after) {
  const cudaEvent_t event = make_event();
  REQUIRE(cudaEventRecord(event, before) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(after, event) == cudaSuccess);
}

template <class T>
T* device_array(std::size_t count) {
  T* data = nullptr;
  REQUIRE(cudaMalloc(&data, count * sizeof(T)) == cudaSuccess);
  return data;
}

template <class T>
T* device_array(const std::vector<T>& values) {
  T* data = device_array<T>(values.size());
  REQUIRE(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
  return data;
}

template <class T>
T* pinned_array(std::size_t count) {
  T* data = nullptr;
  REQUIRE(cudaHostAlloc(&data, count * sizeof(T), cudaHostAllocDefault) == cudaSuccess);
  return data;
}

template <class T>
std::vector<T> on_host(const T* data, std::size_t count) {
  std::vector<T> values(count);
  REQUIRE(cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
  return values;
}

/// How many findings so far contain the text.
inline int found(const std::string& text) {
  int count = 0;
  for (const std::string& finding : cuda_sim::findings()) count += finding.find(text) != std::string::npos ? 1 : 0;
  return count;
}

inline std::string all_findings() {
  std::string text;
  for (const std::string& finding : cuda_sim::findings()) text += finding + "\n";
  return text;
}

}  // namespace cuda_sim_test

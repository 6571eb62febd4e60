#include "tests/cuda_sim/src/simulator.h"

#include <algorithm>

#include "tests/cuda_sim/src/communicator.h"
#include "tests/cuda_sim/src/hooks.h"

namespace cuda_sim {
namespace {

constexpr std::size_t most_findings = 100;

std::unique_ptr<Simulator>& instance() {
  static std::unique_ptr<Simulator> the_one = std::make_unique<Simulator>(1, Machine{}, Progress::at_random);
  return the_one;
}

}  // namespace

Simulator& simulator() { return *instance(); }

std::mutex& simulator_mutex() {
  static std::mutex mutex;
  return mutex;
}

void reset_simulator(std::uint64_t seed, const Machine& machine, Progress progress) {
  std::unique_ptr<Simulator>& the_one = instance();
  the_one.reset();
  the_one = std::make_unique<Simulator>(seed, machine, progress);
}

Simulator::Simulator(std::uint64_t seed, Machine machine, Progress progress)
    : machine_(std::move(machine)),
      progress_(progress),
      random_(seed),
      memory_(machine_.devices, seed),
      watch_(memory_, runner_),
      history_(order_),
      host_chain_(order_.add_chain()),
      communicators_(std::make_unique<Communicators>()),
      faults_(static_cast<std::size_t>(machine_.devices), cudaSuccess) {
  for (Space device = 0; device < machine_.devices; ++device) {
    auto stream = std::make_unique<CUstream_st>();
    stream->device = device;
    stream->chain = order_.add_chain();
    default_streams_.push_back(std::move(stream));
  }
  hooks.runner = &runner_;
  hooks.watch = &watch_;
  hooks.stacks = runner_.stacks();
}

Simulator::~Simulator() = default;

void Simulator::found(const std::string& text) {
  if (findings_.size() < most_findings && known_findings_.insert(text).second) findings_.push_back(text);
}

std::vector<std::string> Simulator::take_findings() {
  known_findings_.clear();
  return std::exchange(findings_, {});
}

cudaError_t Simulator::availability() const {
  if (machine_.driver_version < CUDART_VERSION) return cudaErrorInsufficientDriver;
  return machine_.devices == 0 ? cudaErrorNoDevice : cudaSuccess;
}

int Simulator::count_call(std::string_view function) {
  const auto known = calls_.find(function);
  if (known == calls_.end()) {
    calls_.emplace(function, 1);
  } else {
    ++known->second;
  }
  int status = 0;
  for (PlannedFailure& failure : call_failures_) {
    if (failure.name == function && --failure.nth == 0) status = failure.status;
  }
  std::erase_if(call_failures_, [](const PlannedFailure& failure) { return failure.nth <= 0; });
  return status;
}

bool Simulator::must_fail(const Operation& operation) {
  bool fails = false;
  for (PlannedFailure& failure : operation_failures_) {
    if (operation.name.find(failure.name) != std::string::npos && --failure.nth == 0) fails = true;
  }
  std::erase_if(operation_failures_, [](const PlannedFailure& failure) { return failure.nth <= 0; });
  return fails;
}

void Simulator::fail_device(Space device, cudaError_t code, const std::string& text) {
  cudaError_t& fault = faults_[static_cast<std::size_t>(device)];
  if (fault == cudaSuccess) fault = code;
  if (!text.empty()) found(text);
}

cudaStream_t Simulator::add_stream() {
  auto stream = std::make_unique<CUstream_st>();
  stream->number = ++numbers_;
  stream->device = thread().device;
  stream->chain = order_.add_chain();
  const cudaStream_t handle = stream.get();
  streams_.emplace(handle, std::move(stream));
  return handle;
}

cudaEvent_t Simulator::add_event(bool timing) {
  auto event = std::make_unique<CUevent_st>();
  event->number = ++numbers_;
  event->timing = timing;
  const cudaEvent_t handle = event.get();
  events_.emplace(handle, std::move(event));
  return handle;
}

Stream* Simulator::stream(cudaStream_t handle) {
  if (handle == nullptr) return default_streams_[static_cast<std::size_t>(thread().device)].get();
  const auto known = streams_.find(handle);
  return known == streams_.end() ? nullptr : known->second.get();
}

Event* Simulator::event(cudaEvent_t handle) {
  const auto known = events_.find(handle);
  return known == events_.end() ? nullptr : known->second.get();
}

Graph* Simulator::graph(cudaGraph_t handle) {
  const auto known = graphs_.find(handle);
  return known == graphs_.end() ? nullptr : known->second.get();
}

GraphExec* Simulator::exec(cudaGraphExec_t handle) {
  const auto known = execs_.find(handle);
  return known == execs_.end() ? nullptr : known->second->get();
}

std::size_t Simulator::live_handles() const {
  return streams_.size() + events_.size() + graphs_.size() + execs_.size() + communicators_->live.size() + descriptors_;
}

void Simulator::host_joins(Point point) {
  if (point != no_point) host_ = order_.add(host_chain_, {{host_}, {point}});
}

void Simulator::host_touches(const Range& range, bool write) {
  host_ = order_.add(host_chain_, {{host_}});
  names_[host_] = "the host";
  const auto report = [&](Point earlier, const Range& bytes, bool) {
    found("the host " + std::string(write ? "writes " : "reads ") + memory_.describe(bytes) + " while '" +
          names_[earlier] + "' may be using them: it has not waited");
  };
  if (write) {
    history_.write(host_, range, report);
  } else {
    history_.read(host_, range, report);
  }
}

}  // namespace cuda_sim

#include "tr/exec/cuda_schedule.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/cuda/status.h"

// The stand-in that runs these files without a GPU defines it, and checks that the operations put on the stream touch
// nothing else; nobody else does.
extern "C" [[gnu::weak]] void cuda_sim_declare(cudaStream_t stream, const char* name, std::size_t count,
                                               const void* const* data, const std::size_t* bytes, const bool* written);

namespace tr {
namespace {

std::size_t index_of(Stream stream) { return static_cast<std::size_t>(stream); }

bool overlap(const CudaAccess& a, const CudaAccess& b) {
  const auto first = reinterpret_cast<std::uintptr_t>(a.data);
  const auto second = reinterpret_cast<std::uintptr_t>(b.data);
  return a.bytes > 0 && b.bytes > 0 && first < second + static_cast<std::uintptr_t>(b.bytes) &&
         second < first + static_cast<std::uintptr_t>(a.bytes);
}

bool conflict(const CudaTask& a, const CudaTask& b) {
  return std::any_of(a.accesses.begin(), a.accesses.end(), [&](const CudaAccess& one) {
    return std::any_of(b.accesses.begin(), b.accesses.end(),
                       [&](const CudaAccess& other) { return (one.written || other.written) && overlap(one, other); });
  });
}

void declare(cudaStream_t stream, const CudaTask& task) {
  if (cuda_sim_declare == nullptr) return;
  const std::size_t count = task.accesses.size();
  std::vector<const void*> data;
  std::vector<std::size_t> bytes;
  const auto written = std::make_unique<bool[]>(count);
  for (std::size_t i = 0; i < count; ++i) {
    data.push_back(task.accesses[i].data);
    bytes.push_back(static_cast<std::size_t>(task.accesses[i].bytes));
    written[i] = task.accesses[i].written;
  }
  cuda_sim_declare(stream, task.name.c_str(), count, data.data(), bytes.data(), written.get());
}

void declare_end(cudaStream_t stream) {
  if (cuda_sim_declare != nullptr) cuda_sim_declare(stream, nullptr, 0, nullptr, nullptr, nullptr);
}

}  // namespace

CudaStreams::CudaStreams() {
  for (CudaStream& stream : streams_) stream = make_cuda_stream();
}

void CudaSchedule::add(CudaTask task) { entries_.push_back({.task = std::move(task), .waits = {}}); }

/// On each other stream the last of the earlier entries that this one conflicts with.
std::vector<int> CudaSchedule::needed_by(int entry) const {
  const CudaTask& task = entries_[static_cast<std::size_t>(entry)].task;
  std::array<int, stream_count> last{none, none, none};
  for (int earlier = 0; earlier < entry; ++earlier) {
    const CudaTask& other = entries_[static_cast<std::size_t>(earlier)].task;
    if (other.stream != task.stream && conflict(task, other)) last[index_of(other.stream)] = earlier;
  }
  std::vector<int> needed;
  for (const int earlier : last) {
    if (earlier != none) needed.push_back(earlier);
  }
  return needed;
}

/// Those that neither `known` nor another one of them covers.
std::vector<int> CudaSchedule::reduced(std::vector<int> candidates, const Clock& known) const {
  const auto entry = [&](int i) -> const Entry& { return entries_[static_cast<std::size_t>(i)]; };
  const auto covers = [&](const Clock& clock, int i) {
    return clock[index_of(entry(i).task.stream)] >= entry(i).place;
  };
  std::erase_if(candidates, [&](int i) { return covers(known, i); });
  std::vector<int> kept;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(kept), [&](int i) {
    return std::none_of(candidates.begin(), candidates.end(),
                        [&](int other) { return other != i && covers(entry(other).done, i); });
  });
  return kept;
}

void CudaSchedule::wait_for(Entry& entry, int earlier, Clock& known) {
  Entry& awaited = entries_[static_cast<std::size_t>(earlier)];
  entry.waits.push_back(earlier);
  if (awaited.event == none) {
    awaited.event = static_cast<int>(events_.size());
    events_.push_back(make_cuda_event());
  }
  for (std::size_t s = 0; s < known.size(); ++s) known[s] = std::max(known[s], awaited.done[s]);
}

void CudaSchedule::seal() {
  std::array<Clock, stream_count> clocks{};
  std::array<int, stream_count> places{};
  std::array<int, stream_count> last{none, none, none};
  for (int i = 0; i < static_cast<int>(entries_.size()); ++i) {
    Entry& entry = entries_[static_cast<std::size_t>(i)];
    const std::size_t stream = index_of(entry.task.stream);
    Clock& known = clocks[stream];
    for (const int earlier : reduced(needed_by(i), known)) wait_for(entry, earlier, known);
    // A stream's first entry brings it into the step.
    if (last[stream] == none && entry.waits.empty() && entry.task.stream != Stream::compute) {
      entry.waits.push_back(begin);
      if (begin_.get() == nullptr) begin_ = make_cuda_event();
    }
    entry.place = known[stream] = ++places[stream];
    entry.done = known;
    last[stream] = i;
  }
  seal_end(clocks[index_of(Stream::compute)], last);
}

void CudaSchedule::seal_end(const Clock& known, const std::array<int, stream_count>& last) {
  std::vector<int> ends;
  for (const int entry : last) {
    if (entry != none && entries_[static_cast<std::size_t>(entry)].task.stream != Stream::compute) {
      ends.push_back(entry);
    }
  }
  Entry end;
  Clock clock = known;
  for (const int entry : reduced(std::move(ends), known)) wait_for(end, entry, clock);
  end_waits_ = end.waits;
}

void CudaSchedule::wait(cudaStream_t stream, int earlier) const {
  const CudaEvent& event =
      earlier == begin ? begin_ : events_[static_cast<std::size_t>(entries_[static_cast<std::size_t>(earlier)].event)];
  cuda::check(cudaStreamWaitEvent(stream, event.get(), 0), "waiting for another stream");
}

void CudaSchedule::issue(const CudaStreams& streams) const {
  cudaStream_t compute = streams[Stream::compute];
  if (begin_.get() != nullptr) cuda::check(cudaEventRecord(begin_.get(), compute), "beginning a step");
  for (const Entry& entry : entries_) {
    cudaStream_t stream = streams[entry.task.stream];
    for (const int earlier : entry.waits) wait(stream, earlier);
    declare(stream, entry.task);
    entry.task.issue(stream);
    declare_end(stream);
    if (entry.event == none) continue;
    cuda::check(cudaEventRecord(events_[static_cast<std::size_t>(entry.event)].get(), stream), entry.task.name);
  }
  for (const int earlier : end_waits_) wait(compute, earlier);
}

}  // namespace tr

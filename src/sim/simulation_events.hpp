// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/sim/simulate.hpp"

/// What a simulation waits for.
namespace berth::sim {

/// When a job ends, or reaches the work at which its rate may change. Void when the job has been
/// stopped or got another rate since: its version differs.
struct JobEvent {
  Micros time;
  JobId job;
  std::uint32_t version;
  bool completes;
  auto operator<=>(const JobEvent&) const = default;
};

/// Events of jobs, the earliest first.
class JobEvents {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  [[nodiscard]] const JobEvent& top() const { return heap_.front(); }
  void push(const JobEvent& event) {
    heap_.push_back(event);
    std::ranges::push_heap(heap_, std::greater<>{});
  }
  void pop() {
    std::ranges::pop_heap(heap_, std::greater<>{});
    heap_.pop_back();
  }
  /// Forgets events: those of stopped runs would stay until their time.
  template <class IsVoid>
  void drop(const IsVoid& is_void) {
    std::erase_if(heap_, is_void);
    std::ranges::make_heap(heap_, std::greater<>{});
  }

 private:
  std::vector<JobEvent> heap_;
};

/// A machine opens or closes.
struct MachineEvent {
  Micros time;
  bool closes;  ///< of one moment machines open first
  MachineId machine;
  policy::Outage outage;
  auto operator<=>(const MachineEvent&) const = default;
};

/// Ascending time.
inline std::vector<MachineEvent> machine_events(const std::vector<Closing>& closings) {
  std::vector<MachineEvent> events;
  for (const Closing& closing : closings) {
    BERTH_EXPECT(closing.from < closing.to);
    events.push_back({closing.from, true, closing.machine, closing.outage});
    events.push_back({closing.to, false, closing.machine, closing.outage});
  }
  std::ranges::sort(events);
  return events;
}

/// Jobs that arrive after the begin, by arrival, then id.
inline std::vector<JobId> arrival_order(const Trace& trace) {
  std::vector<bool> refused(trace.jobs.size());
  for (const RefusedJob& job : trace.refused) refused[job.job.index()] = true;
  for (const RunningJob& job : trace.running) refused[job.job.index()] = true;
  std::vector<JobId> order;
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    if (!refused[j]) order.emplace_back(j);
  }
  std::ranges::stable_sort(order, {}, [&](JobId job) { return trace.jobs[job.index()].arrival; });
  return order;
}

}  // namespace berth::sim

// SPDX-License-Identifier: Apache-2.0
// Traces on machines of one GPU type, for tests of the simulator.
#pragma once

#include "tiny.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "berth/policy/policy.hpp"
#include "berth/sim/simulate.hpp"

namespace berth::test {

/// A job of single-GPU tasks on the microsecond clock.
struct TraceRow {
  sim::Micros arrival = 0;
  std::int32_t gpus = 1;
  sim::Micros work = 0;
  sim::Micros estimate = 0;  ///< 0: the work
};

inline model::Cluster one_pool(int machines, std::int32_t gpus_each) {
  Tiny tiny;
  const ClassId of = tiny.machine_class("m", tiny.type("X"), gpus_each, 0, 0);
  tiny.pod();
  tiny.rack();
  for (int m = 0; m < machines; ++m) tiny.machine(of);
  return tiny.instance.cluster;
}

inline sim::Trace trace_of(const std::vector<TraceRow>& rows) {
  sim::Trace trace;
  for (const TraceRow& row : rows) {
    policy::Demand demand;
    demand.groups.push_back({.group = 0, .count = row.gpus, .shape = {.needs = {}, .gpus = 1}});
    demand.milli = std::int64_t{1000} * row.gpus;
    demand.types = {GpuTypeId(0)};
    demand.speeds = {1.0};
    std::uint32_t index = 0;
    while (index < trace.demands.size() && !(trace.demands[index] == demand)) ++index;
    if (index == trace.demands.size()) trace.demands.push_back(demand);
    policy::Job job;
    job.arrival = row.arrival;
    job.estimate = row.estimate == 0 ? row.work : row.estimate;
    job.demand = index;
    trace.jobs.push_back(job);
    trace.work.push_back(row.work);
  }
  return trace;
}

inline sim::Run replay(const model::Cluster& cluster, const sim::Trace& trace,
                       const std::string& policy) {
  const auto made = policy::policy_row(policy).make({});
  return sim::simulate(cluster, trace, *made);
}

/// First starts, in seconds.
inline std::vector<double> start_seconds(const sim::Run& run) {
  std::vector<double> starts;
  for (const auto& record : run.records) {
    starts.push_back(static_cast<double>(record.runs.front().start) / 1e6);
  }
  return starts;
}

inline double mean_jct(const sim::Run& run) {
  double sum = 0.0;
  for (const auto& record : run.records) {
    sum += static_cast<double>(record.end() - record.arrival) / 1e6;
  }
  return sum / static_cast<double>(run.records.size());
}

}  // namespace berth::test

// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/offered_load.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace berth::sim {

double offered_load(const model::Cluster& cluster, const Trace& trace) {
  std::vector<bool> refused(trace.jobs.size());
  for (const RefusedJob& job : trace.refused) refused[job.job.index()] = true;
  double work = 0.0, gpus = 0.0;
  Micros first = kNever, last = 0;
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    if (refused[j]) continue;
    const policy::Demand& demand = trace.demands[trace.jobs[j].demand];
    first = std::min(first, trace.jobs[j].arrival);
    last = std::max(last, trace.jobs[j].arrival);
    if (demand.uses_gpus()) {
      work += demand.gpus() * static_cast<double>(trace.work[j]) / demand.speeds.front();
    }
  }
  for (std::size_t m = 0; m < cluster.machines(); ++m) gpus += cluster.class_of(MachineId(m)).gpus;
  return last > first && gpus > 0.0 ? work / gpus / static_cast<double>(last - first) : 0.0;
}

void stretch_arrivals(model::Workload& workload, double factor) {
  if (workload.jobs.empty()) return;
  const auto first = std::ranges::min_element(workload.jobs, {}, &model::Job::arrival)->arrival;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> moved;  // row, shift -> row
  for (model::Job& job : workload.jobs) {
    const std::int64_t arrival =
        first + std::llround(static_cast<double>(job.arrival - first) * factor);
    const std::int64_t shift = arrival - job.arrival;
    job.arrival = arrival;
    const model::TimeRules& rules = workload.time_rules[job.time];
    if (shift == 0 || (rules.not_before == 0 && rules.deadline == model::kNever)) continue;
    const auto [at, fresh] = moved.try_emplace(
        {job.time, shift}, static_cast<std::uint32_t>(workload.time_rules.size()));
    if (fresh) {
      model::TimeRules row = rules;
      if (row.not_before != 0) row.not_before = std::max<std::int64_t>(0, row.not_before + shift);
      if (row.deadline != model::kNever) row.deadline += shift;
      workload.time_rules.push_back(row);
    }
    job.time = at->second;
  }
}

}  // namespace berth::sim

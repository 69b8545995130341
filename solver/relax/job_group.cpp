// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/job_group.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "berth/model/free_machine.hpp"
#include "berth/planner_model/gpu_types.hpp"
#include "berth/solver/bin_type.hpp"

namespace berth::solver {
namespace {

using model::Level;

constexpr int kExactBits = 53;  ///< binary digits of a double

/// Tasks of the job by shape, each shape once.
planner_model::TaskProfile tasks_of(const model::WorkloadView& workload, const model::Job& job) {
  planner_model::TaskProfile tasks(workload, job);
  tasks.rules = 0;  // no row of the relaxation has rules
  auto& groups = tasks.groups;
  std::ranges::sort(groups);
  std::size_t kept = 0;
  for (std::size_t i = 1; i < groups.size(); ++i) {
    if (groups[i].shape == groups[kept].shape) {
      groups[kept].count += groups[i].count;
    } else {
      groups[++kept] = groups[i];
    }
  }
  groups.resize(std::min(groups.size(), kept + 1));
  return tasks;
}

/// True when all tasks must be on one machine and take whole GPUs or none.
bool placed_together(const model::WorkloadView& workload, const model::Job& job) {
  if (job.domain != Level::machine || workload.tasks(job) <= 1) return false;
  return std::ranges::none_of(workload.groups_of(job), [&](const model::TaskGroup& g) {
    return workload.shape(g.shape).gpu_milli > 0;
  });
}

/// Cut off, not rounded to nearest: cutting to fewer digits later has the same result as at once.
double rounded(double value, int bits) {
  if (bits >= kExactBits) return value;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::trunc(std::ldexp(fraction, bits)), exponent - bits);
}

/// GPU type on which a running job is now; invalid for a job without GPUs.
GpuTypeId present_type(const model::InstanceView& instance, const model::Running& running) {
  for (const model::TaskPlacement& task : instance.workload.tasks_of(running)) {
    if (task.devices != 0) return instance.cluster.class_of(task.machine).gpu_type;
  }
  return {};
}

}  // namespace

JobGrouping::JobGrouping(const planner_model::Valuation& valuation, int value_bits,
                         const planner_model::LimitGroups* limits)
    : valuation_(valuation),
      value_bits_(value_bits),
      limits_(limits),
      largest_domain_(valuation.instance().cluster.gpu_types.size() + 1) {
  const model::Cluster& cluster = valuation.instance().cluster;
  std::vector<std::array<std::int64_t, model::kLevels>> sum(largest_domain_.size());
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const MachineId machine(m);
    const bool new_rack = m == 0 || cluster.machine_rack[m] != cluster.machine_rack[m - 1];
    const bool new_pod = m == 0 || cluster.pod_of(machine) != cluster.pod_of(MachineId(m - 1));
    const std::size_t slot = slot_of(cluster.class_of(machine).gpu_type);
    for (std::size_t s = 0; s < sum.size(); ++s) {
      sum[s][static_cast<std::size_t>(Level::machine)] = 0;
      if (new_rack) sum[s][static_cast<std::size_t>(Level::rack)] = 0;
      if (new_pod) sum[s][static_cast<std::size_t>(Level::pod)] = 0;
    }
    const std::int64_t milli = model::FreeMachine(cluster, machine).milli();
    for (std::size_t level = 0; level < sum[slot].size(); ++level) {
      sum[slot][level] += milli;
      largest_domain_[slot][level] = std::max(largest_domain_[slot][level], sum[slot][level]);
    }
  }
}

/// The narrowest level at which a domain may have room for the job's GPUs; wider than all levels
/// without any.
Level JobGrouping::narrowest(JobId id, GpuTypeId type) const {
  const model::WorkloadView& workload = valuation_.instance().workload;
  const model::Job& job = workload.job(id);
  const std::int64_t milli = workload.gpu_milli(job);
  const auto& room = largest_domain_[slot_of(type)];
  auto level =
      static_cast<std::size_t>(model::narrowest_width(workload.rules_of(job), workload.tasks(job)));
  while (level < room.size() && type.valid() && room[level] < milli) ++level;
  return static_cast<Level>(level);
}

/// Value in a domain of this width, or where the job runs now.
std::optional<double> JobGrouping::value_on(JobId id, GpuTypeId type, Level width) const {
  const model::InstanceView& instance = valuation_.instance();
  const model::Job& job = instance.workload.job(id);
  std::optional<double> value;
  if (width <= job.domain) value = valuation_.option(id, type, width, Level::machine);
  const model::Running* running = instance.workload.running_of(job);
  if (running != nullptr && present_type(instance, *running) == type) {
    const double kept =
        valuation_.placed(planner_model::current_placement(instance.workload, *running));
    value = std::max(value.value_or(kept), kept);
  }
  if (value) value = rounded(*value, value_bits_);
  return value;
}

std::vector<std::pair<std::uint32_t, double>> JobGrouping::loads_on(JobId id, GpuTypeId type,
                                                                    Level width) const {
  std::vector<std::pair<std::uint32_t, double>> loads;
  if (limits_ == nullptr || !type.valid()) return loads;
  const model::WorkloadView& workload = valuation_.instance().workload;
  const model::Job& job = workload.job(id);
  const double gpus = static_cast<double>(workload.gpu_milli(job)) / 1000.0;
  for (const std::uint32_t quota : limits_->limits().of(job.queue)) loads.emplace_back(quota, gpus);
  if (!limits_->empty()) {
    const auto first = static_cast<std::uint32_t>(limits_->limits().of_queues());
    for (const auto& load : limits_->group_loads(id, type, std::min(width, job.domain))) {
      if (load.group != planner_model::LimitGroups::kNone && load.amount > 0.0) {
        loads.emplace_back(first + load.group, load.amount);
      }
    }
  }
  std::ranges::sort(loads);
  return loads;
}

JobGroup JobGrouping::operator()(JobId id) const {
  const model::InstanceView& instance = valuation_.instance();
  const model::Job& job = instance.workload.job(id);
  JobGroup group{.tasks = tasks_of(instance.workload, job),
                 .together = placed_together(instance.workload, job),
                 .required = job.required,
                 .options = {}};
  const auto add = [&](GpuTypeId type) {
    const Level width = narrowest(id, type);
    const std::optional<double> value = value_on(id, type, width);
    if (!value || (*value <= 0.0 && !job.required)) return;
    group.options.push_back({type, *value, loads_on(id, type, width)});
  };
  if (instance.workload.gpu_milli(job) == 0) {
    add(GpuTypeId{});
    return group;
  }
  for (const GpuTypeId type : planner_model::GpuTypes(job, instance.cluster.gpu_types.size())) {
    if (largest_domain_[slot_of(type)].back() > 0) add(type);
  }
  return group;
}

JobGroup rounded(JobGroup group, int value_bits) {
  for (JobGroup::Option& option : group.options) option.value = rounded(option.value, value_bits);
  return group;
}

void merge_equal(JobCounts& counts) {
  std::ranges::sort(counts, [](const auto& a, const auto& b) { return a.first < b.first; });
  JobCounts merged;
  for (auto& [group, count] : counts) {
    if (!merged.empty() && merged.back().first == group) {
      merged.back().second += count;
    } else {
      merged.emplace_back(std::move(group), count);
    }
  }
  counts = std::move(merged);
}

}  // namespace berth::solver

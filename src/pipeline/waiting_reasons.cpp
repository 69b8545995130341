// SPDX-License-Identifier: Apache-2.0
#include "waiting_reasons.hpp"

#include "domain_capacity.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "berth/base/similar.hpp"
#include "berth/comm/messages.hpp"
#include "berth/coordinator/limit_allocation.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/planner_model/limit_usage.hpp"

namespace berth::pipeline {
namespace {

using model::Level;
using model::LimitKind;

std::vector<std::string> type_names(const model::Cluster& cluster, std::uint64_t mask) {
  std::vector<std::string> names;
  for (std::size_t t = 0; t < cluster.gpu_types.size(); ++t) {
    if (((mask >> t) & 1) != 0) names.push_back(cluster.gpu_types[t]);
  }
  return names;
}

/// Reason for GPU types that the cluster lacks; suggests a similar name for a misspelt one.
std::string no_such_type(const model::Cluster& cluster, std::uint64_t asked,
                         std::uint64_t present) {
  const std::vector<std::string> names = type_names(cluster, asked);
  const std::vector<std::string> known = type_names(cluster, present);
  std::string text = fmt::format("no machine has GPU type {}", fmt::join(names, ", "));
  for (const std::string& name : names) {
    if (const std::string hint = did_you_mean(name, known); !hint.empty()) {
      return text + "; " + hint;
    }
  }
  return text;
}

std::uint64_t types_present(const model::Cluster& cluster) {
  std::uint64_t mask = 0;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    if (cluster.state_of(MachineId(m)) != model::MachineState::up) continue;
    const GpuTypeId type = cluster.class_of(MachineId(m)).gpu_type;
    if (type.valid()) mask |= std::uint64_t{1} << type.index();
  }
  return mask;
}

const char* name_of(Level level) {
  constexpr const char* kNames[] = {"machine", "rack", "pod", "cluster"};
  return kNames[static_cast<std::size_t>(level)];
}

/// True when an empty domain of this level holds all tasks of the job.
bool holds(const model::InstanceView& instance, DomainCapacity& capacity, std::uint64_t usable,
           const model::Job& job, Level level) {
  const model::WorkloadView& workload = instance.workload;
  const auto groups = workload.groups_of(job);
  return std::ranges::all_of(groups, [&](const model::TaskGroup& group) {
    if (!workload.shape(group.shape).uses_gpu()) {
      return capacity.most(group.shape, {}, level) >= group.count;
    }
    for (std::size_t t = 0; t < instance.cluster.gpu_types.size(); ++t) {
      if (((usable >> t) & 1) == 0) continue;
      if (capacity.most(group.shape, GpuTypeId(t), level) >= group.count) return true;
    }
    return false;
  });
}

/// Slack of limits beside a placement.
class LimitSlack {
 public:
  LimitSlack(const comm::Communicator& comm, const model::InstanceView& instance,
             const planner_model::CouplingLimits& limits, const model::Placement& placement)
      : instance_(instance),
        limits_(limits),
        use_(coordinator::limit_use(comm, instance, limits, placement)) {
    if (!limits.has(LimitKind::uplink)) return;
    for (std::size_t r = 0; r < instance.cluster.racks.size(); ++r) {
      widest_ = std::max(widest_, limits.capacity(limits.at(LimitKind::uplink, RackId(r))));
    }
  }

  /// The limit that excludes the job, in words; empty if no limit does.
  template <class Holds>
  [[nodiscard]] std::string why(const model::Job& job, const Holds& holds_in) const {
    for (const std::uint32_t l : limits_.of(job.queue)) {
      if (use_[l] + instance_.workload.gpu_milli(job) <= limits_.capacity(l)) continue;
      const model::Queue& queue = instance_.cluster.queues[limits_[l].scope.queue.index()];
      return fmt::format("quota: queue '{}' has {} GPUs{}", queue.name, queue.gpu_quota,
                         queue.hard() ? "" : ", and the job is not worth going over");
    }
    const bool communicates = job.communication.pattern == model::CommunicationPattern::ring &&
                              limits_.has(LimitKind::uplink);
    if (communicates && job.communication.mbps > widest_ && !holds_in(Level::rack)) {
      return fmt::format("no rack uplink carries its {} Gbit/s, and no rack holds it",
                         static_cast<double>(job.communication.mbps) / 1000.0);
    }
    std::string short_of;
    model::for_each_limited_resource([&](LimitKind kind, std::size_t resource) {
      if (short_of.empty() && limits_.has(kind)) short_of = why_short_of(kind, resource, job);
    });
    return short_of;
  }

 private:
  /// Empty if the limits of this kind leave enough for the tasks of each group.
  [[nodiscard]] std::string why_short_of(LimitKind kind, std::size_t resource,
                                         const model::Job& job) const {
    const model::Cluster& cluster = instance_.cluster;
    for (const model::TaskGroup& group : instance_.workload.groups_of(job)) {
      const std::int64_t needs = instance_.workload.shape(group.shape).needs[resource];
      if (needs == 0) continue;
      const auto tasks_within = [&](std::size_t limit) -> std::int64_t {
        const std::int64_t capacity = limits_.capacity(limit);
        if (capacity == model::kNoLimit) return group.count;
        return std::clamp<std::int64_t>((capacity - use_[limit]) / needs, 0, group.count);
      };
      std::vector<std::int64_t> in_pod(cluster.pods.size(), 0);
      for (std::size_t r = 0; r < cluster.racks.size(); ++r) {
        in_pod[cluster.racks[r].pod.index()] += tasks_within(limits_.at(kind, RackId(r)));
      }
      std::int64_t most = 0;
      for (std::size_t p = 0; p < in_pod.size(); ++p) {
        most += std::min(in_pod[p], tasks_within(limits_.at(kind, PodId(p))));
      }
      if (most >= group.count) continue;
      return fmt::format("{} of racks and pods leaves enough for {} of {} tasks of {} {}",
                         row_of(kind).key, most, group.count, needs, row_of(kind).unit);
    }
    return {};
  }

  model::InstanceView instance_;
  const planner_model::CouplingLimits& limits_;
  std::vector<std::int64_t> use_;  ///< by limit
  std::int64_t widest_ = 0;        ///< uplink of any rack, Mbit/s
};

/// Why even an empty cluster does not hold the job; empty if it does.
std::string never_fits(const model::InstanceView& instance, DomainCapacity& capacity,
                       std::uint64_t usable, const model::Job& job) {
  const model::WorkloadView& workload = instance.workload;
  for (const model::TaskGroup& group : workload.groups_of(job)) {
    const model::Shape& shape = workload.shape(group.shape);
    const bool any = !shape.uses_gpu();
    std::int64_t alone = any ? capacity.most(group.shape, {}, Level::machine) : 0;
    std::int64_t most = any ? capacity.most(group.shape, {}, job.domain) : 0;
    for (std::size_t t = 0; !any && t < instance.cluster.gpu_types.size(); ++t) {
      if (((usable >> t) & 1) == 0) continue;
      alone = std::max(alone, capacity.most(group.shape, GpuTypeId(t), Level::machine));
      most = std::max(most, capacity.most(group.shape, GpuTypeId(t), job.domain));
    }
    const std::string& label = workload.tables().labels[group.label];
    if (alone == 0) {
      return fmt::format("no allowed machine can hold one task '{}': {}", label,
                         shortage(instance.cluster, capacity.classes(shape, usable), shape));
    }
    if (most < group.count) {
      return fmt::format("gang too large: {} tasks '{}', an empty {} holds {} of one GPU type",
                         group.count, label, name_of(job.domain), most);
    }
  }
  return {};
}

std::string reason(const model::InstanceView& instance, DomainCapacity& capacity,
                   const LimitSlack& limits, std::uint64_t present, const model::Job& job) {
  const std::uint64_t usable = job.gpu_types & present;
  if (instance.workload.gpu_milli(job) > 0 && usable == 0) {
    return job.gpu_types == ~std::uint64_t{0}
               ? std::string("the cluster has no GPUs")
               : no_such_type(instance.cluster, job.gpu_types, present);
  }
  std::string why = never_fits(instance, capacity, usable, job);
  if (!why.empty()) return why;
  why = limits.why(job, [&](Level level) { return holds(instance, capacity, usable, job, level); });
  if (!why.empty()) return why;
  return instance.workload.running_of(job) == nullptr ? "no room: jobs worth more took it"
                                                      : "stopped: jobs worth more took its room";
}

}  // namespace

std::vector<model::UnplacedJob> waiting(const comm::Communicator& comm,
                                        const model::InstanceView& instance,
                                        const planner_model::CouplingLimits& limits,
                                        std::span<const JobId> jobs,
                                        const model::Placement& placement) {
  DomainCapacity capacity(instance);
  const LimitSlack slack(comm, instance, limits, placement);
  const std::uint64_t present = types_present(instance.cluster);
  std::vector<model::UnplacedJob> result;
  std::size_t next = 0;
  for (const JobId job : jobs) {
    if (next < placement.size() && placement[next].job == job) {
      ++next;
      continue;
    }
    result.push_back({job, reason(instance, capacity, slack, present, instance.workload.job(job))});
  }
  return result;
}

std::map<std::string, std::int64_t> waiting_by_reason(const comm::Communicator& comm,
                                                      const model::Plan& plan) {
  std::map<std::string, std::int64_t> mine, all;
  for (const model::UnplacedJob& w : plan.waiting) ++mine[w.reason];
  for (const auto& one : comm::gather<decltype(mine)>(comm, std::span(&mine, 1))) {
    for (const auto& [reason, jobs] : one) all[reason] += jobs;
  }
  return all;
}

}  // namespace berth::pipeline

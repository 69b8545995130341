// SPDX-License-Identifier: Apache-2.0
#include "waiting_reasons.hpp"

#include "domain_capacity.hpp"
#include "free_room.hpp"
#include "rule_reasons.hpp"
#include "spare_reasons.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "berth/base/infinity.hpp"
#include "berth/base/similar.hpp"
#include "berth/comm/messages.hpp"
#include "berth/coordinator/limit_allocation.hpp"
#include "berth/model/level_names.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/planner_model/limit_usage.hpp"
#include "berth/report/reasons.hpp"

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

  /// The quota that excludes the job, in words: a hard one, or soft ones whose penalties are at
  /// least what it is worth; empty if none does.
  [[nodiscard]] std::string why_over_quota(const model::Job& job, double worth) const {
    std::string soft;
    for (const std::uint32_t l : limits_.of(job.queue)) {
      if (over(l, job) == 0) continue;
      const model::Queue& queue = instance_.cluster.queues[limits_[l].scope.queue.index()];
      std::string text = fmt::format("quota: queue '{}' has {} GPUs", queue.name, queue.gpu_quota);
      if (!limits_.soft(l)) return text;
      if (soft.empty()) soft = std::move(text);
    }
    if (soft.empty() || penalty(job) < worth) return {};
    return soft + ", and the job is not worth going over";
  }

  /// What the job would cost its soft quotas beside the plan.
  [[nodiscard]] double penalty(const model::Job& job) const {
    double sum = 0.0;
    for (const std::uint32_t l : limits_.of(job.queue)) {
      const std::int64_t milli = over(l, job);
      if (milli > 0 && limits_.soft(l)) {
        sum += limits_.penalty(l) * static_cast<double>(milli) / model::kGpuMilli;
      }
    }
    return sum;
  }

  /// The limit beside quotas that excludes the job, in words; empty if no limit does.
  template <class Holds>
  [[nodiscard]] std::string why(const model::Job& job, const Holds& holds_in) const {
    const bool communicates = job.communication.pattern == model::CommunicationPattern::ring &&
                              limits_.has(LimitKind::uplink);
    if (communicates && job.communication.mbps > widest_ && !holds_in(Level::rack)) {
      return fmt::format("no rack uplink carries its {} Gbit/s, and no rack holds it",
                         static_cast<double>(job.communication.mbps) / 1000.0);
    }
    std::string short_of = why_short_of_licenses(job);
    model::for_each_limited_resource([&](LimitKind kind, std::size_t resource) {
      if (short_of.empty() && limits_.has(kind)) short_of = why_short_of(kind, resource, job);
    });
    return short_of;
  }

  [[nodiscard]] std::span<const std::int64_t> use() const { return use_; }  ///< by limit

 private:
  /// GPU thousandths by which the job would use more than the quota than the plan does.
  [[nodiscard]] std::int64_t over(std::uint32_t limit, const model::Job& job) const {
    const std::int64_t left = std::max<std::int64_t>(0, limits_.capacity(limit) - use_[limit]);
    return std::max<std::int64_t>(0, instance_.workload.gpu_milli(job) - left);
  }

  [[nodiscard]] std::string why_short_of_licenses(const model::Job& job) const {
    if (!limits_.has(LimitKind::license)) return {};
    for (const model::LicenseUse& use : instance_.workload.rules_of(job).licenses) {
      const std::size_t limit = limits_.at_license(use.license);
      const std::int64_t free = limits_.capacity(limit) - use_[limit];
      if (use.count <= free) continue;
      const model::License& license = instance_.cluster.licenses[use.license];
      return fmt::format("licenses: it takes {} of '{}', {} of {} are free", use.count,
                         license.name, free, license.count);
    }
    return {};
  }

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

/// What keeps a job out that an empty cluster holds and no quota excludes: room, uplinks, its
/// value, or the search.
class PlaceReason {
 public:
  PlaceReason(const WaitingContext& context, const model::Placement& placement)
      : instance_(context.valuation.instance()),
        context_(&context),
        free_(context.comm, instance_, placement),
        least_price_(instance_.cluster.gpu_types.size(), kInfinity) {
    for (std::size_t p = 0; p < context.pools.size(); ++p) {
      const GpuTypeId type = context.pools.pools[p].gpu_type;
      if (!type.valid()) continue;
      double& least = least_price_[type.index()];
      least = std::min(least, context.prices[p]);
    }
  }

  /// @param penalty  of the job's quotas
  std::string why(JobId id, std::uint64_t usable, double penalty) {
    Worth worth = best_type(id, usable);
    worth.penalty = penalty;
    const std::string price = price_text(worth);
    if (const std::string room = lacking(id, worth.type); !room.empty()) {
      return "no room: " + room + price;
    }
    if (const std::string keys = rule_keys(instance_.workload, instance_.workload.job(id));
        !keys.empty()) {
      return fmt::format(
          "rules: free machines may hold its tasks, but no placement was found that {} allow{}",
          keys, price);
    }
    const model::Communication& communication = instance_.workload.job(id).communication;
    if (communication.pattern != model::CommunicationPattern::none &&
        context_->limits.has(LimitKind::uplink)) {
      return fmt::format(
          "uplinks: free machines may hold its tasks, but no placement was found whose {} Gbit/s "
          "the uplinks carry",
          static_cast<double>(communication.mbps) / 1000.0);
    }
    if (worth.value < worth.cost + worth.penalty)
      return "too dear: free machines may hold its tasks" + price;
    return "not found: free machines may hold its tasks, but no placement was found" + price;
  }

 private:
  /// The GPU type of largest value less price, and both; invalid for a job without GPUs.
  struct Worth {
    GpuTypeId type = {};
    double value = 0.0, cost = 0.0;
    double penalty = 0.0;  ///< of quotas
  };

  [[nodiscard]] Worth best_type(JobId id, std::uint64_t usable) const {
    const double gpus =
        static_cast<double>(instance_.workload.gpu_milli(instance_.workload.job(id))) / 1000.0;
    if (gpus == 0.0) return {.value = context_->valuation.best(id)};
    Worth best;
    for (std::size_t t = 0; t < least_price_.size(); ++t) {
      if (((usable >> t) & 1) == 0) continue;
      const Worth here{GpuTypeId(t), context_->valuation.best(id, GpuTypeId(t)),
                       least_price_[t] == kInfinity ? 0.0 : gpus * least_price_[t]};
      if (!best.type.valid() || here.value - here.cost > best.value - best.cost) best = here;
    }
    return best;
  }

  [[nodiscard]] static std::string price_text(const Worth& worth) {
    if (!worth.type.valid()) return {};
    const std::string quotas =
        worth.penalty > 0.0 ? fmt::format(" and its quotas {:.4g}", worth.penalty) : "";
    const double excess = worth.cost + worth.penalty - worth.value;
    const std::string more = excess > 0.0 ? fmt::format(", {:.4g} more", excess) : "";
    return fmt::format("; it is worth {:.4g}, its GPUs cost {:.4g}{}{} at the planner's prices",
                       worth.value, worth.cost, quotas, more);
  }

  /// The first task group for which no domain has enough free room, in words; empty if all have.
  std::string lacking(JobId id, GpuTypeId type) {
    const model::Job& job = instance_.workload.job(id);
    const Level level = instance_.workload.tasks(job) == 1 ? Level::machine : job.domain;
    for (const model::TaskGroup& group : instance_.workload.groups_of(job)) {
      const bool on_gpus = instance_.workload.shape(group.shape).uses_gpu();
      const FreeRoom::Best& best = free_.best(group.shape, on_gpus ? type : GpuTypeId{}, level);
      if (best.tasks >= group.count) continue;
      const std::string place = best.tasks == 0 ? std::string("no machine")
                                : best.domain.empty()
                                    ? fmt::format("the free room of one {}", name_of(level))
                                    : best.domain;
      std::string text = fmt::format("{} holds {} of {} tasks '{}'", place,
                                     best.tasks == 0 ? "one" : fmt::format("{}", best.tasks),
                                     group.count, instance_.workload.tables().labels[group.label]);
      if (!on_gpus) return text;
      return text + fmt::format(" ({:.4g} GPUs of type {} are free)",
                                static_cast<double>(free_.free_milli(type)) / 1000.0,
                                instance_.cluster.gpu_types[type.index()]);
    }
    return {};
  }

  model::InstanceView instance_;
  const WaitingContext* context_;
  FreeRoom free_;
  std::vector<double> least_price_;  ///< by type: per GPU
};

/// Everything that may keep a job out, the first reason found.
class Reasons {
 public:
  Reasons(const WaitingContext& context, const model::Placement& placement)
      : instance_(context.valuation.instance()),
        valuation_(context.valuation),
        capacity_(instance_),
        slack_(context.comm, instance_, context.limits, placement),
        spare_(context.valuation, context.limits, slack_.use()),
        place_(context, placement),
        present_(types_present(instance_.cluster)) {}

  std::string of(JobId id) {
    const model::Job& job = instance_.workload.job(id);
    const model::Running* running = instance_.workload.running_of(job);
    if (running == nullptr) return of(id, job);
    const model::JobPlacement present =
        planner_model::current_placement(instance_.workload, *running);
    return std::string(planner_model::may_stay(instance_.cluster, present) ? report::kStopped
                                                                           : report::kEvacuated) +
           of(id, job);
  }

 private:
  std::string of(JobId id, const model::Job& job) {
    const std::uint64_t usable = job.gpu_types & present_;
    if (instance_.workload.gpu_milli(job) > 0 && usable == 0) {
      return job.gpu_types == ~std::uint64_t{0}
                 ? std::string("the cluster has no GPUs")
                 : no_such_type(instance_.cluster, job.gpu_types, present_);
    }
    std::string why = never_fits(instance_, capacity_, usable, job);
    if (why.empty()) why = rules_forbid(instance_, capacity_, usable, job);
    if (!why.empty()) return why;
    why = slack_.why_over_quota(job, valuation_.best(id));
    if (!why.empty()) return why;
    why = slack_.why(job,
                     [&](Level level) { return holds(instance_, capacity_, usable, job, level); });
    if (why.empty()) why = spare_.why(id, usable);
    return why.empty() ? place_.why(id, usable, slack_.penalty(job)) : why;
  }

  model::InstanceView instance_;
  const planner_model::Valuation& valuation_;  ///< without prices
  DomainCapacity capacity_;
  LimitSlack slack_;
  SpareReason spare_;
  PlaceReason place_;
  std::uint64_t present_;
};

}  // namespace

std::vector<model::UnplacedJob> waiting(const WaitingContext& context, std::span<const JobId> jobs,
                                        const model::Placement& placement) {
  Reasons reasons(context, placement);
  std::vector<model::UnplacedJob> result;
  for (const JobId job : jobs) {
    if (std::ranges::binary_search(placement, job, {}, &model::JobPlacement::job)) continue;
    result.push_back({job, reasons.of(job)});
  }
  return result;
}

std::map<std::string, std::int64_t> waiting_by_reason(const comm::Communicator& comm,
                                                      const model::Plan& plan) {
  std::map<std::string, std::int64_t> mine, all;
  for (const model::UnplacedJob& w : plan.waiting) ++mine[report::reason_summary(w.reason)];
  for (const auto& one : comm::gather<decltype(mine)>(comm, std::span(&mine, 1))) {
    for (const auto& [reason, jobs] : one) all[reason] += jobs;
  }
  return all;
}

}  // namespace berth::pipeline

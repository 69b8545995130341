// SPDX-License-Identifier: Apache-2.0
#include "berth/planner_model/limit_groups.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "berth/base/assert.hpp"
#include "berth/planner_model/gpu_types.hpp"

namespace berth::planner_model {
namespace {

/// By domain (rack or pod): GPU types of its machines.
std::vector<std::set<std::size_t>> types_of(const model::Cluster& cluster, bool pods) {
  std::vector<std::set<std::size_t>> types(pods ? cluster.pods.size() : cluster.racks.size());
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const GpuTypeId type = cluster.class_of(MachineId(m)).gpu_type;
    const std::size_t d =
        pods ? cluster.pod_of(MachineId(m)).index() : cluster.machine_rack[m].index();
    if (type.valid()) types[d].insert(type.index());
  }
  return types;
}

/// By type: the least type connected with it through domains with several types.
std::vector<std::size_t> joined(const std::vector<std::set<std::size_t>>& domains,
                                std::size_t types) {
  std::vector<std::size_t> least(types);
  std::iota(least.begin(), least.end(), std::size_t{0});
  for (const auto& present : domains) {
    if (present.size() < 2) continue;
    std::size_t lowest = types;
    for (const std::size_t t : present) lowest = std::min(lowest, least[t]);
    std::set<std::size_t> old;
    for (const std::size_t t : present) old.insert(least[t]);
    for (std::size_t& l : least) {
      if (old.contains(l)) l = lowest;
    }
  }
  return least;
}

/// [type][k]: largest number of tasks of k whole GPUs that any one empty domain holds.
std::vector<std::vector<std::int64_t>> roomiest(const model::Cluster& cluster, bool pods) {
  std::int32_t largest = 0;
  for (const model::MachineClass& c : cluster.classes) largest = std::max(largest, c.gpus);
  const auto sizes = static_cast<std::size_t>(largest) + 1;
  const std::size_t types = cluster.gpu_types.size();
  std::vector<std::vector<std::int64_t>> most(types, std::vector<std::int64_t>(sizes, 0));
  auto here = most;
  std::int32_t domain = -1;
  const auto close = [&] {
    for (std::size_t t = 0; t < types; ++t) {
      for (std::size_t k = 0; k < sizes; ++k) most[t][k] = std::max(most[t][k], here[t][k]);
      std::ranges::fill(here[t], 0);
    }
  };
  for (std::size_t m = 0; m < cluster.machines(); ++m) {  // domain after domain
    const std::int32_t d =
        pods ? cluster.pod_of(MachineId(m)).value() : cluster.machine_rack[m].value();
    if (d != domain) close();
    domain = d;
    const model::MachineClass& c = cluster.class_of(MachineId(m));
    if (!c.gpu_type.valid()) continue;
    for (std::int32_t k = 1; k <= c.gpus; ++k) {
      here[c.gpu_type.index()][static_cast<std::size_t>(k)] += c.gpus / k;
    }
  }
  close();
  return most;
}

/// Tasks without GPUs may be in racks and pods without such a limit.
double needs_on_gpus(const model::WorkloadView& workload, const model::Job& job,
                     std::size_t resource) {
  double sum = 0.0;
  for (const model::TaskGroup& g : workload.groups_of(job)) {
    const model::Shape& shape = workload.shape(g.shape);
    if (shape.uses_gpu()) sum += static_cast<double>(g.count * shape.needs[resource]);
  }
  return sum;
}

}  // namespace

LimitGroups::LimitGroups(const model::InstanceView& instance, const CouplingLimits& limits)
    : instance_(instance), limits_(&limits) {
  if (!limits.of_places()) return;
  most_tasks_ = {roomiest(instance.cluster, false), roomiest(instance.cluster, true)};
  for (std::size_t k = 0; k < model::kLimitKinds; ++k) {
    if (model::kLimitRows[k].of_rack == nullptr) continue;
    for (const bool pods : {false, true}) add_tier(static_cast<model::LimitKind>(k), pods);
  }
  set_demands(demands(planned_jobs(instance.workload)));
}

void LimitGroups::Demand::add(const Demand& other) {
  most = std::max(most, other.most);
  least = std::min(least, other.least);
  wanted += other.wanted;
}

std::vector<LimitGroups::Demand> LimitGroups::demands(std::span<const JobId> jobs) const {
  const model::WorkloadView& workload = instance_.workload;
  std::vector<Demand> demands(groups_.size());
  if (groups_.empty()) return demands;
  for (const JobId id : jobs) {
    const model::Job& job = workload.job(id);
    const double gpus = static_cast<double>(workload.gpu_milli(job)) / model::kGpuMilli;
    if (gpus <= 0.0) continue;
    std::map<std::uint32_t, double> most;
    for (const GpuTypeId type : GpuTypes(job, instance_.cluster.gpu_types.size())) {
      for (const GroupLoad& group_load : group_loads(id, type, model::Level::cluster)) {
        if (group_load.group == kNone) continue;
        demands[group_load.group].add({group_load.amount / gpus, group_load.amount / gpus, 0});
        most[group_load.group] = std::max(most[group_load.group], group_load.amount);
      }
    }
    for (const auto& [group, amount] : most) {
      demands[group].wanted +=
          static_cast<Int128>(std::floor(std::ldexp(amount, Demand::kScaleLog2)));
    }
  }
  return demands;
}

void LimitGroups::set_demands(std::span<const Demand> demands) {
  constexpr double kLeastShare = 1.0 / 1024.0;  // of `unit`; untuned guard for the price's scale
  BERTH_EXPECT(demands.size() == groups_.size());
  for (std::size_t i = 0; i < demands.size(); ++i) {
    LimitGroup& group = groups_[i];
    const bool asked = demands[i].most > 0.0;
    group.unit = asked ? demands[i].most : 1.0;
    group.least = asked ? std::max(demands[i].least / group.unit, kLeastShare) : 1.0;
    group.wanted = std::ldexp(static_cast<double>(demands[i].wanted), -Demand::kScaleLog2);
  }
}

void LimitGroups::add_tier(model::LimitKind kind, bool pods) {
  const model::Cluster& cluster = instance_.cluster;
  const std::size_t types = cluster.gpu_types.size();
  Tier& tier = tiers_.emplace_back(
      Tier{.kind = kind, .pods = pods, .group = std::vector<std::uint32_t>(types, kNone)});
  if (!limits_->has(kind)) return;
  const auto domains = types_of(cluster, pods);
  const std::vector<std::size_t> least = joined(domains, types);
  for (std::size_t root = 0; root < types; ++root) {
    LimitGroup group;
    bool limited = least[root] == root;
    for (std::size_t d = 0; d < domains.size() && limited; ++d) {
      if (domains[d].empty() || least[*domains[d].begin()] != root) continue;
      const std::size_t limit = pods ? limits_->at(kind, PodId(d)) : limits_->at(kind, RackId(d));
      limited = limits_->capacity(limit) != model::kNoLimit;
      group.limits.push_back(limit);
      group.capacity += static_cast<double>(limits_->capacity(limit));
    }
    const std::size_t fewest = kind == model::LimitKind::uplink ? 2 : 1;  // no ring crosses one
    if (!limited || group.limits.size() < fewest) continue;
    for (std::size_t t = 0; t < types; ++t) {
      if (least[t] == root) tier.group[t] = static_cast<std::uint32_t>(groups_.size());
    }
    groups_.push_back(std::move(group));
  }
}

double LimitGroups::ring_traffic(const model::Job& job, GpuTypeId type, bool pods) const {
  const model::WorkloadView& workload = instance_.workload;
  const auto& most = most_tasks_[pods ? 1 : 0][type.index()];
  std::int64_t on_gpus = 0, inside = 0;
  for (const model::TaskGroup& g : workload.groups_of(job)) {
    const model::Shape& shape = workload.shape(g.shape);
    std::int64_t holds = g.count;  // CPU-only tasks find room anywhere
    if (shape.uses_gpu()) {
      const auto k = static_cast<std::size_t>(std::max(1, shape.gpus));
      const std::int64_t each = shape.gpu_milli > 0 ? model::kGpuMilli / shape.gpu_milli : 1;
      holds = k < most.size() ? std::min<std::int64_t>(g.count, most[k] * each) : 0;
      on_gpus += g.count;
    }
    inside += holds;
  }
  const std::int64_t behind = std::min(inside, workload.tasks(job) - 1);
  if (behind <= 0) return 0.0;
  const auto rate = static_cast<double>(job.communication.mbps);
  return rate * static_cast<double>(on_gpus) / static_cast<double>(behind);
}

double LimitGroups::least_use(const model::Job& job, GpuTypeId type, model::Level width,
                              const Tier& tier) const {
  if (const std::size_t resource = row_of(tier.kind).resource; resource < model::kResources) {
    return needs_on_gpus(instance_.workload, job, resource);
  }
  const bool crosses = width > (tier.pods ? model::Level::pod : model::Level::rack);
  const bool ring = job.communication.pattern == model::CommunicationPattern::ring;
  return crosses && ring ? ring_traffic(job, type, tier.pods) : 0.0;
}

LimitGroups::GroupLoads LimitGroups::group_loads(JobId id, GpuTypeId type,
                                                 model::Level width) const {
  GroupLoads loads;
  if (groups_.empty() || !type.valid()) return loads;
  const model::Job& job = instance_.workload.job(id);
  for (std::size_t i = 0; i < tiers_.size(); ++i) {
    const std::uint32_t group = tiers_[i].group[type.index()];
    if (group == kNone) continue;
    const double amount = least_use(job, type, width, tiers_[i]);
    if (amount > 0.0) loads[i] = {group, amount};
  }
  return loads;
}

}  // namespace berth::planner_model

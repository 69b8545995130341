// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/free_task_counts.hpp"

#include "local_search/candidate_domains.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>

namespace berth::solver {

/// Tasks of one group.
struct FreeTaskCounts::Demand {
  const model::Shape& shape;
  std::int64_t tasks;
  bool on_one;  ///< machine
  const Counts& room;

  [[nodiscard]] bool fits(const Count& count) const {
    return (on_one ? count.on_one : count.together) >= tasks;
  }
};

FreeTaskCounts::Count FreeTaskCounts::count(const model::Shape& shape,
                                            std::span<const MachineId> machines) const {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();  // of any group
  Count count;
  for (const MachineId m : machines) {
    const std::int64_t here = state_.room().count(m, shape, kMost);
    count.together += here;
    count.on_one = std::max(count.on_one, here);
  }
  return count;
}

const FreeTaskCounts::Counts& FreeTaskCounts::counts(ShapeId shape, GpuTypeId type,
                                                     model::Level level) {
  const auto [entry, fresh] = known_.try_emplace({shape, type, level});
  Counts& counts = entry->second;
  if (!fresh) return counts;
  const model::WorkloadView& workload = state_.valuation().instance().workload;
  for (const Domain& domain : state_.index().domains(type, level)) {
    const Count here = count(workload.shape(shape), domain.machines);
    counts.by_domain.push_back(here);
    counts.most.together = std::max(counts.most.together, here.together);
    counts.most.on_one = std::max(counts.most.on_one, here.on_one);
  }
  return counts;
}

std::span<const FreeTaskCounts::Count> FreeTaskCounts::of(ShapeId shape, GpuTypeId type,
                                                          model::Level level) {
  return counts(shape, type, level).by_domain;
}

void FreeTaskCounts::prepare(const model::Job& job) {
  using model::Level;
  const model::WorkloadView& workload = state_.valuation().instance().workload;
  for (const GpuTypeId type : local_search::candidate_types(state_.index(), workload, job)) {
    for (const model::TaskGroup& group : workload.groups_of(job)) {
      for (const Level level : {Level::rack, Level::pod, Level::cluster}) {
        counts(group.shape, type, level);
      }
    }
  }
}

std::vector<const Domain*> FreeTaskCounts::holders(const model::Job& job, GpuTypeId type,
                                                   std::span<const Domain> domains,
                                                   std::span<const MachineId> freed) {
  if (domains.empty()) return {};
  const model::WorkloadView& workload = state_.valuation().instance().workload;
  const model::Level level = domains.front().level;
  const bool on_one = local_search::is_single(workload, job);
  std::vector<Demand> demands;
  for (const model::TaskGroup& group : workload.groups_of(job)) {
    const model::Shape& shape = workload.shape(group.shape);
    // tasks without GPUs of a job of several groups may be on machines outside the list
    if (job.groups > 1 && !shape.uses_gpu()) continue;
    demands.push_back({shape, group.count, on_one, counts(group.shape, type, level)});
  }
  const auto all = state_.index().domains(type, level);
  const auto may_hold = [&](const Domain& domain) {
    const auto d = static_cast<std::size_t>(&domain - all.data());
    const auto before = [&](const Demand& demand) { return demand.fits(demand.room.by_domain[d]); };
    if (std::ranges::all_of(demands, before)) return true;
    std::vector<MachineId> grown;
    std::ranges::set_intersection(freed, domain.machines, std::back_inserter(grown));
    if (grown.empty()) return false;
    return std::ranges::all_of(demands, [&](const Demand& demand) {
      const Count more = count(demand.shape, grown);
      const Count& room = demand.room.by_domain[d];
      return demand.fits({room.together + more.together, std::max(room.on_one, more.on_one)});
    });
  };
  std::vector<const Domain*> result;
  const auto consider = [&](const Domain& domain) {
    if (may_hold(domain)) result.push_back(&domain);
  };
  const auto anywhere = [&](const Demand& demand) { return demand.fits(demand.room.most); };
  if (std::ranges::all_of(demands, anywhere)) {
    for (const Domain& domain : domains) consider(domain);
    return result;
  }
  const Domain* last = nullptr;
  for (const MachineId m : freed) {
    // by ascending first machine
    const auto after = std::ranges::upper_bound(
        domains, m, {}, [](const Domain& domain) { return domain.machines.front(); });
    if (after == domains.begin() || &*std::prev(after) == last) continue;
    last = &*std::prev(after);
    consider(*last);
  }
  return result;
}

}  // namespace berth::solver

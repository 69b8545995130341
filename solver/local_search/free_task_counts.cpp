// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/free_task_counts.hpp"

#include "local_search/candidate_domains.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <ranges>

namespace berth::solver {

using model::Level;

namespace {

constexpr std::array kLevels{Level::rack, Level::pod, Level::cluster};
constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();  // tasks of any group

/// Those of a list of the domain's GPU type: machines are numbered rack by rack, pod by pod.
auto within(const auto& machines, const Domain& domain) {
  const auto id = [](const auto& count) { return count.machine; };
  return std::ranges::subrange(std::ranges::lower_bound(machines, domain.machines.front(), {}, id),
                               std::ranges::upper_bound(machines, domain.machines.back(), {}, id));
}

/// The machines of both ascending lists. O(few log many)
std::vector<MachineId> common(std::span<const MachineId> few, std::span<const MachineId> many) {
  std::vector<MachineId> found;
  auto from = many.begin();
  for (const MachineId m : few) {
    from = std::lower_bound(from, many.end(), m);
    if (from == many.end()) break;
    if (*from == m) found.push_back(m);
  }
  return found;
}

}  // namespace

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
  Count count;
  for (const MachineId m : machines) {
    const std::int64_t here = state_.room().count(m, shape, kMost);
    count.together += here;
    count.on_one = std::max(count.on_one, here);
  }
  return count;
}

FreeTaskCounts::Room& FreeTaskCounts::room(ShapeId shape, GpuTypeId type) {
  const auto [entry, fresh] = known_.try_emplace({shape, type});
  Room& room = entry->second;
  if (!fresh) return room;
  const model::Shape& needs = state_.valuation().instance().workload.shape(shape);
  for (const Domain& all : state_.index().domains(type, Level::cluster)) {
    for (const MachineId m : all.machines) {
      if (const auto tasks = state_.room().count(m, needs, kMost); tasks > 0) {
        room.machines.push_back({m, tasks, planner_model::tightness(state_.room(), m)});
      }
    }
  }
  for (std::size_t level = 0; level < kLevels.size(); ++level) {
    Counts& counts = room.by_level[level];
    for (const Domain& domain : state_.index().domains(type, kLevels[level])) {
      Count here;
      for (const MachineCount& more : within(room.machines, domain)) {
        here.together += more.tasks;
        here.on_one = std::max(here.on_one, more.tasks);
      }
      counts.by_domain.push_back(here);
      counts.most.together = std::max(counts.most.together, here.together);
      counts.most.on_one = std::max(counts.most.on_one, here.on_one);
    }
  }
  return room;
}

const FreeTaskCounts::Counts& FreeTaskCounts::counts(ShapeId shape, GpuTypeId type,
                                                     model::Level level) {
  const auto at = std::ranges::find(kLevels, level) - kLevels.begin();
  return room(shape, type).by_level[static_cast<std::size_t>(at)];
}

std::span<const FreeTaskCounts::Count> FreeTaskCounts::of(ShapeId shape, GpuTypeId type,
                                                          model::Level level) {
  return counts(shape, type, level).by_domain;
}

void FreeTaskCounts::prepare(const model::Job& job) {
  const model::WorkloadView& workload = state_.valuation().instance().workload;
  for (const GpuTypeId type : local_search::candidate_types(state_.index(), workload, job)) {
    for (const model::TaskGroup& group : workload.groups_of(job)) {
      room(group.shape, type);
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
    const std::vector<MachineId> grown = common(freed, domain.machines);
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

/// True when best fit takes the tightest machines with room for the tasks of the job's only group.
bool FreeTaskCounts::fits_by_tightness(const model::Job& job) const {
  const model::WorkloadView& workload = state_.valuation().instance().workload;
  const model::PlacementRules& rules = workload.rules_of(job);
  return job.groups == 1 && local_search::depends_on_tasks_alone(state_.limit_usage()) &&
         !model::concern_machines(rules) && !state_.room().has_rules() &&
         state_.room().fragmentation().none();
}

/// Unchanged machines of the domain, the tightest of all, that hold so many tasks together;
/// ascending. All with room, if they hold fewer.
std::vector<MachineId> FreeTaskCounts::tightest_machines(Room& room, const Domain& domain,
                                                         std::int64_t tasks,
                                                         std::span<const MachineId> changed) {
  if (room.tightest.empty()) {
    room.tightest = room.machines;
    std::ranges::sort(room.tightest, {}, &MachineCount::tightness);
  }
  std::vector<MachineId> found;
  for (const auto& [m, here, tightness] : room.tightest) {
    if (tasks <= 0) break;
    if (m < domain.machines.front() || domain.machines.back() < m) continue;
    if (std::ranges::binary_search(changed, m)) continue;
    found.push_back(m);
    tasks -= here;
  }
  std::ranges::sort(found);
  return found;
}

std::vector<MachineId> FreeTaskCounts::roomy_machines(JobId id, GpuTypeId type,
                                                      const Domain& domain,
                                                      std::span<const MachineId> changed) {
  const model::WorkloadView& workload = state_.valuation().instance().workload;
  const model::Job& job = workload.job(id);
  const bool on_one = local_search::is_single(workload, job);
  const bool tightest = fits_by_tightness(job) && (!on_one || workload.tasks(job) == 1);
  std::vector<MachineId> machines = common(changed, domain.machines);
  for (const model::TaskGroup& group : workload.groups_of(job)) {
    Room& room = this->room(group.shape, type);
    const auto before = std::ssize(machines);
    if (!tightest) {
      for (const MachineCount& here : within(room.machines, domain)) {
        machines.push_back(here.machine);
      }
    } else {
      std::ranges::copy(tightest_machines(room, domain, group.count, changed),
                        std::back_inserter(machines));
    }
    std::inplace_merge(machines.begin(), machines.begin() + before, machines.end());
  }
  machines.erase(std::unique(machines.begin(), machines.end()), machines.end());
  return machines;
}

}  // namespace berth::solver

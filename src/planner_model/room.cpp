// SPDX-License-Identifier: Apache-2.0
#include "berth/planner_model/room.hpp"

#include "server_allowances.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <tuple>

#include "berth/base/assert.hpp"
#include "berth/model/domain_task_counts.hpp"

namespace berth::planner_model {

namespace {

std::vector<MachineId> all_machines(const model::Cluster& cluster) {
  std::vector<MachineId> all;
  for (std::size_t m = 0; m < cluster.machines(); ++m) all.emplace_back(m);
  return all;
}

}  // namespace

Room::Room(const model::Cluster& cluster) : Room(cluster, all_machines(cluster)) {}

Room::Room(const model::Cluster& cluster, std::span<const MachineId> machines)
    : cluster_(&cluster), version_(machines.size(), 0), tasks_(machines.size(), 0) {
  if (machines.empty()) return;
  const auto [lowest, highest] = std::ranges::minmax(machines);
  first_ = lowest.index();
  page_.assign((highest.index() - first_) / kPage + 1, 0);
  slot_.assign(kPage, kNotHeld);
  machines_.reserve(machines.size());
  for (const MachineId m : machines) {
    std::uint32_t& page = page_[(m.index() - first_) / kPage];
    if (page == 0) {
      page = static_cast<std::uint32_t>(slot_.size());
      slot_.resize(slot_.size() + kPage, kNotHeld);
    }
    slot_[entry(m.index() - first_)] = static_cast<std::uint32_t>(machines_.size());
    machines_.emplace_back(cluster, m);
  }
  for (const model::Immovable& content : cluster.immovable) {
    if (content.job.valid() && holds(content.machine)) ++tasks_[slot(content.machine)];
  }
}

model::TaskPlacement Room::take(MachineId m, std::uint32_t group, const model::Shape& shape) {
  const model::TaskPlacement task = machines_[slot(m)].choose(m, group, shape);
  take(task, shape);
  return task;
}

void Room::take(const model::TaskPlacement& task, const model::Shape& shape) {
  machines_[slot(task.machine)].take(task, shape);
  ++version_[slot(task.machine)];
  ++tasks_[slot(task.machine)];
}

void Room::release(const model::TaskPlacement& task, const model::Shape& shape) {
  reopen(task.machine);
  machines_[slot(task.machine)].release(task, shape);
  ++version_[slot(task.machine)];
  --tasks_[slot(task.machine)];
}

void take(Room& room, const model::WorkloadView& workload, const model::JobPlacement& placement) {
  const auto groups = workload.groups_of(workload.job(placement.job));
  for (const model::TaskPlacement& t : placement.tasks) {
    BERTH_EXPECT(t.group < groups.size());  // a forged checkpoint may break this
    if (room.holds(t.machine)) room.take(t, workload.shape(groups[t.group].shape));
  }
  enter(room, workload, placement);
}

void release(Room& room, const model::WorkloadView& workload,
             const model::JobPlacement& placement) {
  const auto groups = workload.groups_of(workload.job(placement.job));
  for (const model::TaskPlacement& t : placement.tasks) {
    if (!room.holds(t.machine)) continue;
    room.leave(placement.job, t.machine);
    room.release(t, workload.shape(groups[t.group].shape));
  }
}

bool is_free(Room& room, const model::WorkloadView& workload,
             const model::JobPlacement& placement) {
  if (!admits(room, workload, placement)) return false;
  const auto groups = workload.groups_of(workload.job(placement.job));
  model::JobPlacement taken{.job = placement.job, .tasks = {}};
  for (const model::TaskPlacement& task : placement.tasks) {
    const model::Shape& shape = workload.shape(groups[task.group].shape);
    if (!room.fits(task, shape)) break;
    room.take(task, shape);
    taken.tasks.push_back(task);
  }
  release(room, workload, taken);
  return taken.tasks.size() == placement.tasks.size();
}

namespace {

/// Order of groups: most GPU thousandths a task first, ties by position.
std::vector<std::uint32_t> largest_first(const model::WorkloadView& workload,
                                         std::span<const model::TaskGroup> groups) {
  std::vector<std::uint32_t> order(groups.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater{}, [&](std::uint32_t g) {
    const model::Shape& s = workload.shape(groups[g].shape);
    return std::tuple(s.total_milli(), s.needs[model::kCpu]);
  });
  return order;
}

/// Places tasks of one job on some machines.
class TaskPlacer {
 public:
  TaskPlacer(Room& room, std::span<const MachineId> candidates, const LimitUsage* limits,
             const model::PlacementRules& rules, std::int64_t tasks)
      : room_(room),
        candidates_(candidates),
        allowances_(limits),
        counts_(room.cluster(), rules, tasks) {}

  /// False: there is not room for all; those that found some are in `tasks`.
  bool place(const model::Shape& shape, std::uint32_t group, std::int64_t count,
             std::vector<model::TaskPlacement>& tasks) {
    if (!room_.fragmentation().none()) return place_by_growth(shape, group, count, tasks);
    std::vector<MachineId> order;
    for (const MachineId m : candidates_) {
      if (fits(m, shape)) order.push_back(m);
    }
    const auto tighter = [&](MachineId a, MachineId b) {
      return tightness(room_, a) < tightness(room_, b);
    };
    if (count == 1) {
      const auto best = std::ranges::min_element(order, tighter);
      if (best == order.end()) return false;
      tasks.push_back(take(*best, group, shape));
      return true;
    }
    // A heap, since mostly few of many machines are used.
    const auto looser = [&](MachineId a, MachineId b) { return tighter(b, a); };
    std::ranges::make_heap(order, looser);
    while (!order.empty()) {
      std::ranges::pop_heap(order, looser);
      const MachineId m = order.back();
      order.pop_back();
      for (; count > 0 && fits(m, shape); --count) tasks.push_back(take(m, group, shape));
      if (count == 0) return true;
    }
    return false;
  }

  /// As `place`: task by task, each where fragmentation grows least, then on the tightest machine.
  bool place_by_growth(const model::Shape& shape, std::uint32_t group, std::int64_t count,
                       std::vector<model::TaskPlacement>& tasks) {
    using Key = std::pair<std::int64_t, Tightness>;
    const auto key = [&](MachineId m) {
      return Key{room_.fragmentation().growth(room_[m], shape), tightness(room_, m)};
    };
    std::vector<Key> heap;
    for (const MachineId m : candidates_) {
      if (fits(m, shape)) heap.push_back(key(m));
    }
    std::ranges::make_heap(heap, std::greater<>());
    while (!heap.empty()) {
      std::ranges::pop_heap(heap, std::greater<>());
      const MachineId m = std::get<MachineId>(heap.back().second);
      heap.pop_back();
      if (!fits(m, shape)) continue;
      tasks.push_back(take(m, group, shape));
      if (--count == 0) return true;
      if (!fits(m, shape)) continue;
      heap.push_back(key(m));
      std::ranges::push_heap(heap, std::greater<>());
    }
    return false;
  }

  /// Places parameter servers as far as uplinks carry them, first where these need servers.
  bool place_servers(const model::Shape& shape, std::uint32_t group, std::int64_t count,
                     ServerAllowances& uplinks, std::vector<model::TaskPlacement>& tasks) {
    std::vector<MachineId> order(candidates_.begin(), candidates_.end());
    std::ranges::sort(order, {}, [&](MachineId m) { return tightness(room_, m); });
    for (const bool needed : {true, false}) {
      for (const MachineId m : order) {
        for (; count > 0 && fits(m, shape) && (needed ? uplinks.need(m) : uplinks.allow(m));
             --count) {
          uplinks.take(m);
          tasks.push_back(take(m, group, shape));
        }
      }
    }
    return count == 0;
  }

 private:
  [[nodiscard]] bool fits(MachineId m, const model::Shape& shape) const {
    return room_.fits(m, shape) && allowances_.allow(m, shape) && counts_.allow(m);
  }
  model::TaskPlacement take(MachineId m, std::uint32_t group, const model::Shape& shape) {
    allowances_.take(m, shape);
    counts_.take(m);
    return room_.take(m, group, shape);
  }

  Room& room_;
  std::span<const MachineId> candidates_;
  TaskAllowances allowances_;
  model::DomainTaskCounts counts_;
};

/// Places all groups on these machines, or none.
bool place_all(Room& room, const model::WorkloadView& workload, model::JobPlacement& placement,
               std::span<const MachineId> candidates, const LimitUsage* limits) {
  const model::Job& job = workload.job(placement.job);
  const auto groups = workload.groups_of(job);
  TaskPlacer placer(room, candidates, limits, workload.rules_of(job), workload.tasks(job));
  for (const std::uint32_t g : largest_first(workload, groups)) {
    const model::Shape& shape = workload.shape(groups[g].shape);
    const bool last = std::ssize(placement.tasks) + groups[g].count == workload.tasks(job);
    const bool servers = last && g == job.communication.servers;
    ServerAllowances uplinks(servers ? limits : nullptr, job, groups[g].count, placement.tasks);
    const bool placed =
        uplinks.bind() ? placer.place_servers(shape, g, groups[g].count, uplinks, placement.tasks)
                       : placer.place(shape, g, groups[g].count, placement.tasks);
    if (!placed) {
      release(room, workload, placement);
      placement.tasks.clear();
      return false;
    }
  }
  std::ranges::stable_sort(placement.tasks, {}, &model::TaskPlacement::group);
  enter(room, workload, placement);
  return true;
}

}  // namespace

std::optional<model::JobPlacement> place_job(Room& room, const model::WorkloadView& workload,
                                             JobId job, std::span<const MachineId> candidates,
                                             const LimitUsage* limits) {
  model::JobPlacement placement{.job = job};
  const model::Job& j = workload.job(job);
  std::vector<MachineId> admitted;
  if (room.has_rules() || workload.rules_of(j).exclusive) {
    std::ranges::copy_if(candidates, std::back_inserter(admitted),
                         [&](MachineId m) { return room.admits(workload.tables(), j.rules, m); });
    candidates = admitted;
  }
  if (j.domain != model::Level::machine || workload.tasks(j) == 1) {
    if (!place_all(room, workload, placement, candidates, limits)) return std::nullopt;
    return placement;
  }
  std::vector<MachineId> order(candidates.begin(), candidates.end());
  std::ranges::sort(order, {}, [&](MachineId m) { return tightness(room, m); });
  for (const MachineId m : order) {
    if (place_all(room, workload, placement, std::span(&m, 1), limits)) return placement;
  }
  return std::nullopt;
}

}  // namespace berth::planner_model

// SPDX-License-Identifier: Apache-2.0
#include "assignment/present_places.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace berth::solver::assignment {

using model::JobPlacement;
using model::Level;
using model::TaskPlacement;

PresentPlaces::PresentPlaces(const Occupancy& occupancy, const PricedPools& start,
                             std::span<const JobId> jobs)
    : workload_(occupancy.valuation().instance().workload),
      cluster_(&occupancy.valuation().instance().cluster),
      room_(occupancy.room()),
      on_machine_(occupancy.machines().size()) {
  const auto here = [&](const TaskPlacement& t) {
    return std::ranges::binary_search(occupancy.machines(), t.machine);
  };
  for (const JobId job : jobs) {
    if (!occupancy.valuation().pays_for_moves(job)) continue;
    JobPlacement present =
        planner_model::current_placement(workload_, *workload_.running_of(workload_.job(job)));
    if (!std::ranges::all_of(present.tasks, here) ||
        !planner_model::is_free(room_, workload_, present)) {
      continue;
    }
    const double lost = loss(occupancy, start, present);
    planner_model::take(room_, workload_, present);
    for (const TaskPlacement& t : present.tasks) {
      std::vector<JobId>& jobs_here = on_machine_[room_.slot(t.machine)];
      if (jobs_here.empty() || jobs_here.back() != job) jobs_here.push_back(job);
    }
    held_.emplace(job, Held{lost, std::move(present.tasks)});
  }
  for (std::vector<JobId>& jobs_here : on_machine_) {
    std::ranges::sort(jobs_here, {}, [&](JobId job) { return std::pair(held_.at(job).loss, job); });
  }
}

double PresentPlaces::loss(const Occupancy& occupancy, const PricedPools& start,
                           const JobPlacement& present) const {
  const model::Job& job = workload_.job(present.job);
  const double move_cost = workload_.running_of(job)->move_cost;
  if (job.required) return move_cost;
  double profit = occupancy.valuation().placed(present);
  for (const TaskPlacement& t : present.tasks) {
    profit -= start.prices[start.pools.pool_of(t.machine).index()] * t.milli *
              std::popcount(t.devices) / 1000.0;
  }
  return std::min(move_cost, std::max(0.0, profit));
}

std::optional<JobPlacement> PresentPlaces::in_class(JobId job,
                                                    const PlaceClass& place_class) const {
  const auto held = held_.find(job);
  if (held == held_.end()) return std::nullopt;
  const std::vector<TaskPlacement>& tasks = held->second.tasks;
  if (model::width(*cluster_, tasks) > place_class.width) return std::nullopt;
  for (const TaskPlacement& t : tasks) {
    const std::int32_t domain = place_class.scope == Level::cluster ? 0
                                : place_class.scope == Level::pod
                                    ? cluster_->pod_of(t.machine).value()
                                    : cluster_->machine_rack[t.machine.index()].value();
    const GpuTypeId type = cluster_->class_of(t.machine).gpu_type;
    const bool uses_gpu = t.milli > 0 && t.devices != 0;
    if (domain != place_class.domain || (uses_gpu && type != place_class.type)) return std::nullopt;
  }
  return JobPlacement{.job = job, .tasks = tasks};
}

std::optional<JobPlacement> PresentPlaces::fit(Occupancy& occupancy, JobId job,
                                               std::span<const MachineId> machines) {
  const planner_model::LimitUsage& limits = occupancy.limit_usage();
  auto placement = planner_model::place_job(room_, workload_, job, machines, &limits);
  if (placement) {
    planner_model::release(room_, workload_, *placement);
  } else {
    placement = fit_at_least_loss(occupancy, job, machines);
  }
  if (placement && limits.carries(*placement)) return placement;
  return occupancy.fit(job, machines);
}

/// Chooses the openings of least loss; a later opening of a machine requires the earlier ones.
std::optional<PresentPlaces::Clearing> PresentPlaces::least_clearing(
    const Occupancy& occupancy, JobId job, std::span<const MachineId> machines) const {
  const model::Job& record = workload_.job(job);
  if (record.groups != 1 || record.rules != 0) return std::nullopt;
  const model::TaskGroup& group = workload_.groups_of(record).front();
  const model::Shape& shape = workload_.shape(group.shape);
  std::vector<TaskRoom> openings;
  for (const MachineId m : machines) add_openings(m, shape, group.count, openings);
  std::ranges::sort(openings, {}, [&](const TaskRoom& o) {
    return std::tuple(o.loss, occupancy.room().free_milli(o.machine), o.machine, o.rank);
  });
  const bool on_one = record.domain == Level::machine && group.count > 1 && machines.size() > 1;
  std::map<MachineId, std::size_t> opened;
  Clearing clearing;
  std::int64_t left = on_one ? 0 : group.count;
  for (bool progress = true; left > 0 && progress;) {
    progress = false;
    for (const TaskRoom& o : openings) {
      std::size_t& rank = opened[o.machine];
      if (left == 0 || o.rank != rank) continue;
      ++rank, --left, progress = true;
      clearing.loss += o.loss;
      if (o.rank == 0) clearing.machines.push_back(o.machine);
      clearing.leaving.insert(clearing.leaving.end(), o.leaving.begin(), o.leaving.end());
    }
  }
  if (on_one || left > 0) return std::nullopt;
  std::ranges::sort(clearing.machines);
  return clearing;
}

std::optional<double> PresentPlaces::least_loss(const Occupancy& occupancy, JobId job,
                                                std::span<const MachineId> machines) const {
  const auto clearing = least_clearing(occupancy, job, machines);
  if (!clearing) return std::nullopt;
  return clearing->loss;
}

std::optional<JobPlacement> PresentPlaces::fit_at_least_loss(const Occupancy& occupancy, JobId job,
                                                             std::span<const MachineId> machines) {
  const auto clearing = least_clearing(occupancy, job, machines);
  if (!clearing) return std::nullopt;
  for (const JobId other : clearing->leaving) release(other);
  auto placement =
      planner_model::place_job(room_, workload_, job, clearing->machines, &occupancy.limit_usage());
  if (placement) planner_model::release(room_, workload_, *placement);
  return placement;
}

void PresentPlaces::add_openings(MachineId machine, const model::Shape& shape, std::int64_t most,
                                 std::vector<TaskRoom>& openings) const {
  model::FreeMachine free = room_[machine];
  const std::vector<JobId>& holders = on_machine_[room_.slot(machine)];
  TaskRoom next{.loss = 0.0, .rank = 0, .machine = machine, .leaving = {}};
  for (std::size_t h = 0;; ++h) {
    for (const std::int64_t n = free.count(shape, most); std::cmp_less(next.rank, n);) {
      openings.push_back(next);
      next = {.loss = 0.0, .rank = next.rank + 1, .machine = machine, .leaving = {}};
    }
    if (h == holders.size() || std::cmp_equal(next.rank, most)) return;
    const Held& held = held_.at(holders[h]);
    const auto groups = workload_.groups_of(workload_.job(holders[h]));
    for (const TaskPlacement& t : held.tasks) {
      if (t.machine == machine) free.release(t, workload_.shape(groups[t.group].shape));
    }
    next.loss += held.loss;
    next.leaving.push_back(holders[h]);
  }
}

void PresentPlaces::take(const JobPlacement& placement) {
  release(placement.job);
  for (const TaskPlacement& t : placement.tasks) {
    const std::vector<JobId> holders = on_machine_[room_.slot(t.machine)];
    const auto groups = workload_.groups_of(workload_.job(placement.job));
    const model::Shape& shape = workload_.shape(groups[t.group].shape);
    for (const JobId holder : holders) {
      if (!may_share(holder, placement.job)) release(holder);
    }
    for (auto h = holders.begin(); h != holders.end(); ++h) {
      if (room_.fits(t, shape)) break;
      if (!held_.contains(*h)) continue;
      const auto overlaps = [&](const TaskPlacement& other) {
        return other.machine == t.machine && (other.devices & t.devices) != 0;
      };
      if (t.devices == 0 || std::ranges::any_of(held_.at(*h).tasks, overlaps)) release(*h);
    }
    for (auto h = holders.begin(); h != holders.end(); ++h) {
      if (room_.fits(t, shape)) break;
      release(*h);
    }
    room_.take(t, shape);
  }
  planner_model::enter(room_, workload_, placement);
}

bool PresentPlaces::may_share(JobId a, JobId b) const {
  return model::may_share_machine(workload_.rules_of(workload_.job(a)),
                                  workload_.rules_of(workload_.job(b)));
}

void PresentPlaces::release(JobId job) {
  const auto held = held_.find(job);
  if (held == held_.end()) return;
  planner_model::release(room_, workload_, {.job = job, .tasks = held->second.tasks});
  for (const TaskPlacement& t : held->second.tasks) {
    std::erase(on_machine_[room_.slot(t.machine)], job);
  }
  held_.erase(held);
}

}  // namespace berth::solver::assignment

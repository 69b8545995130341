// SPDX-License-Identifier: Apache-2.0
#include "local_search/openings.hpp"

#include "local_search/machines_by_cost.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {
namespace {

template <SearchState State>
bool is_evicted(const InsertionQuery<State>& q, JobId job) {
  return std::ranges::binary_search(*q.quota_victims, job);
}

template <SearchState State>
void release_on(const InsertionQuery<State>& q, model::FreeMachine& free, MachineId m, JobId job) {
  const auto groups = q.workload().groups_of(q.workload().job(job));
  for (const auto& task : q.state->placed(job).tasks) {
    if (task.machine == m) free.release(task, q.workload().shape(groups[task.group].shape));
  }
}

/// What the job's tasks on the machine need.
template <SearchState State>
model::Resources needs_on(const InsertionQuery<State>& q, MachineId m, JobId job) {
  model::Resources sum;
  const auto groups = q.workload().groups_of(q.workload().job(job));
  for (const auto& task : q.state->placed(job).tasks) {
    if (task.machine == m) sum += q.workload().shape(groups[task.group].shape).needs;
  }
  return sum;
}

/// True when rules keep the job off the machines of the other one.
template <SearchState State>
bool must_leave(const InsertionQuery<State>& q, JobId other) {
  if (!q.ruled) return false;
  const model::WorkloadView& workload = q.workload();
  return !model::may_share_machine(workload.rules_of(*q.record),
                                   workload.rules_of(workload.job(other)));
}

/// True when rules keep the job off the machine for tasks that no eviction removes.
template <SearchState State>
bool is_barred(const InsertionQuery<State>& q, MachineId m) {
  if (!q.ruled) return false;
  std::size_t tasks = 0;
  std::vector<JobId> jobs;
  for (const Occupant& r : q.state->occupants(m)) {
    const auto& placed = q.state->placed(r.job).tasks;
    tasks +=
        static_cast<std::size_t>(std::ranges::count(placed, m, &model::TaskPlacement::machine));
    if (!r.evictable && must_leave(q, r.job)) return true;
    jobs.push_back(r.job);
  }
  const auto& tables = q.workload().tables();
  const model::PlacementRules& rules = q.workload().rules_of(*q.record);
  const planner_model::Room& room = q.state->room();
  if (rules.exclusive && room.tasks(m) > tasks) return true;
  return std::ranges::any_of(room.ruled_jobs(m), [&](const planner_model::Room::RuledJob& other) {
    return std::ranges::find(jobs, other.job) == jobs.end() &&
           !model::may_share_machine(rules, tables.rules[other.rules]);
  });
}

template <SearchState State>
void take_on(const InsertionQuery<State>& q, model::FreeMachine& free, MachineId m, JobId job) {
  const auto groups = q.workload().groups_of(q.workload().job(job));
  for (const auto& task : q.state->placed(job).tasks) {
    if (task.machine == m) free.take(task, q.workload().shape(groups[task.group].shape));
  }
}

/// Removes victims whose eviction is not needed, by descending value.
/// @param freed  what the victims need of resources on the machine
template <SearchState State>
void spare_needless_victims(const InsertionQuery<State>& q, model::FreeMachine free,
                            model::Resources freed, Opening& opening) {
  std::vector<JobId> kept = opening.victims;
  std::ranges::sort(kept, std::less<>{}, [&](JobId v) {
    return std::pair(-q.state->value_of(v), q.state->precedence_of(v));
  });
  for (const JobId v : kept) {
    if (must_leave(q, v)) continue;
    model::FreeMachine with = free;
    take_on(q, with, opening.machine, v);
    if (!with.fits(*q.shape)) continue;
    const model::Resources less = freed + -1 * needs_on(q, opening.machine, v);
    if (q.state->limit_usage().count(opening.machine, *q.shape, 1, less) == 0) continue;
    free = with;
    freed = less;
    std::erase(opening.victims, v);
    opening.cost -= q.state->value_of(v);
  }
}

}  // namespace

template <SearchState State>
void openings(const InsertionQuery<State>& q, MachineId m, std::int64_t limit, double budget,
              std::vector<Opening>& out) {
  const double least = least_cost(*q.state, m, q.shape->total_milli(), *q.quota_victims);
  if (least >= budget || is_barred(q, m)) return;
  model::FreeMachine free = q.state->room().shared(m);
  const auto& occupants = q.state->occupants(m);
  const planner_model::LimitUsage& usage = q.state->limit_usage();
  model::Resources freed;  // of the limits of the machine's rack and pod
  const auto release = [&](JobId job) {
    release_on(q, free, m, job);
    if (usage.limits_resources()) freed += needs_on(q, m, job);
  };
  for (const Occupant& r : occupants) {
    if (is_evicted(q, r.job)) release(r.job);
  }
  Opening open{.cost = 0.0, .machine = m};
  for (const Occupant& r : occupants) {
    if (is_evicted(q, r.job) || !must_leave(q, r.job)) continue;
    release(r.job);
    open.cost += r.value;
    open.victims.push_back(r.job);
  }
  const auto count = [&] {
    return std::min(free.count(*q.shape, limit), usage.count(m, *q.shape, limit, freed));
  };
  auto next = occupants.begin();
  const auto end = occupants.end();
  std::int64_t found = 0;
  double spent = open.cost;
  while (true) {
    for (std::int64_t fit = count(); found < fit; ++found) {
      open.rank = static_cast<std::uint32_t>(found);
      if (limit == 1 && open.victims.size() > 1) spare_needless_victims(q, free, freed, open);
      out.push_back(std::exchange(open, Opening{.cost = 0.0, .machine = m}));
    }
    while (next != end &&
           (!next->evictable || is_evicted(q, next->job) || must_leave(q, next->job))) {
      ++next;
    }
    if (found == limit || next == end || spent + next->value >= budget) return;
    spent += next->value;
    open.cost += next->value;
    open.victims.push_back(next->job);
    release(next->job);
    ++next;
  }
}

template void openings(const InsertionQuery<Occupancy>&, MachineId, std::int64_t, double,
                       std::vector<Opening>&);

}  // namespace berth::solver::local_search

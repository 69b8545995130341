// SPDX-License-Identifier: Apache-2.0
#include "local_search/openings.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {
namespace {

template <SearchState State>
bool is_evicted(const InsertionQuery<State>& q, JobId job) {
  return std::ranges::binary_search(*q.quota_victims, job);
}

/// Lower bound on the cost of room for the first task on this machine: fractional knapsack of
/// occupants by value per GPU (Dantzig 1957). Ignores resources and the devices of occupants.
template <SearchState State>
double least_cost(const InsertionQuery<State>& q, MachineId m) {
  std::int64_t need = q.shape->total_milli() - q.state->room()[m].milli();
  double cost = 0.0;
  for (const Occupant& r : q.state->occupants(m)) {
    if (is_evicted(q, r.job)) need -= r.milli;
  }
  for (const Occupant& r : q.state->occupants(m)) {
    if (need <= 0) return cost;
    if (is_evicted(q, r.job)) continue;
    if (!r.evictable || r.milli == 0) continue;
    const auto part = static_cast<double>(std::min(need, r.milli)) / static_cast<double>(r.milli);
    cost += part * r.value;
    need -= r.milli;
  }
  return need <= 0 ? cost : std::numeric_limits<double>::infinity();
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
  if (least_cost(q, m) >= budget) return;
  model::FreeMachine free = q.state->room()[m];
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
  const auto count = [&] {
    return std::min(free.count(*q.shape, limit), usage.count(m, *q.shape, limit, freed));
  };
  auto next = occupants.begin();
  const auto end = occupants.end();
  std::int64_t found = 0;
  double spent = 0.0;
  Opening open{.cost = 0.0, .machine = m};
  while (true) {
    for (std::int64_t fit = count(); found < fit; ++found) {
      open.rank = static_cast<std::uint32_t>(found);
      if (limit == 1 && open.victims.size() > 1) spare_needless_victims(q, free, freed, open);
      out.push_back(std::exchange(open, Opening{.cost = 0.0, .machine = m}));
    }
    while (next != end && (!next->evictable || is_evicted(q, next->job))) ++next;
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

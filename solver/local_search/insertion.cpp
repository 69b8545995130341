// SPDX-License-Identifier: Apache-2.0
#include "local_search/insertion.hpp"

#include "local_search/candidate_domains.hpp"
#include "local_search/openings.hpp"
#include "local_search/quota_eviction.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <span>
#include <tuple>
#include <utility>

#include "berth/model/domain_task_counts.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {

using model::Level;

namespace {

/// Gains below this share of the job's value count as rounding. Untuned guard.
constexpr double kNoise = 1e-9;

/// Considers the insertion into the cheapest openings, if they suffice and the gain is larger.
template <SearchState State>
void consider(const InsertionQuery<State>& q, std::vector<Opening> choice, double value,
              Insertion& best) {
  if (std::ssize(choice) < q.tasks) return;
  std::ranges::sort(choice, {}, [&](const Opening& v) {
    return std::tuple(v.cost, q.state->room().free_milli(v.machine), v.machine, v.rank);
  });
  // A later opening of a machine requires the earlier ones: visits them by cost, skips others.
  std::map<MachineId, std::uint32_t> opened;
  model::DomainTaskCounts counts(q.state->valuation().instance().cluster,
                                 q.workload().rules_of(*q.record), q.tasks);
  Insertion found{.gain = value, .machines = {}, .victims = *q.quota_victims};
  std::int64_t left = q.tasks;
  for (bool progress = true; left > 0 && progress;) {
    progress = false;
    for (const Opening& v : choice) {
      if (left == 0 || found.gain <= best.gain) break;
      std::uint32_t& rank = opened[v.machine];
      if (v.rank != rank || !counts.allow(v.machine)) continue;
      counts.take(v.machine);
      ++rank, --left, progress = true;
      if (v.rank == 0) found.machines.push_back(v.machine);
      for (const JobId victim : v.victims) {
        if (std::ranges::find(found.victims, victim) != found.victims.end()) continue;
        found.victims.push_back(victim);
        found.gain -= q.state->value_of(victim);
      }
    }
  }
  if (left == 0 && found.gain > best.gain) best = std::move(found);
}

template <SearchState State>
std::int64_t most_on_a_machine(const InsertionQuery<State>& q) {
  if (q.record->domain == Level::machine) return q.tasks;
  const auto most = model::most_tasks_in(q.workload().rules_of(*q.record), q.tasks);
  return std::min<std::int64_t>(most.front(), 64);
}

/// Considers single machines for a job within one machine.
template <SearchState State>
void consider_machines(const InsertionQuery<State>& q, const Domain& domain, double value,
                       Insertion& best) {
  for (const MachineId m : domain.machines) {
    std::vector<Opening> room;
    openings(q, m, q.tasks, value - best.gain, room);
    consider(q, std::move(room), value, best);
  }
}

/// Considers machines by ascending bound until those that follow cost more than the openings that
/// a greedy choice by cost takes.
template <SearchState State>
void consider_cheapest(const InsertionQuery<State>& q, std::span<const MachinesByCost::Entry> order,
                       Level level, double value, Insertion& best) {
  std::vector<Opening> room;
  // Costs of the openings that can be taken by ascending cost: up to the first that falls.
  std::priority_queue<double, std::vector<double>, std::greater<>> open;
  std::int64_t cheaper = 0;  // of them, below the bounds of all machines that follow
  for (const auto& [least, m] : order) {
    for (; !open.empty() && open.top() < least; open.pop()) ++cheaper;
    if (cheaper >= q.tasks || least >= value - best.gain) break;
    if (!q.state->limit_usage().admits(q.job, m, level)) continue;
    const std::size_t before = room.size();
    openings(q, m, most_on_a_machine(q), value - best.gain, room);
    for (std::size_t o = before; o < room.size(); ++o) {
      if (o > before && room[o].cost < room[o - 1].cost) break;
      open.push(room[o].cost);
    }
  }
  consider(q, std::move(room), value, best);
}

template <SearchState State>
void consider_domain(const InsertionQuery<State>& q, const Domain& domain, double value,
                     MachinesByCost* order, Insertion& best) {
  if (q.tasks == 1 || q.record->domain == Level::machine) {
    consider_machines(q, domain, value, best);
    return;
  }
  if (order != nullptr) {
    consider_cheapest(q, order->of(domain, q.shape->total_milli()), domain.level, value, best);
    return;
  }
  std::vector<Opening> room;
  for (const MachineId m : domain.machines) {
    if (!q.state->limit_usage().admits(q.job, m, domain.level)) continue;
    openings(q, m, most_on_a_machine(q), value - best.gain, room);
  }
  consider(q, std::move(room), value, best);
}

}  // namespace

template <SearchState State>
Insertion find_insertion(const State& state, JobId id, const InsertionSearch& search) {
  const model::WorkloadView& workload = state.valuation().instance().workload;
  const model::Job& job = workload.job(id);
  Insertion best{.gain = search.least, .machines = {}, .victims = {}};
  if (job.groups != 1) return best;
  const model::TaskGroup& group = workload.groups_of(job).front();
  const QuotaEviction eviction = find_quota_eviction(state, id, search.drawn);
  if (!eviction.possible) return best;
  const InsertionQuery<State> q{&state,
                                id,
                                &job,
                                &workload.shape(group.shape),
                                group.count,
                                &eviction.victims,
                                workload.rules_of(job).concern_others || state.room().has_rules()};
  const std::int64_t milli = group.count * q.shape->total_milli();
  const bool known = eviction.victims.empty();  // else they free room
  const auto least = [&](GpuTypeId type, const Domain& domain) {
    if (known && search.kept != nullptr) return search.kept->least(type, domain, milli);
    return known && search.costs != nullptr ? search.costs->least(domain, milli) : 0.0;
  };
  // Rules, and room that victims of quotas free, change the costs or the choice.
  const bool any_machine =
      eviction.victims.empty() && !model::concern_machines(workload.rules_of(job)) && !q.ruled;
  MachinesByCost* const order = any_machine ? search.order : nullptr;
  for_each_candidate_domain(state, id, search.widest,
                            [&](GpuTypeId type, const Domain& domain, double option_value) {
                              if (search.type.valid() && type != search.type) return;
                              const double value = option_value - eviction.cost;
                              if (value * (1.0 - kNoise) <= best.gain) return;
                              if (value - least(type, domain) * (1.0 - kNoise) <= best.gain) return;
                              consider_domain(q, domain, value, order, best);
                            });
  return best;
}

template Insertion find_insertion(const Occupancy&, JobId, const InsertionSearch&);

}  // namespace berth::solver::local_search

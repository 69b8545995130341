// SPDX-License-Identifier: Apache-2.0
#include "shard/vacancies.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace berth::solver {
namespace {

bool goes(const Query& q, JobId job) { return std::ranges::binary_search(*q.going, job); }

/// What room for the first task must cost at least on this machine: residents by value per GPU,
/// the last one in part. Ignores CPU, memory and which device is whose.
double least_cost(const Query& q, MachineId m) {
  std::int64_t need = q.shape->total_milli() - q.tenancy->room()[m].milli();
  double cost = 0.0;
  for (const Resident& r : q.tenancy->on(m)) {
    if (goes(q, r.job)) need -= r.milli;
  }
  for (const Resident& r : q.tenancy->on(m)) {
    if (need <= 0) return cost;
    if (goes(q, r.job)) continue;
    if (!r.may_go || r.milli == 0) continue;
    const auto part = static_cast<double>(std::min(need, r.milli)) / static_cast<double>(r.milli);
    cost += part * r.value;
    need -= r.milli;
  }
  return need <= 0 ? cost : std::numeric_limits<double>::infinity();
}

void release_on(const Query& q, model::FreeMachine& free, MachineId m, JobId job) {
  const auto groups = q.workload().groups_of(q.workload().job(job));
  for (const auto& task : q.tenancy->placed(job).tasks) {
    if (task.machine == m) free.release(task, q.workload().shape(groups[task.group].shape));
  }
}

void take_on(const Query& q, model::FreeMachine& free, MachineId m, JobId job) {
  const auto groups = q.workload().groups_of(q.workload().job(job));
  for (const auto& task : q.tenancy->placed(job).tasks) {
    if (task.machine == m) free.take(task, q.workload().shape(groups[task.group].shape));
  }
}

/// Lets victims stay that turned out not to be in the way, most valuable first.
void spare(const Query& q, model::FreeMachine free, Vacancy& vacancy) {
  std::vector<JobId> kept = vacancy.victims;
  std::ranges::sort(kept, std::greater{},
                    [&](JobId v) { return std::pair(q.tenancy->value_of(v), -v.value()); });
  for (const JobId v : kept) {
    model::FreeMachine with = free;
    take_on(q, with, vacancy.machine, v);
    if (!with.fits(*q.shape)) continue;
    free = with;
    std::erase(vacancy.victims, v);
    vacancy.cost -= q.tenancy->value_of(v);
  }
}

}  // namespace

void vacancies(const Query& q, MachineId m, std::int64_t limit, double budget,
               std::vector<Vacancy>& out) {
  if (least_cost(q, m) >= budget) return;
  model::FreeMachine free = q.tenancy->room()[m];
  for (const Resident& r : q.tenancy->on(m)) {
    if (goes(q, r.job)) release_on(q, free, m, r.job);
  }
  auto next = q.tenancy->on(m).begin();
  const auto end = q.tenancy->on(m).end();
  std::int64_t found = 0;
  double spent = 0.0;
  Vacancy open{.cost = 0.0, .machine = m};
  while (true) {
    for (std::int64_t fit = free.count(*q.shape, limit); found < fit; ++found) {
      open.rank = static_cast<std::uint32_t>(found);
      if (limit == 1 && open.victims.size() > 1) spare(q, free, open);
      out.push_back(std::exchange(open, Vacancy{.cost = 0.0, .machine = m}));
    }
    while (next != end && (!next->may_go || goes(q, next->job))) ++next;
    if (found == limit || next == end || spent + next->value >= budget) return;
    spent += next->value;
    open.cost += next->value;
    open.victims.push_back(next->job);
    release_on(q, free, m, next->job);
    ++next;
  }
}

}  // namespace berth::solver

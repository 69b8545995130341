// SPDX-License-Identifier: Apache-2.0
#include "displacement.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace berth::sim {
namespace {

/// To displace a job that would keep its GPUs costs this many times what it costs to displace one
/// that loses them in any case; chosen, not tuned.
constexpr double kKeeper = 4.0;

/// Wholly taken GPUs of a machine.
int gpus_on(const policy::Progress& progress, std::size_t machine) {
  int gpus = 0;
  for (const model::TaskPlacement& task : progress.tasks) {
    if (task.machine.index() != machine || task.milli != model::kGpuMilli) continue;
    gpus += std::popcount(task.devices);
  }
  return gpus;
}

/// GPUs of a task that takes most of a machine, or of a job's only task; 0: neither.
int gpus_of_large_task(const policy::Demand& demand, int gpus_per_machine) {
  if (demand.groups.size() != 1 || demand.domain != model::Level::cluster) return 0;
  const policy::DemandGroup& group = demand.groups.front();
  if (group.count == 1) return group.shape.gpus;
  return 2 * group.shape.gpus > gpus_per_machine ? group.shape.gpus : 0;
}

int most_gpus(const model::Cluster& cluster, GpuTypeId type) {
  int most = 0;
  for (const model::MachineClass& equipment : cluster.classes) {
    if (equipment.gpu_type == type) most = std::max(most, equipment.gpus);
  }
  return most;
}

}  // namespace

Displacement::Displacement(policy::State& state, const std::vector<Standing>& standing)
    : state_(state), standing_(standing) {}

bool Displacement::may_stop(JobId job, GpuTypeId type) const {
  const policy::Progress& progress = state_.progress(job);
  return progress.phase == policy::Phase::running && progress.type == type &&
         standing_[job.index()] != Standing::stays && progress.since < state_.now();
}

double Displacement::cost_of(JobId job) const {
  const double gpus = std::max(1e-3, state_.demand(job).gpus());
  return standing_[job.index()] == Standing::loses ? gpus : kKeeper * gpus;
}

bool Displacement::enough(JobId job, GpuTypeId type) const {
  std::int64_t milli = state_.free().free_milli(type);
  const std::int64_t wanted = state_.demand(job).milli;
  for (const JobId other : state_.running()) {
    if (milli >= wanted) break;
    if (may_stop(other, type)) milli += state_.demand(other).milli;
  }
  return milli >= wanted;
}

void Displacement::list_by_machine() {
  if (!on_machine_.empty()) return;
  on_machine_.resize(state_.free().cluster().machines());
  for (const JobId job : state_.running()) {
    if (standing_[job.index()] == Standing::stays) continue;
    for (const model::TaskPlacement& task : state_.progress(job).tasks) {
      std::vector<JobId>& jobs = on_machine_[task.machine.index()];
      if (jobs.empty() || jobs.back() != job) jobs.push_back(job);
    }
  }
}

/// The jobs that leave `gpus` free on the machine at little cost: the cheapest per GPU until it is
/// enough, less those that were not needed. Empty when that is not enough.
Displacement::Eviction Displacement::eviction_from(std::size_t machine, GpuTypeId type,
                                                   int gpus) const {
  struct Victim {
    double rate, cost;
    JobId job;
    int gpus;
  };
  std::vector<Victim> victims;
  int free = state_.free().machine(MachineId(machine)).whole_count();
  int all = free;
  for (const JobId job : on_machine_[machine]) {
    const int count = may_stop(job, type) ? gpus_on(state_.progress(job), machine) : 0;
    if (count == 0) continue;
    all += count;
    const double cost = cost_of(job);
    victims.push_back({cost / count, cost, job, count});
  }
  if (all < gpus) return {};
  std::ranges::sort(victims, {}, [](const Victim& v) { return std::tuple(v.rate, v.cost, v.job); });
  std::size_t taken = 0;
  while (free < gpus) free += victims[taken++].gpus;
  Eviction eviction;
  for (std::size_t v = taken; v-- > 0;) {
    if (free - victims[v].gpus >= gpus) {
      free -= victims[v].gpus;
      continue;
    }
    eviction.cost += victims[v].cost;
    eviction.jobs.push_back(victims[v].job);
  }
  return eviction;
}

void Displacement::stop(JobId job) {
  state_.stop(job);
  stopped_.push_back(job);
}

/// Jobs whose devices are still free go on.
void Displacement::return_stopped() {
  for (auto job = stopped_.rbegin(); job != stopped_.rend(); ++job) (void)state_.undo_stop(*job);
  stopped_.clear();
}

/// Empties one machine after the other, the cheapest first, until the job fits.
bool Displacement::by_machine(JobId job, GpuTypeId type, int gpus) {
  const model::Cluster& cluster = state_.free().cluster();
  for (;;) {
    std::size_t best = cluster.machines();
    Eviction cheapest;
    for (std::size_t m = 0; m < cluster.machines(); ++m) {
      if (cluster.class_of(MachineId(m)).gpu_type != type || on_machine_[m].empty()) continue;
      if (state_.free().machine(MachineId(m)).whole_count() >= gpus) continue;
      Eviction eviction = eviction_from(m, type, gpus);
      if (eviction.jobs.empty()) continue;
      if (best < cluster.machines() && eviction.cost >= cheapest.cost) continue;
      best = m;
      cheapest = std::move(eviction);
    }
    if (best == cluster.machines()) return false;
    for (const JobId victim : cheapest.jobs) stop(victim);
    if (state_.start(job, type)) return true;
  }
}

/// The running jobs of the type, dearest first: sorted once, and the cheapest leave the list when
/// they may not be stopped any more, which they keep until the decision ends.
std::span<const JobId> Displacement::dearest_first(GpuTypeId type) {
  if (by_type_.empty()) by_type_.resize(state_.free().cluster().gpu_types.size());
  std::optional<std::vector<JobId>>& jobs = by_type_[type.index()];
  if (!jobs) {
    jobs.emplace();
    for (const JobId job : state_.running()) {
      if (may_stop(job, type)) jobs->push_back(job);
    }
    std::ranges::sort(*jobs, std::ranges::greater(),
                      [&](JobId job) { return std::pair(cost_of(job), job); });
  }
  while (!jobs->empty() && !may_stop(jobs->back(), type)) jobs->pop_back();
  return *jobs;
}

/// Stops one job after the other, the cheapest first, until the job fits.
bool Displacement::by_cost(JobId job, GpuTypeId type) {
  const std::span<const JobId> victims = dearest_first(type);
  for (auto victim = victims.rbegin(); victim != victims.rend(); ++victim) {
    if (!may_stop(*victim, type)) continue;
    stop(*victim);
    if (state_.start(job, type)) return true;
  }
  return false;
}

bool Displacement::start(JobId job, GpuTypeId type) {
  if (state_.start(job, type)) return true;
  if (!type.valid() || !state_.demand(job).uses_gpus() || !enough(job, type)) return false;
  const std::pair asked(state_.demand_index(job), type);
  const auto at = std::ranges::lower_bound(hopeless_, asked);
  if (at != hopeless_.end() && *at == asked) return false;
  if (displace(job, type)) return true;
  if (state_.within_limits(job)) hopeless_.insert(at, asked);
  return false;
}

bool Displacement::displace(JobId job, GpuTypeId type) {
  const int gpus = gpus_of_large_task(state_.demand(job), most_gpus(state_.free().cluster(), type));
  bool started = false;
  if (gpus > 0) {
    list_by_machine();
    started = by_machine(job, type, gpus);
    if (!started) return_stopped();
  }
  if (!started) started = by_cost(job, type);
  return_stopped();
  return started;
}

}  // namespace berth::sim

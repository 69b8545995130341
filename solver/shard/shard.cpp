// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/shard.hpp"

#include "shard/insertion.hpp"
#include "shard/occupancy.hpp"
#include "shard/shard_state.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "berth/model/option_enumerator.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::solver {

using model::JobPlacement;

/// Best value of the job less its GPUs at a price per GPU and type.
double Shard::LocalState::profit(JobId job, std::span<const double> by_type) const {
  const model::Job& record = workload().job(job);
  const double gpus = static_cast<double>(workload().gpu_milli(record)) / 1000.0;
  double best = -std::numeric_limits<double>::infinity();
  const model::OptionEnumerator job_options(*valuation, job);
  for (const GpuTypeId type : job_options.types()) {
    best = std::max(best, job_options.best(type) - gpus * by_type[type.index()]);
  }
  return best;
}

Shard::Shard(ShardId id, const model::Valuation& valuation, const model::Pools& pools,
             std::vector<MachineId> machines, const ShardOptions& options, const RunContext& run)
    : state_(std::make_unique<LocalState>(
          LocalState{.id = id,
                     .valuation = &valuation,
                     .pools = &pools,
                     .machines = machines,
                     .options = options,
                     .run = run,
                     .occupancy = Occupancy(valuation, machines, run.limits)})) {
  state_->classify_place_limits();
}

Shard::~Shard() = default;
Shard::Shard(Shard&&) noexcept = default;
Shard& Shard::operator=(Shard&&) noexcept = default;

Shard Shard::empty_copy(ShardId id, std::vector<MachineId> machines) const {
  return {id,         *state_->valuation, *state_->pools, std::move(machines), state_->options,
          state_->run};
}

void Shard::reserve(const JobPlacement& placement) {
  const auto groups = state_->workload().groups_of(state_->workload().job(placement.job));
  for (const auto& task : placement.tasks) {
    if (!std::ranges::binary_search(state_->machines, task.machine)) continue;
    state_->occupancy.room().take(task, state_->workload().shape(groups[task.group].shape));
  }
}

void Shard::add_running(const JobPlacement& placement) {
  state_->occupancy.add(placement);
  state_->had_running_jobs = true;
}

void Shard::restore(ShardContent content) {
  for (JobPlacement& p : content.placed) state_->occupancy.add(std::move(p));
  state_->unplaced.insert(content.unplaced.begin(), content.unplaced.end());
  state_->evicted.insert(content.evicted.begin(), content.evicted.end());
  state_->least_price.assign(state_->valuation->instance().cluster.gpu_types.size(), 0.0);
}

ShardContent Shard::content() const {
  const LocalState& s = *state_;
  return {.placed = s.occupancy.placement(),
          .unplaced = {s.unplaced.begin(), s.unplaced.end()},
          .evicted = {s.evicted.begin(), s.evicted.end()}};
}

std::vector<JobOffer> Shard::offers() const {
  std::vector<JobOffer> offers;
  for (const JobId job : state_->unplaced) {
    const double regret = state_->regret(job);
    if (regret > 0.0) offers.push_back({job, state_->id, regret});
  }
  return offers;
}

bool Shard::is_waiting(JobId job) const { return state_->unplaced.contains(job); }

std::vector<JobId> Shard::jobs() const {
  std::vector<JobId> jobs = state_->occupancy.jobs();
  jobs.insert(jobs.end(), state_->unplaced.begin(), state_->unplaced.end());
  return jobs;
}

std::vector<EvictionCost> Shard::eviction_costs() const {
  const Occupancy& occupancy = state_->occupancy;
  const EvictionCostBounds costs(occupancy, {{model::Level::cluster}});
  std::vector<EvictionCost> eviction_costs;
  for (const GpuTypeId type : occupancy.index().types()) {
    const Domain& whole = occupancy.index().domains(type, model::Level::cluster).front();
    EvictionCost& eviction_cost =
        eviction_costs.emplace_back(EvictionCost{.shard = state_->id, .type = type});
    for (std::size_t k = 0; k < eviction_cost.least.size(); ++k) {
      eviction_cost.least[k] = costs.least(whole, std::int64_t{1000} << k);
    }
  }
  return eviction_costs;
}

std::vector<Bid> Shard::bids(std::span<const JobId> jobs,
                             std::span<const std::int64_t> left) const {
  std::vector<Bid> found(jobs.size());
  const EvictionCostBounds costs(state_->occupancy);
  parallel::run_tasks(jobs.size(), [&](std::size_t i) {
    if (state_->run.stop.requested()) return;
    const std::int64_t milli = state_->workload().gpu_milli(state_->workload().job(jobs[i]));
    const auto quotas = state_->occupancy.limit_usage().quotas_of(jobs[i]);
    const bool draws = !quotas.empty() && std::ranges::all_of(quotas, [&](std::uint32_t q) {
      return q < left.size() && left[q] >= milli;
    });
    const std::int64_t drawn = draws ? milli : 0;
    const Insertion best =
        find_insertion(state_->occupancy, jobs[i], {.costs = &costs, .drawn = drawn});
    found[i] = {jobs[i], state_->id, best.gain, drawn};
  });
  std::erase_if(found, [](const Bid& bid) { return bid.gain <= 0.0; });
  return found;
}

double Shard::realise(JobId job, double at_least, std::int64_t drawn) {
  if (state_->run.stop.requested()) return 0.0;
  model::LimitUsage& limit_usage = state_->occupancy.limit_usage();
  const auto raise = [&](std::int64_t by) {
    for (const std::uint32_t q : limit_usage.quotas_of(job)) {
      if (limit_usage.allowance(q) != model::kNoLimit)
        limit_usage.allow(q, limit_usage.allowance(q) + by);
    }
  };
  raise(drawn);
  const Insertion found = find_insertion(state_->occupancy, job);
  InsertionOutcome outcome;
  if (found.gain >= at_least && found.gain > 0.0) outcome = state_->insert(job, found, at_least);
  if (outcome.gain <= 0.0) {
    raise(-drawn);
    return 0.0;
  }
  state_->unplaced.erase(job);
  state_->unplaced.insert(outcome.evicted.begin(), outcome.evicted.end());
  state_->evicted.insert(outcome.evicted.begin(), outcome.evicted.end());
  return outcome.gain;
}

void Shard::forget(JobId job) { state_->unplaced.erase(job); }

std::vector<double> Shard::marginal_prices() const {
  const LocalState& s = *state_;
  const model::Cluster& cluster = s.valuation->instance().cluster;
  std::vector<double> price(cluster.gpu_types.size(), std::numeric_limits<double>::infinity());
  for (const MachineId m : s.machines) {
    const GpuTypeId type = cluster.class_of(m).gpu_type;
    if (!type.valid()) continue;
    double& least = price[type.index()];
    if (s.occupancy.room().whole_devices(m) != 0) least = 0.0;
    for (const Occupant& r : s.occupancy.occupants(m)) {
      if (r.milli > 0 && r.evictable) least = std::min(least, 1000.0 * r.density);
    }
  }
  return price;
}

void Shard::update_prices(std::span<const double> by_type) {
  state_->least_price.assign(by_type.begin(), by_type.end());
}

ShardId Shard::id() const { return state_->id; }

std::int64_t Shard::LocalState::gpus() const {
  std::int64_t sum = 0;
  for (const MachineId m : machines) sum += valuation->instance().cluster.class_of(m).gpus;
  return sum;
}

double Shard::gpus() const { return static_cast<double>(state_->gpus()); }

double Shard::value() const { return state_->occupancy.value(); }
model::Placement Shard::placement() const { return state_->occupancy.placement(); }
const std::vector<TaskPrice>& Shard::task_prices() const { return state_->task_prices; }

}  // namespace berth::solver

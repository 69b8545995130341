// SPDX-License-Identifier: Apache-2.0
#include "shard/insertion.hpp"
#include "shard/occupancy.hpp"
#include "shard/shard_state.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "berth/model/gpu_types.hpp"
#include "berth/model/precedence.hpp"
#include "berth/solver/dive.hpp"
#include "berth/solver/pack.hpp"
#include "berth/solver/shard.hpp"

namespace berth::solver {

using model::JobPlacement;

namespace {

constexpr std::int64_t kSmallGpus = 4096;  ///< clusters up to this size get several dives

std::vector<JobId> sorted(std::span<const JobId> jobs) {
  std::vector<JobId> result(jobs.begin(), jobs.end());
  std::ranges::sort(result);
  return result;
}

}  // namespace

/// Largest value over the types the job may use; for a CPU-only job its value anywhere.
double Shard::LocalState::best_value(JobId job) const {
  const model::Job& record = workload().job(job);
  if (workload().gpu_milli(record) == 0) return valuation->best(job, GpuTypeId{});
  double best = 0.0;
  for (const GpuTypeId type : occupancy.index().types()) {
    if (model::allows(record, type)) {
      best = std::max(best, valuation->best(job, type));
    }
  }
  return best;
}

void Shard::LocalState::record_all(model::Placement placed) {
  for (JobPlacement& p : placed) {
    unplaced.erase(p.job);
    occupancy.record(std::move(p));
  }
}

void Shard::LocalState::dive_all(std::span<const JobId> jobs, std::span<const double> prices,
                                 const StopToken& stop) {
  const auto [own, in_all] = model::pool_subset(valuation->instance().cluster, *pools, machines);
  std::vector<double> own_prices;
  for (const PoolId p : in_all) own_prices.push_back(prices[p.index()]);
  const DiveProblem problem{*valuation, own, machines, jobs, own_prices};
  model::Room best_room = occupancy.room();
  DiveResult best = dive(problem, best_room, options.dive, stop);
  for (const double eps : extra_smoothings()) {
    if (stop.requested()) break;
    model::Room room = occupancy.room();
    DiveOptions smoother = options.dive;
    smoother.eps = eps;
    DiveResult other = dive(problem, room, smoother, stop);
    if (other.value <= best.value) continue;
    best = std::move(other);
    best_room = std::move(room);
  }
  occupancy.room() = std::move(best_room);
  record_all(std::move(best.placement));
}

/// Which large gangs a dive takes first is a matter of luck, and in a small cluster one of them is
/// much: there several dives cost little.
std::span<const double> Shard::LocalState::extra_smoothings() const {
  static constexpr std::array kMore = {0.0002, 0.002, 0.006};  ///< as DiveOptions::eps
  if (valuation->instance().cluster.gpus() > kSmallGpus) return {};
  return kMore;
}

void Shard::LocalState::pack_all(std::span<const JobId> jobs, const StopToken& stop) {
  RunContext shared = run;
  shared.stop = stop;
  PackResult result = pack(*valuation, occupancy.room(), machines, jobs, options.pack, shared);
  task_prices = std::move(result.prices);
  record_all(std::move(result.placed));
}

/// Idle room to unplaced jobs by precedence; those worth nothing come last, they run if they fit.
void Shard::LocalState::fill_idle_capacity() {
  std::vector<model::Precedence> order;
  for (const JobId job : unplaced) {
    const double density = model::value_density(workload(), workload().job(job), best_value(job));
    order.push_back(model::precedence(workload(), job, density));
  }
  std::ranges::sort(order, std::less<>{});
  // Room only shrinks here: what found no place once finds none for an equal job later.
  std::set<std::tuple<ShapeId, std::int32_t, std::uint64_t, model::Level, std::int64_t>> hopeless;
  for (const model::Precedence& next : order) {
    const JobId job = next.job;
    if (run.stop.patient().requested()) return;
    const model::Job& record = workload().job(job);
    const model::TaskGroup& group = workload().groups_of(record).front();
    const std::tuple kind(group.shape, group.count, record.gpu_types, record.domain,
                          record.communication.mbps);
    if (record.groups == 1 && hopeless.contains(kind)) continue;
    const std::optional<double> surcharge = occupancy.limit_usage().surcharge(job);
    if (!surcharge || (*surcharge > best_value(job) && !record.required)) continue;
    if (place_in_idle_capacity(occupancy, job)) {
      unplaced.erase(job);
    } else if (record.groups == 1) {
      hopeless.insert(kind);
    }
  }
}

void Shard::plan(std::span<const JobId> jobs, std::span<const double> prices,
                 const StopToken& share) {
  LocalState& s = *state_;
  s.unplaced.insert(jobs.begin(), jobs.end());
  s.least_price.assign(s.valuation->instance().cluster.gpu_types.size(),
                       std::numeric_limits<double>::infinity());
  for (std::size_t p = 0; p < s.pools->size(); ++p) {
    const GpuTypeId type = s.pools->pools[p].gpu_type;
    if (type.valid())
      s.least_price[type.index()] = std::min(s.least_price[type.index()], prices[p]);
  }
  std::vector<JobId> on_gpus;
  std::vector<JobId> packable;
  for (const JobId job : sorted(jobs)) {
    if (s.workload().gpu_milli(s.workload().job(job)) > 0) on_gpus.push_back(job);
    if (s.packable(job)) packable.push_back(job);
  }
  if (share.whole().requested()) {  // idle room is all that can still be used
  } else if (std::ranges::all_of(on_gpus, [&](JobId job) { return s.packable(job); })) {
    s.pack_all(packable, share);
  } else {
    s.dive_all(on_gpus, prices, share);
    s.set_task_prices(s.repack(share));
  }
  s.fill_idle_capacity();
  if (!s.had_running_jobs) return;
  // The relaxation took the running jobs' room for gone: now unplaced jobs may evict them.
  s.least_price = marginal_prices();
  s.evicted = s.unplaced;
  improve();
}

void Shard::fill_idle_capacity() { state_->fill_idle_capacity(); }

}  // namespace berth::solver

// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/shard_planning.hpp"

#include "local_search/fill_idle_capacity.hpp"
#include "local_search/return_running_jobs.hpp"
#include "shard/shard_state.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "berth/base/random.hpp"
#include "berth/solver/dive.hpp"
#include "berth/solver/pack.hpp"
#include "berth/solver/shard_bidding.hpp"

namespace berth::solver {

namespace {

/// GPUs: clusters of at most this size get several dives. Chosen when these were introduced; they
/// took 0.1 to 0.5 s there.
constexpr std::int64_t kSmallGpus = 4096;
constexpr std::uint64_t kReplan = 0x5250;  ///< key of the draws of `replan`: "RP" in ASCII

/// Smoothings of additional dives in small clusters; the best dive is kept. The smoothing decides
/// which large gangs a dive places first, and in a small cluster one gang is a large share.
std::span<const double> extra_smoothings(const ShardState& s) {
  /// As DiveOptions::eps. Measured on philly-like, 1k GPUs, load 1.1, seed 1: gap 1.508 -> 0.613 %.
  static constexpr std::array kMore = {0.0002, 0.002, 0.006};
  if (s.valuation->instance().cluster.gpus() > kSmallGpus) return {};
  return kMore;
}

void dive_all(ShardState& s, std::span<const JobId> jobs, std::span<const double> prices,
              const StopToken& stop) {
  const auto [own, in_all] =
      planner_model::pool_subset(s.valuation->instance().cluster, *s.pools, s.machines);
  std::vector<double> own_prices;
  for (const PoolId p : in_all) own_prices.push_back(prices[p.index()]);
  const PricedPools start{own, own_prices};
  const auto more = extra_smoothings(s);
  const std::optional<Occupancy> empty = more.empty() ? std::nullopt : std::optional(s.occupancy);
  double best = dive(s.occupancy, start, jobs, s.options.dive, stop).value;
  for (const double eps : more) {
    if (stop.requested()) break;
    DiveOptions smoother = s.options.dive;
    smoother.eps = eps;
    Occupancy other = *empty;
    const double value = dive(other, start, jobs, smoother, stop).value;
    if (value <= best) continue;
    best = value;
    s.occupancy = std::move(other);
  }
}

void pack_all(ShardState& s, std::span<const JobId> jobs, const StopToken& stop) {
  RunContext shared = s.run;
  shared.stop = stop;
  s.task_prices.push_back(pack(s.occupancy, jobs, s.options.pack, shared).prices);
}

/// Places the unplaced jobs into the free room by a relaxation, then fills idle room.
void place_unplaced(Shard& shard, std::span<const double> prices, const StopToken& share) {
  ShardState& s = shard.state();
  std::vector<JobId> on_gpus;
  std::vector<JobId> packable;
  for (const JobId job : s.occupancy.unplaced_jobs()) {
    if (s.workload().gpu_milli(s.workload().job(job)) > 0) on_gpus.push_back(job);
    if (s.packable(job)) packable.push_back(job);
  }
  if (share.whole().requested()) {  // no time: idle room is filled only
  } else if (std::ranges::all_of(on_gpus, [&](JobId job) { return s.packable(job); })) {
    pack_all(s, packable, share);
  } else {
    dive_all(s, on_gpus, prices, share);
    for (ShardState::RepackResult& packing : s.repack(share)) s.add_task_prices(std::move(packing));
  }
  fill_idle_capacity(shard);
}

/// Lets unplaced jobs evict what is placed: the relaxation did not use the room of running jobs,
/// and does not know how racks and pods are filled.
void insert_unplaced(Shard& shard) {
  ShardState& s = shard.state();
  s.least_price = marginal_prices(shard);
  const std::vector<JobId> unplaced = s.occupancy.unplaced_jobs();
  s.evicted = {unplaced.begin(), unplaced.end()};
  improve(shard);
}

void set_least_prices(ShardState& s, std::span<const double> prices) {
  s.least_price.assign(s.valuation->instance().cluster.gpu_types.size(),
                       std::numeric_limits<double>::infinity());
  for (std::size_t p = 0; p < s.pools->size(); ++p) {
    const GpuTypeId type = s.pools->pools[p].gpu_type;
    if (type.valid())
      s.least_price[type.index()] = std::min(s.least_price[type.index()], prices[p]);
  }
}

/// Number of placed required jobs, and value less prices and surcharges of limits.
std::pair<std::ptrdiff_t, double> priced_score(const Occupancy& occupancy) {
  std::pair<std::ptrdiff_t, double> sum{0, -occupancy.limit_usage().surcharges()};
  for (const JobEntry& entry : occupancy.entries()) {
    if (!entry.is_placed()) continue;
    sum.first += occupancy.valuation().instance().workload.job(entry.job()).required ? 1 : 0;
    sum.second += entry.value;
  }
  return sum;
}

}  // namespace

void add_running(Shard& shard, const model::JobPlacement& placement) {
  ShardState& s = shard.state();
  s.occupancy.take(placement);
  s.had_running_jobs = true;
}

void fill_idle_capacity(Shard& shard) {
  ShardState& s = shard.state();
  local_search::fill_idle_capacity(s.occupancy, s.occupancy.unplaced_jobs(), s.run.stop.patient());
}

void plan(Shard& shard, std::span<const JobId> jobs, std::span<const double> prices,
          const StopToken& share) {
  ShardState& s = shard.state();
  s.occupancy.admit(jobs);
  set_least_prices(s, prices);
  if (!s.had_running_jobs) {
    place_unplaced(shard, prices, share);
    if (s.occupancy.limit_usage().limits_resources()) insert_unplaced(shard);
    return;
  }
  const ShardState start = s;
  place_unplaced(shard, prices, share);
  insert_unplaced(shard);
  if (share.whole().requested() || s.options.running == RunningStart::keep) return;
  ShardState kept = std::exchange(s, start);
  for (const JobId job : s.occupancy.placed_jobs()) s.occupancy.give_back(job);
  place_unplaced(shard, prices, share);
  local_search::return_running_jobs(s.occupancy, share);
  insert_unplaced(shard);
  local_search::return_running_jobs(s.occupancy, share);
  if (priced_score(s.occupancy) <= priced_score(kept.occupancy)) s = std::move(kept);
}

double replan(Shard& shard, std::span<const double> prices, const Neighbourhood& neighbourhood) {
  ShardState& s = shard.state();
  ShardState before = s;
  const auto least = static_cast<std::uint64_t>(std::ldexp(neighbourhood.share, 53));
  for (const JobId job : s.occupancy.placed_jobs()) {
    const auto id = static_cast<std::uint64_t>(job.value());
    if (random_bits({kReplan, neighbourhood.key, id}) >> 11U < least) s.occupancy.give_back(job);
  }
  s.options.dive.eps *= neighbourhood.smoothing;
  s.options.dive.decided = neighbourhood.decided;
  set_least_prices(s, prices);
  if (s.run.limits == nullptr) {
    place_unplaced(shard, prices, s.run.stop);
  } else {
    fill_idle_capacity(shard);  // the dive does not know the allowances
  }
  local_search::return_running_jobs(s.occupancy, s.run.stop);
  insert_unplaced(shard);
  search(shard, prices, neighbourhood.effort);
  const auto was = priced_score(before.occupancy), is = priced_score(s.occupancy);
  s.options = before.options;
  if (is > was) return is.second - was.second;
  s = std::move(before);
  return 0.0;
}

}  // namespace berth::solver

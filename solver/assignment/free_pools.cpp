// SPDX-License-Identifier: Apache-2.0
#include "assignment/free_pools.hpp"

#include "assignment/present_places.hpp"

#include <algorithm>
#include <tuple>

namespace berth::solver::assignment {

using model::Level;

namespace {

double price_of(std::span<const double> prices, std::int32_t pool) {
  return prices.empty() ? 0.0 : prices[static_cast<std::size_t>(pool)];
}

/// A place to try: ascending price, then least free, then position.
struct Trial {
  double price;
  std::int64_t free;
  std::size_t first, last;  ///< range in the list of pools

  bool operator<(const Trial& o) const {
    return std::tie(price, free, first) < std::tie(o.price, o.free, o.first);
  }
};

/// Visits trials in ascending order until one succeeds. Uses a heap, because the first trial
/// usually succeeds.
template <class Try>
bool first_success(std::vector<Trial>& trials, Try attempt) {
  const auto later = [](const Trial& a, const Trial& b) { return b < a; };
  std::ranges::make_heap(trials, later);
  for (auto end = trials.end(); end != trials.begin(); --end) {
    std::pop_heap(trials.begin(), end, later);
    if (attempt(*(end - 1))) return true;
  }
  return false;
}

}  // namespace

PoolMachines::PoolMachines(const PoolIndex& pool_index, std::span<const MachineId> machines)
    : machines_(machines.size()) {
  const planner_model::Pools& pools = pool_index.pools();
  std::vector<std::uint32_t> next(pool_index.pools().size() + 1, 0);
  for (const MachineId m : machines) ++next[pools.pool_of(m).index() + 1];
  for (std::size_t p = 1; p < next.size(); ++p) next[p] += next[p - 1];
  for (const MachineId m : machines) machines_[next[pools.pool_of(m).index()]++] = m;
  next.pop_back();
  end_ = std::move(next);
}

std::span<const MachineId> PoolMachines::of(std::int32_t pool) const {
  const auto p = static_cast<std::size_t>(pool);
  const std::uint32_t first = p == 0 ? 0 : end_[p - 1];
  return std::span(machines_).subspan(first, end_[p] - first);
}

FreePools::FreePools(const PoolIndex& pool_index, Occupancy& occupancy)
    : pool_index_(&pool_index),
      occupancy_(&occupancy),
      machines_(pool_index, occupancy.machines()),
      free_(pool_index.pools().size(), 0) {
  const model::Cluster& cluster = occupancy.valuation().instance().cluster;
  for (const MachineId m : occupancy.machines()) {
    free_[pool_index.pools().pool_of(m).index()] += occupancy.room().free_milli(m);
    if (cluster.class_of(m).gpus == 0) cpu_machines_.push_back(m);
  }
}

Supply FreePools::supply() const {
  return free_supply(pool_index_->pools(), occupancy_->room(), machines_.all());
}

bool FreePools::place(JobId job, const TaskDemand& s, const PlaceClass& place_class,
                      std::span<const double> prices) {
  if (present_ != nullptr) {
    if (auto present = present_->in_class(job, place_class)) {
      take(std::move(*present));
      return true;
    }
  }
  return place_class.width == Level::machine ? place_in_pool(job, s, place_class, prices)
                                             : place_in_domain(job, s, place_class, prices);
}

bool FreePools::try_machines(JobId job, std::span<const MachineId> machines) {
  auto placed = present_ == nullptr ? occupancy_->fit(job, machines)
                                    : present_->fit(*occupancy_, job, machines);
  if (!placed) return false;
  take(std::move(*placed));
  return true;
}

void FreePools::take(model::JobPlacement placement) {
  for (const model::TaskPlacement& t : placement.tasks) {
    const auto devices = static_cast<std::int64_t>(__builtin_popcountll(t.devices));
    free_[pool_index_->pools().pool_of(t.machine).index()] -= devices * t.milli;
  }
  if (present_ != nullptr) present_->take(placement);
  occupancy_->take(std::move(placement));
}

bool FreePools::place_in_pool(JobId job, const TaskDemand& s, const PlaceClass& place_class,
                              std::span<const double> prices) {
  const auto domain_pools =
      pool_index_->pools_in(place_class.type, place_class.scope, place_class.domain);
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < domain_pools.size(); ++i) {
    const std::size_t c =
        pool_index_->pools().pools[static_cast<std::size_t>(domain_pools[i])].machine_class.index();
    if (free_milli(domain_pools[i]) < s.milli || s.job_fits[c] == 0) continue;
    trials.push_back({price_of(prices, domain_pools[i]), free_milli(domain_pools[i]), i, i + 1});
  }
  return first_success(trials,
                       [&](const Trial& t) { return try_pool(job, s, domain_pools[t.first]); });
}

bool FreePools::try_pool(JobId job, const TaskDemand& s, std::int32_t pool) {
  const auto machines = machines_.of(pool);
  const planner_model::Room& room = occupancy_->room();
  if (s.tasks == 1) return try_machines(job, machines);
  std::vector<MachineId> order;
  for (const MachineId m : machines) {
    if (room.free_milli(m) >= s.milli) order.push_back(m);
  }
  std::ranges::sort(order, {}, [&](MachineId m) {
    const bool held = present_ != nullptr && present_->free_milli(m) < s.milli;
    return std::tuple(held, room.free_milli(m), m);
  });
  for (const MachineId m : order) {
    if (try_machines(job, std::span(&m, 1))) return true;
  }
  return false;
}

std::int64_t FreePools::usable(MachineId m, const TaskDemand& s) const {
  const planner_model::Room& room = occupancy_->room();
  if (s.gpus_per_task == 0) return room.free_milli(m);
  const std::int64_t tasks =
      std::min<std::int64_t>(s.most_on_machine, room.whole_count(m) / s.gpus_per_task);
  return tasks * s.gpus_per_task * model::kGpuMilli;
}

double FreePools::loss_in(JobId job, const TaskDemand& s, std::span<const std::int32_t> run,
                          Level width) const {
  if (present_ == nullptr || width == Level::cluster) return 0.0;
  std::vector<MachineId> machines;
  for (const std::int32_t p : run) {
    for (const MachineId m : machines_.of(p)) {
      if (usable(m, s) > 0) machines.push_back(m);
    }
  }
  return present_->least_loss(*occupancy_, job, machines).value_or(0.0) * model::kGpuMilli;
}

bool FreePools::place_in_domain(JobId job, const TaskDemand& s, const PlaceClass& place_class,
                                std::span<const double> prices) {
  const auto domain_pools =
      pool_index_->pools_in(place_class.type, place_class.scope, place_class.domain);
  std::vector<std::int32_t> by_price(domain_pools.begin(), domain_pools.end());
  std::vector<Trial> trials;
  pool_index_->for_each_domain(domain_pools, place_class.width,
                               [&](std::size_t first, std::size_t last) {
                                 const auto run = std::span(by_price).subspan(first, last - first);
                                 std::ranges::sort(run, {}, [&](std::int32_t p) {
                                   return std::tuple(price_of(prices, p), free_milli(p), p);
                                 });
                                 double cost = 0.0;
                                 std::int64_t remainder = s.milli, free = 0;
                                 for (const std::int32_t p : run) {
                                   const std::int64_t part = std::min(remainder, free_milli(p));
                                   cost += price_of(prices, p) * static_cast<double>(part);
                                   remainder -= part;
                                   free += free_milli(p);
                                 }
                                 if (remainder > 0) return;
                                 cost += loss_in(job, s, run, place_class.width);
                                 trials.push_back({cost, free, first, last});
                               });
  return first_success(trials, [&](const Trial& t) {
    return try_domain(job, s, std::span(by_price).subspan(t.first, t.last - t.first),
                      place_class.width);
  });
}

/// Tries the fewest pools of the run, in its order, whose counters admit the job; then all pools.
bool FreePools::try_domain(JobId job, const TaskDemand& s, std::span<const std::int32_t> run,
                           Level width) {
  const model::Cluster& cluster = occupancy_->valuation().instance().cluster;
  std::vector<MachineId> candidates;
  const model::WorkloadView& workload = occupancy_->valuation().instance().workload;
  if (s.cpu_tasks && workload.allows(workload.job(job), {}, GpuTypeId{})) {
    const planner_model::Pool& here =
        pool_index_->pools().pools[static_cast<std::size_t>(run.front())];
    for (const MachineId m : cpu_machines_) {
      const bool inside = width == Level::cluster ||
                          (width == Level::pod ? cluster.pod_of(m) == here.pod
                                               : cluster.machine_rack[m.index()] == here.rack);
      if (inside) candidates.push_back(m);
    }
  }
  std::int64_t milli = 0;
  bool tried = false;
  for (const std::int32_t p : run) {
    const std::size_t c =
        pool_index_->pools().pools[static_cast<std::size_t>(p)].machine_class.index();
    if (free_milli(p) == 0 || s.task_fits[c] == 0) continue;
    for (const MachineId m : machines_.of(p)) {
      const std::int64_t part = usable(m, s);
      if (part > 0) candidates.push_back(m), milli += part;
    }
    if (milli < s.milli || tried) continue;
    tried = true;
    if (try_machines(job, candidates)) return true;
  }
  return milli >= s.milli && try_machines(job, candidates);
}

}  // namespace berth::solver::assignment

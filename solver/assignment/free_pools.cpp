// SPDX-License-Identifier: Apache-2.0
#include "assignment/free_pools.hpp"

#include <algorithm>
#include <tuple>

namespace berth::solver::assignment {

using model::JobPlacement;
using model::Level;

namespace {

double price_of(std::span<const double> prices, std::int32_t pool) {
  return prices.empty() ? 0.0 : prices[static_cast<std::size_t>(pool)];
}

/// A place to try: the cheapest first, then the fullest, then in order.
struct Trial {
  double price;
  std::int64_t free;
  std::size_t first, last;  ///< in the family

  bool operator<(const Trial& o) const {
    return std::tie(price, free, first) < std::tie(o.price, o.free, o.first);
  }
};

/// Visits trials in ascending order until one succeeds; most first ones do, so no full sort.
template <class Try>
std::optional<JobPlacement> first_success(std::vector<Trial>& trials, Try attempt) {
  const auto later = [](const Trial& a, const Trial& b) { return b < a; };
  std::ranges::make_heap(trials, later);
  for (auto end = trials.end(); end != trials.begin(); --end) {
    std::pop_heap(trials.begin(), end, later);
    if (auto placed = attempt(*(end - 1))) return placed;
  }
  return std::nullopt;
}

}  // namespace

Floor::Floor(const model::Instance& instance, const Yard& yard, model::Room& room,
             std::span<const MachineId> machines)
    : instance_(&instance), yard_(&yard), room_(&room), all_(machines.begin(), machines.end()) {
  const std::vector<PoolId>& pool_of = yard.pools().of_machine;
  std::vector<std::uint32_t> next(yard.pools().size() + 1, 0);
  for (const MachineId m : machines) ++next[pool_of[m.index()].index() + 1];
  for (std::size_t p = 1; p < next.size(); ++p) next[p] += next[p - 1];
  machines_.resize(machines.size());
  free_.assign(yard.pools().size(), 0);
  for (const MachineId m : machines) {
    const std::size_t p = pool_of[m.index()].index();
    machines_[next[p]++] = m;
    free_[p] += room.free_milli(m);
    if (instance.cluster.class_of(m).gpus == 0) bare_.push_back(m);
  }
  next.pop_back();
  end_ = std::move(next);
}

std::span<const MachineId> Floor::machines_of(std::int32_t pool) const {
  const auto p = static_cast<std::size_t>(pool);
  const std::uint32_t first = p == 0 ? 0 : end_[p - 1];
  return std::span(machines_).subspan(first, end_[p] - first);
}

Supply Floor::supply() const { return free_supply(yard_->pools(), *room_, machines_); }

void Floor::count(const JobPlacement& placement, int sign) {
  for (const model::TaskPlacement& t : placement.tasks) {
    const auto devices = static_cast<std::int64_t>(__builtin_popcountll(t.devices));
    free_[yard_->pools().of_machine[t.machine.index()].index()] += sign * devices * t.milli;
  }
}

void Floor::take(const JobPlacement& placement) {
  model::take(*room_, instance_->workload, placement);
  count(placement, -1);
}

void Floor::release(const JobPlacement& placement) {
  model::release(*room_, instance_->workload, placement);
  count(placement, +1);
}

std::optional<JobPlacement> Floor::place(JobId job, const Signature& s, const PlaceSet& set,
                                         std::span<const double> prices) {
  auto placed = set.width == Level::machine ? place_in_pool(job, s, set, prices)
                                            : place_in_domain(job, s, set, prices);
  if (placed) count(*placed, -1);
  return placed;
}

std::optional<JobPlacement> Floor::place_in_pool(JobId job, const Signature& s, const PlaceSet& set,
                                                 std::span<const double> prices) {
  const auto family = yard_->family(set.type, set.scope, set.domain);
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < family.size(); ++i) {
    const std::size_t c =
        yard_->pools().pools[static_cast<std::size_t>(family[i])].machine_class.index();
    if (free_milli(family[i]) < s.milli || s.job_fits[c] == 0) continue;
    trials.push_back({price_of(prices, family[i]), free_milli(family[i]), i, i + 1});
  }
  return first_success(trials, [&](const Trial& t) { return try_pool(job, s, family[t.first]); });
}

std::optional<JobPlacement> Floor::try_pool(JobId job, const Signature& s, std::int32_t pool) {
  const auto machines = machines_of(pool);
  if (s.tasks == 1) return model::place_job(*room_, instance_->workload, job, machines);
  std::vector<MachineId> order;
  for (const MachineId m : machines) {
    if (room_->free_milli(m) >= s.milli) order.push_back(m);
  }
  std::ranges::sort(order, {}, [&](MachineId m) { return std::pair(room_->free_milli(m), m); });
  for (const MachineId m : order) {
    auto placed = model::place_job(*room_, instance_->workload, job, std::span(&m, 1));
    if (placed) return placed;
  }
  return std::nullopt;
}

std::int64_t Floor::usable(MachineId m, const Signature& s) const {
  if (s.piece == 0) return room_->free_milli(m);
  return room_->whole_count(m) / s.piece * s.piece * model::kGpuMilli;
}

std::optional<JobPlacement> Floor::place_in_domain(JobId job, const Signature& s,
                                                   const PlaceSet& set,
                                                   std::span<const double> prices) {
  const auto family = yard_->family(set.type, set.scope, set.domain);
  std::vector<std::int32_t> by_price(family.begin(), family.end());
  std::vector<Trial> trials;
  yard_->runs(family, set.width, [&](std::size_t first, std::size_t last) {
    const auto run = std::span(by_price).subspan(first, last - first);
    std::ranges::sort(
        run, {}, [&](std::int32_t p) { return std::tuple(price_of(prices, p), free_milli(p), p); });
    double cost = 0.0;
    std::int64_t rest = s.milli, free = 0;
    for (const std::int32_t p : run) {
      const std::int64_t part = std::min(rest, free_milli(p));
      cost += price_of(prices, p) * static_cast<double>(part);
      rest -= part;
      free += free_milli(p);
    }
    if (rest == 0) trials.push_back({cost, free, first, last});
  });
  return first_success(trials, [&](const Trial& t) {
    return try_run(job, s, std::span(by_price).subspan(t.first, t.last - t.first), set.width);
  });
}

/// The fewest pools of the run (in its order) that seem to hold the job, then all of them.
std::optional<JobPlacement> Floor::try_run(JobId job, const Signature& s,
                                           std::span<const std::int32_t> run, Level width) {
  std::vector<MachineId> candidates;
  if (s.cpu_tasks) {
    const model::Pool& here = yard_->pools().pools[static_cast<std::size_t>(run.front())];
    for (const MachineId m : bare_) {
      const bool inside =
          width == Level::cluster ||
          (width == Level::pod ? instance_->cluster.pod_of(m) == here.pod
                               : instance_->cluster.machine_rack[m.index()] == here.rack);
      if (inside) candidates.push_back(m);
    }
  }
  std::int64_t room = 0;
  bool tried = false;
  for (const std::int32_t p : run) {
    const std::size_t c = yard_->pools().pools[static_cast<std::size_t>(p)].machine_class.index();
    if (free_milli(p) == 0 || s.task_fits[c] == 0) continue;
    for (const MachineId m : machines_of(p)) {
      const std::int64_t part = usable(m, s);
      if (part > 0) candidates.push_back(m), room += part;
    }
    if (room < s.milli || tried) continue;
    tried = true;
    auto placed = model::place_job(*room_, instance_->workload, job, candidates);
    if (placed) return placed;
  }
  if (room < s.milli) return std::nullopt;
  return model::place_job(*room_, instance_->workload, job, candidates);
}

}  // namespace berth::solver::assignment

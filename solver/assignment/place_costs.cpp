// SPDX-License-Identifier: Apache-2.0
#include "assignment/place_costs.hpp"

#include "assignment/smooth_math.hpp"

#include <algorithm>
#include <cmath>

#include "berth/base/infinity.hpp"
#include "berth/base/random.hpp"

namespace berth::solver::assignment {

using model::Level;

void PlaceCosts::build(const Supply& supply, std::span<const char> used) {
  place_lists_.clear();
  pools_.clear();
  blends_.clear();
  capacities_.clear();
  orders_.clear();
  supplied_.clear();
  supplied_end_.clear();
  most_filled_.clear();
  known_orders_.clear();
  known_lists_.clear();
  of_place_class_.assign(option_table_->place_classes().size(), kNone);
  // Lists of one home get neighbouring numbers: the jobs there read their costs together.
  std::vector<std::pair<std::int32_t, std::uint32_t>> order;  // first pool, place class
  for (std::uint32_t s = 0; s < of_place_class_.size(); ++s) {
    if (used[s] == 0) continue;
    const PlaceClass& c = option_table_->place_classes()[s];
    const auto pools = pool_index_->pools_in(c.type, c.scope, c.domain);
    order.emplace_back(pools.empty() ? -1 : pools.front(), s);
  }
  std::ranges::sort(order);
  for (const auto& [first, s] : order) {
    PlaceList fresh{static_cast<std::uint32_t>(pools_.size()), 0,
                    static_cast<std::uint32_t>(blends_.size()), 0};
    add_places(option_table_->place_classes()[s], supply);
    fresh.last_pool = static_cast<std::uint32_t>(pools_.size());
    fresh.last_blend = static_cast<std::uint32_t>(blends_.size());
    of_place_class_[s] = intern(fresh);
  }
}

/// GPU thousandths of the pool that the job's tasks can use. For a job on one machine: its demand,
/// or 0.
std::int64_t PlaceCosts::usable(std::int32_t pool, const TaskDemand& s, Level width,
                                const Supply& supply) const {
  const auto p = static_cast<std::size_t>(pool);
  const std::size_t c = pool_index_->pools().pools[p].machine_class.index();
  if (width == Level::machine) {
    if (s.job_fits[c] == 0 || supply.milli[p] < s.milli) return 0;
    return s.whole_gpus() == 0 || supply.whole_tasks(s.whole_gpus(), p) > 0 ? s.milli : 0;
  }
  if (s.task_fits[c] == 0) return 0;
  if (s.gpus_per_task == 0) return std::min(supply.milli[p], s.milli);
  const auto gpus_per_task = static_cast<std::size_t>(s.gpus_per_task);
  const std::int64_t by_rules = s.most_on_machine * pool_index_->pools().pools[p].machines;
  if (by_rules < s.tasks) {
    return std::min(supply.whole_tasks(gpus_per_task, p), by_rules) * s.gpus_per_task *
           model::kGpuMilli;
  }
  return std::min(supply.whole_tasks(gpus_per_task, p) * s.gpus_per_task * model::kGpuMilli,
                  s.milli);
}

void PlaceCosts::add_places(const PlaceClass& place_class, const Supply& supply) {
  const TaskDemand& s = option_table_->profile(place_class);
  const auto domain_pools =
      pool_index_->pools_in(place_class.type, place_class.scope, place_class.domain);
  if (place_class.width == Level::machine) {
    for (const std::int32_t p : domain_pools) {
      if (usable(p, s, place_class.width, supply) > 0) pools_.push_back(p);
    }
    return;
  }
  pool_index_->for_each_domain(
      domain_pools, place_class.width, [&](std::size_t first, std::size_t last) {
        const auto run = domain_pools.subspan(first, last - first);
        if (run.size() > 1) {
          add_blend(run, s, supply);
        } else if (usable(run.front(), s, place_class.width, supply) >= s.milli) {
          pools_.push_back(run.front());
        }
      });
}

void PlaceCosts::add_blend(std::span<const std::int32_t> run, const TaskDemand& s,
                           const Supply& supply) {
  const auto first = static_cast<std::uint32_t>(capacities_.size());
  std::int64_t total = 0;
  for (const std::int32_t p : run) {
    capacities_.push_back(usable(p, s, Level::cluster, supply));
    total += capacities_.back();
  }
  if (total < s.milli) {
    capacities_.resize(first);
    return;
  }
  const auto [entry, fresh] = known_orders_.try_emplace({run.data(), run.size()},
                                                        static_cast<std::uint32_t>(orders_.size()));
  if (fresh) {
    orders_.push_back(run);
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (supply.milli[static_cast<std::size_t>(run[i])] > 0) {
        supplied_.push_back(static_cast<std::int32_t>(i));
      }
    }
    supplied_end_.push_back(supplied_.size());
    most_filled_.push_back(0);
  }
  blends_.push_back({static_cast<std::uint32_t>(run.size()), first, s.milli, entry->second});
  std::size_t& most = most_filled_[entry->second];
  most = std::max(most, most_filled(blends_.back()));
}

/// Most pools that the blend passes until it is full, whatever their prices: those too small for a
/// task, and the smallest others.
std::size_t PlaceCosts::most_filled(const PoolBlend& blend) const {
  constexpr std::uint32_t kFew = 64;  // pools, which are sorted as fast as this is computed
  if (blend.pools <= kFew) return blend.pools;
  const auto first = capacities_.begin() + blend.first_capacity;
  std::vector<std::int64_t> capacities(first, first + blend.pools);
  std::ranges::sort(capacities);
  std::int64_t sum = 0;
  std::size_t count = 0;
  while (sum < blend.need) sum += capacities[count++];
  return count;
}

std::uint64_t PlaceCosts::key(const PlaceList& place_list) const {
  std::uint64_t k = place_list.last_blend - place_list.first_blend;
  for (std::uint32_t i = place_list.first_pool; i < place_list.last_pool; ++i) {
    k = mix64(k ^ static_cast<std::uint64_t>(pools_[i]));
  }
  for (std::uint32_t i = place_list.first_blend; i < place_list.last_blend; ++i) {
    k = mix64(k ^ static_cast<std::uint64_t>(blends_[i].need)) ^ blends_[i].order;
  }
  return k;
}

bool PlaceCosts::equal(const PlaceList& a, const PlaceList& b) const {
  const auto singles = [&](const PlaceList& s) {
    return std::span(pools_).subspan(s.first_pool, s.last_pool - s.first_pool);
  };
  const auto blends = [&](const PlaceList& s) {
    return std::span(blends_).subspan(s.first_blend, s.last_blend - s.first_blend);
  };
  return std::ranges::equal(singles(a), singles(b)) &&
         std::ranges::equal(blends(a), blends(b), [&](const PoolBlend& x, const PoolBlend& y) {
           return x.order == y.order && x.need == y.need &&
                  std::equal(capacities_.begin() + x.first_capacity,
                             capacities_.begin() + x.first_capacity + x.pools,
                             capacities_.begin() + y.first_capacity);
         });
}

/// Index of a place list with the content of `fresh`, whose entries are at the end of the arrays.
/// If an equal list is known, the arrays shrink again.
std::uint32_t PlaceCosts::intern(PlaceList fresh) {
  if (fresh.first_pool == fresh.last_pool && fresh.first_blend == fresh.last_blend) return kNone;
  const std::uint64_t k = key(fresh);
  const auto [first, last] = known_lists_.equal_range(k);
  for (auto it = first; it != last; ++it) {
    if (!equal(place_lists_[it->second], fresh)) continue;
    pools_.resize(fresh.first_pool);
    if (fresh.first_blend < fresh.last_blend)
      capacities_.resize(blends_[fresh.first_blend].first_capacity);
    blends_.resize(fresh.first_blend);
    return it->second;
  }
  const auto id = static_cast<std::uint32_t>(place_lists_.size());
  place_lists_.push_back(fresh);
  known_lists_.emplace(k, id);
  return id;
}

/// Sorts the first positions of each order by ascending price, as many as blends fill. They start
/// in the order of the last prices, which is nearly the same. A shard has supply in few of the
/// cluster's pools.
void PlaceCosts::sort_orders(std::span<const double> prices,
                             std::vector<std::int32_t>& sorted) const {
  if (sorted.empty()) sorted = supplied_;
  for (std::size_t o = 0; o < orders_.size(); ++o) {
    const auto domain_pools = orders_[o];
    const std::size_t first = o == 0 ? 0 : supplied_end_[o - 1];
    const auto positions = std::span(sorted).subspan(first, supplied_end_[o] - first);
    const auto cheaper = [&](std::int32_t a, std::int32_t b) {
      const double x = prices[static_cast<std::size_t>(domain_pools[static_cast<std::size_t>(a)])];
      const double y = prices[static_cast<std::size_t>(domain_pools[static_cast<std::size_t>(b)])];
      return x != y ? x < y : a < b;
    };
    const auto last = positions.begin() +
                      static_cast<std::ptrdiff_t>(std::min(positions.size(), most_filled_[o]));
    if (last != positions.end()) std::ranges::nth_element(positions, last, cheaper);
    std::ranges::sort(positions.begin(), last, cheaper);
  }
}

/// Calls take(pool, fraction of the job) for the cheapest pools until the fractions add up to 1.
template <class Take>
void PlaceCosts::fill_cheapest(const PoolBlend& blend, std::span<const std::int32_t> sorted,
                               Take take) const {
  std::int64_t remainder = blend.need;
  const double unit = 1.0 / static_cast<double>(blend.need);
  const std::size_t first = blend.order == 0 ? 0 : supplied_end_[blend.order - 1];
  for (const std::int32_t position : sorted.subspan(first, supplied_end_[blend.order] - first)) {
    const auto i = static_cast<std::size_t>(position);
    const std::int64_t part = std::min(remainder, capacities_[blend.first_capacity + i]);
    if (part == 0) continue;
    take(static_cast<std::size_t>(orders_[blend.order][i]), static_cast<double>(part) * unit);
    if ((remainder -= part) == 0) return;
  }
}

/// Computes soft minimum and shares of a place list from the costs of its places.
void PlaceCosts::soft_minimum(const PlaceList& place_list, double eps, double& cost,
                              SoftMinima& soft_minima) const {
  const auto singles =
      std::span(soft_minima.pool_shares)
          .subspan(place_list.first_pool, place_list.last_pool - place_list.first_pool);
  const auto blends =
      std::span(soft_minima.blend_shares)
          .subspan(place_list.first_blend, place_list.last_blend - place_list.first_blend);
  double least = kInfinity;
  for (const double c : singles) least = c < least ? c : least;
  for (const double c : blends) least = c < least ? c : least;
  cost = least;
  if (singles.size() + blends.size() == 1) {
    for (double& c : singles) c = 1.0;
    for (double& c : blends) c = 1.0;
    return;
  }
  double sum = 0.0;
  for (const auto part : {singles, blends}) {
    if (eps > 0.0) {
      for (double& c : part) {
        const double x = (least - c) / eps;
        c = x > -kNegligibleExponent ? exp_of(std::max(x, -kNegligibleExponent)) : 0.0;
      }
    } else {
      for (double& c : part) c = c > least ? 0.0 : 1.0;
    }
    for (const double c : part) sum += c;
  }
  if (eps > 0.0) cost -= eps * log_of(sum);
  for (const auto part : {singles, blends}) {
    for (double& c : part) c /= sum;
  }
}

void PlaceCosts::evaluate(std::span<const double> prices, double eps,
                          SoftMinima& soft_minima) const {
  sort_orders(prices, soft_minima.sorted);
  soft_minima.pool_shares.resize(pools_.size());
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    soft_minima.pool_shares[i] = prices[static_cast<std::size_t>(pools_[i])];
  }
  soft_minima.blend_shares.clear();
  soft_minima.blend_shares.reserve(blends_.size());
  for (const PoolBlend& blend : blends_) {
    double sum = 0.0;
    fill_cheapest(blend, soft_minima.sorted,
                  [&](std::size_t p, double part) { sum += part * prices[p]; });
    soft_minima.blend_shares.push_back(sum);
  }
  soft_minima.costs.resize(place_lists_.size());
  for (std::size_t s = 0; s < place_lists_.size(); ++s)
    soft_minimum(place_lists_[s], eps, soft_minima.costs[s], soft_minima);
}

void PlaceCosts::distribute(const SoftMinima& soft_minima, std::span<const std::int64_t> demand,
                            std::int64_t parts, std::span<std::int64_t> into) const {
  const auto whole = static_cast<double>(parts);
  for (std::size_t s = 0; s < place_lists_.size(); ++s) {
    if (demand[s] == 0) continue;
    const PlaceList& place_list = place_lists_[s];
    const auto give = [&](std::size_t pool, double share) {
      into[pool] += demand[s] * static_cast<std::int64_t>(share + 0.5);
    };
    for (std::uint32_t i = place_list.first_pool; i < place_list.last_pool; ++i) {
      give(static_cast<std::size_t>(pools_[i]), whole * soft_minima.pool_shares[i]);
    }
    for (std::uint32_t i = place_list.first_blend; i < place_list.last_blend; ++i) {
      if (soft_minima.blend_shares[i] == 0.0) continue;
      const double share = whole * soft_minima.blend_shares[i];
      fill_cheapest(blends_[i], soft_minima.sorted,
                    [&](std::size_t p, double x) { give(p, share * x); });
    }
  }
}

}  // namespace berth::solver::assignment

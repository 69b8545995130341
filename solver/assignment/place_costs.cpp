// SPDX-License-Identifier: Apache-2.0
#include "assignment/place_costs.hpp"

#include "assignment/smooth_math.hpp"

#include <algorithm>
#include <cmath>

#include "berth/base/infinity.hpp"
#include "berth/base/random.hpp"

namespace berth::solver::assignment {

using model::Level;

namespace {}  // namespace

void Slots::build(const Supply& supply, std::span<const char> used) {
  slots_.clear();
  pools_.clear();
  mixes_.clear();
  caps_.clear();
  orders_.clear();
  stocked_.clear();
  known_orders_.clear();
  known_.clear();
  of_place_class_.assign(option_table_->place_classes().size(), kNone);
  for (std::size_t s = 0; s < of_place_class_.size(); ++s) {
    if (used[s] == 0) continue;
    Slot fresh{static_cast<std::uint32_t>(pools_.size()), 0,
               static_cast<std::uint32_t>(mixes_.size()), 0};
    add_places(option_table_->place_classes()[s], supply);
    fresh.last_single = static_cast<std::uint32_t>(pools_.size());
    fresh.last_mix = static_cast<std::uint32_t>(mixes_.size());
    of_place_class_[s] = intern(fresh);
  }
}

/// GPU thousandths of the pool that the job's tasks can really use; for a job on one machine all
/// or nothing.
std::int64_t Slots::usable(std::int32_t pool, const TaskProfile& s, Level width,
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
  return std::min(supply.whole_tasks(gpus_per_task, p) * s.gpus_per_task * model::kGpuMilli,
                  s.milli);
}

void Slots::add_places(const PlaceClass& place_class, const Supply& supply) {
  const TaskProfile& s = option_table_->profile(place_class);
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
          add_mix(run, s, supply);
        } else if (usable(run.front(), s, place_class.width, supply) >= s.milli) {
          pools_.push_back(run.front());
        }
      });
}

void Slots::add_mix(std::span<const std::int32_t> run, const TaskProfile& s, const Supply& supply) {
  const auto first = static_cast<std::uint32_t>(caps_.size());
  std::int64_t total = 0;
  for (const std::int32_t p : run) {
    caps_.push_back(usable(p, s, Level::cluster, supply));
    total += caps_.back();
  }
  if (total < s.milli) {
    caps_.resize(first);
    return;
  }
  const auto [entry, fresh] = known_orders_.try_emplace({run.data(), run.size()},
                                                        static_cast<std::uint32_t>(orders_.size()));
  if (fresh) {
    orders_.push_back(run);
    auto& stocked = stocked_.emplace_back();
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (supply.milli[static_cast<std::size_t>(run[i])] > 0) {
        stocked.push_back(static_cast<std::int32_t>(i));
      }
    }
  }
  mixes_.push_back({static_cast<std::uint32_t>(run.size()), first, s.milli, entry->second});
}

std::uint64_t Slots::key(const Slot& slot) const {
  std::uint64_t k = slot.last_mix - slot.first_mix;
  for (std::uint32_t i = slot.first_single; i < slot.last_single; ++i) {
    k = mix64(k ^ static_cast<std::uint64_t>(pools_[i]));
  }
  for (std::uint32_t i = slot.first_mix; i < slot.last_mix; ++i) {
    k = mix64(k ^ static_cast<std::uint64_t>(mixes_[i].need)) ^ mixes_[i].order;
  }
  return k;
}

bool Slots::equal(const Slot& a, const Slot& b) const {
  const auto singles = [&](const Slot& s) {
    return std::span(pools_).subspan(s.first_single, s.last_single - s.first_single);
  };
  const auto mixes = [&](const Slot& s) {
    return std::span(mixes_).subspan(s.first_mix, s.last_mix - s.first_mix);
  };
  return std::ranges::equal(singles(a), singles(b)) &&
         std::ranges::equal(mixes(a), mixes(b), [&](const Mix& x, const Mix& y) {
           return x.order == y.order && x.need == y.need &&
                  std::equal(caps_.begin() + x.first_cap, caps_.begin() + x.first_cap + x.pools,
                             caps_.begin() + y.first_cap);
         });
}

/// The slot with the content of `fresh` (which lies at the end of the arrays): a known one, and
/// the arrays shrink again, or a new one.
std::uint32_t Slots::intern(Slot fresh) {
  if (fresh.first_single == fresh.last_single && fresh.first_mix == fresh.last_mix) return kNone;
  const std::uint64_t k = key(fresh);
  const auto [first, last] = known_.equal_range(k);
  for (auto it = first; it != last; ++it) {
    if (!equal(slots_[it->second], fresh)) continue;
    pools_.resize(fresh.first_single);
    if (fresh.first_mix < fresh.last_mix) caps_.resize(mixes_[fresh.first_mix].first_cap);
    mixes_.resize(fresh.first_mix);
    return it->second;
  }
  const auto id = static_cast<std::uint32_t>(slots_.size());
  slots_.push_back(fresh);
  known_.emplace(k, id);
  return id;
}

/// Without the pools that hold nothing: a shard sees those of the whole cluster, and has few.
Slots::Sorted Slots::sort_orders(std::span<const double> prices) const {
  Sorted sorted = stocked_;
  for (std::size_t o = 0; o < orders_.size(); ++o) {
    const auto domain_pools = orders_[o];
    std::ranges::sort(sorted[o], [&](std::int32_t a, std::int32_t b) {
      const double x = prices[static_cast<std::size_t>(domain_pools[static_cast<std::size_t>(a)])];
      const double y = prices[static_cast<std::size_t>(domain_pools[static_cast<std::size_t>(b)])];
      return x != y ? x < y : a < b;
    });
  }
  return sorted;
}

/// take(pool, fraction of the job) for the cheapest pools until the job is whole.
template <class Take>
void Slots::fill(const Mix& mix, const Sorted& sorted, Take take) const {
  std::int64_t rest = mix.need;
  const double unit = 1.0 / static_cast<double>(mix.need);
  for (const std::int32_t position : sorted[mix.order]) {
    const auto i = static_cast<std::size_t>(position);
    const std::int64_t part = std::min(rest, caps_[mix.first_cap + i]);
    if (part == 0) continue;
    take(static_cast<std::size_t>(orders_[mix.order][i]), static_cast<double>(part) * unit);
    if ((rest -= part) == 0) return;
  }
}

/// From the costs of the slot's places to the soft minimum and their shares.
void Slots::soften(const Slot& slot, double eps, double& cost, Rents& rents) const {
  const auto singles =
      std::span(rents.singles).subspan(slot.first_single, slot.last_single - slot.first_single);
  const auto mixes = std::span(rents.mixes).subspan(slot.first_mix, slot.last_mix - slot.first_mix);
  double least = kInfinity;
  for (const double c : singles) least = c < least ? c : least;
  for (const double c : mixes) least = c < least ? c : least;
  cost = least;
  if (singles.size() + mixes.size() == 1) {
    for (double& c : singles) c = 1.0;
    for (double& c : mixes) c = 1.0;
    return;
  }
  double sum = 0.0;
  for (const auto part : {singles, mixes}) {
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
  for (const auto part : {singles, mixes}) {
    for (double& c : part) c /= sum;
  }
}

Rents Slots::rents(std::span<const double> prices, double eps) const {
  Rents rents;
  rents.sorted = sort_orders(prices);
  rents.singles.resize(pools_.size());
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    rents.singles[i] = prices[static_cast<std::size_t>(pools_[i])];
  }
  rents.mixes.reserve(mixes_.size());
  for (const Mix& mix : mixes_) {
    double sum = 0.0;
    fill(mix, rents.sorted, [&](std::size_t p, double part) { sum += part * prices[p]; });
    rents.mixes.push_back(sum);
  }
  rents.slots.resize(slots_.size());
  for (std::size_t s = 0; s < slots_.size(); ++s) soften(slots_[s], eps, rents.slots[s], rents);
  return rents;
}

void Slots::spread(const Rents& rents, std::span<const std::int64_t> demand, std::int64_t parts,
                   std::span<std::int64_t> into) const {
  const auto whole = static_cast<double>(parts);
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (demand[s] == 0) continue;
    const Slot& slot = slots_[s];
    const auto give = [&](std::size_t pool, double share) {
      into[pool] += demand[s] * static_cast<std::int64_t>(share + 0.5);
    };
    for (std::uint32_t i = slot.first_single; i < slot.last_single; ++i) {
      give(static_cast<std::size_t>(pools_[i]), whole * rents.singles[i]);
    }
    for (std::uint32_t i = slot.first_mix; i < slot.last_mix; ++i) {
      if (rents.mixes[i] == 0.0) continue;
      const double share = whole * rents.mixes[i];
      fill(mixes_[i], rents.sorted, [&](std::size_t p, double x) { give(p, share * x); });
    }
  }
}

}  // namespace berth::solver::assignment

// SPDX-License-Identifier: Apache-2.0
#include "where/slots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "berth/base/random.hpp"

namespace berth::solver::where {

using model::Level;

namespace {
constexpr double kFar = 40.0;  ///< exp(-40) is below the last bit of a sum that starts at 1
constexpr double kNever = std::numeric_limits<double>::infinity();
}  // namespace

void Slots::build(const Supply& supply, std::span<const char> used) {
  slots_.clear();
  pools_.clear();
  mixes_.clear();
  caps_.clear();
  orders_.clear();
  stocked_.clear();
  known_orders_.clear();
  known_.clear();
  of_set_.assign(menu_->sets().size(), kNone);
  for (std::size_t s = 0; s < of_set_.size(); ++s) {
    if (used[s] == 0) continue;
    Slot fresh{static_cast<std::uint32_t>(pools_.size()), 0,
               static_cast<std::uint32_t>(mixes_.size()), 0};
    add_places(menu_->sets()[s], supply);
    fresh.last_single = static_cast<std::uint32_t>(pools_.size());
    fresh.last_mix = static_cast<std::uint32_t>(mixes_.size());
    of_set_[s] = intern(fresh);
  }
}

/// GPU thousandths of the pool that the job's tasks can really use; for a job on one machine all
/// or nothing.
std::int64_t Slots::usable(std::int32_t pool, const Signature& s, Level width,
                           const Supply& supply) const {
  const auto p = static_cast<std::size_t>(pool);
  const std::size_t c = yard_->pools().pools[p].machine_class.index();
  if (width == Level::machine) {
    if (s.job_fits[c] == 0 || supply.milli[p] < s.milli) return 0;
    return s.whole() == 0 || supply.whole_tasks(s.whole(), p) > 0 ? s.milli : 0;
  }
  if (s.task_fits[c] == 0) return 0;
  if (s.piece == 0) return std::min(supply.milli[p], s.milli);
  const auto piece = static_cast<std::size_t>(s.piece);
  return std::min(supply.whole_tasks(piece, p) * s.piece * model::kGpuMilli, s.milli);
}

void Slots::add_places(const PlaceSet& set, const Supply& supply) {
  const Signature& s = menu_->signature(set);
  const auto family = yard_->family(set.type, set.scope, set.domain);
  if (set.width == Level::machine) {
    for (const std::int32_t p : family) {
      if (usable(p, s, set.width, supply) > 0) pools_.push_back(p);
    }
    return;
  }
  yard_->runs(family, set.width, [&](std::size_t first, std::size_t last) {
    const auto run = family.subspan(first, last - first);
    if (run.size() > 1) {
      add_mix(run, s, supply);
    } else if (usable(run.front(), s, set.width, supply) >= s.milli) {
      pools_.push_back(run.front());
    }
  });
}

void Slots::add_mix(std::span<const std::int32_t> run, const Signature& s, const Supply& supply) {
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
    const auto family = orders_[o];
    std::ranges::sort(sorted[o], [&](std::int32_t a, std::int32_t b) {
      const double x = prices[static_cast<std::size_t>(family[static_cast<std::size_t>(a)])];
      const double y = prices[static_cast<std::size_t>(family[static_cast<std::size_t>(b)])];
      return x != y ? x < y : a < b;
    });
  }
  return sorted;
}

/// take(pool, fraction of the job) for the cheapest pools until the job is whole.
template <class Take>
void Slots::fill(const Mix& mix, const Sorted& sorted, Take take) const {
  std::int64_t rest = mix.need;
  for (const std::int32_t position : sorted[mix.order]) {
    const auto i = static_cast<std::size_t>(position);
    const std::int64_t part = std::min(rest, caps_[mix.first_cap + i]);
    if (part == 0) continue;
    take(static_cast<std::size_t>(orders_[mix.order][i]),
         static_cast<double>(part) / static_cast<double>(mix.need));
    if ((rest -= part) == 0) return;
  }
}

void Slots::place_costs(const Slot& slot, std::span<const double> prices, const Sorted& sorted,
                        std::vector<double>& cost) const {
  cost.clear();
  for (std::uint32_t i = slot.first_single; i < slot.last_single; ++i) {
    cost.push_back(prices[static_cast<std::size_t>(pools_[i])]);
  }
  for (std::uint32_t i = slot.first_mix; i < slot.last_mix; ++i) {
    double sum = 0.0;
    fill(mixes_[i], sorted, [&](std::size_t p, double part) { sum += part * prices[p]; });
    cost.push_back(sum);
  }
}

std::vector<double> Slots::costs(std::span<const double> prices, double eps) const {
  const Sorted sorted = sort_orders(prices);
  std::vector<double> result, cost;
  result.reserve(slots_.size());
  for (const Slot& slot : slots_) {
    place_costs(slot, prices, sorted, cost);
    double least = kNever;
    for (const double c : cost) least = std::min(least, c);
    if (eps > 0.0 && cost.size() > 1) {
      double sum = 0.0;
      for (const double c : cost) {
        const double depth = (c - least) / eps;
        if (depth < kFar) sum += std::exp(-depth);
      }
      least -= eps * std::log(sum);
    }
    result.push_back(least);
  }
  return result;
}

void Slots::spread(std::span<const double> prices, double eps, std::span<const std::int64_t> demand,
                   std::int64_t parts, std::span<std::int64_t> into) const {
  const Sorted sorted = sort_orders(prices);
  std::vector<double> cost;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (demand[s] == 0) continue;
    const Slot& slot = slots_[s];
    place_costs(slot, prices, sorted, cost);
    const double least = *std::ranges::min_element(cost);
    double sum = 0.0;
    for (double& c : cost) {
      const double depth = eps > 0.0 ? (c - least) / eps : (c > least ? kNever : 0.0);
      sum += c = depth < kFar ? std::exp(-depth) : 0.0;
    }
    const auto give = [&](std::size_t pool, double share) {
      into[pool] += demand[s] * static_cast<std::int64_t>(share + 0.5);
    };
    const double unit = static_cast<double>(parts) / sum;
    const std::size_t singles = slot.last_single - slot.first_single;
    for (std::size_t i = 0; i < cost.size(); ++i) {
      if (cost[i] == 0.0) continue;
      const double part = unit * cost[i];
      if (i < singles) {
        give(static_cast<std::size_t>(pools_[slot.first_single + i]), part);
      } else {
        fill(mixes_[slot.first_mix + i - singles], sorted,
             [&](std::size_t p, double x) { give(p, part * x); });
      }
    }
  }
}

}  // namespace berth::solver::where

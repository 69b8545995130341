// SPDX-License-Identifier: Apache-2.0
#include "machine_profit_bound.hpp"

#include "exact.hpp"
#include "task_bundles.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "berth/base/assert.hpp"

namespace berth::certify {

using model::kResources;
using model::Resources;
using model::Shape;

namespace {

bool allowed(std::uint64_t types, GpuTypeId type) {
  if (types == kAnyType) return true;
  return type.valid() && ((types >> type.value()) & 1) != 0;
}

/// All planned jobs without job prices.
std::vector<JobId> without_price(const model::WorkloadView& workload,
                                 const model::Certificate& certificate) {
  std::vector<JobId> jobs = model::planned_jobs(workload);
  std::erase_if(jobs, [&](JobId job) {  // prices are in order of jobs
    const auto priced =
        std::ranges::lower_bound(certificate.jobs, job, {}, &model::Certificate::JobPrice::job);
    return priced != certificate.jobs.end() && priced->job == job;
  });
  return jobs;
}

}  // namespace

/// cpu_only of bound.hpp, one shape after the other.
class MachineProfitBound::CpuOnlyBound {
 public:
  explicit CpuOnlyBound(const Resources& room) : room_(room) {
    std::vector<std::size_t> order;
    for (std::size_t r = 0; r < kResources; ++r) {
      if (room[r] != model::kNoLimit) order.push_back(r);
    }
    do orders_.push_back({order, {}});
    while (std::ranges::next_permutation(order).found);
  }

  void add(const BundleNeeds& c) {
    const Int128 profit = c.size.rest;
    if (profit <= 0) return;
    std::array<Int128, kResources> most{};  // of such tasks alone, by what holds them
    bool held = false;
    for (std::size_t r = 0; r < kResources; ++r) {
      if (!takes(c, r)) continue;
      most[r] = times_over_up(profit, room_[r], c.needs[r]);
      held = true;
    }
    // nothing on the machine limits them but their number
    if (!held) unlimited_ += profit * c.tasks;
    for (ResourceOrder& o : orders_) {
      if (!held) break;
      const auto first = std::ranges::find_if(o.resources, [&](auto r) { return takes(c, r); });
      o.most[*first] = std::max(o.most[*first], most[*first]);
    }
  }
  [[nodiscard]] Int128 most() const {
    const auto sum = [](const ResourceOrder& o) {
      return std::accumulate(o.most.begin(), o.most.end(), Int128{0});
    };
    Int128 least = sum(orders_.front());
    for (const ResourceOrder& o : orders_) least = std::min(least, sum(o));
    return unlimited_ + least;
  }

 private:
  /// Each task counts for the first of these resources that it takes.
  struct ResourceOrder {
    std::vector<std::size_t> resources;
    std::array<Int128, kResources> most;
  };

  [[nodiscard]] bool takes(const BundleNeeds& c, std::size_t r) const {
    return c.needs[r] > 0 && room_[r] != model::kNoLimit;
  }

  Resources room_;
  std::vector<ResourceOrder> orders_;  ///< all orders of the resources with a limit
  Int128 unlimited_ = 0;
};

MachineProfitBound::MachineProfitBound(const model::InstanceView& instance,
                                       const PriceTable& price_table,
                                       const model::Certificate& certificate,
                                       const JobFacts& facts) {
  std::vector<JobFacts::BundleTasks> bundles = facts.tasks;
  if (!certificate.jobs.empty()) {
    BERTH_EXPECT(!instance.workload.in_parts());
    bundles = bundles_of(instance.workload, without_price(instance.workload, certificate));
  }
  std::vector<std::vector<BundleNeeds>> by_class;
  for (std::size_t c = 0; c < instance.cluster.classes.size(); ++c) {
    by_class.push_back(needs_by_size(instance, price_table, ClassId(c), bundles));
  }
  for (const MachineVariant& variant : price_table.variants().all()) {
    const ClassId c = variant.machine_class;
    terms_.push_back(terms(variant, by_class[c.index()], price_table.multiplier(c)));
  }
  if (certificate.jobs.empty()) bound_contents(price_table, by_class);
}

/// Tasks that an empty machine of the class lacks room for are left out: prices times their amounts
/// might leave 128 bits.
std::optional<MachineProfitBound::BundleNeeds> MachineProfitBound::needs_of(
    const model::InstanceView& instance, const PriceTable& price_table, ClassId c,
    std::span<const JobFacts::BundleTasks> bundle) {
  const model::MachineClass& machine = instance.cluster.classes[c.index()];
  const Multiplier& multiplier = price_table.multiplier(c);
  BundleNeeds result;
  result.tasks = bundle.front().copies;
  std::array<Int128, kResources> needs{};
  for (const JobFacts::BundleTasks& task : bundle) {
    const Shape& s = instance.workload.shape(task.shape);
    for (std::size_t r = 0; r < kResources; ++r) needs[r] += Int128{task.count} * s.needs[r];
    result.size.gpus += task.count * s.gpus;
    result.size.milli += task.count * in_slices(s.gpu_milli, machine.gpu_slices);
    result.size.rest += Int128{price_table.shape_price(task.shape, machine.gpu_type)} * task.count;
  }
  for (std::size_t r = 0; r < kResources; ++r) {
    if (needs[r] > machine.capacity[r]) return std::nullopt;
  }
  result.size.milli += 1000 * result.size.gpus;
  for (std::size_t r = 0; r < kResources; ++r) {
    result.size.rest -= multiplier.unit_price[r] * needs[r];
    result.needs[r] = static_cast<std::int64_t>(needs[r]);
  }
  return result;
}

/// Needs of the bundles by size; of one size by descending rest.
std::vector<MachineProfitBound::BundleNeeds> MachineProfitBound::needs_by_size(
    const model::InstanceView& instance, const PriceTable& price_table, ClassId c,
    std::span<const JobFacts::BundleTasks> bundles) {
  const GpuTypeId type = instance.cluster.classes[c.index()].gpu_type;
  std::vector<BundleNeeds> result;
  while (!bundles.empty()) {
    const auto bundle = first_bundle(bundles);
    if (allowed(bundle.front().types, type)) {
      if (const auto one = needs_of(instance, price_table, c, bundle)) result.push_back(*one);
    }
    bundles = bundles.subspan(bundle.size());
  }
  std::ranges::sort(result, [](const BundleNeeds& a, const BundleNeeds& b) {
    return a.size.milli != b.size.milli ? a.size.milli < b.size.milli : a.size.rest > b.size.rest;
  });
  return result;
}

MachineProfitBound::VariantTerms MachineProfitBound::terms(
    const MachineVariant& variant, std::span<const BundleNeeds> needs_by_size,
    const Multiplier& multiplier) {
  VariantTerms result;
  if (!variant.up) return result;
  const std::int64_t largest_share =
      variant.whole > 0 ? 1000 : (variant.partly.empty() ? 0 : variant.partly.back());
  result.room = variant.room;
  CpuOnlyBound without_gpus(result.room);
  for (const BundleNeeds& c : needs_by_size) {
    if (!c.needs.within(result.room)) continue;
    if (c.size.milli == 0) {
      without_gpus.add(c);
      continue;
    }
    const bool fits =
        c.size.gpus > 0 ? c.size.gpus <= variant.whole : c.size.milli <= largest_share;
    const bool known = !result.sizes.empty() && result.sizes.back().milli == c.size.milli;
    if (!fits || known) continue;
    result.sizes.push_back(c.size);
    if (c.size.milli <= 1000) result.step = std::gcd(result.step, c.size.milli);
  }
  result.without_gpus = without_gpus.most();
  result.gpus = variant.whole;
  result.partly = variant.partly;
  result.multiplier = multiplier;
  return result;
}

/// v1 by steps of a device's thousandths: largest profit in at most that many.
std::vector<Int128> MachineProfitBound::device(const VariantTerms& terms, std::int64_t gpu_price) {
  const auto steps = static_cast<std::size_t>(1000 / terms.step);
  std::vector<Int128> best(steps + 1, 0);
  for (const Size& size : terms.sizes) {
    if (size.milli > 1000) break;
    const Int128 profit = Int128{gpu_price} * size.milli + size.rest;
    if (profit <= 0) continue;
    const auto width = static_cast<std::size_t>(size.milli / terms.step);
    for (std::size_t w = width; w <= steps; ++w)
      best[w] = std::max(best[w], best[w - width] + profit);
  }
  return best;
}

std::vector<Int128> MachineProfitBound::by_devices(const PricedPool& pool) const {
  const VariantTerms& t = terms_[pool.variant.index()];
  const std::int64_t price = pool.price.gpu_milli;
  std::vector<Int128> best(static_cast<std::size_t>(t.gpus) + 1, 0);
  const Int128 one = t.gpus == 0 ? 0 : device(t, price).back();
  for (std::size_t g = 1; g < best.size(); ++g) {
    best[g] = best[g - 1] + one;
    for (const Size& size : t.sizes) {
      const auto k = static_cast<std::size_t>(size.gpus);
      if (k < 2 || k > g) continue;
      best[g] = std::max(best[g], best[g - k] + Int128{price} * size.milli + size.rest);
    }
  }
  return best;
}

Int128 MachineProfitBound::beyond_devices(const PricedPool& pool) const {
  const VariantTerms& t = terms_[pool.variant.index()];
  Int128 worth = t.without_gpus;
  for (std::size_t r = 0; r < kResources; ++r) {
    worth += (Int128{pool.price.resources[r]} + t.multiplier.unit_price[r]) * t.room[r];
  }
  if (t.partly.empty()) return worth;
  const std::vector<Int128> best = device(t, pool.price.gpu_milli);
  for (const std::int64_t free : t.partly) worth += best[static_cast<std::size_t>(free / t.step)];
  return worth;
}

Int128 MachineProfitBound::operator()(const PricedPool& pool) const {
  const Int128 by_multipliers = beyond_devices(pool) + by_devices(pool).back();
  if (content_.empty()) return by_multipliers;
  const ContentKey key{pool.variant, pool.price};
  const auto found = std::ranges::lower_bound(content_, key);
  if (found == content_.end() || *found != key) return by_multipliers;
  return std::min(by_multipliers,
                  content_most_[static_cast<std::size_t>(found - content_.begin())]);
}

}  // namespace berth::certify

// SPDX-License-Identifier: Apache-2.0
#include "machine_profit_bound.hpp"

#include "exact.hpp"
#include "task_bundles.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "berth/base/assert.hpp"

namespace berth::certify {

using model::Shape;

namespace {

bool allowed(std::uint64_t types, GpuTypeId type) {
  if (types == kAnyType) return true;
  return type.valid() && ((types >> type.value()) & 1) != 0;
}

/// All planned jobs but those with a price of their own.
std::vector<JobId> without_price(const model::Workload& workload,
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
  explicit CpuOnlyBound(const Resources& room)
      : room_(room),
        orders_(room[kNic] == model::kNoLimit ? std::span(kOrders).first(2) : std::span(kOrders)) {}

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
    for (std::size_t o = 0; held && o < orders_.size(); ++o) {
      const auto first = std::ranges::find_if(orders_[o], [&](auto r) { return takes(c, r); });
      most_[o][*first] = std::max(most_[o][*first], most[*first]);
    }
  }
  [[nodiscard]] Int128 most() const {
    const auto sum = [](const auto& parts) { return parts[0] + parts[1] + parts[2]; };
    Int128 least = sum(most_[0]);
    for (std::size_t o = 1; o < orders_.size(); ++o) least = std::min(least, sum(most_[o]));
    return unlimited_ + least;
  }

 private:
  using Order = std::array<std::size_t, kResources>;
  static constexpr std::array<Order, 6> kOrders{
      {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  static constexpr std::size_t kNic = 2;

  [[nodiscard]] bool takes(const BundleNeeds& c, std::size_t r) const {
    return c.needs[r] > 0 && room_[r] != model::kNoLimit;
  }

  Resources room_;
  std::span<const Order> orders_;  ///< without a NIC that is counted the others say the same
  std::array<std::array<Int128, kResources>, 6> most_{};
  Int128 unlimited_ = 0;
};

MachineProfitBound::MachineProfitBound(const model::Instance& instance,
                                       const PriceTable& price_table,
                                       const model::Certificate& certificate,
                                       const JobFacts& facts) {
  std::vector<JobFacts::TaskBundle> bundles = facts.tasks;
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
}

/// Tasks that an empty machine of the class lacks room for are left out: prices times their amounts
/// might leave 128 bits.
std::optional<MachineProfitBound::BundleNeeds> MachineProfitBound::needs_of(
    const model::Instance& instance, const PriceTable& price_table, ClassId c,
    std::span<const JobFacts::TaskBundle> bundle) {
  const model::MachineClass& machine = instance.cluster.classes[c.index()];
  const Multiplier& multiplier = price_table.multiplier(c);
  BundleNeeds result;
  result.tasks = bundle.front().copies;
  Int128 cpu = 0, memory = 0, nic = 0;
  for (const JobFacts::TaskBundle& task : bundle) {
    const Shape& s = instance.workload.shape(task.shape);
    cpu += Int128{task.count} * s.cpu_milli;
    memory += Int128{task.count} * s.memory_mib;
    nic += Int128{task.count} * s.nic_mbps;
    result.size.gpus += task.count * s.gpus;
    result.size.milli += task.count * in_slices(s.gpu_milli, machine.gpu_slices);
    result.size.rest += Int128{price_table.shape_price(task.shape, machine.gpu_type)} * task.count;
  }
  if (cpu > machine.cpu_milli || memory > machine.memory_mib || nic > machine.nic_mbps) {
    return std::nullopt;
  }
  result.size.milli += 1000 * result.size.gpus;
  result.size.rest -=
      multiplier.cpu_milli * cpu + multiplier.memory_mib * memory + multiplier.nic_mbps * nic;
  result.needs = {static_cast<std::int64_t>(cpu), static_cast<std::int64_t>(memory),
                  static_cast<std::int64_t>(nic)};
  return result;
}

/// By size; of one size those with the largest rest first.
std::vector<MachineProfitBound::BundleNeeds> MachineProfitBound::needs_by_size(
    const model::Instance& instance, const PriceTable& price_table, ClassId c,
    std::span<const JobFacts::TaskBundle> bundles) {
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
  result.room = {variant.cpu_milli, variant.memory_mib, variant.nic_mbps};
  CpuOnlyBound without_gpus(result.room);
  for (const BundleNeeds& c : needs_by_size) {
    if (c.needs[0] > result.room[0] || c.needs[1] > result.room[1] || c.needs[2] > result.room[2]) {
      continue;
    }
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

/// v1 by steps of a device's thousandths: most profit in at most so many.
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
  const Int128 cpu = Int128{pool.price.cpu_milli} + t.multiplier.cpu_milli;
  const Int128 memory = Int128{pool.price.memory_mib} + t.multiplier.memory_mib;
  const Int128 nic = (Int128{pool.price.nic_mbps} + t.multiplier.nic_mbps) * t.room[2];
  Int128 worth = cpu * t.room[0] + memory * t.room[1] + nic + t.without_gpus;
  if (t.partly.empty()) return worth;
  const std::vector<Int128> best = device(t, pool.price.gpu_milli);
  for (const std::int64_t free : t.partly) worth += best[static_cast<std::size_t>(free / t.step)];
  return worth;
}

Int128 MachineProfitBound::operator()(const PricedPool& pool) const {
  return beyond_devices(pool) + by_devices(pool).back();
}

}  // namespace berth::certify

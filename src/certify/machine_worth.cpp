// SPDX-License-Identifier: Apache-2.0
#include "machine_worth.hpp"

#include "exact.hpp"
#include "worth.hpp"

#include <algorithm>
#include <numeric>

namespace berth::certify {

using model::Job;
using model::Shape;

namespace {

constexpr std::uint64_t kAnyType = ~std::uint64_t{0};

bool takes_gpu(const Shape& s) { return s.gpus > 0 || s.gpu_milli > 0; }

bool allowed(std::uint64_t types, GpuTypeId type) {
  if (types == kAnyType) return true;
  return type.valid() && ((types >> type.value()) & 1) != 0;
}

/// By shape: the GPU types on which some job may have a task of it.
std::vector<std::uint64_t> types_by_shape(const model::Workload& workload,
                                          const std::vector<bool>& own_price) {
  std::vector<std::uint64_t> types(workload.shapes.size(), 0);
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    const Job& job = workload.jobs[j];
    if (own_price[j] || workload.pinned(job)) continue;
    const bool gpu_job = uses_gpu(workload, job);
    for (const model::TaskGroup& g : workload.groups_of(job)) {
      const bool follows = !gpu_job || takes_gpu(workload.shapes[g.shape.index()]);
      types[g.shape.index()] |= follows ? job.gpu_types : kAnyType;
    }
  }
  return types;
}

std::vector<std::int64_t> tasks_by_shape(const model::Workload& workload) {
  std::vector<std::int64_t> tasks(workload.shapes.size(), 0);
  for (const Job& job : workload.jobs) {
    if (workload.pinned(job)) continue;
    for (const model::TaskGroup& g : workload.groups_of(job)) tasks[g.shape.index()] += g.count;
  }
  return tasks;
}

}  // namespace

/// cpu_only of bound.hpp, one shape after the other.
class MachineWorth::WithoutGpus {
 public:
  explicit WithoutGpus(const Resources& room)
      : room_(room),
        orders_(room[kNic] == model::kNoLimit ? std::span(kOrders).first(2) : std::span(kOrders)) {}

  void add(const Content& c) {
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

  [[nodiscard]] bool takes(const Content& c, std::size_t r) const {
    return c.needs[r] > 0 && room_[r] != model::kNoLimit;
  }

  Resources room_;
  std::span<const Order> orders_;  ///< without a NIC that is counted the others say the same
  std::array<std::array<Int128, kResources>, 6> most_{};
  Int128 unlimited_ = 0;
};

MachineWorth::MachineWorth(const model::Instance& instance, const Tariff& tariff,
                           const std::vector<bool>& own_price) {
  const auto wanted_on = types_by_shape(instance.workload, own_price);
  const auto tasks = tasks_by_shape(instance.workload);
  std::vector<std::vector<Content>> by_class;
  for (std::size_t c = 0; c < instance.cluster.classes.size(); ++c) {
    by_class.push_back(contents(instance, tariff, ClassId(c), wanted_on, tasks));
  }
  for (const Kind& kind : tariff.kinds().all()) {
    const ClassId c = kind.machine_class;
    terms_.push_back(terms(kind, by_class[c.index()], tariff.multiplier(c)));
  }
}

/// By size; of one size those with the largest rest first.
std::vector<MachineWorth::Content> MachineWorth::contents(
    const model::Instance& instance, const Tariff& tariff, ClassId c,
    const std::vector<std::uint64_t>& wanted_on, const std::vector<std::int64_t>& tasks) {
  const model::MachineClass& machine = instance.cluster.classes[c.index()];
  const GpuTypeId type = machine.gpu_type;
  const Multiplier& multiplier = tariff.multiplier(c);
  std::vector<Content> result;
  for (std::size_t i = 0; i < instance.workload.shapes.size(); ++i) {
    const Shape& s = instance.workload.shapes[i];
    if (wanted_on[i] == 0 || !allowed(wanted_on[i], type)) continue;
    const Int128 rest =
        Int128{tariff.shape_price(ShapeId(i), type)} - Int128{multiplier.cpu_milli} * s.cpu_milli -
        Int128{multiplier.memory_mib} * s.memory_mib - Int128{multiplier.nic_mbps} * s.nic_mbps;
    const std::int64_t milli =
        std::int64_t{1000} * s.gpus + in_slices(s.gpu_milli, machine.gpu_slices);
    result.push_back({{milli, s.gpus, rest}, {s.cpu_milli, s.memory_mib, s.nic_mbps}, tasks[i]});
  }
  std::ranges::sort(result, [](const Content& a, const Content& b) {
    return a.size.milli != b.size.milli ? a.size.milli < b.size.milli : a.size.rest > b.size.rest;
  });
  return result;
}

MachineWorth::KindTerms MachineWorth::terms(const Kind& kind, std::span<const Content> contents,
                                            const Multiplier& multiplier) {
  KindTerms result;
  if (!kind.up) return result;
  const std::int64_t largest_share =
      kind.whole > 0 ? 1000 : (kind.partly.empty() ? 0 : kind.partly.back());
  result.room = {kind.cpu_milli, kind.memory_mib, kind.nic_mbps};
  WithoutGpus without_gpus(result.room);
  for (const Content& c : contents) {
    if (c.needs[0] > result.room[0] || c.needs[1] > result.room[1] || c.needs[2] > result.room[2]) {
      continue;
    }
    if (c.size.milli == 0) {
      without_gpus.add(c);
      continue;
    }
    const bool fits = c.size.gpus > 0 ? c.size.gpus <= kind.whole : c.size.milli <= largest_share;
    const bool known = !result.sizes.empty() && result.sizes.back().milli == c.size.milli;
    if (!fits || known) continue;
    result.sizes.push_back(c.size);
    if (c.size.milli <= 1000) result.step = std::gcd(result.step, c.size.milli);
  }
  result.without_gpus = without_gpus.most();
  result.gpus = kind.whole;
  result.partly = kind.partly;
  result.multiplier = multiplier;
  return result;
}

/// v1 by steps of a device's thousandths: most profit in at most so many.
std::vector<Int128> MachineWorth::device(const KindTerms& terms, std::int64_t gpu_price) {
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

std::vector<Int128> MachineWorth::by_devices(const Stock& stock) const {
  const KindTerms& t = terms_[stock.kind.index()];
  const std::int64_t price = stock.price.gpu_milli;
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

Int128 MachineWorth::beyond_devices(const Stock& stock) const {
  const KindTerms& t = terms_[stock.kind.index()];
  const Int128 cpu = Int128{stock.price.cpu_milli} + t.multiplier.cpu_milli;
  const Int128 memory = Int128{stock.price.memory_mib} + t.multiplier.memory_mib;
  const Int128 nic = (Int128{stock.price.nic_mbps} + t.multiplier.nic_mbps) * t.room[2];
  Int128 worth = cpu * t.room[0] + memory * t.room[1] + nic + t.without_gpus;
  if (t.partly.empty()) return worth;
  const std::vector<Int128> best = device(t, stock.price.gpu_milli);
  for (const std::int64_t free : t.partly) worth += best[static_cast<std::size_t>(free / t.step)];
  return worth;
}

Int128 MachineWorth::operator()(const Stock& stock) const {
  return beyond_devices(stock) + by_devices(stock).back();
}

}  // namespace berth::certify

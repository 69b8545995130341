// SPDX-License-Identifier: Apache-2.0
#include "machine_worth.hpp"

#include "exact.hpp"
#include "worth.hpp"

#include <algorithm>
#include <map>
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

bool fits_empty(const Shape& s, const model::MachineClass& c) {
  return s.cpu_milli <= c.cpu_milli && s.memory_mib <= c.memory_mib && s.gpus <= c.gpus &&
         (s.gpu_milli == 0 || c.gpus > 0);
}

/// By shape: the GPU types on which some job may have a task of it.
std::vector<std::uint64_t> types_by_shape(const model::Workload& workload,
                                          const std::vector<bool>& own_price) {
  std::vector<std::uint64_t> types(workload.shapes.size(), 0);
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    if (own_price[j]) continue;
    const Job& job = workload.jobs[j];
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
    for (const model::TaskGroup& g : workload.groups_of(job)) tasks[g.shape.index()] += g.count;
  }
  return tasks;
}

/// cpu_only of bound.hpp, one shape after the other.
class WithoutGpus {
 public:
  explicit WithoutGpus(const model::MachineClass& c) : class_(&c) {}

  void add(const Shape& s, Int128 profit, std::int64_t tasks) {
    if (profit <= 0) return;
    if (s.cpu_milli == 0 && s.memory_mib == 0) {
      unlimited_ += profit * tasks;  // nothing on the machine limits them but their number
    }
    if (s.cpu_milli > 0) {
      const Int128 most = times_over_up(profit, class_->cpu_milli, s.cpu_milli);
      raise(s.memory_mib > 0 ? by_cpu_ : by_cpu_alone_, most);
    }
    if (s.memory_mib > 0) {
      const Int128 most = times_over_up(profit, class_->memory_mib, s.memory_mib);
      raise(s.cpu_milli > 0 ? by_memory_ : by_memory_alone_, most);
    }
  }
  [[nodiscard]] Int128 most() const {
    return unlimited_ + std::min(std::max(by_cpu_, by_cpu_alone_) + by_memory_alone_,
                                 std::max(by_memory_, by_memory_alone_) + by_cpu_alone_);
  }

 private:
  static void raise(Int128& largest, Int128 x) { largest = std::max(largest, x); }

  const model::MachineClass* class_;
  Int128 by_cpu_ = 0, by_memory_ = 0;              ///< shapes that need both
  Int128 by_cpu_alone_ = 0, by_memory_alone_ = 0;  ///< shapes that need one of the two
  Int128 unlimited_ = 0;
};

}  // namespace

MachineWorth::MachineWorth(const model::Instance& instance, const Tariff& tariff,
                           const std::vector<bool>& own_price) {
  const auto wanted_on = types_by_shape(instance.workload, own_price);
  const auto tasks = tasks_by_shape(instance.workload);
  for (std::size_t c = 0; c < instance.cluster.classes.size(); ++c) {
    terms_.push_back(terms(instance, tariff, ClassId(c), wanted_on, tasks));
  }
}

MachineWorth::ClassTerms MachineWorth::terms(const model::Instance& instance, const Tariff& tariff,
                                             ClassId c, const std::vector<std::uint64_t>& wanted_on,
                                             const std::vector<std::int64_t>& tasks) const {
  const model::MachineClass& machine = instance.cluster.classes[c.index()];
  const UnitPrices& multiplier = tariff.multiplier(c);
  WithoutGpus without_gpus(machine);
  std::map<std::int64_t, Size> sizes;
  ClassTerms result;
  for (std::size_t i = 0; i < instance.workload.shapes.size(); ++i) {
    const Shape& s = instance.workload.shapes[i];
    if (wanted_on[i] == 0 || !allowed(wanted_on[i], machine.gpu_type)) continue;
    if (!fits_empty(s, machine)) continue;
    const Int128 rest = Int128{tariff.shape_price(ShapeId(i), machine.gpu_type)} -
                        Int128{multiplier.cpu_milli} * s.cpu_milli -
                        Int128{multiplier.memory_mib} * s.memory_mib;
    if (!takes_gpu(s)) {
      without_gpus.add(s, rest, tasks[i]);
      continue;
    }
    const std::int64_t milli = std::int64_t{1000} * s.gpus + s.gpu_milli;
    const auto [size, fresh] = sizes.try_emplace(milli, Size{milli, s.gpus, rest});
    if (!fresh) size->second.rest = std::max(size->second.rest, rest);
    if (milli <= 1000) result.step = std::gcd(result.step, milli);
  }
  for (const auto& [milli, size] : sizes) result.sizes.push_back(size);
  result.without_gpus = without_gpus.most();
  result.gpus = machine.gpus;
  result.cpu_milli = machine.cpu_milli;
  result.memory_mib = machine.memory_mib;
  result.multiplier = multiplier;
  return result;
}

Int128 MachineWorth::device(const ClassTerms& terms, std::int64_t gpu_price) const {
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
  return best[steps];
}

std::vector<Int128> MachineWorth::by_devices(const Stock& stock) const {
  const ClassTerms& t = terms_[stock.machine_class.index()];
  const std::int64_t price = stock.price.gpu_milli;
  std::vector<Int128> best(static_cast<std::size_t>(t.gpus) + 1, 0);
  const Int128 one = t.gpus == 0 ? 0 : device(t, price);
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
  const ClassTerms& t = terms_[stock.machine_class.index()];
  const Int128 cpu = Int128{stock.price.cpu_milli} + t.multiplier.cpu_milli;
  const Int128 memory = Int128{stock.price.memory_mib} + t.multiplier.memory_mib;
  return cpu * t.cpu_milli + memory * t.memory_mib + t.without_gpus;
}

Int128 MachineWorth::operator()(const Stock& stock) const {
  return beyond_devices(stock) + by_devices(stock).back();
}

}  // namespace berth::certify

// SPDX-License-Identifier: Apache-2.0
#include "gang_cost.hpp"

#include "exact.hpp"
#include "worth.hpp"

#include <algorithm>
#include <limits>

#include "berth/base/assert.hpp"

namespace berth::certify {

using model::Level;
using model::Shape;

namespace {

constexpr Int128 kUnknown = -1;
constexpr std::uint64_t kAnyType = ~std::uint64_t{0};
constexpr std::int64_t kMostExpensive = std::int64_t{1} << 62;

/// Tasks of one shape that a machine holds beside its immovable content, at most `limit`.
std::int64_t room_for(const Shape& s, const Kind& kind, std::int64_t limit) {
  if (!kind.up) return 0;
  std::int64_t n = limit;
  if (s.cpu_milli > 0) n = std::min(n, kind.cpu_milli / s.cpu_milli);
  if (s.memory_mib > 0) n = std::min(n, kind.memory_mib / s.memory_mib);
  if (s.gpus > 0) n = std::min(n, kind.whole / s.gpus);
  if (s.gpu_milli == 0) return n;
  std::int64_t shares = kind.whole * (1000 / s.gpu_milli);
  for (const std::int16_t free : kind.partly) shares += free / s.gpu_milli;
  return std::min(n, shares);
}

}  // namespace

GangCost::GangCost(const model::Instance& instance, const Tariff& tariff, const model::Job& job)
    : tariff_(&tariff),
      types_(job.gpu_types),
      gpu_job_(uses_gpu(instance.workload, job)),
      pods_(instance.cluster.pods.size()),
      columns_(instance.cluster.gpu_types.size() + 1) {
  add_demands(instance.workload, job);
  find_whole_kinds(instance.workload);
  pod_costs_.resize(model::kLevels * columns_);
  cluster_costs_.assign(model::kLevels * columns_, kUnknown);
}

void GangCost::add_demands(const model::Workload& workload, const model::Job& job) {
  for (const model::TaskGroup& g : workload.groups_of(job)) {
    const auto known = std::ranges::find(demands_, g.shape, &Demand::shape);
    if (known != demands_.end()) {
      known->count += g.count;
      continue;
    }
    const Shape& s = workload.shapes[g.shape.index()];
    const bool takes_gpu = s.gpus > 0 || s.gpu_milli > 0;
    demands_.push_back({g.shape, g.count, takes_gpu || !gpu_job_, {}});
  }
  for (Demand& d : demands_) {
    const Shape& s = workload.shapes[d.shape.index()];
    for (const Kind& kind : tariff_->kinds().all()) {
      d.per_machine.push_back(room_for(s, kind, d.count));
    }
  }
}

/// Necessary conditions only: a kind is left out when the tasks' sums exceed the machine.
void GangCost::find_whole_kinds(const model::Workload& workload) {
  Int128 cpu = 0, memory = 0, gpus = 0, share_milli = 0;
  for (const Demand& d : demands_) {
    const Shape& s = workload.shapes[d.shape.index()];
    cpu += Int128{d.count} * s.cpu_milli;
    memory += Int128{d.count} * s.memory_mib;
    gpus += Int128{d.count} * s.gpus;
    share_milli += Int128{d.count} * s.gpu_milli;
  }
  for (std::size_t k = 0; k < tariff_->kinds().size(); ++k) {
    const Kind& m = tariff_->kinds()[KindId(k)];
    bool holds = cpu <= m.cpu_milli && memory <= m.memory_mib && gpus <= m.whole &&
                 1000 * gpus + share_milli <= m.free_milli();
    for (const Demand& d : demands_) holds = holds && d.per_machine[k] >= d.count;
    whole_.push_back(holds);
  }
}

bool GangCost::of_type(const Stock& stock, GpuTypeId type) const {
  if (gpu_job_) return stock.type == type;
  if (types_ == kAnyType) return true;
  return stock.type.valid() && ((types_ >> stock.type.value()) & 1) != 0;
}

Int128 GangCost::on_one_machine(std::span<const Stock> stocks, GpuTypeId type) const {
  Int128 least = kImpossible;
  for (const Stock& stock : stocks) {
    if (!whole_[stock.kind.index()] || !of_type(stock, type)) continue;
    Int128 cost = 0;
    for (const Demand& d : demands_) cost += tariff_->task(stock, d.shape) * d.count;
    least = std::min(least, cost);
  }
  return least;
}

/// Cheapest stocks first, at most what each holds. A price beyond kMostExpensive counts as that,
/// which only lowers the cost.
Int128 GangCost::fill(std::span<const Stock> stocks, GpuTypeId type, const Demand& demand) {
  offers_.clear();
  for (const Stock& stock : stocks) {
    const std::int64_t room = demand.per_machine[stock.kind.index()];
    if (room == 0 || (demand.on_type && !of_type(stock, type))) continue;
    const Int128 price = std::min<Int128>(tariff_->task(stock, demand.shape), kMostExpensive);
    const bool all = stock.machines >= demand.count || room >= demand.count;
    offers_.emplace_back(static_cast<std::int64_t>(price),
                         all ? demand.count : std::min(demand.count, room * stock.machines));
  }
  std::ranges::make_heap(offers_, std::greater{});
  Int128 cost = 0;
  std::int64_t left = demand.count;
  while (left > 0 && !offers_.empty()) {
    std::ranges::pop_heap(offers_, std::greater{});
    const auto [price, room] = offers_.back();
    offers_.pop_back();
    const std::int64_t taken = std::min(left, room);
    cost += Int128{price} * taken;
    left -= taken;
  }
  return left == 0 ? cost : kImpossible;
}

Int128 GangCost::spread_over(std::span<const Stock> stocks, GpuTypeId type) {
  Int128 cost = 0;
  for (const Demand& d : demands_) {
    const Int128 part = fill(stocks, type, d);
    if (part == kImpossible) return kImpossible;
    cost += part;
  }
  return cost;
}

Int128 GangCost::in_rack(GpuTypeId type, Level width, RackId rack) {
  const auto stocks = tariff_->in_rack(rack);
  return width == Level::machine ? on_one_machine(stocks, type) : spread_over(stocks, type);
}

Int128 GangCost::find_in_pod(GpuTypeId type, Level width, PodId pod) {
  if (width == Level::machine) return on_one_machine(tariff_->in_pod(pod), type);
  if (width == Level::pod) return spread_over(tariff_->in_pod(pod), type);
  BERTH_EXPECT(width == Level::rack);
  Int128 least = kImpossible;
  for (const RackId r : tariff_->different_racks(pod)) {
    least = std::min(least, in_rack(type, width, r));
  }
  return least;
}

Int128 GangCost::find_anywhere(GpuTypeId type, Level width) {
  if (width == Level::machine) return on_one_machine(tariff_->pools(), type);
  if (width == Level::cluster) return spread_over(tariff_->pools(), type);
  Int128 least = kImpossible;
  for (std::size_t p = 0; p < pods_; ++p) least = std::min(least, in_pod(type, width, PodId(p)));
  return least;
}

Int128 GangCost::in_pod(GpuTypeId type, Level width, PodId pod) {
  const std::size_t column = static_cast<std::size_t>(type.value() + 1);
  std::vector<Int128>& kept = pod_costs_[static_cast<std::size_t>(width) * columns_ + column];
  if (kept.empty()) kept.assign(pods_, kUnknown);
  if (kept[pod.index()] == kUnknown) kept[pod.index()] = find_in_pod(type, width, pod);
  return kept[pod.index()];
}

Int128 GangCost::anywhere(GpuTypeId type, Level width) {
  const std::size_t column = static_cast<std::size_t>(type.value() + 1);
  Int128& kept = cluster_costs_[static_cast<std::size_t>(width) * columns_ + column];
  if (kept == kUnknown) kept = find_anywhere(type, width);
  return kept;
}

}  // namespace berth::certify

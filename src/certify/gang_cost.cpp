// SPDX-License-Identifier: Apache-2.0
#include "gang_cost.hpp"

#include "exact.hpp"
#include "job_value.hpp"
#include "task_bundles.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::certify {

using model::Level;
using model::LimitKind;
using model::Shape;

namespace {

constexpr Int128 kUnknown = -1;  ///< in place of a cost (>= 0) that is not computed yet

/// Tasks of one shape that a machine holds beside its immovable content, at most `limit`.
std::int64_t room_for(const Shape& s, const MachineVariant& variant, std::int64_t limit) {
  if (!variant.up) return 0;
  std::int64_t n = limit;
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (s.needs[r] > 0) n = std::min(n, variant.room[r] / s.needs[r]);
  }
  if (s.gpus > 0) n = std::min(n, variant.whole / s.gpus);
  if (s.gpu_milli == 0) return n;
  const std::int64_t milli = in_slices(s.gpu_milli, variant.slices);
  std::int64_t shares = variant.whole * (1000 / milli);
  for (const std::int16_t free : variant.partly) shares += free / milli;
  return std::min(n, shares);
}

}  // namespace

GangCost::GangCost(const model::InstanceView& instance, const PriceTable& price_table,
                   const model::Job& job)
    : price_table_(&price_table),
      types_(job.gpu_types),
      gpu_job_(uses_gpu(instance.workload, job)),
      ring_mbps_(ring_of(job)),
      exclusive_(instance.workload.rules_of(job).exclusive),
      pays_uplinks_(price_table.place_limits().constrain_ring(ring_mbps_)),
      pods_(instance.cluster.pods.size()),
      columns_(instance.cluster.gpu_types.size() + 1) {
  tasks_ = instance.workload.tasks(job);
  add_caps(instance.workload.rules_of(job));
  add_demands(instance.workload, job);
  find_whole_variants(instance.workload);
  pod_costs_.resize(model::kLevels * columns_);
  cluster_costs_.assign(model::kLevels * columns_, kUnknown);
}

/// A job in k domains has a task in each of the others, so at most tasks - k + 1 in one.
void GangCost::add_caps(const model::PlacementRules& rules) {
  min_domains_ = rules.min_domains;
  for (std::size_t l = 0; l < most_in_.size(); ++l) {
    most_in_[l] =
        std::min<std::int64_t>(rules.max_tasks[l], tasks_ - std::int64_t{rules.min_domains[l]} + 1);
    ruled_ = ruled_ || most_in_[l] < tasks_;
  }
}

void GangCost::add_demands(const model::WorkloadView& workload, const model::Job& job) {
  for (const model::TaskGroup& g : workload.groups_of(job)) {
    const auto known = std::ranges::find(demands_, g.shape, &EqualTasks::shape);
    if (known != demands_.end()) {
      known->count += g.count;
      continue;
    }
    const Shape& s = workload.tables().shapes[g.shape.index()];
    const bool takes_gpu = s.gpus > 0 || s.gpu_milli > 0;
    demands_.push_back(
        {g.shape, g.count, std::int64_t{1000} * s.gpus + s.gpu_milli, takes_gpu || !gpu_job_, {}});
  }
  for (EqualTasks& d : demands_) {
    const Shape& s = workload.tables().shapes[d.shape.index()];
    for (const MachineVariant& variant : price_table_->variants().all()) {
      d.per_machine.push_back(room_for(s, variant, std::min(d.count, most_in_.front())));
    }
    if (exclusive_) find_steps(d);
  }
}

void GangCost::find_steps(EqualTasks& demand) const {
  demand.per_machine_step.assign(columns_, 0);
  for (std::size_t k = 0; k < demand.per_machine.size(); ++k) {
    const GpuTypeId type = price_table_->variants()[VariantId(k)].type;
    std::int64_t& any = demand.per_machine_step.back();
    any = std::gcd(any, demand.per_machine[k]);
    if (!type.valid()) continue;
    std::int64_t& step = demand.per_machine_step[type.index()];
    step = std::gcd(step, demand.per_machine[k]);
  }
}

/// Sums the tasks. Necessary conditions only: a variant is left out when the sums exceed the
/// machine.
void GangCost::find_whole_variants(const model::WorkloadView& workload) {
  Int128 gpus = 0;
  for (const EqualTasks& d : demands_) {
    const Shape& s = workload.tables().shapes[d.shape.index()];
    for (std::size_t r = 0; r < needs_.size(); ++r) needs_[r] += Int128{d.count} * s.needs[r];
    gpus += Int128{d.count} * s.gpus;
  }
  for (std::size_t k = 0; k < price_table_->variants().size(); ++k) {
    const MachineVariant& m = price_table_->variants()[VariantId(k)];
    Int128 milli = 1000 * gpus;
    bool holds = gpus <= m.whole;
    for (std::size_t r = 0; r < needs_.size(); ++r) holds = holds && needs_[r] <= m.room[r];
    for (const EqualTasks& d : demands_) {
      const Shape& s = workload.tables().shapes[d.shape.index()];
      milli += Int128{d.count} * in_slices(s.gpu_milli, m.slices);
      holds = holds && d.per_machine[k] >= d.count;
    }
    holds = holds && milli <= m.free_milli();
    whole_.push_back(holds);
  }
}

/// All tasks together need more than a limit of this rack (pod) leaves.
template <class Place>
bool GangCost::exceeds_limits(Place place) const {
  const PlaceLimits& limits = price_table_->place_limits();
  bool exceeds = false;
  model::for_each_limited_resource([&](LimitKind kind, std::size_t resource) {
    const auto& capacity = limits.capacity(limits.of(kind, place));
    exceeds = exceeds || (capacity && needs_[resource] > *capacity);
  });
  return exceeds;
}

bool GangCost::of_type(const PricedPool& pool, GpuTypeId type) const {
  if (gpu_job_) return pool.type == type;
  if (types_ == kAnyType) return true;
  return pool.type.valid() && ((types_ >> pool.type.value()) & 1) != 0;
}

Int128 GangCost::on_one_machine(std::span<const PricedPool> pools, GpuTypeId type) const {
  Int128 least = kImpossible;
  for (const PricedPool& pool : pools) {
    if (!whole_[pool.variant.index()] || !of_type(pool, type)) continue;
    Int128 cost = exclusive_ ? pool.worth : 0;
    for (const EqualTasks& d : demands_) {
      cost += (exclusive_ ? price_table_->limits_of_task(pool, d.shape)
                          : price_table_->task_within_limits(pool, d.shape)) *
              d.count;
    }
    least = std::min(least, cost);
  }
  return least;
}

/// Largest number of these tasks in one pool, up to `most`.
std::int64_t GangCost::most_in_pool(const PricedPool& pool, const EqualTasks& demand,
                                    std::int64_t most) const {
  const std::int64_t by_rules =
      most_in_[static_cast<std::size_t>(pool.rack.valid() ? Level::rack : Level::pod)];
  if (ruled_) most = std::min(most, by_rules);
  const std::int64_t room = demand.per_machine[pool.variant.index()];
  if (room == 0) return 0;
  return pool.machines >= most || room >= most ? most : std::min(most, room * pool.machines);
}

/// Largest number of tasks of the job, of any shapes, that these pools hold.
std::int64_t GangCost::room_in(std::span<const PricedPool> pools, GpuTypeId type) const {
  std::int64_t total = 0;
  for (const EqualTasks& d : demands_) {
    std::int64_t left = d.count;
    for (const PricedPool& pool : pools) {
      if (d.on_type && !of_type(pool, type)) continue;
      left -= std::min(left, most_in_pool(pool, d));
    }
    total += d.count - left;
  }
  return total;
}

/// Machines of the pools that hold a task of the job.
std::int64_t GangCost::machines_with_room(std::span<const PricedPool> pools, GpuTypeId type) const {
  std::int64_t machines = 0;
  for (const PricedPool& pool : pools) {
    const bool holds = std::ranges::any_of(demands_, [&](const EqualTasks& d) {
      return d.per_machine[pool.variant.index()] > 0 && (!d.on_type || of_type(pool, type));
    });
    if (holds) machines += pool.machines;
  }
  return machines;
}

/// False when these racks, whole pods or one rack, have too little room for all tasks under the
/// largest numbers of tasks, or too few domains that hold one.
bool GangCost::rules_allow(std::size_t first_rack, std::size_t end_rack, GpuTypeId type) const {
  if (!ruled_) return true;
  std::int64_t machines = 0, racks = 0, pods = 0, room = 0, room_of_pod = 0;
  for (std::size_t r = first_rack; r < end_rack; ++r) {
    const auto pools = price_table_->in_rack(RackId(r));
    const std::int64_t room_of_rack = std::min(most_in_[1], room_in(pools, type));
    machines += machines_with_room(pools, type);
    racks += room_of_rack > 0 ? 1 : 0;
    room_of_pod += room_of_rack;
    if (r + 1 < end_rack &&
        price_table_->pod_of(RackId(r)) == price_table_->pod_of(RackId(r + 1))) {
      continue;
    }
    pods += room_of_pod > 0 ? 1 : 0;
    room += std::min(most_in_[2], std::exchange(room_of_pod, 0));
  }
  return room >= tasks_ && machines >= min_domains_[0] && racks >= min_domains_[1] &&
         pods >= min_domains_[2];
}

/// Least uplink price of one task: the ring loads a crossed uplink once, with at most `room` tasks,
/// and not all tasks of the job, behind it.
Int128 GangCost::density(std::size_t uplink, std::int64_t room) const {
  const Int128 price = price_table_->place_limits().price(uplink);
  return price * ring_mbps_ / std::max<std::int64_t>(1, std::min(room, tasks_ - 1));
}

/// Racks of the pod that the ring can leave.
void GangCost::add_racks(GpuTypeId type, PodId pod, std::vector<PricedDomain>& places) const {
  const PlaceLimits& limits = price_table_->place_limits();
  for (std::size_t r = price_table_->first_rack(pod); r < price_table_->end_rack(pod); ++r) {
    const std::size_t uplink = limits.of(LimitKind::uplink, RackId(r));
    if (limits.capacity(uplink).value_or(ring_mbps_) < ring_mbps_) continue;
    const auto pools = price_table_->in_rack(RackId(r));
    const std::int64_t room = room_in(pools, type);
    const std::int64_t most = most_in_[static_cast<std::size_t>(Level::rack)];
    if (room > 0) places.push_back({pools, density(uplink, std::min(room, most))});
  }
}

Int128 GangCost::over_racks(GpuTypeId type, PodId pod) {
  std::vector<PricedDomain> places;
  add_racks(type, pod, places);
  return cost_over(places, type);
}

Int128 GangCost::over_pods(GpuTypeId type) {
  const PlaceLimits& limits = price_table_->place_limits();
  std::vector<PricedDomain> places;
  for (std::size_t p = 0; p < pods_; ++p) {
    const std::size_t uplink = limits.of(LimitKind::uplink, PodId(p));
    if (limits.capacity(uplink).value_or(ring_mbps_) < ring_mbps_) continue;
    const std::size_t first = places.size();
    add_racks(type, PodId(p), places);
    const std::int64_t room = std::min(room_in(price_table_->in_pod(PodId(p)), type),
                                       most_in_[static_cast<std::size_t>(Level::pod)]);
    const Int128 uplink_price = density(uplink, room);
    for (std::size_t i = first; i < places.size(); ++i) places[i].uplink_price += uplink_price;
  }
  return cost_over(places, type);
}

Int128 GangCost::in_rack(GpuTypeId type, Level width, RackId rack) {
  if (exceeds_limits(rack) || !rules_allow(rack.index(), rack.index() + 1, type))
    return kImpossible;
  const auto pools = price_table_->in_rack(rack);
  return width == Level::machine ? on_one_machine(pools, type) : cost_over(pools, type);
}

Int128 GangCost::find_in_pod(GpuTypeId type, Level width, PodId pod) {
  if (exceeds_limits(pod)) return kImpossible;
  if (width == Level::machine) return on_one_machine(price_table_->in_pod(pod), type);
  if (width == Level::pod &&
      !rules_allow(price_table_->first_rack(pod), price_table_->end_rack(pod), type)) {
    return kImpossible;
  }
  if (width == Level::pod && pays_uplinks_) return over_racks(type, pod);
  if (width == Level::pod) return cost_over(price_table_->in_pod(pod), type);
  BERTH_EXPECT(width == Level::rack);
  Int128 least = kImpossible;
  for (const RackId r : price_table_->different_racks(pod)) {
    least = std::min(least, in_rack(type, width, r));
  }
  return least;
}

Int128 GangCost::find_anywhere(GpuTypeId type, Level width) {
  if (gpu_job_ && width <= Level::pod) return in_cheapest(type, width);
  if (width == Level::machine) return on_one_machine(price_table_->pools(), type);
  if (width == Level::cluster && !rules_allow(0, price_table_->racks(), type)) return kImpossible;
  if (width == Level::cluster && pays_uplinks_) return over_pods(type);
  if (width == Level::cluster) return cost_over_cluster(type);
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

// SPDX-License-Identifier: Apache-2.0
#include "price_table.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace berth::certify {

using model::Level;

PriceTable::PriceTable(const model::InstanceView& instance, const model::Certificate& certificate)
    : workload_(instance.workload),
      variants_(instance.cluster),
      place_limits_(instance, certificate),
      quota_prices_(instance, certificate),
      types_(instance.cluster.gpu_types.size()) {
  list_rack_pools(instance.cluster);
  price_racks(certificate);
  price_limits();
  price_spare(instance.cluster);
  list_pod_pools(certificate.level);
  find_different_racks();
  sort_by_price();
  find_most_milli();
  shape_prices_.assign(workload_.tables().shapes.size() * (types_ + 1), 0);
  for (const model::Certificate::ShapePrice& s : certificate.shapes) {
    const auto column = static_cast<std::size_t>(s.gpu_type.value() + 1);
    shape_prices_[s.shape.index() * (types_ + 1) + column] = s.price;
  }
  multipliers_.resize(instance.cluster.classes.size());
  for (const model::Certificate::ClassMultiplier& m : certificate.multipliers) {
    multipliers_[m.machine_class.index()] = m;
  }
}

void PriceTable::list_rack_pools(const model::Cluster& cluster) {
  pod_racks_.assign(cluster.pods.size() + 1, 0);
  for (const model::Rack& rack : cluster.racks) {
    ++pod_racks_[rack.pod.index() + 1];
    rack_pod_.push_back(rack.pod);
  }
  for (std::size_t p = 0; p < cluster.pods.size(); ++p) pod_racks_[p + 1] += pod_racks_[p];
  rack_first_.reserve(cluster.racks.size() + 1);
  std::size_t m = 0;
  pool_of_.reserve(cluster.machines());
  std::vector<std::size_t> latest(variants_.size(), 0);  // by VariantId: its last pool, plus 1
  for (std::size_t r = 0; r < cluster.racks.size(); ++r) {
    rack_first_.push_back(by_rack_.size());
    for (; m < cluster.machine_rack.size() && cluster.machine_rack[m].index() == r; ++m) {
      const VariantId variant = variants_.of(MachineId(m));
      std::size_t& pool = latest[variant.index()];
      if (pool <= rack_first_[r]) {
        by_rack_.push_back({.pod = cluster.racks[r].pod,
                            .rack = RackId(r),
                            .variant = variant,
                            .type = variants_[variant].type,
                            .slices = variants_[variant].slices,
                            .machines = 0,
                            .price = {}});
        pool = by_rack_.size();
      }
      ++by_rack_[pool - 1].machines;
      pool_of_.push_back(static_cast<std::uint32_t>(pool - 1));
    }
  }
  rack_first_.push_back(by_rack_.size());
}

std::int64_t PriceTable::free_milli() const {
  std::int64_t milli = 0;
  for (const PricedPool& pool : pools_)
    milli += variants_[pool.variant].free_milli() * pool.machines;
  return milli;
}

void PriceTable::price_racks(const model::Certificate& certificate) {
  const bool racks = certificate.level == Level::rack;
  std::map<std::pair<std::int32_t, ClassId>, UnitPrices> listed;
  for (const model::Certificate::PoolPrice& p : certificate.pools) {
    listed[{racks ? p.rack.value() : p.pod.value(), p.machine_class}] = {p.gpu_milli, p.unit_price};
  }
  for (PricedPool& s : by_rack_) {
    const ClassId c = variants_[s.variant].machine_class;
    const auto found = listed.find({racks ? s.rack.value() : s.pod.value(), c});
    if (found != listed.end()) s.price = found->second;
  }
}

void PriceTable::price_limits() {
  model::for_each_limited_resource([&](model::LimitKind kind, std::size_t resource) {
    for (PricedPool& s : by_rack_) {
      s.limit_price[resource] += place_limits_.price(place_limits_.of(kind, s.rack));
      s.limit_price[resource] += place_limits_.price(place_limits_.of(kind, s.pod));
    }
  });
}

void PriceTable::price_spare(const model::Cluster& cluster) {
  if (cluster.spare.empty()) return;
  for (PricedPool& s : by_rack_) {
    const model::Spare* spare = cluster.spare_of(s.pod, s.type);
    if (spare == nullptr) continue;
    s.spare_price = place_limits_.price(
        place_limits_.of_spare(static_cast<std::size_t>(spare - cluster.spare.data())));
  }
}

void PriceTable::list_pod_pools(Level level) {
  const std::size_t pods = pod_racks_.size() - 1;
  for (std::size_t pod = 0; pod < pods; ++pod) {
    pod_first_.push_back(pools_.size());
    std::map<VariantId, std::size_t> known;
    for (std::size_t r = pod_racks_[pod]; r < pod_racks_[pod + 1]; ++r) {
      for (const PricedPool& s : in_rack(RackId(r))) {
        const auto [entry, fresh] = known.try_emplace(s.variant, pools_.size());
        if (fresh || level == Level::rack) {
          pools_.push_back(s);
        } else {
          PricedPool& pool = pools_[entry->second];
          pool.machines += s.machines;
          std::ranges::transform(pool.limit_price, s.limit_price, pool.limit_price.begin(),
                                 [](Int128 x, Int128 y) { return std::min(x, y); });
        }
        if (level == Level::pod) pools_[entry->second].rack = RackId{};
      }
    }
  }
  pod_first_.push_back(pools_.size());
}

void PriceTable::find_different_racks() {
  const auto content = [](const PricedPool& s) {
    return std::tuple(s.variant, s.machines, s.price, s.limit_price);
  };
  using Capacities = std::array<std::optional<std::int64_t>, model::kLimitKinds>;
  std::vector<Capacities> limits(rack_first_.size() - 1);  // by RackId
  model::for_each_limited_resource([&](model::LimitKind kind, std::size_t) {
    for (std::size_t r = 0; r < limits.size(); ++r) {
      limits[r][index_of(kind)] = place_limits_.capacity(place_limits_.of(kind, RackId(r)));
    }
  });
  const auto before = [&](RackId a, RackId b) {
    if (const auto order = limits[a.index()] <=> limits[b.index()]; order != 0) return order < 0;
    return std::ranges::lexicographical_compare(in_rack(a), in_rack(b), {}, content, content);
  };
  for (std::size_t pod = 0; pod + 1 < pod_racks_.size(); ++pod) {
    different_first_.push_back(different_.size());
    std::set<RackId, decltype(before)> known(before);
    for (std::size_t r = pod_racks_[pod]; r < pod_racks_[pod + 1]; ++r) {
      if (known.insert(RackId(r)).second) different_.emplace_back(r);
    }
  }
  different_first_.push_back(different_.size());
}

void PriceTable::sort_by_price() {
  racks_by_price_.resize(types_);
  pods_by_price_.resize(types_);
  const auto lower = [](auto& places, auto place, std::int64_t price) {
    if (places.empty() || places.back().second != place) places.emplace_back(price, place);
    places.back().first = std::min(places.back().first, price);
  };
  for (const PricedPool& s : by_rack_) {  // rack by rack, and so pod by pod
    if (!s.type.valid()) continue;
    lower(racks_by_price_[s.type.index()], s.rack, s.price.gpu_milli);
    lower(pods_by_price_[s.type.index()], s.pod, s.price.gpu_milli);
  }
  for (auto& racks : racks_by_price_) std::ranges::sort(racks);
  for (auto& pods : pods_by_price_) std::ranges::sort(pods);
}

void PriceTable::find_most_milli() {
  most_milli_.assign(types_, {});
  std::vector<std::pair<RackId, std::int64_t>> in_rack(types_);  // of the latest rack
  std::vector<std::pair<PodId, std::int64_t>> in_pod(types_);
  const auto add = [](auto& latest, auto place, std::int64_t milli, std::int64_t& most) {
    if (latest.first != place) latest = {place, 0};
    most = std::max(most, latest.second += milli);
  };
  for (const PricedPool& s : by_rack_) {
    if (!s.type.valid()) continue;
    const std::size_t t = s.type.index();
    auto& [machine, rack, pod] = most_milli_[t];
    const std::int64_t milli = variants_[s.variant].free_milli();
    machine = std::max(machine, milli);
    add(in_rack[t], s.rack, milli * s.machines, rack);
    add(in_pod[t], s.pod, milli * s.machines, pod);
  }
}

std::span<const RackId> PriceTable::different_racks(PodId pod) const {
  const std::size_t begin = different_first_[pod.index()];
  return std::span(different_).subspan(begin, different_first_[pod.index() + 1] - begin);
}

std::span<const PricedPool> PriceTable::in_rack(RackId rack) const {
  const std::size_t begin = rack_first_[rack.index()];
  return std::span(by_rack_).subspan(begin, rack_first_[rack.index() + 1] - begin);
}

std::span<const PricedPool> PriceTable::in_pod(PodId pod) const {
  const std::size_t begin = pod_first_[pod.index()];
  return std::span(pools_).subspan(begin, pod_first_[pod.index() + 1] - begin);
}

std::int64_t PriceTable::shape_price(ShapeId shape, GpuTypeId type) const {
  const auto column = static_cast<std::size_t>(type.value() + 1);
  return shape_prices_[shape.index() * (types_ + 1) + column];
}

std::int64_t PriceTable::milli_in(const PricedPool& pool, ShapeId shape) const {
  const model::Shape& s = workload_.tables().shapes[shape.index()];
  return std::int64_t{1000} * s.gpus + in_slices(s.gpu_milli, pool.slices);
}

Int128 PriceTable::task(const PricedPool& pool, ShapeId shape) const {
  const model::Shape& s = workload_.tables().shapes[shape.index()];
  Int128 price =
      Int128{pool.price.gpu_milli} * milli_in(pool, shape) + shape_price(shape, pool.type);
  for (std::size_t r = 0; r < model::kResources; ++r) {
    price += Int128{pool.price.resources[r]} * s.needs[r];
  }
  return price;
}

Int128 PriceTable::limits_of_task(const PricedPool& pool, ShapeId shape) const {
  Int128 price = 0;
  model::for_each_limited_resource([&](model::LimitKind, std::size_t resource) {
    price += pool.limit_price[resource] * workload_.shape(shape).needs[resource];
  });
  if (pool.spare_price > 0) price += Int128{pool.spare_price} * milli_in(pool, shape);
  return price;
}

}  // namespace berth::certify

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine_variants.hpp"
#include "place_limits.hpp"
#include "quota_capacities.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify {

/// Prices of one unit of each resource, in the certificate's fixed point.
struct UnitPrices {
  std::int64_t gpu_milli = 0;
  model::Resources resources = {};

  auto operator<=>(const UnitPrices&) const = default;
};

using Multiplier = model::Certificate::ClassMultiplier;

/// Machines of one variant at one place with equal prices.
struct PricedPool {
  PodId pod;
  RackId rack;  ///< invalid: the pool of a whole pod
  VariantId variant;
  GpuTypeId type;           ///< invalid for machines without GPUs
  std::int32_t slices = 0;  ///< of each device, as in MachineVariant
  std::int64_t machines = 0;
  UnitPrices price;
  /// Of a unit of each resource in limits of the rack and its pod; the least of several racks.
  std::array<Int128, model::kResources> limit_price = {};
  std::int64_t spare_price = 0;  ///< of a GPU thousandth, beside that of the machines
  Int128 worth = 0;              ///< mu of one machine, where `value_machines` was called
};

/// Machines, quotas and limits of the cluster with a certificate's prices.
class PriceTable {
 public:
  PriceTable(const model::InstanceView& instance, const model::Certificate& certificate);

  [[nodiscard]] const MachineVariants& variants() const { return variants_; }
  [[nodiscard]] const PlaceLimits& place_limits() const { return place_limits_; }
  [[nodiscard]] const QuotaPrices& quota_prices() const { return quota_prices_; }
  [[nodiscard]] std::span<const PricedPool> in_rack(RackId rack) const;
  /// Racks of the pod, one of each set of racks with equal machines and prices.
  [[nodiscard]] std::span<const RackId> different_racks(PodId pod) const;

  /// Pools as priced: by rack or by pod, in order of pods. Their machines sum to the cluster's.
  [[nodiscard]] std::span<const PricedPool> pools() const { return pools_; }
  [[nodiscard]] std::span<const PricedPool> in_pod(PodId pod) const;
  /// Racks of the pod, one after the other.
  [[nodiscard]] std::size_t first_rack(PodId pod) const { return pod_racks_[pod.index()]; }
  [[nodiscard]] std::size_t end_rack(PodId pod) const { return pod_racks_[pod.index() + 1]; }

  [[nodiscard]] std::size_t racks() const { return pod_racks_.back(); }
  [[nodiscard]] PodId pod_of(RackId rack) const { return rack_pod_[rack.index()]; }

  /// Racks (pods) with machines of the type and the least price of a GPU thousandth there, by
  /// ascending price.
  template <class Id>
  using ByPrice = std::span<const std::pair<std::int64_t, Id>>;
  [[nodiscard]] ByPrice<RackId> racks_of(GpuTypeId type) const {
    return racks_by_price_[type.index()];
  }
  [[nodiscard]] ByPrice<PodId> pods_of(GpuTypeId type) const {
    return pods_by_price_[type.index()];
  }

  /// Most free GPU thousandths of the type in one machine, rack or pod. @pre domain < cluster
  [[nodiscard]] std::int64_t most_milli(GpuTypeId type, model::Level domain) const {
    return most_milli_[type.index()][static_cast<std::size_t>(domain)];
  }
  /// Free GPU thousandths of all machines.
  [[nodiscard]] std::int64_t free_milli() const;

  /// The pool of the machine, within its rack.
  [[nodiscard]] const PricedPool& at(MachineId machine) const {
    return by_rack_[pool_of_[machine.index()]];
  }

  /// Price of one task of the shape, exact, before what it pays for limits.
  [[nodiscard]] Int128 task(const PricedPool& pool, ShapeId shape) const;
  /// What it pays for limits on resources and for spare GPUs.
  [[nodiscard]] Int128 limits_of_task(const PricedPool& pool, ShapeId shape) const;
  /// Both.
  [[nodiscard]] Int128 task_within_limits(const PricedPool& pool, ShapeId shape) const {
    return task(pool, shape) + limits_of_task(pool, shape);
  }
  /// Part of a task's price that depends on the GPU type only.
  [[nodiscard]] std::int64_t shape_price(ShapeId shape, GpuTypeId type) const;
  /// Prices of resources within the bound of one machine, added to the pool's prices.
  [[nodiscard]] const Multiplier& multiplier(ClassId c) const { return multipliers_[c.index()]; }

  /// Sets PricedPool::worth of all pools to worth(pool).
  template <class Worth>
  void value_machines(const Worth& worth) {
    for (PricedPool& pool : by_rack_) pool.worth = worth(pool);
    for (PricedPool& pool : pools_) pool.worth = worth(pool);
  }

 private:
  /// GPU thousandths that a task of the shape takes in the pool.
  [[nodiscard]] std::int64_t milli_in(const PricedPool& pool, ShapeId shape) const;
  void list_rack_pools(const model::Cluster& cluster);
  void price_racks(const model::Certificate& certificate);
  void price_limits();
  void price_spare(const model::Cluster& cluster);
  void list_pod_pools(model::Level level);
  void find_different_racks();
  void sort_by_price();
  void find_most_milli();

  model::WorkloadView workload_;
  MachineVariants variants_;
  PlaceLimits place_limits_;
  QuotaPrices quota_prices_;
  std::size_t types_ = 0;
  std::vector<PricedPool> by_rack_;
  std::vector<std::uint32_t> pool_of_;        ///< by MachineId, index into by_rack_
  std::vector<std::size_t> rack_first_;       ///< by RackId, one more
  std::vector<PodId> rack_pod_;               ///< by RackId
  std::vector<std::size_t> pod_racks_;        ///< by PodId, one more; racks are numbered pod by pod
  std::vector<RackId> different_;             ///< pod by pod
  std::vector<std::size_t> different_first_;  ///< by PodId, one more
  std::vector<std::vector<std::pair<std::int64_t, RackId>>> racks_by_price_;  ///< by GpuTypeId
  std::vector<std::vector<std::pair<std::int64_t, PodId>>> pods_by_price_;    ///< by GpuTypeId
  std::vector<std::array<std::int64_t, model::kLevels - 1>> most_milli_;      ///< by GpuTypeId
  std::vector<PricedPool> pools_;
  std::vector<std::size_t> pod_first_;      ///< by PodId, one more
  std::vector<std::int64_t> shape_prices_;  ///< shape x (types + 1); column 0 = without GPUs
  std::vector<Multiplier> multipliers_;     ///< by ClassId
};

}  // namespace berth::certify

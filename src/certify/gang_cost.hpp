// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "price_table.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "berth/base/int128.hpp"

namespace berth::certify {

/// Least cost of the room for one set of tasks, one ring and one row of rules: C of bound.hpp by
/// GPU type, width and distance. Jobs with equal tasks, rings and rules share it; without GPUs,
/// jobs that also allow equal types. A cost is kImpossible if no such domain holds the tasks. Costs
/// are computed on first use and kept per pod.
class GangCost {
 public:
  GangCost(const model::InstanceView& instance, const PriceTable& price_table,
           const model::Job& job);

  /// The least over all domains of this width in the cluster, in one pod, in one rack.
  /// `type` is invalid for a job without GPUs. @pre width <= pod and rack respectively
  Int128 anywhere(GpuTypeId type, model::Level width);
  Int128 in_pod(GpuTypeId type, model::Level width, PodId pod);
  Int128 in_rack(GpuTypeId type, model::Level width, RackId rack);

  /// True when the job's ring pays for uplinks, or some uplink cannot carry it: then a wider option
  /// costs more than its pools.
  [[nodiscard]] bool pays_uplinks() const { return pays_uplinks_; }

 private:
  /// Pools where every task pays an uplink price beside its price.
  struct PricedDomain {
    std::span<const PricedPool> pools;
    Int128 uplink_price = 0;
  };

  struct FillCost {
    Int128 cost = 0;                 ///< kImpossible: no room for all tasks
    std::int64_t highest_price = 0;  ///< price of the last task
  };

  /// What an exclusive job pays in a pool: the prices of its tasks, or the worth of its machines.
  enum class Payment : std::uint8_t { tasks, machines };

  /// Equal tasks of the job.
  struct EqualTasks {
    ShapeId shape;
    std::int64_t count = 0;
    std::int64_t milli = 0;  ///< GPU thousandths that each asks for
    bool on_type = true;     ///< false: CPU-only tasks of a GPU job, at home in any pool
    std::vector<std::int64_t> per_machine;  ///< by VariantId; tasks that one machine holds
    /// By GPU type, last for any: each machine of it holds a multiple of so many tasks. Of
    /// exclusive jobs.
    std::vector<std::int64_t> per_machine_step = {};
  };

  template <class Place>
  [[nodiscard]] bool exceeds_limits(Place place) const;
  [[nodiscard]] bool of_type(const PricedPool& pool, GpuTypeId type) const;
  Int128 on_one_machine(std::span<const PricedPool> pools, GpuTypeId type) const;
  Int128 cost_over(std::span<const PricedDomain> places, GpuTypeId type);
  Int128 cost_over(std::span<const PricedPool> pools, GpuTypeId type);
  Int128 cost_over_cluster(GpuTypeId type);
  [[nodiscard]] Int128 at_least(const EqualTasks& demand, GpuTypeId type, std::int64_t price,
                                Payment payment) const;
  [[nodiscard]] bool may_fit(GpuTypeId type, model::Level width) const;
  FillCost fill(std::span<const PricedDomain> places, GpuTypeId type, const EqualTasks& demand,
                Payment payment);
  [[nodiscard]] std::int64_t tasks_to_fill(const EqualTasks& demand, GpuTypeId type,
                                           Payment payment) const;
  Int128 cost_in_cluster(GpuTypeId type, const EqualTasks& demand, Payment payment);
  template <class Cost>
  Int128 sum_of_tasks(const Cost& cost);
  Int128 over_racks(GpuTypeId type, PodId pod);
  Int128 over_pods(GpuTypeId type);
  void add_racks(GpuTypeId type, PodId pod, std::vector<PricedDomain>& places) const;
  [[nodiscard]] std::int64_t most_in_pool(const PricedPool& pool, const EqualTasks& demand) const {
    return most_in_pool(pool, demand, demand.count);
  }
  [[nodiscard]] std::int64_t most_in_pool(const PricedPool& pool, const EqualTasks& demand,
                                          std::int64_t most) const;
  [[nodiscard]] std::int64_t room_in(std::span<const PricedPool> pools, GpuTypeId type) const;
  [[nodiscard]] Int128 density(std::size_t uplink, std::int64_t room) const;
  Int128 find_in_pod(GpuTypeId type, model::Level width, PodId pod);
  Int128 find_anywhere(GpuTypeId type, model::Level width);
  Int128 in_cheapest(GpuTypeId type, model::Level width);
  template <class Id, class Cost>
  Int128 cheapest(std::span<const std::pair<std::int64_t, Id>> places, GpuTypeId type,
                  const Cost& cost) const;
  void add_caps(const model::PlacementRules& rules);
  [[nodiscard]] bool rules_allow(std::size_t first_rack, std::size_t end_rack,
                                 GpuTypeId type) const;
  [[nodiscard]] std::int64_t machines_with_room(std::span<const PricedPool> pools,
                                                GpuTypeId type) const;
  void add_demands(const model::WorkloadView& workload, const model::Job& job);
  void find_steps(EqualTasks& demand) const;
  void find_whole_variants(const model::WorkloadView& workload);

  const PriceTable* price_table_;
  std::uint64_t types_;
  bool gpu_job_;
  std::int64_t ring_mbps_;
  std::int64_t tasks_ = 0;
  /// Most tasks that rules allow in one machine, rack, pod.
  std::array<std::int64_t, model::kLevels - 1> most_in_;
  model::DomainCounts min_domains_;
  bool ruled_ = false;                             ///< one of these binds
  bool exclusive_;                                 ///< the job pays for whole machines
  std::array<Int128, model::kResources> needs_{};  ///< of all tasks
  bool pays_uplinks_;
  std::size_t pods_, columns_;
  std::vector<EqualTasks> demands_;
  std::vector<bool> whole_;  ///< by VariantId: one machine may hold all tasks at once
  std::vector<std::vector<Int128>> pod_costs_;  ///< (width, type) by pod, as asked for
  std::vector<Int128> cluster_costs_;           ///< (width, type)
  std::vector<std::pair<std::int64_t, std::int64_t>> prices_and_room_;  ///< scratch: price, room
};

}  // namespace berth::certify

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine_knapsack.hpp"
#include "price_table.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/certify/job_bests.hpp"
#include "berth/certify/job_facts.hpp"

namespace berth::certify {

/// mu of bound.hpp: an upper bound on what the tasks on one machine pay at the price table's
/// prices.
class MachineProfitBound {
 public:
  /// @param facts  of all jobs; tasks of jobs with job prices are ignored
  MachineProfitBound(const model::InstanceView& instance, const PriceTable& price_table,
                     const model::Certificate& certificate, const JobFacts& facts);

  /// For one machine of the pool: the smaller of the bound by multipliers and, where no job has a
  /// price of its own, the bound on its contents. O((1000 / step) W + G K).
  [[nodiscard]] Int128 operator()(const PricedPool& pool) const;

  /// The largest content of one machine of the pool where running jobs may stay, each once.
  /// @param stays  of jobs that run on the machine. O(items x G) and twice the above.
  [[nodiscard]] Int128 with_stays(const PricedPool& pool, std::span<const StayItem> stays) const;

  /// The jobs that the largest content of that machine keeps where it counts devices; the fewest
  /// devices at a tie.
  [[nodiscard]] std::vector<JobId> kept(const PricedPool& pool,
                                        std::span<const StayItem> stays) const;

  /// The bound by multipliers in two parts: V(0) .. V(G) of the devices that are entirely free, and
  /// the terms that do not depend on the number of these devices.
  [[nodiscard]] std::vector<Int128> by_devices(const PricedPool& pool) const;
  [[nodiscard]] Int128 beyond_devices(const PricedPool& pool) const;

 private:
  /// Profit of a GPU task = gpu price x milli + rest. `rest` depends on class and shape only, so of
  /// all shapes of one size only the largest rest matters.
  struct Size {
    std::int64_t milli = 0;
    std::int64_t gpus = 0;  ///< devices; 0 for a share
    Int128 rest = 0;
  };
  /// Needs of a task bundle on machines of a class.
  struct BundleNeeds {
    Size size;
    model::Resources needs;
    std::int64_t tasks = 0;  ///< number in the workload, for bundles of one task
  };
  struct VariantTerms {
    std::vector<Size> sizes;  ///< shares and one device first, then several devices
    std::int64_t step = 1000;
    Int128 without_gpus = 0;  ///< cpu_only
    std::int64_t gpus = 0;
    model::Resources room = {};
    std::vector<std::int16_t> partly;
    Multiplier multiplier;
  };
  /// Machines with equal contents and prices.
  struct ContentKey {
    VariantId variant;
    UnitPrices price;

    auto operator<=>(const ContentKey&) const = default;
  };
  class CpuOnlyBound;

  static std::optional<BundleNeeds> needs_of(const model::InstanceView& instance,
                                             const PriceTable& price_table, ClassId c,
                                             std::span<const JobFacts::BundleTasks> bundle);
  static std::vector<BundleNeeds> needs_by_size(const model::InstanceView& instance,
                                                const PriceTable& price_table, ClassId c,
                                                std::span<const JobFacts::BundleTasks> bundles);
  static VariantTerms terms(const MachineVariant& variant,
                            std::span<const BundleNeeds> needs_by_size,
                            const Multiplier& multiplier);
  static bool fits(const MachineVariant& variant, const BundleNeeds& bundle);
  static bool binds(const MachineVariant& variant, std::span<const BundleNeeds> bundles);
  static std::vector<KnapsackItem> items_of(const MachineVariant& variant, const UnitPrices& price,
                                            std::span<const BundleNeeds> bundles,
                                            const Multiplier& multiplier);
  void bound_contents(const PriceTable& price_table,
                      std::span<const std::vector<BundleNeeds>> by_class);
  static std::vector<Int128> device(const VariantTerms& terms, std::int64_t gpu_price);

  std::vector<VariantTerms> terms_;   ///< by VariantId
  std::vector<ContentKey> content_;   ///< ascending: pools whose contents are bounded
  std::vector<Int128> content_most_;  ///< one each
};

}  // namespace berth::certify

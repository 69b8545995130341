// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "berth/papers/pd_ors/slot_offer.hpp"

namespace berth::papers::pd_ors {

/// Which rows the gain before rounding protects.
enum class GainRule : std::uint8_t {
  given,     ///< DistributedOptions::gain; the experiments of the paper are near 1
  packing,   ///< G <= 1 of the rounding lemma: capacities hold, work may be short
  covering,  ///< G >= 1: work is done, capacities may be exceeded
};

struct DistributedOptions {
  GainRule rule = GainRule::given;
  double gain = 1.0;
  double delta = 0.5;             ///< probability of a bad event, for the rules
  std::uint64_t attempts = 5000;  ///< S; remembered, not confirmed
  std::uint64_t seed = 1;
};

/// Relaxation of PD-ORS's external case in one slot, x = (w_1, s_1, w_2, s_2, ..):
///
///   min sum_h price(w_h, s_h),  sum w >= v q(e),  sum s >= v q(e) / gamma,  sum w <= F,
///   alpha^r w_h + beta^r s_h <= free_h^r.
///
/// Nothing: it has no solution. @pre a PetscSession lives. O((machines R)^3) an iteration
struct DistributedRelaxation {
  std::vector<double> x;  ///< by machine: workers, servers
  double cost = 0.0;
  double width_packing = 0.0, width_covering = 0.0;  ///< W_b, W_a of the rounding lemma
};
[[nodiscard]] std::optional<DistributedRelaxation> relax_distributed(const SlotMarket& market,
                                                                     double samples);

/// PD-ORS's Algorithm 4: the cheaper of one machine (ColocatedSlots) and of the rounded relaxation.
/// A rounding is taken if it trains enough with at most F workers and fits after its servers are
/// raised to ceil(workers / gamma), at the cheapest machines with room. The relaxation is left out
/// where it cannot matter: its least cost is no less than that of one machine or than the best
/// utility of the job, or the workers have no room.
class DistributedSlots final : public SlotSolver {
 public:
  /// @throws InputError: which option is out of which range
  explicit DistributedSlots(const DistributedOptions& options);
  [[nodiscard]] SlotOffer cheapest(const SlotMarket& market, double samples) const override;

 private:
  [[nodiscard]] SlotOffer rounded(const SlotMarket& market, double samples) const;

  DistributedOptions options_;
};

}  // namespace berth::papers::pd_ors

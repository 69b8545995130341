// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/papers/pd_ors/slot_instance.hpp"

/// Upper bound of the total utility of all schedules, offline: every arrival is known. The cluster
/// is one pool; a job on up to as many workers as one empty machine holds has the speed of one
/// machine, and further workers bring it on a line to that of F workers on several.
namespace berth::papers::pd_ors {

/// What a job can do in one slot of the pool: samples by workers, concave and piecewise linear,
/// at or above that of every placement on machines.
struct SlotRate {
  double near_workers = 0.0, near_samples = 0.0;  ///< on one machine
  double far_workers = 0.0, far_samples = 0.0;    ///< beyond
};
[[nodiscard]] SlotRate pooled_rate(const SlotInstance& instance, const TrainingJob& job);

/// The job's share of every resource for one worker: alpha + beta / gamma, fractions of servers
/// allowed.
[[nodiscard]] std::vector<double> worker_with_server(const TrainingJob& job);

/// A job completed in the pool at prices of slots and resources.
struct PooledOffer {
  double payoff = 0.0;  ///< utility - rent, > 0; 0: nothing pays
  double utility = 0.0;
  std::vector<double> workers;  ///< by slot, fractional
};

/// Best completion and cheapest fractional workers for it, exact. @param price  by slot, resource
/// @param from     first slot  @param samples  left to train
/// O(T^2 log T)
[[nodiscard]] PooledOffer pooled_offer(const SlotInstance& instance, const TrainingJob& job,
                                       std::span<const double> price, std::int32_t from,
                                       double samples);

/// For any prices p >= 0 no schedule of the jobs has more than
///
///   sum_i max(0, max over t of u_i(t - a) - rent_i(t; p)) + sum_t sum_r p C,
///
/// by weak duality: the rent is the least of a relaxation. In doubles. O(jobs T^2 log T)
[[nodiscard]] double pooled_bound(const SlotInstance& instance, std::span<const double> price);

/// sum_t sum_r p C. @param price  by slot, resource
[[nodiscard]] double pooled_rent(const SlotInstance& instance, std::span<const double> price);

struct PooledPrices {
  std::vector<double> price;  ///< by slot, resource
  double bound = 0.0;         ///< pooled_bound at them
  double relaxed = 0.0;       ///< total utility of the relaxation found: the least bound is no less
  int rounds = 0;
};

/// Jobs that a relaxation is about.
struct OpenJob {
  std::size_t job = 0;   ///< of the instance
  double samples = 1.0;  ///< left to train
};

struct PooledOptions {
  double gap = 1e-3;  ///< relative, between bound and relaxation
  int rounds = 60;
};

/// Prices of a low bound by column generation: the linear programme over schedules in the pool
/// (the reformulation of PD-ORS on one machine), solved by berth::solver. Slots before `from` are
/// over. @pre a PetscSession lives
[[nodiscard]] PooledPrices pooled_prices(const SlotInstance& instance,
                                         std::span<const OpenJob> jobs, std::int32_t from,
                                         const PooledOptions& options = {});

/// All jobs from the first slot on: the bound of the offline optimum.
[[nodiscard]] PooledPrices offline_prices(const SlotInstance& instance,
                                          const PooledOptions& options = {});

}  // namespace berth::papers::pd_ors

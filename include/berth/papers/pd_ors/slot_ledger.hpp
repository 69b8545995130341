// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/papers/pd_ors/slot_instance.hpp"

namespace berth::papers::pd_ors {

/// Lowest and highest price of each machine and resource: L and U^r.
struct PriceRange {
  std::vector<double> lowest, highest;  ///< by machine, then resource; 0 < lowest <= highest
};

/// Bounds over all jobs of PD-ORS's prices, which the analysis needs in advance (sections III and
/// IV of the paper; the denominators are remembered, not confirmed):
///
///   U^r = max_i u_i(ceil(E K q(i) / F)) / least positive of alpha^r, beta^r,
///   L = min_i u_i(T - 1 - a) / (2 mu ceil(E K q(e)) sum_r (alpha^r + beta^r)),
///   mu = max_i T sum_h sum_r C / (ceil(E K q(e)) sum_r (alpha^r + beta^r)).
///
/// @param least_utility  floor of u_i(T - 1 - a) as a share of max u_i(0): L must not be 0
/// @throws InputError: least_utility out of (0, 1]
[[nodiscard]] PriceRange pd_ors_prices(const SlotInstance& instance, double least_utility = 1e-9);

/// The same of OASiS, where machines [0, worker_machines) hold workers and the others servers: two
/// families, each with the demands of its kind and 4 in place of 2.
/// @throws InputError: also worker_machines out of 1 .. machines - 1
[[nodiscard]] PriceRange oasis_prices(const SlotInstance& instance, std::size_t worker_machines,
                                      double least_utility = 1e-9);

/// What jobs have committed, and prices: those that follow from it,
/// p = L (U / L)^(committed / capacity), or given ones.
class SlotLedger {
 public:
  SlotLedger(const SlotInstance& instance, PriceRange range);
  /// @param prices  by slot, machine, resource; they stay as they are
  SlotLedger(const SlotInstance& instance, std::vector<double> prices);

  [[nodiscard]] double committed(std::int32_t slot, std::size_t entry) const {
    return committed_[index(slot, entry)];
  }
  /// Price of an entry = machine x R + resource.
  [[nodiscard]] double price(std::int32_t slot, std::size_t entry) const {
    return price_[index(slot, entry)];
  }
  [[nodiscard]] double free(std::int32_t slot, std::size_t entry) const {
    return instance_->capacity[entry] - committed_[index(slot, entry)];
  }
  [[nodiscard]] const SlotInstance& instance() const { return *instance_; }
  /// sum_t sum_h sum_r p C, the part of the dual that machines hold.
  [[nodiscard]] double rent() const;
  /// Mean prices over machines, by slot and resource: those of the cluster as one pool.
  [[nodiscard]] std::vector<double> mean_prices() const;
  /// What the schedule costs at present prices.
  [[nodiscard]] double cost(const TrainingJob& job, const JobSchedule& schedule) const;
  /// Takes the resources. @pre they are free
  void commit(const TrainingJob& job, const JobSchedule& schedule);
  /// Gives them back. @pre they were committed
  void release(const TrainingJob& job, const JobSchedule& schedule);

 private:
  void add(const TrainingJob& job, const JobSchedule& schedule, double sign);
  [[nodiscard]] std::size_t index(std::int32_t slot, std::size_t entry) const {
    return static_cast<std::size_t>(slot) * instance_->capacity.size() + entry;
  }
  [[nodiscard]] double price_of(std::size_t entry, double amount) const;

  const SlotInstance* instance_;
  PriceRange range_;                       ///< empty: prices are given
  std::vector<double> committed_, price_;  ///< by slot, machine, resource
};

}  // namespace berth::papers::pd_ors

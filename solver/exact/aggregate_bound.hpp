// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/solver/occupancy.hpp"

namespace berth::solver::exact {

/// Upper bounds on the value of the last jobs of an order, by aggregate resources of each GPU type
/// and by hard quotas (Lagrangian relaxation: Geoffrion 1974):
///
///   min_l  sum_r l_r left_r + sum_{j >= d} max(0, max_t [v_jt - sum_r l_r use_jtr])
///
/// A resource r of a type is the sum over its machines of GPU thousandths, of CPU, .., or of the
/// dual-feasible functions u_k of each task's share of a machine (Fekete and Schepers 2001):
///   u_k(x) = x if (k + 1) x is whole, else floor((k + 1) x) / k       a machine holds at most 1
/// Tasks without GPUs are not counted. Amounts are parts of the largest machine of the type.
class AggregateBound {
 public:
  /// @param empty  all machines, without the jobs
  /// @param jobs   in the order of decision
  /// @param bonus  by job: added to the value when placed
  AggregateBound(const Occupancy& empty, std::span<const JobId> jobs,
                 std::span<const double> bonus);

  [[nodiscard]] const std::vector<double>& capacity() const { return capacity_; }  ///< by resource
  /// By resource: use of a job on GPUs of the type; empty: such GPUs are not for it. O(types)
  [[nodiscard]] std::span<const double> use(std::size_t job, GpuTypeId type) const;

  /// Adds prices, found by a subgradient method for the jobs from `depth` on when `left` is left.
  /// @param target  a value that these jobs can reach
  void add_prices(std::size_t depth, std::span<const double> left, double target);

  /// The least bound of all prices. O(prices x resources)
  [[nodiscard]] double bound(std::size_t depth, std::span<const double> left) const;

 private:
  /// A job on one GPU type.
  struct TypeOption {
    GpuTypeId type;
    double value = 0.0;       ///< the most that any placement on the type is worth
    std::vector<double> use;  ///< by resource
  };
  /// A resource: `row` of model::Resources, or GPU thousandths; linear, or u_k.
  struct Resource {
    GpuTypeId type;
    std::size_t row = 0;       ///< kGpuRow: GPU thousandths
    std::int64_t largest = 0;  ///< of a machine
    std::int64_t k = 0;        ///< 0: linear
  };
  struct AggregatePrices {
    std::vector<double> price;   ///< by resource
    std::vector<double> profit;  ///< [d]: profits of jobs d, d + 1, .. together
  };

  void add_resources(const Occupancy& empty);
  void add_quotas(const Occupancy& empty);
  void add_job(const Occupancy& empty, JobId job, double bonus);
  [[nodiscard]] double use_of(const Resource& resource, const model::WorkloadView& workload,
                              const model::Job& job) const;
  /// The option of largest profit; null when no profit is positive.
  [[nodiscard]] const TypeOption* best_option(std::size_t job, std::span<const double> price,
                                              double& profit) const;

  std::vector<Resource> resources_;               ///< without quotas, which follow in `capacity_`
  std::vector<std::uint32_t> quotas_;             ///< hard limits of queues
  std::vector<double> capacity_;                  ///< by resource, then by quota
  std::vector<std::vector<TypeOption>> options_;  ///< by job
  std::vector<AggregatePrices> prices_;
};

}  // namespace berth::solver::exact

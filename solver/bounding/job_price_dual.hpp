// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job_table.hpp"
#include "knapsack.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::solver::bounding {

/// A job restricted to some spots: a branching decision.
struct RestrictedJob {
  std::uint32_t job = 0;
  bool may_be_unplaced = true;  ///< the case also contains plans without the job
  std::vector<bool> spots;      ///< allowed spots, by number

  /// True when the case contains only plans without the job.
  [[nodiscard]] bool is_unplaced() const {
    return may_be_unplaced && std::find(spots.begin(), spots.end(), true) == spots.end();
  }
};

/// The Lagrangian dual with one multiplier y_j per job (the constraint "each job in at most one
/// place" is relaxed): sum_j y_j + the largest profit of every GPU type, and the spots where each
/// job was chosen for it.
class JobPriceDual {
 public:
  JobPriceDual(const planner_model::Valuation& valuation, std::span<const JobId> jobs,
               std::span<const double> rack_prices);

  /// Restricts these jobs, and no others, from now on. The multiplier of an unplaced job is 0.
  void restrict_jobs(std::span<const RestrictedJob> jobs);

  /// @param chosen  called with every choice of a job and a spot
  double evaluate(std::span<const double> prices, const ChoiceVisitor& chosen);

  /// Cells of knapsacks and of the table of jobs computed by all evaluations so far.
  [[nodiscard]] std::int64_t cells() const { return cells_; }
  [[nodiscard]] const JobTable& table() const { return table_; }

 private:
  using BySize = std::vector<std::vector<JobItem>>;  ///< in order of descending profit

  /// Knapsacks of one GPU type; kept to reuse their memory.
  struct TypeKnapsacks {
    BySize far, wide_far;
    std::vector<JobItem> cluster;
    std::vector<std::vector<Knapsack>> racks;  ///< by pod, rack
    std::vector<Knapsack> pods;
    std::vector<std::uint8_t> pod_is_joined;
    Knapsack all;
    double max_profit = 0.0;
  };

  void select_items(const TypeCapacity& type, std::span<const double> prices,
                    TypeKnapsacks& knapsacks) const;
  void solve_pod(const TypeCapacity& type, std::size_t pod, std::span<const double> prices,
                 TypeKnapsacks& knapsacks) const;
  static void join_pods(const TypeCapacity& type, TypeKnapsacks& knapsacks);
  static std::int64_t cells_of(const TypeKnapsacks& knapsacks);

  JobTable table_;
  std::int64_t cells_ = 0;
  std::vector<double> rack_prices_;
  std::vector<RestrictedJob> restricted_;
  std::vector<std::uint8_t> is_restricted_;                ///< by position
  std::vector<TypeKnapsacks> type_knapsacks_;              ///< by type
  std::vector<std::pair<std::size_t, std::size_t>> pods_;  ///< all pairs (type, pod)
};

}  // namespace berth::solver::bounding

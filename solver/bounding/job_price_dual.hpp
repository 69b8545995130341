// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job_table.hpp"
#include "knapsack.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::solver::bounding {

/// A job that may be placed in some spots only: a branching decision.
struct RestrictedJob {
  std::uint32_t job = 0;
  bool may_be_unplaced = true;  ///< may be left out
  std::vector<bool> spots;      ///< by number

  /// It may be left out, and nothing else.
  [[nodiscard]] bool is_unplaced() const {
    return may_be_unplaced && std::find(spots.begin(), spots.end(), true) == spots.end();
  }
};

/// The Lagrangian dual with one multiplier y_j per job ("each job in one place at most" is
/// relaxed): sum_j y_j + the largest profit of every GPU type, and where each job was chosen for
/// it.
class JobPriceDual {
 public:
  JobPriceDual(const model::Valuation& valuation, std::span<const JobId> jobs,
               std::span<const double> rack_prices);

  /// From now on these jobs are restricted, and no others. Those that are left out pay nothing.
  void restrict_jobs(std::span<const RestrictedJob> jobs);

  /// @param chosen  called with every choice
  double evaluate(std::span<const double> prices, const ChoiceVisitor& chosen);

  [[nodiscard]] const JobTable& table() const { return table_; }

 private:
  using BySize = std::vector<std::vector<JobItem>>;  ///< most profit first

  /// Knapsacks of one GPU type; kept so that their memory is.
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

  JobTable table_;
  std::vector<double> rack_prices_;
  std::vector<RestrictedJob> restricted_;
  std::vector<std::uint8_t> is_restricted_;                ///< by position
  std::vector<TypeKnapsacks> type_knapsacks_;              ///< by type
  std::vector<std::pair<std::size_t, std::size_t>> pods_;  ///< (type, pod), all
};

}  // namespace berth::solver::bounding

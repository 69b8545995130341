// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/bound_tree.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/job_prices.hpp"

namespace berth::solver {

struct BranchOptions {
  int leaves = 100;      ///< most leaves, >= 1; a count, so that the result is reproducible
  int evaluations = 60;  ///< of the dual per solve of a leaf, >= 1; 30 are worse: decision 7
  /// most solves per leaf on average: near the goal leaves gain a little for very long
  std::int64_t solves = 16;
  int smallest = 8;  ///< least GPUs of a job to branch on; chosen, not tuned
  /// no leaf is solved after so many cells of tables, > 0: the cost, as a count
  std::int64_t most_cells = std::numeric_limits<std::int64_t>::max();
};

/// model::BoundTree::TreeNode with all prices of a leaf instead of changes.
struct BranchNode {
  std::int32_t parent = -1;
  JobId split;
  bool may_be_unplaced = false, remainder = false;
  std::vector<model::SpotSet> spots = {};
  std::vector<double> prices = {};  ///< by position in `jobs`; set for a leaf
  double bound = 0.0;               ///< set for a leaf
};

struct BranchAndBoundResult {
  std::vector<BranchNode> nodes;  ///< parents before children; the root alone if no leaf was split
  double bound = 0.0;             ///< largest bound of a leaf
  int leaves = 1;
  int evaluations = 0;
};

/// Lowers the bound of `minimise_job_prices` by best-first branch and bound (Land and Doig 1960).
/// Repeats with the leaf of largest bound: it is split over the job that its fractional choices
/// leave most undecided (unplaced, or in one of the pods and types where it was chosen; if these
/// are decided, its racks), and the children are bounded by subgradient steps from the leaf's
/// prices. A leaf whose last steps still gained enough is solved again instead of split.
///
/// @param jobs, rack_prices  as for minimise_job_prices
/// @param start        first prices, such as the result of minimise_job_prices
/// @param target       a leaf whose bound is `slack` below the bound at `start` is closed
/// Deterministic for any number of threads. `evaluations` evaluations of the dual per solve of a
/// leaf.
BranchAndBoundResult branch_and_bound(const planner_model::Valuation& valuation,
                                      std::span<const JobId> jobs, std::span<const double> start,
                                      std::span<const double> rack_prices,
                                      const BoundTarget& target, const BranchOptions& options);

}  // namespace berth::solver

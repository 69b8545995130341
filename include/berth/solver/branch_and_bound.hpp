// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/bound_tree.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/job_prices.hpp"

namespace berth::solver {

struct BranchOptions {
  int leaves = 100;      ///< at most, >= 1; counted, never timed
  int evaluations = 60;  ///< of the dual for one leaf at a time, >= 1
  int smallest = 8;      ///< GPUs of a job that may be split
};

/// model::BoundTree::TreeNode with all prices of a leaf instead of changes.
struct BranchNode {
  std::int32_t parent = -1;
  JobId split;
  bool may_be_unplaced = false, remainder = false;
  std::vector<model::SpotSet> spots = {};
  std::vector<double> prices = {};  ///< by position in `jobs`; of a leaf
  double bound = 0.0;               ///< of a leaf
};

struct BranchAndBoundResult {
  std::vector<BranchNode> nodes;  ///< parents first; one when nothing was split
  double bound = 0.0;             ///< the largest of the leaves
  int leaves = 1;
  int evaluations = 0;
};

/// Lowers the bound of `minimise_job_prices` by branch and bound (Land and Doig 1960): the leaf
/// with the largest bound is split again and again, over the job that its fractional choices leave
/// most undecided (out, or in one of the pods and types where it was chosen; when these are
/// decided, its racks), and its children are bounded by steps that start from its prices. A leaf
/// that gains more by such steps than by a split takes them.
///
/// @param jobs, rack_prices  as for minimise_job_prices
/// @param start        prices to start from, those minimise_job_prices found
/// @param target       a leaf this far below the bound at `start` needs no more
/// Deterministic for any number of threads. Costs `evaluations` evaluations a leaf, and as many
/// again for every time that it is worth while.
BranchAndBoundResult branch_and_bound(const planner_model::Valuation& valuation,
                                      std::span<const JobId> jobs, std::span<const double> start,
                                      std::span<const double> rack_prices,
                                      const BoundTarget& target, const BranchOptions& options);

}  // namespace berth::solver

// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/branch_and_bound.hpp"

#include "job_price_dual.hpp"
#include "primal_average.hpp"
#include "subgradient.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/solver/job_prices.hpp"

namespace berth::solver {
namespace {

using bounding::PriceSign;
using bounding::RestrictedJob;
using bounding::Split;

/// Part of the way to the goal, 0 .. 1: a leaf whose last solve gained more is solved again before
/// it is split. Chosen, not tuned.
constexpr double kSolveFirstGain = 0.1;
/// Part of the way to the goal, 0 .. 1: a smaller gain is no progress. Chosen, not tuned.
constexpr double kMinGain = 0.005;
/// Consecutive solves without progress after which a leaf without a split is closed. Chosen, not
/// tuned.
constexpr int kMaxStalledSolves = 3;

/// An open leaf of the tree.
struct OpenLeaf {
  std::size_t node = 0;
  std::vector<RestrictedJob> restricted;  ///< ascending job
  std::vector<double> prices;
  double bound = 0.0;
  double step = 1.0;
  double last_gain = 0.0;  ///< of the last solve, as a share of the way to the goal
  int stalled_solves = 0;  ///< number of consecutive solves without progress
  std::optional<Split> split;
};

class SearchTree {
 public:
  SearchTree(const planner_model::Valuation& valuation, std::span<const JobId> jobs,
             std::span<const double> rack_prices, const BoundTarget& target,
             const BranchOptions& options)
      : jobs_(jobs),
        target_(target),
        options_(&options),
        dual_(valuation, jobs, rack_prices),
        chosen_(jobs.size()) {}

  BranchAndBoundResult run(std::span<const double> start) {
    result_.nodes.emplace_back();
    OpenLeaf root{.node = 0, .restricted = {}, .prices = {start.begin(), start.end()}, .split = {}};
    solve(root, true);
    leaves_.push_back(std::move(root));
    const std::int64_t most = options_->solves * std::max(1, options_->leaves) *
                              std::int64_t{std::max(1, options_->evaluations)};
    while (!target_.stop.requested() && result_.evaluations < most &&
           dual_.cells() < options_->most_cells && process_largest_leaf()) {
    }
    finish();
    return std::move(result_);
  }

 private:
  /// Solves or splits the leaf with the largest bound. False when no leaf can be improved.
  bool process_largest_leaf() {
    const auto top = std::ranges::max_element(leaves_, {}, &OpenLeaf::bound);
    if (top->bound <= goal_) return false;
    const auto room = static_cast<std::size_t>(std::max(1, options_->leaves));
    const bool may_split = top->split && leaves_.size() + top->split->cases.size() - 1 <= room;
    if (may_split && top->last_gain < kSolveFirstGain) {
      OpenLeaf leaf = std::move(*top);
      leaves_.erase(top);
      branch_on(std::move(leaf));
      return true;
    }
    if (!may_split && top->stalled_solves >= kMaxStalledSolves) return false;
    solve(*top, false);
    return true;
  }

  void branch_on(OpenLeaf leaf) {
    const Split split = std::move(*leaf.split);
    result_.nodes[leaf.node].split = jobs_[split.job];
    for (const bounding::BranchCase& branch_case : split.cases) {
      OpenLeaf child{.node = result_.nodes.size(),
                     .restricted = leaf.restricted,
                     .prices = leaf.prices,
                     .bound = leaf.bound,
                     .split = {}};
      const auto at =
          std::ranges::lower_bound(child.restricted, split.job, {}, &RestrictedJob::job);
      if (at != child.restricted.end() && at->job == split.job) {
        *at = branch_case.job;
      } else {
        child.restricted.insert(at, branch_case.job);
      }
      // With one usable spot, any price low enough makes the job chosen there exactly once; with
      // none, the case contains no plan.
      if (!branch_case.job.may_be_unplaced && usable_spots(branch_case.job) <= 1) {
        child.prices[split.job] = -std::abs(leaf.bound);
      }
      result_.nodes.push_back({.parent = static_cast<std::int32_t>(leaf.node),
                               .split = {},
                               .may_be_unplaced = branch_case.may_be_unplaced,
                               .remainder = branch_case.remainder,
                               .spots = branch_case.sets});
      solve(child, true);
      leaves_.push_back(std::move(child));
    }
  }

  /// Number of spots where the job may be placed and has a value.
  std::int64_t usable_spots(const RestrictedJob& c) const {
    std::int64_t count = 0;
    for (std::uint32_t s = 0; s < c.spots.size(); ++s) {
      if (c.spots[s] && std::isfinite(dual_.table().value_at(c.job, s))) ++count;
    }
    return count;
  }

  std::vector<PriceSign> signs(const OpenLeaf& leaf) const {
    std::vector<PriceSign> signs(jobs_.size(), PriceSign::positive);
    for (const RestrictedJob& c : leaf.restricted) {
      if (c.is_unplaced() || (!c.may_be_unplaced && usable_spots(c) <= 1)) {
        signs[c.job] = PriceSign::none;
      } else if (!c.may_be_unplaced) {
        signs[c.job] = PriceSign::any;
      }
    }
    return signs;
  }

  /// Runs the subgradient method from the leaf's prices and keeps the best prices.
  void solve(OpenLeaf& leaf, bool first) {
    const JobPriceOptions steps{.step = leaf.step};
    const auto free = signs(leaf);
    dual_.restrict_jobs(leaf.restricted);
    bounding::SubgradientMethod subgradient(leaf.prices, free, dual_.table().size, steps);
    bounding::PrimalAverage average(dual_.table(), options_->smallest);
    const double before = leaf.bound;
    double best = first ? HUGE_VAL : leaf.bound;
    for (int k = 0; k < std::max(1, options_->evaluations); ++k) {
      std::ranges::fill(chosen_, 0);
      average.next();
      const auto taken = [&](std::uint32_t job, std::uint32_t spot) {
        ++chosen_[job];
        average.add(job, spot);
      };
      const double value = dual_.evaluate(subgradient.prices(), taken);
      if (result_.evaluations++ == 0) goal_ = value - target_.slack;
      subgradient.shrink_when_stalled(value < best - bounding::kLeastRelativeGain * std::abs(best));
      if (value < best) {
        best = value;
        leaf.prices.assign(subgradient.prices().begin(), subgradient.prices().end());
      }
      if (best <= goal_ || target_.stop.requested()) break;
      const double target = std::max(goal_, best - bounding::kMaxTargetGap * std::abs(best));
      if (!subgradient.take_step(chosen_, value - target)) break;
    }
    const double distance = std::max(1e-300, before - goal_);
    leaf.last_gain = first ? 0.0 : (before - best) / distance;
    leaf.stalled_solves = leaf.last_gain > kMinGain ? 0 : leaf.stalled_solves + 1;
    leaf.bound = best;
    leaf.step = std::max(0.05, subgradient.step());
    leaf.split = average.best_split(leaf.restricted);
  }

  void finish() {
    result_.leaves = static_cast<int>(leaves_.size());
    result_.bound = std::ranges::max_element(leaves_, {}, &OpenLeaf::bound)->bound;
    for (OpenLeaf& leaf : leaves_) {
      result_.nodes[leaf.node].bound = leaf.bound;
      result_.nodes[leaf.node].prices = std::move(leaf.prices);
    }
  }

  std::span<const JobId> jobs_;
  BoundTarget target_;
  const BranchOptions* options_;
  bounding::JobPriceDual dual_;
  std::vector<std::int32_t> chosen_;
  double goal_ = 0.0;  ///< set by the first evaluation
  std::vector<OpenLeaf> leaves_;
  BranchAndBoundResult result_;
};

}  // namespace

BranchAndBoundResult branch_and_bound(const planner_model::Valuation& valuation,
                                      std::span<const JobId> jobs, std::span<const double> start,
                                      std::span<const double> rack_prices,
                                      const BoundTarget& target, const BranchOptions& options) {
  BERTH_EXPECT(jobs.size() == start.size() && target.slack > 0.0);
  return SearchTree(valuation, jobs, rack_prices, target, options).run(start);
}

}  // namespace berth::solver

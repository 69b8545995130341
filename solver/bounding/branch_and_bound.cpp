// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/branch_and_bound.hpp"

#include "job_price_dual.hpp"
#include "primal_average.hpp"
#include "subgradient.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/solver/job_prices.hpp"

namespace berth::solver {
namespace {

using bounding::Confined;
using bounding::Sign;
using bounding::Split;

constexpr double kWorthMore = 0.1;     ///< of the way to the goal: then more steps come first
constexpr double kWorthWhile = 0.005;  ///< less than this is no progress
constexpr int kPatience = 3;           ///< solves without progress of a leaf that cannot be split

/// A leaf of the tree so far.
struct Open {
  std::size_t node = 0;
  std::vector<Confined> confined;  ///< ascending job
  std::vector<double> prices;
  double bound = 0.0;
  double step = 1.0;
  double gained = 0.0;  ///< by the last solve, as a share of the way to the goal
  int vain = 0;         ///< solves in a row without progress
  std::optional<Split> split;
};

class Tree {
 public:
  Tree(const model::Valuation& valuation, std::span<const JobId> jobs,
       std::span<const double> fluid, const BranchOptions& options)
      : jobs_(jobs), options_(&options), dual_(valuation, jobs, fluid), chosen_(jobs.size()) {}

  Branched grow(std::span<const double> start) {
    result_.nodes.emplace_back();
    Open root{.node = 0, .confined = {}, .prices = {start.begin(), start.end()}, .split = {}};
    solve(root, true);
    leaves_.push_back(std::move(root));
    while (!options_->stop.requested() && improve()) {
    }
    finish();
    return std::move(result_);
  }

 private:
  /// Works on the largest leaf. False when there is nothing left to do about it.
  bool improve() {
    const auto top = std::ranges::max_element(leaves_, {}, &Open::bound);
    if (top->bound <= goal_) return false;
    const auto room = static_cast<std::size_t>(std::max(1, options_->leaves));
    const bool may_split = top->split && leaves_.size() + top->split->parts.size() - 1 <= room;
    if (may_split && top->gained < kWorthMore) {
      Open open = std::move(*top);
      leaves_.erase(top);
      divide(std::move(open));
      return true;
    }
    if (!may_split && top->vain >= kPatience) return false;
    solve(*top, false);
    return true;
  }

  void divide(Open open) {
    const Split split = std::move(*open.split);
    result_.nodes[open.node].split = jobs_[split.job];
    for (const bounding::Part& part : split.parts) {
      Open child{.node = result_.nodes.size(),
                 .confined = open.confined,
                 .prices = open.prices,
                 .bound = open.bound,
                 .split = {}};
      const auto at = std::ranges::lower_bound(child.confined, split.job, {}, &Confined::job);
      if (at != child.confined.end() && at->job == split.job) {
        *at = part.job;
      } else {
        child.confined.insert(at, part.job);
      }
      // In one spot for certain: any price low enough takes it there, once. In none: no plan is
      // here.
      if (!part.job.out && places(part.job) <= 1) {
        child.prices[split.job] = -std::abs(open.bound);
      }
      result_.nodes.push_back({.parent = static_cast<std::int32_t>(open.node),
                               .split = {},
                               .out = part.out,
                               .rest = part.rest,
                               .spots = part.sets});
      solve(child, true);
      leaves_.push_back(std::move(child));
    }
  }

  /// Spots where the job is worth something at all.
  std::int64_t places(const Confined& c) const {
    std::int64_t count = 0;
    for (std::uint32_t s = 0; s < c.spots.size(); ++s) {
      if (c.spots[s] && std::isfinite(dual_.table().worth(c.job, s))) ++count;
    }
    return count;
  }

  std::vector<Sign> signs(const Open& open) const {
    std::vector<Sign> signs(jobs_.size(), Sign::positive);
    for (const Confined& c : open.confined) {
      if (c.is_out() || (!c.out && places(c) <= 1)) {
        signs[c.job] = Sign::none;
      } else if (!c.out) {
        signs[c.job] = Sign::any;
      }
    }
    return signs;
  }

  /// Steps from the leaf's prices; keeps the best of them.
  void solve(Open& open, bool first) {
    const JobPriceOptions steps{.step = open.step};
    const auto free = signs(open);
    dual_.confine(open.confined);
    bounding::Descent descent(open.prices, free, dual_.table().size, steps);
    bounding::Shares shares(dual_.table(), options_->smallest);
    const double before = open.bound;
    double best = first ? HUGE_VAL : open.bound;
    for (int k = 0; k < std::max(1, options_->evaluations); ++k) {
      std::ranges::fill(chosen_, 0);
      shares.next();
      const auto taken = [&](std::uint32_t job, std::uint32_t spot) {
        ++chosen_[job];
        shares.add(job, spot);
      };
      const double value = dual_.evaluate(descent.prices(), taken);
      if (result_.evaluations++ == 0) goal_ = value - options_->slack;
      descent.shrink_when_stuck(value < best - 1e-7 * std::abs(best));
      if (value < best) {
        best = value;
        open.prices.assign(descent.prices().begin(), descent.prices().end());
      }
      if (best <= goal_ || options_->stop.requested()) break;
      const double target = std::max(goal_, best - bounding::kFarthest * std::abs(best));
      if (!descent.move(chosen_, value - target)) break;
    }
    const double way = std::max(1e-300, before - goal_);
    open.gained = first ? 0.0 : (before - best) / way;
    open.vain = open.gained > kWorthWhile ? 0 : open.vain + 1;
    open.bound = best;
    open.step = std::max(0.05, descent.step());
    open.split = shares.best_split(open.confined);
  }

  void finish() {
    result_.leaves = static_cast<int>(leaves_.size());
    result_.bound = std::ranges::max_element(leaves_, {}, &Open::bound)->bound;
    for (Open& leaf : leaves_) {
      result_.nodes[leaf.node].bound = leaf.bound;
      result_.nodes[leaf.node].prices = std::move(leaf.prices);
    }
  }

  std::span<const JobId> jobs_;
  const BranchOptions* options_;
  bounding::Dual dual_;
  std::vector<std::int32_t> chosen_;
  double goal_ = 0.0;  ///< known after the first evaluation
  std::vector<Open> leaves_;
  Branched result_;
};

}  // namespace

Branched branch(const model::Valuation& valuation, std::span<const JobId> jobs,
                std::span<const double> start, std::span<const double> fluid,
                const BranchOptions& options) {
  BERTH_EXPECT(jobs.size() == start.size() && options.slack > 0.0);
  return Tree(valuation, jobs, fluid, options).grow(start);
}

}  // namespace berth::solver

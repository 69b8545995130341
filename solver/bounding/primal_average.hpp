// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job_price_dual.hpp"
#include "job_table.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "berth/model/bound_tree.hpp"

namespace berth::solver::bounding {

/// One child of a split.
struct BranchCase {
  bool may_be_unplaced = false, remainder = false;
  std::vector<model::SpotSet> sets;
  RestrictedJob job;  ///< the restriction of this case
};

struct Split {
  std::uint32_t job = 0;
  std::vector<BranchCase> cases;
};

/// Average of the dual's latest choices of places for large jobs; an evaluation counts a tenth less
/// than the next one. It serves as a fractional primal solution (volume algorithm: Barahona and
/// Anbil 2000) that determines which job to branch on.
class PrimalAverage {
 public:
  /// @param smallest  GPUs
  PrimalAverage(const JobTable& table, std::int32_t smallest)
      : table_(&table), smallest_(smallest) {}

  /// Starts a new evaluation; call before its choices.
  void next() {
    weight_ *= kGrowth;
    total_ += weight_;
  }
  void add(std::uint32_t job, std::uint32_t spot) {
    if (table_->unit * table_->size[job] >= smallest_) chosen_[{job, spot}] += weight_;
  }

  /// The split of the job with the most GPUs undecided; ties: the first job.
  [[nodiscard]] std::optional<Split> best_split(std::span<const RestrictedJob> restricted) const;

 private:
  /// Weight of an evaluation relative to the one before: docs/decisions/0007, "What to split".
  static constexpr double kGrowth = 1.0 / 0.9;

  struct SpotShare {
    std::uint32_t spot = 0;
    double amount = 0.0;
  };
  struct BranchCandidate;

  [[nodiscard]] std::vector<SpotShare> by_region(std::span<const SpotShare> shares) const;
  [[nodiscard]] BranchCandidate score_job(std::uint32_t job, std::vector<SpotShare> shares,
                                          bool may_be_out) const;
  [[nodiscard]] Split make_split(const BranchCandidate& candidate,
                                 std::span<const RestrictedJob> restricted) const;
  [[nodiscard]] std::vector<model::SpotSet> spot_sets_of(const BranchCandidate& candidate,
                                                         std::uint32_t spot) const;

  const JobTable* table_;
  std::int32_t smallest_;
  double weight_ = 1.0, total_ = 0.0;
  /// weighted number of choices, by (job, spot)
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> chosen_;
};

}  // namespace berth::solver::bounding

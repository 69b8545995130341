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

/// One case of a split.
struct Part {
  bool out = false, rest = false;
  std::vector<model::SpotSet> sets;
  Confined job;  ///< what it may do in this case
};

struct Split {
  std::uint32_t job = 0;
  std::vector<Part> parts;
};

/// How the dual's choices of late share out the large jobs: averages in which an evaluation counts
/// a tenth less than the one after it. They stand in for a fractional solution.
class Shares {
 public:
  Shares(const Table& table, std::int32_t smallest) : table_(&table), smallest_(smallest) {}

  /// Before the choices of an evaluation.
  void next() {
    weight_ *= kGrowth;
    total_ += weight_;
  }
  void add(std::uint32_t job, std::uint32_t spot) {
    if (table_->size[job] >= smallest_) chosen_[{job, spot}] += weight_;
  }

  /// The split that looks best: of the job with the most GPUs undecided, the first among equals.
  [[nodiscard]] std::optional<Split> best_split(std::span<const Confined> confined) const;

 private:
  static constexpr double kGrowth = 1.0 / 0.9;

  struct Share {
    std::uint32_t spot = 0;
    double amount = 0.0;
  };
  struct Candidate;

  [[nodiscard]] std::vector<Share> by_region(std::span<const Share> shares) const;
  [[nodiscard]] Candidate judge(std::uint32_t job, std::vector<Share> shares,
                                bool may_be_out) const;
  [[nodiscard]] Split parts_of(const Candidate& candidate,
                               std::span<const Confined> confined) const;
  [[nodiscard]] std::vector<model::SpotSet> case_of(const Candidate& candidate,
                                                    std::uint32_t spot) const;

  const Table* table_;
  std::int32_t smallest_;
  double weight_ = 1.0, total_ = 0.0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> chosen_;  ///< by (job, spot)
};

}  // namespace berth::solver::bounding

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job_table.hpp"
#include "knapsack.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::solver::bounding {

/// A job that may lie in some spots only.
struct Confined {
  std::uint32_t job = 0;
  bool out = true;          ///< may be left out
  std::vector<bool> spots;  ///< by number

  /// It may be left out, and nothing else.
  [[nodiscard]] bool is_out() const {
    return out && std::find(spots.begin(), spots.end(), true) == spots.end();
  }
};

/// sum_j y_j + most content of every GPU type, and where each job was chosen for it.
class Dual {
 public:
  Dual(const model::Valuation& valuation, std::span<const JobId> jobs,
       std::span<const double> fluid);

  /// From now on these jobs are confined, and no others. Those that are left out pay nothing.
  void confine(std::span<const Confined> jobs);

  /// @param chosen  told of every choice
  double evaluate(std::span<const double> prices, const Chosen& chosen);

  [[nodiscard]] const Table& table() const { return table_; }

 private:
  using BySize = std::vector<std::vector<Item>>;  ///< most profit first

  /// Knapsacks of one GPU type; kept so that their memory is.
  struct Bench {
    BySize far, wide_far;
    std::vector<Item> cluster;
    std::vector<std::vector<Knapsack>> racks;  ///< by pod, rack
    std::vector<Knapsack> pods;
    std::vector<std::uint8_t> pod_is_joined;
    Knapsack all;
    double most = 0.0;
  };

  void rank(const TypeStock& type, std::span<const double> prices, Bench& bench) const;
  void fill_pod(const TypeStock& type, std::size_t pod, std::span<const double> prices,
                Bench& bench) const;
  static void finish(const TypeStock& type, Bench& bench);

  Table table_;
  std::vector<double> fluid_;
  std::vector<Confined> confined_;
  std::vector<std::uint8_t> is_confined_;                  ///< by position
  std::vector<Bench> benches_;                             ///< by type
  std::vector<std::pair<std::size_t, std::size_t>> pods_;  ///< (type, pod), all
};

}  // namespace berth::solver::bounding

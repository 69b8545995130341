// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/horizon/problem.hpp"

namespace berth::sim {

/// Prices of GPU time that are constant on each interval, 0 after the last node.
struct StepPrices {
  std::vector<double> nodes;  ///< seconds, ascending, intervals + 1
  std::vector<double> price;  ///< [curve * intervals + interval]
  [[nodiscard]] std::size_t intervals() const { return nodes.size() - 1; }
};

/// The least completion cost and rent of jobs that may stop and move for nothing, and run on one
/// pool at a time.
///
/// In an instant, a job's choices are points (share of its work, rent); the lower hull of these and
/// of standing still is a row of purchases with rising prices of the work. The cheapest ones before
/// a completion are the least rent; a later completion moves work from dearer ones.
class CheapestSeconds {
 public:
  CheapestSeconds(const horizon::Problem& problem, const StepPrices& prices)
      : problem_(problem), prices_(prices) {}

  /// @pre the job has options, each with one piece of cost
  double find(const horizon::Job& job);
  /// Adds the GPU-seconds that the last job buys: [curve * intervals + interval].
  void add_use(std::span<double> use);

 private:
  struct Purchase {
    double price;           ///< of all work
    double share;           ///< of the work; in a row: in a second
    std::int32_t interval;  ///< the last one has no end
    std::int32_t instead;   ///< option that it replaces; -1: standing still
    std::int32_t option;
  };
  [[nodiscard]] double begin(std::size_t k) const { return prices_.nodes[k]; }
  [[nodiscard]] double end(std::size_t k) const;
  [[nodiscard]] double rent(const horizon::Option& option, std::size_t k) const;
  void make_row(std::size_t k);
  std::size_t buy_until(double time);
  void sell_for(std::size_t k);
  void insert(const Purchase& purchase);

  const horizon::Problem& problem_;
  const StepPrices& prices_;
  std::span<const horizon::Option> options_;
  double release_ = 0.0, weight_ = 1.0, time_ = 0.0, rent_ = 0.0;
  double best_ = 0.0, best_time_ = 0.0;
  std::vector<Purchase> row_;     ///< of one interval, by price
  std::vector<Purchase> bought_;  ///< by price
};

}  // namespace berth::sim

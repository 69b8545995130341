// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "configuration_master.hpp"
#include "configuration_pricing.hpp"
#include "option_values.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/solver/configuration_lp.hpp"

namespace berth::solver {

/// The column generation of the configuration LP: master, pricing and the best dual point.
class ConfigurationGeneration {
 public:
  /// Keeps references to all but `shapes`.
  ConfigurationGeneration(const ConfigurationProblem& problem, std::span<const model::Shape> shapes,
                          const TaskRows& rows, const ConfigurationOptions& options,
                          const StopToken& stop);

  /// Alternates master and pricing until value and bound meet or a limit is reached; pricing looks
  /// between the best prices and the master's (in-out separation: Ben-Ameur and Neto 2007).
  /// @param gpu_price  first price of a GPU by slot
  void run(std::span<const double> gpu_price);

  /// Least value of the LP that the last master proves, without rewards.
  [[nodiscard]] double value() const { return value_ - error_; }

  /// Weights, prices, multipliers and figures of the run.
  void write(const model::Cluster& cluster, ConfigurationSolution& solution);

 private:
  /// Prices by row, what each bin type earns at them, and the bound that they prove.
  struct DualPoint {
    std::vector<double> price;
    std::vector<double> earned;
    double bound = std::numeric_limits<double>::infinity();
  };
  double limits_at(DualPoint& point) const;
  void cover_demand(std::span<const double> price, std::span<const double> gpu_price);
  void start_at(std::span<const double> gpu_price);
  double solve_master(double gap, int idle);
  [[nodiscard]] bool finished(double gap) const;
  bool price_at(DualPoint point, std::span<const double> threshold);
  bool price_between(double weight);
  [[nodiscard]] double wanted() const;

  std::span<const BinType> bins_;
  const JobCounts& jobs_;
  std::span<const LimitSupply> limits_;
  const TaskRows& rows_;
  const ConfigurationOptions& options_;
  StopToken stop_;
  std::size_t last_labels_;
  OptionValues values_;
  ConfigurationPricing pricing_;
  ConfigurationMaster master_;
  DualPoint best_;
  double value_ = 0.0;     ///< of the last master, without rewards
  double error_ = 0.0;     ///< of that value at most
  bool converged_ = true;  ///< the last master was solved
  std::int64_t work_ = 0;
  int rounds_ = 0;
  int added_ = 0;  ///< columns of the last round
};

}  // namespace berth::solver

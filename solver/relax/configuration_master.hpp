// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gub_interior_point.hpp"
#include "task_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "berth/solver/configuration_lp.hpp"

namespace berth::solver {

/// What the configuration LP is about. Refers to its owners.
struct ConfigurationProblem {
  std::span<const BinType> bins;
  const JobCounts& jobs;
  std::span<const LimitSupply> limits;  ///< by limit
};

/// Restricted master of the configuration LP over the columns added so far. Its groups are the job
/// groups, then the bin types, then the supply of each limit with a row, within its capacity and
/// over it.
class ConfigurationMaster {
 public:
  /// Keeps references to all of these.
  /// @param value  by job group and option, rewards of required jobs included
  ConfigurationMaster(const ConfigurationProblem& problem, const TaskRows& rows,
                      const std::vector<std::vector<double>>& value);

  /// Adds the configurations that are new. Returns their number.
  int add(std::vector<Configuration> configurations);
  /// Adds the options that lose at most `loss` against the group's best one, or against waiting, at
  /// these prices and are new; of each group the best `most`. Returns their number.
  int add_options(std::span<const double> price, int most, double loss);

  /// Solves to `tolerance`, from the central path near these prices. Counts Newton steps of both.
  /// @param gap  expected distance of the prices' bound from the optimum
  /// @param price  by row, > 0
  InteriorPointResult solve(std::vector<double> price, double gap, double tolerance,
                            const StopToken& stop = {});

  [[nodiscard]] double value() const { return value_of(program_, point_); }
  [[nodiscard]] std::span<const double> prices() const { return point_.price; }
  [[nodiscard]] double earned(std::size_t bin) const { return point_.earned[jobs_.size() + bin]; }
  [[nodiscard]] std::size_t columns() const { return option_columns_ + configurations_.size(); }
  [[nodiscard]] std::size_t configurations() const { return configurations_.size(); }

  /// Configurations and options with a weight above `least`, in ascending order.
  [[nodiscard]] std::vector<Configuration> used_configurations(double least) const;
  [[nodiscard]] std::vector<OptionUse> used_options(double least) const;

 private:
  void build();
  void add_supply_of_limits();

  std::span<const BinType> bins_;
  const JobCounts& jobs_;
  std::span<const LimitSupply> limits_;
  const TaskRows& rows_;
  const std::vector<std::vector<double>>& value_;
  std::vector<Configuration> configurations_;     ///< in order of addition
  std::vector<std::vector<std::size_t>> of_bin_;  ///< by bin type: its configurations
  std::vector<std::vector<char>> added_;          ///< by job group and option
  std::size_t option_columns_ = 0;
  std::set<std::pair<std::int32_t, std::vector<Configuration::BundleCount>>> known_;
  GubProgram program_;
  GubPoint point_;
};

}  // namespace berth::solver

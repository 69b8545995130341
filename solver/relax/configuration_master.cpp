// SPDX-License-Identifier: Apache-2.0
#include "configuration_master.hpp"

#include "option_values.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "berth/base/infinity.hpp"

namespace berth::solver {
namespace {

constexpr int kIterations = 60;  ///< most iterations of one solve; untuned guard
/// Units over a soft limit, in capacities: more than jobs ask for.
constexpr double kOverCapacity = 1e3;
constexpr int kCentringSteps = 30;  ///< most Newton steps before them; untuned guard

}  // namespace

ConfigurationMaster::ConfigurationMaster(const ConfigurationProblem& problem, const TaskRows& rows,
                                         const std::vector<std::vector<double>>& value)
    : bins_(problem.bins),
      jobs_(problem.jobs),
      limits_(problem.limits),
      rows_(rows),
      value_(value),
      of_bin_(bins_.size()) {
  for (const auto& [group, count] : jobs_) added_.emplace_back(group.options.size(), 0);
}

int ConfigurationMaster::add(std::vector<Configuration> configurations) {
  int added = 0;
  for (Configuration& c : configurations) {
    if (!known_.emplace(c.bin, c.content).second) continue;
    of_bin_[static_cast<std::size_t>(c.bin)].push_back(configurations_.size());
    configurations_.push_back(std::move(c));
    ++added;
  }
  return added;
}

int ConfigurationMaster::add_options(std::span<const double> price, int most, double loss) {
  int added = 0;
  std::vector<std::pair<double, std::size_t>> profit;
  for (std::size_t g = 0; g < jobs_.size(); ++g) {
    const JobGroup& group = jobs_[g].first;
    profit.clear();
    double best = 0.0;
    for (std::size_t k = 0; k < group.options.size(); ++k) {
      if (value_[g][k] == kImpossible) continue;
      const double p = value_[g][k] - cost_of(rows_.demand(group, group.options[k]), price);
      profit.emplace_back(-p, k);
      best = std::max(best, p);
    }
    std::ranges::sort(profit);
    if (profit.size() > static_cast<std::size_t>(most))
      profit.resize(static_cast<std::size_t>(most));
    for (const auto& [lost, k] : profit) {
      if (added_[g][k] != 0 || -lost < best - loss) continue;
      added_[g][k] = 1;
      ++added;
    }
  }
  option_columns_ += static_cast<std::size_t>(added);
  return added;
}

void ConfigurationMaster::build() {
  program_ = {};
  program_.rows = rows_.size();
  for (std::size_t g = 0; g < jobs_.size(); ++g) {
    const auto& [group, count] = jobs_[g];
    for (std::size_t k = 0; k < group.options.size(); ++k) {
      if (added_[g][k] == 0) continue;
      program_.add_column(value_[g][k], rows_.demand(group, group.options[k]));
    }
    program_.end_group(static_cast<double>(count));
  }
  std::map<std::int32_t, double> held;
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    for (const std::size_t c : of_bin_[bin]) {
      held.clear();
      for (const auto& [bundle, count] : configurations_[c].content) {
        for (const auto& [row, tasks] : rows_.content(bundle, bins_[bin].slot)) {
          if (row >= 0) held[row] -= count * tasks;
        }
      }
      program_.add_column(0.0, TaskRows::Entries(held.begin(), held.end()));
    }
    program_.end_group(static_cast<double>(bins_[bin].machines.size()));
  }
  add_supply_of_limits();
}

/// Units of each limit within its capacity, and at its penalty.
void ConfigurationMaster::add_supply_of_limits() {
  for (std::size_t l = 0; l < rows_.limits().size(); ++l) {
    const LimitSupply& limit = limits_[rows_.limits()[l]];
    const auto row = static_cast<std::int32_t>(rows_.first_limit() + l);
    const TaskRows::Entries unit{{row, -1.0}};
    program_.add_column(0.0, unit);
    program_.end_group(limit.capacity);
    if (limit.penalty == kInfinity) continue;
    program_.add_column(-limit.penalty, unit);
    program_.end_group(kOverCapacity * limit.capacity);
  }
}

InteriorPointResult ConfigurationMaster::solve(std::vector<double> price, double gap,
                                               double tolerance, const StopToken& stop) {
  build();
  const double pairs = static_cast<double>(program_.columns() + program_.groups() + program_.rows);
  CentredPoint start = centred_point(program_, std::move(price), gap / pairs, kCentringSteps, stop);
  point_ = std::move(start.point);
  InteriorPointResult result = berth::solver::solve(
      program_, point_, {.tolerance = tolerance, .iterations = kIterations, .stop = stop});
  result.iterations += start.steps;
  return result;
}

std::vector<Configuration> ConfigurationMaster::used_configurations(double least) const {
  std::vector<Configuration> used;
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    std::size_t column = program_.first_column[jobs_.size() + bin];
    for (const std::size_t c : of_bin_[bin]) {
      const double machines = column < point_.x.size() ? point_.x[column] : 0.0;
      if (column < program_.first_column[jobs_.size() + bin + 1] && machines > least) {
        used.push_back(configurations_[c]);
        used.back().machines = machines;
      }
      ++column;
    }
  }
  std::ranges::sort(used, [](const Configuration& a, const Configuration& b) {
    return std::tie(a.bin, a.content) < std::tie(b.bin, b.content);
  });
  return used;
}

std::vector<OptionUse> ConfigurationMaster::used_options(double least) const {
  std::vector<OptionUse> used;
  for (std::size_t g = 0; g < jobs_.size(); ++g) {
    std::size_t column = program_.first_column[g];
    for (std::size_t k = 0; k < added_[g].size(); ++k) {
      if (added_[g][k] == 0) continue;
      if (column == program_.first_column[g + 1]) break;  // added after the last solve
      if (point_.x[column] > least) {
        used.push_back(
            {static_cast<std::int32_t>(g), static_cast<std::int32_t>(k), point_.x[column]});
      }
      ++column;
    }
  }
  return used;
}

}  // namespace berth::solver

// SPDX-License-Identifier: Apache-2.0
#include "option_values.hpp"

#include <algorithm>
#include <utility>

namespace berth::solver {
namespace {

/// Reward of a required job for each of its GPUs, in times the largest value of a GPU. Chosen, not
/// tuned: above 1 the job is worth more than any others in its place.
constexpr double kReward = 2.0;

/// GPUs of a job of the group, at least 1.
double gpus_of(std::span<const model::Shape> shapes, const JobGroup& group) {
  double gpus = 0.0;
  for (const auto& t : group.tasks.groups) {
    gpus += t.count * static_cast<double>(shapes[t.shape.index()].total_milli()) / 1000.0;
  }
  return std::max(gpus, 1.0);
}

double best_value(const JobGroup& group) {
  double best = 0.0;
  for (const auto& option : group.options) best = std::max(best, option.value);
  return best;
}

}  // namespace

OptionValues option_values(std::span<const model::Shape> shapes, const JobCounts& jobs,
                           const TaskRows& rows) {
  OptionValues result;
  double largest = 0.0;
  for (const auto& [group, count] : jobs) {
    largest = std::max(largest, best_value(group) / gpus_of(shapes, group));
  }
  for (const auto& [group, count] : jobs) {
    const double reward = group.required ? kReward * largest * gpus_of(shapes, group) : 0.0;
    result.rewards += reward * static_cast<double>(count);
    result.best += best_value(group) * static_cast<double>(count);
    std::vector<double>& values = result.value.emplace_back();
    for (const auto& option : group.options) {
      values.push_back(rows.possible(group, option) ? option.value + reward : kImpossible);
    }
  }
  return result;
}

double cost_of(const TaskRows::Entries& tasks, std::span<const double> price) {
  double cost = 0.0;
  for (const auto& [row, count] : tasks) cost += count * price[static_cast<std::size_t>(row)];
  return cost;
}

double jobs_bound(const JobCounts& jobs, const OptionValues& values, const TaskRows& rows,
                  std::span<const double> price) {
  double bound = -values.rewards;
  for (std::size_t g = 0; g < jobs.size(); ++g) {
    const auto& [group, count] = jobs[g];
    double best = 0.0;
    for (std::size_t k = 0; k < group.options.size(); ++k) {
      if (values.value[g][k] == kImpossible) continue;
      best =
          std::max(best, values.value[g][k] - cost_of(rows.demand(group, group.options[k]), price));
    }
    bound += static_cast<double>(count) * best;
  }
  return bound;
}

int round_values(JobCounts& jobs, std::size_t most) {
  int left = 53;
  for (const int bits : {12, 9, 7, 5, 4}) {
    std::size_t columns = 0;
    for (const auto& [group, count] : jobs) columns += group.options.size();
    if (columns <= most) break;
    left = bits;
    for (auto& [group, count] : jobs) group = rounded(std::move(group), bits);
    merge_equal(jobs);
  }
  return left;
}

}  // namespace berth::solver

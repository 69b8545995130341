// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/configuration_lp.hpp"

#include "configuration_generation.hpp"
#include "contents_bind.hpp"
#include "divisible_contents.hpp"
#include "resource_lp.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace berth::solver {
namespace {

/// With at most this many rows, the LP takes no longer than the test whether it can be skipped.
constexpr std::size_t kCheapRows = 64;
/// With more rows, machines of a type share what they have (solve_resource_lp): the normal
/// equations here are dense, rows^2 numbers, rows^3 / 3 operations a step. 600 rows take 3 MB and
/// some hundredths of a second. Chosen, not tuned.
constexpr std::size_t kMostRows = 600;
/// Work limit of each bin type beside that of the options. `unique_used` has 2,048 machine states
/// and needs 5 rounds: 3,000,000 in all end after 2 of them, 10,000,000 suffice.
constexpr std::int64_t kWorkOfBin = 4'000;
/// Most limits with a row, those that the jobs exceed most; others have no price. Untuned guard.
constexpr std::size_t kMostLimits = 200;

/// Limits that all jobs together could exceed, ascending.
std::vector<std::uint32_t> limits_to_exceed(const JobCounts& jobs,
                                            std::span<const LimitSupply> limits) {
  std::vector<double> wanted(limits.size(), 0.0);
  for (const auto& [group, count] : jobs) {
    std::map<std::uint32_t, double> most;
    for (const JobGroup::Option& option : group.options) {
      for (const auto& [limit, amount] : option.loads) {
        most[limit] = std::max(most[limit], amount);
      }
    }
    for (const auto& [limit, amount] : most) wanted[limit] += amount * static_cast<double>(count);
  }
  std::vector<std::pair<double, std::uint32_t>> found;
  for (std::size_t l = 0; l < limits.size(); ++l) {
    if (limits[l].capacity > 0.0 && wanted[l] > limits[l].capacity) {
      found.emplace_back(-wanted[l] / limits[l].capacity, static_cast<std::uint32_t>(l));
    }
  }
  std::ranges::sort(found);
  if (found.size() > kMostLimits) found.resize(kMostLimits);
  std::vector<std::uint32_t> rows;
  for (const auto& [excess, limit] : found) rows.push_back(limit);
  std::ranges::sort(rows);
  return rows;
}

}  // namespace
std::int32_t ConfigurationSolution::find(const JobGroup& group) const {
  const auto at =
      std::ranges::lower_bound(jobs, group, {}, &std::pair<JobGroup, std::int64_t>::first);
  if (at == jobs.end() || at->first != group) return -1;
  return static_cast<std::int32_t>(at - jobs.begin());
}

ConfigurationSolution solve_configuration_lp(const model::InstanceView& instance,
                                             std::span<const BinType> bins, JobCounts jobs,
                                             const ConfigurationStart& start,
                                             const ConfigurationOptions& options,
                                             const StopToken& stop) {
  std::erase_if(jobs, [](const auto& entry) { return entry.first.options.empty(); });
  const std::vector<model::Shape>& shapes = instance.workload.tables().shapes;
  ConfigurationSolution solution;
  solution.value_bits =
      std::min(options.value_bits, round_values(jobs, static_cast<std::size_t>(options.options)));
  TaskRows rows(shapes, jobs, bins, instance.cluster.gpu_types.size() + 1);
  if (rows.size() == 0 || contents_divisible(bins, rows)) return {};
  if (rows.size() > kMostRows) {
    ConfigurationSolution shared =
        solve_resource_lp(instance, bins, std::move(jobs), rows, start, options, stop);
    shared.value_bits = solution.value_bits;
    return shared;
  }
  if (options.negligible > 0.0 && rows.size() > kCheapRows &&
      !contents_bind(bins, jobs, shapes, start, options.negligible, stop)) {
    return {};
  }
  rows.add_limits(limits_to_exceed(jobs, start.limits));
  solution.jobs = std::move(jobs);
  ConfigurationOptions limited = options;
  limited.work += kWorkOfBin * static_cast<std::int64_t>(bins.size());
  ConfigurationGeneration generation({bins, solution.jobs, start.limits}, shapes, rows, limited,
                                     stop);
  generation.run(start.gpu_price);
  generation.write(instance.cluster, solution);
  return solution;
}

}  // namespace berth::solver

// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/configuration_lp.hpp"

#include "configuration_generation.hpp"
#include "contents_bind.hpp"
#include "divisible_contents.hpp"

#include <algorithm>
#include <utility>

namespace berth::solver {
namespace {

/// With at most this many rows, the LP takes no longer than the test whether it can be skipped.
constexpr std::size_t kCheapRows = 64;
/// With more rows there is no LP: its normal equations are dense, rows^2 numbers, rows^3 / 3
/// operations a step. 600 rows take 3 MB and some hundredths of a second. Chosen, not tuned.
constexpr std::size_t kMostRows = 600;

}  // namespace
std::int32_t ConfigurationSolution::find(const JobGroup& group) const {
  const auto at =
      std::ranges::lower_bound(jobs, group, {}, &std::pair<JobGroup, std::int64_t>::first);
  if (at == jobs.end() || at->first != group) return -1;
  return static_cast<std::int32_t>(at - jobs.begin());
}

ConfigurationSolution solve_configuration_lp(const model::InstanceView& instance,
                                             std::span<const BinType> bins, JobCounts jobs,
                                             std::span<const double> start,
                                             const ConfigurationOptions& options,
                                             const StopToken& stop) {
  std::erase_if(jobs, [](const auto& entry) { return entry.first.options.empty(); });
  const std::vector<model::Shape>& shapes = instance.workload.tables().shapes;
  ConfigurationSolution solution;
  solution.value_bits =
      std::min(options.value_bits, round_values(jobs, static_cast<std::size_t>(options.options)));
  const TaskRows rows(shapes, jobs, bins, instance.cluster.gpu_types.size() + 1);
  if (rows.size() == 0 || rows.size() > kMostRows || contents_divisible(bins, rows)) return {};
  if (options.negligible > 0.0 && rows.size() > kCheapRows &&
      !contents_bind(bins, jobs, shapes, start, options.negligible, stop)) {
    return {};
  }
  solution.jobs = std::move(jobs);
  ConfigurationGeneration generation(bins, solution.jobs, shapes, rows, options, stop);
  generation.run(start);
  generation.write(instance.cluster, solution);
  return solution;
}

}  // namespace berth::solver

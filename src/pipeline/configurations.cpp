// SPDX-License-Identifier: Apache-2.0
#include "configurations.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "berth/base/infinity.hpp"
#include "berth/comm/messages.hpp"
#include "berth/coordinator/plan_shards.hpp"
#include "berth/parallel/loops.hpp"
#include "berth/planner_model/room.hpp"

namespace berth::pipeline {
namespace {

using solver::JobCounts;

/// Most bin types; with more, free amounts of resources are rounded down. Chosen: the spike's
/// largest, 0.6 s.
constexpr int kBinTypes = 8192;

/// With more jobs, values are cut to kBits binary digits, 0.2 %, before they are counted, so that
/// few groups are sent. Chosen: the LP would cut them too.
constexpr std::int64_t kExactJobs = 30'000;
constexpr int kBits = 9, kExactBits = 53;
/// Part of the allowed gap between value and bound of the LP. Chosen: the plan needs the rest.
constexpr double kShareOfGap = 0.1;

/// Groups of these jobs with their numbers.
JobCounts count_groups(const solver::JobGrouping& grouping, std::span<const JobId> jobs) {
  JobCounts counts(jobs.size());
  parallel::sweep(jobs.size(), [&](std::size_t i) { counts[i] = {grouping(jobs[i]), 1}; });
  std::erase_if(counts, [](const auto& entry) { return entry.first.options.empty(); });
  merge_equal(counts);
  return counts;
}

/// Mean price of a GPU by slot over the pools of its type.
std::vector<double> gpu_prices(const planner_model::Pools& pools, std::span<const double> prices,
                               std::size_t slots) {
  std::vector<double> worth(slots, 0.0), milli(slots, 0.0);
  for (std::size_t p = 0; p < pools.size(); ++p) {
    const std::size_t slot = solver::slot_of(pools.pools[p].gpu_type);
    const auto capacity = static_cast<double>(pools.pools[p].gpu_milli);
    worth[slot] += capacity * prices[p];
    milli[slot] += capacity;
  }
  for (std::size_t s = 0; s < slots; ++s) {
    if (milli[s] > 0.0) worth[s] /= milli[s];
  }
  return worth;
}

std::vector<solver::BinType> all_bin_types(const model::Cluster& cluster) {
  std::vector<MachineId> machines;
  for (std::size_t m = 0; m < cluster.machines(); ++m) machines.emplace_back(m);
  return solver::bin_types(cluster, planner_model::Room(cluster), machines, kBinTypes);
}

/// Quotas, then groups of limits, with their prices of the consensus.
std::vector<solver::LimitSupply> limit_supplies(const planner_model::LimitGroups& groups,
                                                std::span<const double> prices) {
  std::vector<solver::LimitSupply> supplies;
  const planner_model::CouplingLimits& limits = groups.limits();
  for (std::size_t q = 0; q < limits.of_queues(); ++q) {
    const double gpus = limits.capacity(q) == model::kNoLimit
                            ? kInfinity
                            : static_cast<double>(limits.capacity(q)) / model::kGpuMilli;
    supplies.push_back({.capacity = gpus, .penalty = limits.penalty(q), .price = prices[q]});
  }
  for (const auto& group : groups.groups()) {
    supplies.push_back({.capacity = group.capacity, .price = prices[supplies.size()]});
  }
  return supplies;
}

/// The bound of the consensus as one of the configuration LP: with all jobs without GPUs, which it
/// does not count. Infinite when limits have prices: the consensus rounds their loads.
double known_bound(const coordinator::Consensus& consensus, const JobCounts& counts) {
  if (std::ranges::any_of(consensus.limits, [](double p) { return p > 0.0; })) return kInfinity;
  double bound = consensus.bound;
  for (const auto& [group, count] : counts) {
    const auto& option = group.options.front();
    if (!option.type.valid()) bound += static_cast<double>(count) * std::max(option.value, 0.0);
  }
  return bound;
}

}  // namespace

solver::ConfigurationSolution solve_configurations(const PlanningContext& context,
                                                   const coordinator::JobRecords& records,
                                                   const coordinator::Consensus& consensus) {
  const planner_model::Valuation& valuation = context.unpriced;
  const model::InstanceView& instance = valuation.instance();
  const std::vector<JobId> home = records.home_jobs();
  if (context.comm.min(coordinator::all_place_independent(valuation, home) ? 1 : 0) == 1) {
    return {};  // the pattern LP prices their tasks
  }
  const int bits = context.comm.sum(std::ssize(home)) > kExactJobs ? kBits : kExactBits;
  const JobCounts mine = context.comm.agreed([&] {
    return count_groups(solver::JobGrouping(valuation, bits, &context.limit_groups), home);
  });
  JobCounts counts = comm::gather<JobCounts::value_type>(context.comm, mine);
  solver::ConfigurationSolution solution;
  context.comm.agreed_on_root([&] {
    merge_equal(counts);
    const double known = known_bound(consensus, counts);
    const auto start =
        gpu_prices(context.pools, consensus.prices, instance.cluster.gpu_types.size() + 1);
    const auto limits = limit_supplies(context.limit_groups, consensus.limits);
    solution =
        solver::solve_configuration_lp(instance, all_bin_types(instance.cluster), std::move(counts),
                                       {.gpu_price = start, .limits = limits},
                                       {.value_bits = bits,
                                        .relative_gap = kShareOfGap * context.options.gap,
                                        .known_bound = known,
                                        .negligible = context.options.gap},
                                       context.stop);
  });
  comm::broadcast(context.comm, solution);
  return solution;
}

}  // namespace berth::pipeline

// SPDX-License-Identifier: Apache-2.0
#include "horizon/part_of_problem.hpp"

#include "horizon/append_rows.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "berth/horizon/device_shares.hpp"
#include "berth/horizon/problem_builder.hpp"

namespace berth::solver::horizon_plan {

using berth::horizon::IndexRange;
using berth::horizon::Job;
using berth::horizon::Machine;
using berth::horizon::Option;
using berth::horizon::Outage;
using berth::horizon::Pool;
using berth::horizon::PoolSetId;
using berth::horizon::Problem;
using berth::horizon::TaskGroup;

namespace {

template <class T>
std::int32_t append_one(const std::vector<T>& from, std::int32_t item, std::vector<T>& to) {
  if (item < 0) return item;
  to.push_back(from[static_cast<std::size_t>(item)]);
  return static_cast<std::int32_t>(to.size()) - 1;
}

/// The set of these pools, which the problem may have already. Sets are few.
PoolSetId set_of(std::span<const PoolId> of, const PoolMap& pools, Problem& to) {
  std::vector<PoolId> mapped;
  for (const PoolId pool : of) {
    if (pools[pool.index()].valid()) mapped.push_back(pools[pool.index()]);
  }
  std::ranges::sort(mapped);
  const auto found = std::ranges::find(to.pool_sets, mapped);
  if (found != to.pool_sets.end()) {
    return PoolSetId(static_cast<std::size_t>(found - to.pool_sets.begin()));
  }
  to.pool_sets.push_back(std::move(mapped));
  return PoolSetId(to.pool_sets.size() - 1);
}

}  // namespace

PoolMap same_pools(std::size_t pools) {
  PoolMap map;
  for (std::size_t p = 0; p < pools; ++p) map.emplace_back(p);
  return map;
}

void append_job(const Problem& from, JobId id, const PoolMap& pools, Problem& to) {
  Job& job = to.jobs.emplace_back(from.jobs[id.index()]);
  job.options = append_rows(from.options, job.options, to.options);
  IndexRange cost_before, cost;  // options often share the cost
  for (auto k = job.options.begin; k < job.options.end; ++k) {
    Option& option = to.options[static_cast<std::size_t>(k)];
    option.pools = set_of(from.pools_of(option), pools, to);
    option.tasks = append_rows(from.task_groups, option.tasks, to.task_groups);
    const bool same = cost.size() > 0 && option.cost.begin == cost_before.begin &&
                      option.cost.end == cost_before.end;
    if (!same) {
      cost_before = option.cost;
      cost = append_rows(from.cost_pieces, option.cost, to.cost_pieces);
    }
    option.cost = cost;
    option.quotas = append_rows(from.option_quotas, option.quotas, to.option_quotas);
    option.budgets = append_rows(from.option_budgets, option.budgets, to.option_budgets);
    option.licenses = append_rows(from.option_licenses, option.licenses, to.option_licenses);
    option.spread = append_one(from.spreads, option.spread, to.spreads);
    option.traffic = append_one(from.traffics, option.traffic, to.traffics);
  }
}

Problem machines_of_pools(const Problem& problem, std::span<const PoolId> chosen, PoolMap& pools) {
  Problem part;
  part.now = problem.now;
  part.curves = problem.curves;
  part.neighbours = problem.neighbours;
  part.place_limits = problem.place_limits;
  part.quotas = problem.quotas;
  part.quotas_milli = problem.quotas_milli;
  part.licenses = problem.licenses;
  part.budgets = problem.budgets;
  part.budgets_end = problem.budgets_end;
  pools.assign(problem.pools.size(), {});
  std::vector<MachineId> machines(problem.machines.size());
  for (const PoolId id : chosen) {
    pools[id.index()] = PoolId(part.pools.size());
    Pool& pool = part.pools.emplace_back(problem.pools[id.index()]);
    const IndexRange from = pool.machines;
    pool.machines = append_rows(problem.machines, from, part.machines);
    for (auto m = pool.machines.begin; m < pool.machines.end; ++m) {
      part.machines[static_cast<std::size_t>(m)].pool = pools[id.index()];
      machines[static_cast<std::size_t>(from.begin + m - pool.machines.begin)] = MachineId(m);
    }
  }
  for (const Outage& outage : problem.outages) {
    if (!machines[outage.machine.index()].valid()) continue;
    part.outages.push_back(outage);
    part.outages.back().machine = machines[outage.machine.index()];
  }
  return part;
}

Problem with_pools(Problem problem, std::span<const MachineRun> runs, std::span<const PoolId> pools,
                   std::span<const Outage> outages) {
  problem.outages.insert(problem.outages.end(), outages.begin(), outages.end());
  berth::horizon::ProblemBuilder builder(problem.now);
  for (std::size_t l = 0; l < problem.place_limits.size(); ++l) {
    (void)builder.add_place_limit({{.from = problem.now, .gpus = 0}});
  }
  std::vector<std::vector<PoolId>> parts(problem.pools.size());
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const PoolId pool = builder.add_pool(runs[r].curve, 0, 0);
    parts[pools[r].index()].push_back(pool);
    for (auto m = runs[r].machines.begin; m < runs[r].machines.end; ++m) {
      Machine& machine = problem.machines[static_cast<std::size_t>(m)];
      (void)builder.add_machine(machine);
      machine.pool = pool;
    }
  }
  for (const Outage& outage : problem.outages) builder.add_outage(outage);
  if (has_shares(problem)) {  // then pools count parts of GPUs
    (void)builder.add_job(problem.now);
    const std::array<TaskGroup, 1> share{{{.tasks = 1, .gpus = 0, .milli = 1}}};
    const IndexRange cost = builder.add_cost(std::array{berth::horizon::CostPiece{problem.now}});
    builder.add_option(builder.add_pool_set({}), 1, share, cost);
  }
  problem.pools = builder.build().pools;
  for (std::vector<PoolId>& set : problem.pool_sets) {
    std::vector<PoolId> all;
    for (const PoolId pool : set) {
      all.insert(all.end(), parts[pool.index()].begin(), parts[pool.index()].end());
    }
    std::ranges::sort(all);
    set = std::move(all);
  }
  return problem;
}

}  // namespace berth::solver::horizon_plan

// SPDX-License-Identifier: Apache-2.0
#include "present_problem.hpp"

#include "job_classes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "berth/horizon/problem_builder.hpp"

namespace berth::sim {
namespace {

using horizon::Problem;
using policy::Micros;
using policy::State;

/// A class wider than this part of a pool is cut into pieces that are as wide, side by side ...
constexpr std::int64_t kWidth = 8;
/// ... at most so many: beyond, they are longer instead, with the same GPU-time.
constexpr std::int64_t kMostPieces = 4;

horizon::Seconds whole_seconds(Micros span) {
  return std::max<horizon::Seconds>(1, (span + policy::kSecond - 1) / policy::kSecond);
}

/// A pool for each GPU type with all its GPUs, without those of running jobs that stay until they
/// end as expected.
void add_pools(const State& state, bool may_move, Problem& problem) {
  const std::size_t types = state.free().cluster().gpu_types.size();
  problem.curves = types;
  std::vector<std::vector<horizon::CapacityStep>> ends(types);
  for (std::size_t t = 0; t < types; ++t) {
    problem.pools.push_back({.curve = horizon::CurveId(t), .machines = {}, .capacity = {}});
    problem.pools.back().capacity.push_back({0, state.free().free_milli(GpuTypeId(t))});
    problem.pool_sets.push_back({PoolId(t)});
  }
  for (const JobId job : state.running()) {
    const GpuTypeId type = state.progress(job).type;
    if (!type.valid() || !state.demand(job).uses_gpus()) continue;
    const std::int64_t milli = state.demand(job).milli;
    if (may_move) {
      problem.pools[type.index()].capacity.front().gpus += milli;
    } else {
      ends[type.index()].push_back({whole_seconds(state.expected_end(job) - state.now()), milli});
    }
  }
  for (std::size_t t = 0; t < types; ++t) {
    auto& capacity = problem.pools[t].capacity;
    std::ranges::sort(ends[t], {}, &horizon::CapacityStep::from);
    for (const horizon::CapacityStep& end : ends[t]) {
      if (end.from > capacity.back().from) capacity.push_back({end.from, capacity.back().gpus});
      capacity.back().gpus += end.gpus;
    }
  }
}

/// A job that is required from now on, with a cost for its options.
void begin_job(double weight, Problem& problem) {
  const auto first = static_cast<std::int32_t>(problem.options.size());
  problem.cost_pieces.push_back(horizon::flow_cost(0, weight));
  problem.jobs.push_back({.release = 0, .required = true, .options = {first, first}});
}

void add_option(std::size_t pool, horizon::Seconds duration, std::int64_t milli, Problem& problem) {
  const auto cost = static_cast<std::int32_t>(problem.cost_pieces.size()) - 1;
  problem.options.push_back({.pools = horizon::PoolSetId(pool),
                             .duration = duration,
                             .gpus = milli,
                             .tasks = {},
                             .cost = {cost, cost + 1},
                             .rent = milli * horizon::kRentUnit});
  ++problem.jobs.back().options.end;
}

/// Where a job may run: other GPU types have failed, or do not suit it.
bool holds(const Problem& problem, GpuTypeId type, std::int64_t milli) {
  return type.valid() && milli <= problem.pools[type.index()].capacity.back().gpus;
}

using Class = JobClasses::Class;
using PoolUses = std::span<const JobClasses::PoolUse>;

/// A class as a job: `share` of it, `stretch` times as long as its mean.
void add_class(const Class& of, PoolUses uses, double share, double stretch, Problem& problem) {
  begin_job(of.sum.weight * share, problem);
  const auto all = static_cast<double>(of.sum.milli);
  const auto milli = static_cast<std::int64_t>(all * share / stretch);
  for (std::size_t p = 0; p < uses.size(); ++p) {
    if (uses[p].shortest == 0) continue;
    const double seconds = std::ceil(uses[p].gpu_time / all * stretch);
    add_option(p, static_cast<horizon::Seconds>(seconds), milli, problem);
  }
}

void add_pieces(const Class& of, PoolUses uses, Problem& problem) {
  std::int64_t width = std::numeric_limits<std::int64_t>::max();
  for (std::size_t p = 0; p < uses.size(); ++p) {
    if (uses[p].shortest > 0)
      width = std::min(width, problem.pools[p].capacity.back().gpus / kWidth);
  }
  width = std::max({width, of.most.milli, std::int64_t{1}});
  const std::int64_t pieces = std::min(kMostPieces, (of.sum.milli + width - 1) / width);
  const double share = 1.0 / static_cast<double>(pieces);
  const double stretch = static_cast<double>(of.sum.milli) * share / static_cast<double>(width);
  for (std::int64_t i = 0; i < pieces; ++i) {
    add_class(of, uses, share, std::max(1.0, stretch), problem);
  }
}

void add_least(const Class& of, PoolUses uses, Problem& problem) {
  const auto count = static_cast<double>(of.count);
  begin_job(of.least.weight * count, problem);
  for (std::size_t p = 0; p < uses.size(); ++p) {
    if (uses[p].shortest > 0) add_option(p, uses[p].shortest, of.least.milli * of.count, problem);
  }
}

}  // namespace

PresentProblem waiting_problem(const State& state, std::span<const JobId> waiting) {
  PresentProblem made;
  add_pools(state, false, made.problem);
  for (const JobId job : waiting) {
    const policy::Demand& demand = state.demand(job);
    if (!demand.uses_gpus()) continue;
    const bool runs = std::ranges::any_of(
        demand.types, [&](GpuTypeId type) { return holds(made.problem, type, demand.milli); });
    if (!runs) continue;
    begin_job(state.job(job).weight, made.problem);
    for (const GpuTypeId type : demand.types) {
      if (!holds(made.problem, type, demand.milli)) continue;
      add_option(type.index(), whole_seconds(state.expected_run(job, type)), demand.milli,
                 made.problem);
    }
    made.jobs.push_back(job);
  }
  return made;
}

PresentClasses present_classes(const State& state, std::span<const JobId> present) {
  PresentClasses made;
  add_pools(state, true, made.classes);
  made.pieces = made.classes;
  made.least = made.classes;
  JobClasses classes(made.classes.pools.size(), present.size());
  std::vector<std::int64_t> durations(made.classes.pools.size());
  std::vector<Micros> runs;
  for (const JobId job : present) {
    const policy::Demand& demand = state.demand(job);
    if (!demand.uses_gpus()) continue;
    std::ranges::fill(durations, 0);
    std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
    state.expected_runs(job, runs);
    for (std::size_t k = 0; k < runs.size(); ++k) {
      if (!holds(made.classes, demand.types[k], demand.milli)) continue;
      std::int64_t& duration = durations[demand.types[k].index()];
      duration = whole_seconds(runs[k]);
      shortest = std::min(shortest, duration);
    }
    if (shortest == std::numeric_limits<std::int64_t>::max()) continue;
    const double weight = state.job(job).weight;
    classes.add({demand.milli, weight}, durations);
    made.alone += weight * static_cast<double>(shortest);
    ++made.jobs;
  }
  made.merged = classes.merged();
  for (std::size_t c = 0; c < classes.classes().size(); ++c) {
    const Class& of = classes.classes()[c];
    const PoolUses uses = classes.pools_of(c);
    add_class(of, uses, 1.0, 1.0, made.classes);
    add_pieces(of, uses, made.pieces);
    if (made.merged) add_least(of, uses, made.least);
  }
  return made;
}

}  // namespace berth::sim

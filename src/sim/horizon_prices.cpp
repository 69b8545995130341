// SPDX-License-Identifier: Apache-2.0
#include "horizon_prices.hpp"

#include <algorithm>
#include <cmath>

#include "berth/horizon/problem_builder.hpp"

namespace berth::sim {
namespace {

using policy::Micros;
using policy::State;

constexpr double kMilli = 1000.0;

horizon::Seconds whole_seconds(Micros span) {
  return std::max<horizon::Seconds>(1, (span + policy::kSecond - 1) / policy::kSecond);
}

/// A pool for each GPU type with all its GPUs, without those of running jobs that stay until they
/// end as expected.
void add_pools(const State& state, bool may_move, horizon::Problem& problem) {
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
    const Micros left = state.expected_end(job) - state.now();
    ends[type.index()].push_back({may_move ? 0 : whole_seconds(left), milli});
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

void add_job(const State& state, JobId job, horizon::Problem& problem) {
  const policy::Demand& demand = state.demand(job);
  const auto first = static_cast<std::int32_t>(problem.options.size());
  const auto cost = static_cast<std::int32_t>(problem.cost_pieces.size());
  problem.cost_pieces.push_back(horizon::flow_cost(0, state.job(job).weight));
  for (const GpuTypeId type : demand.types) {
    if (!type.valid() || demand.milli > problem.pools[type.index()].capacity.back().gpus) continue;
    problem.options.push_back({.pools = horizon::PoolSetId(type.index()),
                               .duration = whole_seconds(state.expected_run(job, type)),
                               .gpus = demand.milli,
                               .tasks = {},
                               .cost = {cost, cost + 1},
                               .rent = demand.milli * horizon::kRentUnit});
  }
  const auto end = static_cast<std::int32_t>(problem.options.size());
  problem.jobs.push_back({.release = 0, .required = true, .options = {first, end}});
}

}  // namespace

PresentProblem present_problem(const State& state, std::span<const JobId> present, bool may_move) {
  PresentProblem made;
  add_pools(state, may_move, made.problem);
  for (const JobId job : present) {
    const bool runs = state.progress(job).phase == policy::Phase::running;
    if (!state.demand(job).uses_gpus() || (runs && !may_move)) continue;
    const std::size_t options = made.problem.options.size();
    add_job(state, job, made.problem);
    if (made.problem.options.size() == options) {  // its GPU types have failed
      made.problem.jobs.pop_back();
      continue;
    }
    made.jobs.push_back(job);
  }
  return made;
}

bool HorizonPrices::due(const State& state, std::size_t present) {
  changes_ += state.arrived().size() + state.ended().size();
  const bool changed = static_cast<double>(changes_) >=
                       options_.change * static_cast<double>(std::max<std::size_t>(present, 1));
  return changed || state.now() - since_ >= options_.refresh;
}

PriceRound HorizonPrices::refresh(const State& state, const PresentProblem& present) {
  since_ = state.now();
  changes_ = 0;
  curves_.clear();
  bound_ = {};
  PriceRound round{.time = state.now(), .jobs = std::ssize(present.jobs)};
  if (present.jobs.empty()) return round;
  bound_ = solver::bound_horizon(present.problem, {.intervals = search_.intervals,
                                                   .temperatures = search_.temperatures,
                                                   .iterations = search_.iterations,
                                                   .flat_start = false,
                                                   .sizes = false});
  make_curves();
  round.evaluations = bound_.evaluations;
  round.cost = bound_.list_cost;
  round.bound = bound_.bound;
  return round;
}

void HorizonPrices::make_curves() {
  if (bound_.grid.empty()) return;
  const std::size_t count = 2 * (bound_.grid.size() - 1);
  for (std::size_t first = 0; first < bound_.ends.size(); first += count) {
    curves_.emplace_back(bound_.grid, std::span(bound_.ends).subspan(first, count));
  }
}

void HorizonPrices::restore(ByteReader& reader) {
  reader(bound_.grid, bound_.ends, since_, changes_);
  make_curves();
}

double HorizonPrices::rent(GpuTypeId type, Micros now, double from, double to) const {
  if (curves_.empty() || !type.valid()) return 0.0;
  const double age = static_cast<double>(now - since_) / static_cast<double>(policy::kSecond);
  return kMilli * curves_[type.index()].rent(age + from, age + to);
}

std::vector<double> HorizonPrices::waits(Micros now) const {
  const double age = static_cast<double>(now - since_) / static_cast<double>(policy::kSecond);
  std::vector<double> waits{0.0};
  if (curves_.empty()) return waits;
  for (const horizon::Seconds node : bound_.grid) {
    if (static_cast<double>(node) > age) waits.push_back(static_cast<double>(node) - age);
  }
  return waits;
}

}  // namespace berth::sim

// SPDX-License-Identifier: Apache-2.0
// The market: one evaluation of the smoothed dual, its minimisation, the dive, fill and improve.
#include "berth/solver/market.hpp"

#include "assignment/assignment_dual.hpp"
#include "greedy_plan.hpp"
#include "kernels.hpp"

#include <map>

#include "berth/planner_model/room.hpp"
#include "berth/solver/dive.hpp"

namespace berth::bench {
namespace {

using solver::assignment::AssignmentDual;
using solver::assignment::PoolIndex;

constexpr double kEps = 0.0007;  ///< smoothing, of the largest value: the dive's

/// Minimum number of bytes that an evaluation reads: every bidder, its options and their slots.
std::int64_t bytes_read(const Subject& s) {
  const PoolIndex pool_index(s.instance.cluster, s.pools);
  const AssignmentDual dual(s.value, pool_index, s.jobs,
                            solver::full_supply(s.instance.cluster, s.pools));
  std::size_t bytes = 0;
  for (const solver::assignment::Bidder& b : dual.bidders()) {
    bytes += sizeof b + (b.last - b.first) * (sizeof(solver::assignment::Option) + sizeof b.first);
  }
  return static_cast<std::int64_t>(bytes);
}

solver::Market market_of(const Subject& s) {
  return {s.value, s.pools, s.jobs, solver::full_supply(s.instance.cluster, s.pools)};
}

solver::PriceResult minimised(solver::Market& market) {
  return solver::minimise_market(
      [&](std::span<const double> p, double eps, std::span<double> gradient) {
        return market.dual(p, eps, gradient);
      },
      market.shape(), {}, {});
}

/// Prices near the optimum, once per instance.
const solver::PriceResult& prices_of(const Subject& s) {
  static std::map<const Subject*, solver::PriceResult> all;
  const auto [known, fresh] = all.try_emplace(&s);
  if (fresh) {
    solver::Market market = market_of(s);
    known->second = minimised(market);
  }
  return known->second;
}

void count_jobs(benchmark::State& state, const Subject& s) {
  state.SetItemsProcessed(state.iterations() * std::ssize(s.jobs));
}

void dual_evaluation(benchmark::State& state, const Subject& s) {
  solver::Market market = market_of(s);
  const auto& prices = prices_of(s).prices;
  std::vector<double> gradient(prices.size());
  for (auto _ : state) {
    benchmark::DoNotOptimize(market.dual(prices, kEps * market.shape().largest_value, gradient));
  }
  count_jobs(state, s);
  state.SetBytesProcessed(state.iterations() * bytes_read(s));
}

void minimise(benchmark::State& state, const Subject& s) {
  solver::Market market = market_of(s);
  std::int64_t evaluations = 0;
  for (auto _ : state) evaluations += minimised(market).evaluations;
  count_jobs(state, s);
  state.SetBytesProcessed(evaluations * bytes_read(s));
  state.counters["evaluations"] = static_cast<double>(evaluations / state.iterations());
}

void dive(benchmark::State& state, const Subject& s) {
  const auto& prices = prices_of(s).prices;
  std::int64_t evaluations = 0;
  for (auto _ : state) {
    solver::Occupancy occupancy(s.value, s.machines);
    occupancy.admit(s.jobs);
    const auto result = solver::dive(occupancy, {s.pools, prices}, s.jobs,
                                     {.effort = {.chains = 0, .repartitions = 0}});
    evaluations += result.evaluations;
  }
  count_jobs(state, s);
  state.SetBytesProcessed(evaluations * bytes_read(s));  // residual ones read less
}

/// The greedy fill of an empty cluster.
void fill(benchmark::State& state, const Subject& s) {
  for (auto _ : state) {
    solver::Occupancy occupancy(s.value, s.machines);
    occupancy.admit(s.jobs);
    test::add_greedily(occupancy);
    benchmark::DoNotOptimize(occupancy.entries().data());
  }
  count_jobs(state, s);
  state.SetBytesProcessed(state.iterations() * s.workload_bytes);
}

/// Ejection chains on the greedy fill, 1,000 at most; items are the unplaced jobs.
void improve(benchmark::State& state, const Subject& s) {
  constexpr solver::SearchEffort kChains{.chains = 1000, .repartitions = 0};
  solver::Occupancy filled(s.value, s.machines);
  filled.admit(s.jobs);
  test::add_greedily(filled);
  const auto& prices = prices_of(s).prices;
  for (auto _ : state) {
    state.PauseTiming();
    solver::Occupancy occupancy = filled;
    state.ResumeTiming();
    solver::improve(occupancy, {s.pools, prices}, kChains);
  }
  state.SetItemsProcessed(state.iterations() * std::ssize(filled.unplaced_jobs()));
}

}  // namespace

void register_market(const std::string& instance, MakeSubject subject) {
  add("dual_evaluation", dual_evaluation, instance, subject);
  add("minimise_market", minimise, instance, subject);
  add("dive", dive, instance, subject);
  add("fill", fill, instance, subject);
  add("improve", improve, instance, subject);
}

}  // namespace berth::bench
